//! A run with everything that judges need: arrivals, the radio's delays of each packet, and the
//! modem's events.

use std::collections::{HashMap, VecDeque};
use std::sync::PoisonError;
use std::time::Duration;

use sounding_cell::{Event as CellEvent, Passage};
use sounding_experiment::observe::{Arrival, Packets, Setup, Sink};
use sounding_experiment::plan::{Actors, Run, Wrong};
use sounding_kpi::Direction;
use sounding_link::{Arrival as Came, Config, RanDelay, Sounder};
use sounding_sim::world::{Event, FlowId, Segment};
use sounding_sim::{Carried, Device, Diag, Port};
use sounding_testbed::call::Waited;
use sounding_units::{Bytes, HostInstant};

use super::scene::Shared;

/// The most of an uplink wait that counts as the scheduler's for who knows the truth.
const MOST_WAIT: Duration = Duration::from_millis(20);

/// As a browser's statistics are read.
const TARGETS_EVERY: Duration = Duration::from_millis(100);
/// What an uplink packet waits beyond this waits behind others: three intervals of reports, the
/// longest that the scheduler takes.
pub(super) const SCHEDULED: Duration = Duration::from_millis(15);
/// The flow that is judged.
const FIRST: FlowId = FlowId(0);

/// A transmission of a block.
#[derive(Clone, Copy, Debug)]
pub(super) struct Block {
    pub(super) direction: Direction,
    pub(super) at: HostInstant,
    pub(super) carrier: u16,
    pub(super) harq: u8,
    /// 0 for the first.
    pub(super) number: u8,
    pub(super) arrived: bool,
}

/// What was observed.
pub(super) struct Observed {
    pub(super) span: Duration,
    /// Of the first flow.
    pub(super) packets: Packets,
    /// What each of them waited behind other packets at the wire and at the radio.
    pub(super) queued: Vec<Duration>,
    /// What the radio did, down and up.
    pub(super) passages: [Vec<Passage>; 2],
    /// Transmissions of blocks.
    pub(super) blocks: Vec<Block>,
    /// The modem's events, and when the host had them.
    pub(super) events: Vec<(HostInstant, RanDelay)>,
    /// What the first flow's controller paces at, Mbit/s, every 100 ms; not while GCC probes for
    /// more.
    pub(super) targets: Vec<(HostInstant, f64)>,
    /// The modem's bytes, if they are wanted, and when they came.
    pub(super) diag: Option<Vec<(HostInstant, Vec<u8>)>>,
    /// Where the first flow's data goes.
    data: Direction,
    shared: Shared,
    monitor: Sounder,
    /// By direction: passages of packets that did not leave yet, by when they entered (up) or are
    /// delivered (down).
    inside: [HashMap<HostInstant, VecDeque<Passage>>; 2],
    /// The least time from a packet's last block to its delivery.
    least: [Option<Duration>; 2],
}

fn index(direction: Direction) -> usize {
    usize::from(direction == Direction::Uplink)
}

impl Observed {
    /// What the radio did to packets of data, in order of their entry.
    pub(super) fn waited(&self) -> Vec<Waited> {
        let of =
            |&of: &Passage| Waited { entered: of.entered, sent: of.sent, delivered: of.delivered };
        let mut waited: Vec<Waited> = self.passages[index(self.data)].iter().map(of).collect();
        waited.sort_by_key(|waited| waited.entered);
        waited
    }

    /// Throughput of the first flow from `from` on, IP, Mbit/s.
    pub(super) fn mbit_per_sec(&self, from: Duration) -> f64 {
        let late = self.packets.of(0, from, Duration::MAX);
        late.map(Arrival::size).sum::<u64>() as f64 * 8e-6 / (self.span - from).as_secs_f64()
    }

    /// One-way delays of the first flow from `from` on, ms, sorted.
    pub(super) fn delays_ms(&self, from: Duration) -> Vec<f64> {
        self.packets.delays_ms(0, from, Duration::MAX)
    }

    /// What the radio did to a packet that is through, and the least time to a delivery.
    fn passage(&mut self, port: Port, out: &Carried<Segment>) -> Option<(Passage, Duration)> {
        let at = index(port.direction);
        let key = match port.direction {
            Direction::Uplink => out.entered,
            Direction::Downlink => out.exits,
        };
        let passages = self.inside[at].get_mut(&key)?;
        let passage = passages.pop_front()?;
        if passages.is_empty() {
            self.inside[at].remove(&key);
        }
        Some((passage, self.least[at].unwrap_or_default()))
    }
}

