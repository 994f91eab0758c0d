//! A run of a plan's cell, seen from outside: what each flow got every 100 ms, how much waited for
//! it at the radio, and who had the resource blocks.

use std::collections::BTreeMap;
use std::time::Duration;

use super::{Observation, Setup, Sink};
use crate::plan::{Actor, Actors, Run, TrafficPlan, Wrong};
use sounding_cell::Event as Radio;
use sounding_cell::event::Rrc;
use sounding_sim::world::{Event, FlowId, Report};
use sounding_units::{Bytes, HostInstant};

/// The width of a window. The paper plots seconds; a yield takes less.
pub const WINDOW: Duration = Duration::from_millis(100);

/// Resource blocks of the downlink, in windows.
#[derive(Clone, Debug, Default)]
pub struct Account {
    /// All that there were.
    pub all: Vec<u64>,
    /// Those of each device.
    pub of: BTreeMap<u16, Vec<u64>>,
    /// Slots of all carriers, and those in which data waited for each device.
    slots: Vec<u64>,
    waited: BTreeMap<u16, Vec<u64>>,
    /// Of the first device.
    pub handovers: u64,
}

impl Sink for Account {
    fn handle_radio(&mut self, event: &Radio) {
        if let Radio::Rrc { device, change: Rrc::Handover { .. }, .. } = event {
            self.handovers += u64::from(device.0 == 0);
        }
        let Radio::Use(used) = event else { return };
        let at = window_of(used.slot.at);
        add(&mut self.all, at, used.prb.into());
        add(&mut self.slots, at, 1);
        for share in used.users.iter().filter(|share| share.waits) {
            add(self.waited.entry(share.device.0).or_default(), at, 1);
        }
        for share in used.users.iter().filter(|share| share.prb > 0) {
            add(self.of.entry(share.device.0).or_default(), at, share.prb.into());
        }
    }
}

impl Account {
    /// The part of a window that other devices than this one had.
    pub fn others(&self, device: u16, window: usize) -> f64 {
        let all = self.all.get(window).copied().unwrap_or(0);
        let others = self.of.iter().filter(|(other, _)| **other != device);
        let others: u64 = others.filter_map(|(_, had)| had.get(window)).sum();
        others as f64 / all.max(1) as f64
    }

    /// The part of a window in which data waited for one other device than this one, the one with
    /// the most.
    pub fn others_waited(&self, device: u16, window: usize) -> f64 {
        let slots = self.slots.get(window).copied().unwrap_or(0);
        let others = self.waited.iter().filter(|(other, _)| **other != device);
        let most = others.filter_map(|(_, waited)| waited.get(window)).max();
        most.copied().unwrap_or(0) as f64 / slots.max(1) as f64
    }

    /// The part of all resource blocks between two times that was used.
    pub fn used_until(&self, from: Duration, to: Duration) -> f64 {
        let [first, last] = [from, to].map(|at| window_of(HostInstant::default() + at));
        let sum = |had: &Vec<u64>| had.iter().take(last).skip(first).sum::<u64>();
        let used: u64 = self.of.values().map(sum).sum();
        used as f64 / sum(&self.all).max(1) as f64
    }
}

fn window_of(at: HostInstant) -> usize {
    (at.as_nanos() / WINDOW.as_nanos() as u64) as usize
}

fn add(windows: &mut Vec<u64>, at: usize, what: u64) {
    if windows.len() <= at {
        windows.resize(at + 1, 0);
    }
    windows[at] += what;
}

/// A flow of a run.
#[derive(Clone, Debug, Default)]
pub struct Seen {
    /// The size of its transfers, of arrivals.
    pub size: Option<Bytes>,
    /// What was measured after the warm-up.
    pub report: Report,
    /// IP bytes that arrived in each window.
    pub arrived: Vec<u64>,
    /// Bytes that came to wait at the radio in each millisecond, less those that left it.
    waiting: Vec<i64>,
}

impl Seen {
    /// Mean throughput between two times, Mbit/s.
    pub fn rate(&self, from: Duration, to: Duration) -> f64 {
        let [first, last] = [from, to].map(|at| window_of(HostInstant::default() + at));
        let bytes: u64 = self.arrived.iter().skip(first).take(last.saturating_sub(first)).sum();
        bytes as f64 * 8e-6 / (to - from).as_secs_f64()
    }

    /// What waited at the radio in each millisecond between two times, in bytes.
    pub fn queue(&self, from: Duration, to: Duration) -> Vec<i64> {
        let sums = self.waiting.iter().scan(0, |waits, change| {
            *waits += change;
            Some(*waits)
        });
        let [from, to] = [from, to].map(|at| at.as_millis() as usize);
        sums.skip(from).take(to - from).collect()
    }

    fn handle_wait(&mut self, at: HostInstant, change: i64) {
        let at = (at.as_nanos() / 1_000_000) as usize;
        if self.waiting.len() <= at {
            self.waiting.resize(at + 1, 0);
        }
        self.waiting[at] += change;
    }
}

/// What a run showed.
#[derive(Clone, Debug, Default)]
pub struct Shown {
    /// Its flows, in the order of the plan.
    pub flows: Vec<Seen>,
    /// Who had the cell.
    pub account: Account,
}

/// The flows of a run while it is made; with `queues`, the queues are kept too.
struct Flows {
    seen: Vec<Seen>,
    queues: bool,
}

impl Sink for Flows {
    fn handle_event(&mut self, _: HostInstant, event: &Event<'_>) {
        let Event::Arrived { flow, packet } = event else { return };
        let Some(seen) = self.seen.get_mut(flow.0 as usize) else { return };
        add(&mut seen.arrived, window_of(packet.exits), packet.size.count());
        if self.queues {
            seen.handle_wait(packet.joined, packet.size.count() as i64);
            seen.handle_wait(packet.left, -(packet.size.count() as i64));
        }
    }
}

/// Makes a run; with `queues`, the queues are kept too.
///
/// # Errors
///
/// As [`Observation::new`].
pub fn run(run: &Run, queues: bool) -> Result<Shown, Wrong> {
    let plan = &run.plan;
    let size = |actor: &Actor| match &plan.flows[actor.plan].traffic {
        TrafficPlan::Arrivals { sizes, .. } => sizes.get(actor.number as usize).map(|size| size.0),
        _ => None,
    };
    let actors = Actors::new(plan)?.flows;
    let seen = actors.iter().map(|actor| Seen { size: size(actor), ..Seen::default() }).collect();
    let sink = (Flows { seen, queues }, Account::default());
    // A device's handovers are events of watched devices alone.
    let moves = plan.cell.as_ref().is_some_and(|cell| cell.carriers.len() > 1);
    let setup = Setup { radio: moves, slots: true, ..Setup::default() };
    let mut made = Observation::new(run, setup, sink)?;
    made.pass_until(plan.warmup);
    made.world.measure_afresh();
    made.pass_until(plan.duration);
    for (number, seen) in made.sink().0.seen.iter_mut().enumerate() {
        let (id, world) = (FlowId(number as u32), &made.world);
        seen.report = if seen.size.is_some() { world.total(id) } else { world.report(id).clone() };
    }
    let (flows, account) = made.end();
    Ok(Shown { flows: flows.seen, account })
}
