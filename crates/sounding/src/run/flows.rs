//! The flows of this daemon's laws: in which phase each is, and how fast it sends.
//!
//! The kernel lists the sockets under a law's name, and the laws' changes of phase tell the phase.
//! A thread of its own looks once a second, so that a machine with many connections holds up no
//! modem. A modem's thread never waits for it.

use std::collections::{BTreeMap, HashMap};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};
use std::thread;
use std::time::Duration;

use sounding_bpf::{Phase, TcpSocket, Transition, tcp_sockets};
use sounding_feed::{Flow, Flows as Listed};
use sounding_host::{Capabilities, monotonic_now, spawn_with_only};
use sounding_units::{HostInstant, Rate};

/// Between two looks.
const EVERY: Duration = Duration::from_secs(1);

/// A look takes at most one in so many of the thread's time.
const SHARE: u32 = 20;

/// So many changes of phase are kept. A flow beyond that has a phase that is not known.
const MOST: usize = 65_536;

/// A flow that changed its phase so lately may be younger than the list of sockets.
const YOUNG: Duration = Duration::from_secs(2);

/// The daemon's flows.
#[derive(Debug, Default)]
pub(super) struct Flows(Mutex<Table>);

#[derive(Debug, Default)]
struct Table {
    /// Congestion controls, as often as outputs have them.
    names: Vec<String>,
    has_thread: bool,
    phases: HashMap<Key, Last>,
    /// Whether changes of phase were left out.
    is_partial: bool,
    /// The flows of each place, as of the last look.
    by_place: BTreeMap<Option<usize>, Of>,
}

/// Family, local and remote port.
type Key = (u32, u16, u16);

/// The last change of a flow's phase.
#[derive(Clone, Copy, Debug)]
struct Last {
    phase: Phase,
    place: Option<usize>,
    at: HostInstant,
}

/// The flows that leave by one modem, or by none that is known.
#[derive(Clone, Debug, Default)]
struct Of {
    phases: BTreeMap<&'static str, u64>,
    fastest: Vec<(Option<Rate>, Key, Option<Phase>)>,
}

/// Flows that leave by one modem.
#[derive(Clone, Debug, Default)]
pub(super) struct Seen {
    /// How many are in which phase.
    pub(super) phases: BTreeMap<&'static str, u64>,
    /// The fastest of them.
    pub(super) listed: Listed,
}

/// A law whose flows are looked at, until it is dropped.
pub(super) struct Followed {
    flows: Arc<Flows>,
    name: String,
}

impl Flows {
    fn table(&self) -> MutexGuard<'_, Table> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Looks at the flows under this congestion control too.
    pub(super) fn follow(self: &Arc<Self>, name: &str) -> Followed {
        let mut table = self.table();
        table.names.push(name.to_owned());
        if !table.has_thread {
            let flows = Arc::downgrade(self);
            let thread = spawn_with_only(Capabilities::empty(), "flows", move || look_on(&flows));
            // Without a thread there is nothing to show.
            table.has_thread = thread.is_ok();
        }
        drop(table);
        Followed { flows: Arc::clone(self), name: name.to_owned() }
    }

    /// A flow is in another phase.
    pub(super) fn handle_transition(&self, transition: &Transition) {
        let key = (transition.family, transition.local_port, transition.remote_port);
        let (phase, place, at) = (transition.to, transition.modem, transition.at);
        let mut table = self.table();
        if table.phases.len() >= MOST && !table.phases.contains_key(&key) {
            table.is_partial = true;
            return;
        }
        table.phases.insert(key, Last { phase, place, at });
    }

    /// The flows that leave by the modem at this place, and with `is_only` those that have not said
    /// by which they leave. `None` if that cannot be told without waiting, or no law is followed.
    pub(super) fn at(&self, place: usize, is_only: bool) -> Option<Seen> {
        let table = self.0.try_lock().ok()?;
        if table.names.is_empty() {
            return None;
        }
        let mut seen = Seen::default();
        let (mut all, mut count) = (Vec::new(), 0);
        for of in [Some(place), None].iter().take(1 + usize::from(is_only)) {
            let Some(of) = table.by_place.get(of) else { continue };
            for (phase, flows) in &of.phases {
                *seen.phases.entry(phase).or_default() += flows;
                count += flows;
            }
            all.extend(of.fastest.iter().map(|(rate, (_, local, remote), phase)| {
                Flow::new((*local, *remote), phase.map(Phase::name), *rate)
            }));
        }
        let more = count.saturating_sub(all.len() as u64);
        seen.listed = Listed::of(all, more);
        Some(seen)
    }

    fn names(&self) -> Vec<String> {
        self.table().names.clone()
    }

    /// The kernel has listed these, from `began` on.
    fn handle_list(&self, began: HostInstant, sockets: &[TcpSocket]) {
        let mut table = self.table();
        let mut by_place = BTreeMap::<_, Of>::new();
        let mut left = std::mem::take(&mut table.phases);
        let mut kept = HashMap::new();
        for socket in sockets {
            let key = (socket.family, socket.local_port, socket.remote_port);
            let last = left.remove(&key);
            let of = by_place.entry(last.and_then(|last| last.place)).or_default();
            // The kernel says nothing of a flow that has not left its first phase.
            let first = (!table.is_partial).then_some(Phase::NoEstimate);
            let phase = last.map(|last| last.phase).or(first);
            *of.phases.entry(phase.map_or("unknown", Phase::name)).or_default() += 1;
            of.add(socket.pacing, key, phase);
            kept.extend(last.map(|last| (key, last)));
        }
        kept.extend(left.into_iter().filter(|(_, last)| last.at + YOUNG > began));
        table.is_partial &= kept.len() >= MOST / 2;
        table.phases = kept;
        table.by_place = by_place;
    }
}