impl Sink for Observed {
    fn handle_entered(&mut self, now: HostInstant, port: Port, size: Bytes) {
        if port == Port::up(Device(0)) {
            self.monitor.handle_entered(now, size);
        }
    }

    fn handle_radio(&mut self, event: &CellEvent) {
        match event {
            CellEvent::Passage { device, direction, passage } if device.0 == 0 => {
                let key = match direction {
                    Direction::Uplink => passage.entered,
                    Direction::Downlink => passage.delivered,
                };
                let at = index(*direction);
                self.inside[at].entry(key).or_default().push_back(*passage);
                self.passages[at].push(*passage);
                let took = passage.delivered - passage.sent;
                self.least[at] = Some(self.least[at].map_or(took, |least| least.min(took)));
            }
            CellEvent::Transmission(device, sent) if device.0 == 0 => self.blocks.push(Block {
                direction: sent.direction,
                at: sent.slot.at,
                carrier: sent.slot.carrier.0.into(),
                harq: sent.harq,
                number: sent.number,
                arrived: sent.arrived,
            }),
            _ => {}
        }
    }

    fn handle_left(&mut self, port: Port, out: &Carried<Segment>) {
        if port.device != Device(0) {
            return;
        }
        let Some((passage, least)) = self.passage(port, out) else { return };
        let held = (passage.delivered - passage.sent).saturating_sub(least);
        let in_radio = passage.sent - passage.entered;
        let at_wire = (out.left - out.joined).saturating_sub(in_radio);
        let waited = passage.began - passage.entered;
        let (added, queued) = match port.direction {
            // A packet that is cut waits for two grants, and has left with the second.
            Direction::Uplink => {
                (held + waited.min(MOST_WAIT), at_wire + in_radio.saturating_sub(SCHEDULED))
            }
            Direction::Downlink => (held, at_wire + in_radio),
        };
        if out.payload.flow() != FIRST {
            return;
        }
        let mut truth = self.shared.truth.lock().unwrap_or_else(PoisonError::into_inner);
        if port.direction == self.data {
            truth.data.insert(out.entered, added);
            let &Carried { size, entered, joined, left, exits, .. } = out;
            let packet = Carried { payload: (), size, entered, joined, left, exits };
            self.packets.arrivals.push(Arrival { flow: FIRST, packet });
            self.queued.push(queued);
        } else {
            truth.acks.insert(out.exits, added);
            truth.acked.entry(out.exits).or_default().push_back(out.entered);
        }
    }

    fn handle_diag(&mut self, diag: &Diag) {
        if let Some(kept) = &mut self.diag {
            kept.push((diag.at, diag.bytes.clone()));
        }
        self.monitor.handle_bytes(Came::At(diag.at), &diag.bytes, |_, _| {});
        while let Some(event) = self.monitor.poll_delay() {
            self.events.push((diag.at, event));
        }
    }

    fn handle_event(&mut self, now: HostInstant, event: &Event<'_>) {
        let Event::Acked { flow: FIRST, controller, .. } = event else { return };
        let is_due = self.targets.last().is_none_or(|(at, _)| now - *at >= TARGETS_EVERY);
        if is_due && controller.state() != "probing" {
            self.targets.extend(controller.pacing_rate().map(|rate| (now, rate.mbit_per_sec())));
        }
    }
}

/// Makes a run; if it is wanted, the modem's bytes are kept.
pub(super) fn observe(run: &Run, shared: &Shared, keeps: bool) -> Result<Observed, Wrong> {
    let flows = Actors::new(&run.plan)?.flows;
    let data = flows.first().map_or(Direction::Downlink, |flow| flow.port.direction);
    let observed = Observed {
        span: run.plan.duration,
        packets: Packets::default(),
        queued: Vec::new(),
        passages: Default::default(),
        blocks: Vec::new(),
        events: Vec::new(),
        targets: Vec::new(),
        diag: keeps.then(Vec::new),
        data,
        shared: shared.clone(),
        monitor: Sounder::new(Config::new(data)).with_delays(),
        inside: Default::default(),
        least: [None; 2],
    };
    let setup = Setup { radio: true, ..Setup::default() };
    sounding_experiment::observe::observe(run, setup, observed)
}