impl Of {
    /// Keeps it if it is among the fastest.
    fn add(&mut self, rate: Option<Rate>, key: Key, phase: Option<Phase>) {
        let at = self.fastest.partition_point(|(other, ..)| *other >= rate);
        if at < Listed::MOST {
            self.fastest.insert(at, (rate, key, phase));
            self.fastest.truncate(Listed::MOST);
        }
    }
}

impl Drop for Followed {
    fn drop(&mut self) {
        let mut table = self.flows.table();
        if let Some(at) = table.names.iter().position(|name| *name == self.name) {
            table.names.swap_remove(at);
        }
    }
}

/// Looks until the daemon has dropped the flows.
fn look_on(flows: &Weak<Flows>) {
    loop {
        let began = monotonic_now();
        {
            let Some(flows) = flows.upgrade() else { return };
            let names = flows.names();
            let mut sockets = Vec::new();
            // Where the kernel does not list them, there is nothing to show.
            if !names.is_empty() && tcp_sockets(&names, |socket| sockets.push(socket)).is_ok() {
                flows.handle_list(began, &sockets);
            }
        }
        thread::sleep(EVERY.max((monotonic_now() - began) * SHARE));
    }
}

#[cfg(test)]
mod tests {
    use sounding_bpf::Reason;

    use super::*;

    fn at(ms: u64) -> HostInstant {
        HostInstant::from_nanos(ms * 1_000_000)
    }

    fn socket(port: u16, mbit: u64) -> TcpSocket {
        let pacing = Some(Rate::from_bits_per_sec(mbit * 1_000_000));
        TcpSocket { family: 2, local_port: port, remote_port: 443, pacing }
    }

    fn transition(port: u16, to: Phase, modem: Option<usize>, ms: u64) -> Transition {
        Transition {
            at: at(ms),
            from: Phase::NoEstimate,
            to,
            reason: Reason::Fresh,
            share: Rate::ZERO,
            e2e: Rate::ZERO,
            flows: 1,
            cookie: None,
            family: 2,
            local_port: port,
            remote_port: 443,
            modem,
        }
    }

    fn followed() -> Flows {
        let flows = Flows::default();
        flows.table().names.push("law".into());
        flows
    }

    #[test]
    fn flows_are_counted_by_phase_and_listed_by_rate() {
        let flows = followed();
        flows.handle_transition(&transition(1, Phase::RadioLimited, Some(0), 10));
        flows.handle_transition(&transition(2, Phase::Hold, Some(1), 10));
        flows.handle_list(at(20), &[socket(1, 5), socket(2, 7), socket(3, 9)]);
        let first = flows.at(0, true).expect("free");
        assert_eq!(first.phases, BTreeMap::from([("no-estimate", 1), ("radio-limited", 1)]));
        let ports: Vec<u16> = first.listed.fastest.iter().map(|flow| flow.local_port).collect();
        assert_eq!((ports, first.listed.more), (vec![3, 1], 0));
        let second = flows.at(1, false).expect("free");
        assert_eq!(second.phases, BTreeMap::from([("hold", 1)]));
    }

    #[test]
    fn many_flows_are_cut_to_the_fastest_and_counted() {
        let flows = followed();
        let sockets: Vec<_> = (0..1_000).map(|port| socket(port, u64::from(port))).collect();
        flows.handle_list(at(0), &sockets);
        let seen = flows.at(0, true).expect("free");
        assert_eq!(seen.listed.fastest.len(), Listed::MOST);
        assert_eq!(seen.listed.fastest[0].local_port, 999);
        assert_eq!(seen.listed.more + Listed::MOST as u64, 1_000);
        assert_eq!(seen.phases, BTreeMap::from([("no-estimate", 1_000)]));
    }

    #[test]
    fn a_flow_that_has_ended_is_forgotten_and_a_young_one_is_not() {
        let flows = followed();
        flows.handle_transition(&transition(1, Phase::Hold, Some(0), 1_000));
        flows.handle_transition(&transition(2, Phase::Hold, Some(0), 9_000));
        flows.handle_list(at(10_000), &[]);
        assert_eq!(flows.table().phases.len(), 1);
        flows.handle_list(at(10_000), &[socket(2, 1)]);
        assert_eq!(flows.at(0, false).expect("free").phases, BTreeMap::from([("hold", 1)]));
    }

    #[test]
    fn changes_beyond_the_room_make_phases_unknown_and_no_more_memory() {
        let flows = followed();
        for flow in 0..MOST + 10 {
            let mut change = transition((flow % 65_536) as u16, Phase::Hold, Some(0), 9_000);
            change.remote_port = (flow / 65_536) as u16;
            flows.handle_transition(&change);
        }
        assert_eq!(flows.table().phases.len(), MOST);
        flows.handle_list(at(9_000), &[socket(1, 1)]);
        assert_eq!(flows.at(0, true).expect("free").phases, BTreeMap::from([("unknown", 1)]));
    }

    #[test]
    fn without_a_law_there_are_no_flows_to_tell() {
        let flows = Arc::new(Flows::default());
        assert!(flows.at(0, true).is_none());
        let followed = flows.follow("no_such_law");
        assert!(flows.table().names.len() == 1);
        drop(followed);
        assert!(flows.table().names.is_empty());
    }
}
