//! A run with everything that judges need: arrivals, the radio's delays of each packet, and the modem's events.

use std::cell::RefCell;
use std::collections::{HashMap, VecDeque};
use std::rc::Rc;
use std::sync::PoisonError;
use std::time::Duration;

use sounding_cell::{Event as CellEvent, Passage};
use sounding_experiment::plan::{Actors, Built, Run, Wrong, network};
use sounding_experiment::simulate::populate;
use sounding_kpi::Direction;
use sounding_link::{Arrival as Came, Config, RanDelay, Sounder};
use sounding_sim::world::{Event, FlowId, Segment};
use sounding_sim::{Carried, Device, Diag, Network, Output, Port, World};
use sounding_testbed::call::Waited;
use sounding_trace::dci::Heard;
use sounding_units::{Bytes, HostInstant};

use super::scene::Shared;

/// The most of an uplink wait that counts as the scheduler's for who knows the truth.
const MOST_WAIT: Duration = Duration::from_millis(20);

/// As a browser's statistics are read.
const TARGETS_EVERY: Duration = Duration::from_millis(100);
/// What an uplink packet waits beyond this waits behind others: three intervals of reports, the longest that the scheduler takes.
pub(super) const SCHEDULED: Duration = Duration::from_millis(15);
/// The flow that is judged.
const FIRST: FlowId = FlowId(0);

/// A data packet that arrived.
#[derive(Clone, Copy, Debug)]
pub(super) struct Arrival {
    pub(super) sent: HostInstant,
    pub(super) at: HostInstant,
    pub(super) size: u64,
    /// What it waited behind other packets at the wire and at the radio.
    pub(super) queued: Duration,
}

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
#[derive(Debug, Default)]
pub(super) struct Observed {
    pub(super) span: Duration,
    /// Of the first flow.
    pub(super) arrivals: Vec<Arrival>,
    /// What the radio did, down and up.
    pub(super) passages: [Vec<Passage>; 2],
    /// Transmissions of blocks.
    pub(super) blocks: Vec<Block>,
    /// The modem's events, and when the host had them.
    pub(super) events: Vec<(HostInstant, RanDelay)>,
    /// What the first flow's controller paces at, Mbit/s, every 100 ms; not while GCC probes for more.
    pub(super) targets: Vec<(HostInstant, f64)>,
    /// Where the first flow's data goes.
    data: Option<Direction>,
    /// The modem's bytes, if they are wanted, and when they came.
    pub(super) diag: Vec<(HostInstant, Vec<u8>)>,
}

impl Observed {
    /// What the radio did to packets of data, in order of their entry.
    pub(super) fn waited(&self) -> Vec<Waited> {
        let passages = &self.passages[index(self.data.unwrap_or(Direction::Downlink))];
        let of =
            |&of: &Passage| Waited { entered: of.entered, sent: of.sent, delivered: of.delivered };
        let mut waited: Vec<Waited> = passages.iter().map(of).collect();
        waited.sort_by_key(|waited| waited.entered);
        waited
    }

    /// Throughput of the first flow from `from` on, IP, Mbit/s.
    pub(super) fn mbit_per_sec(&self, from: Duration) -> f64 {
        let since = HostInstant::default() + from;
        let bytes: u64 = self.arrivals.iter().filter(|a| a.at >= since).map(|a| a.size).sum();
        bytes as f64 * 8e-6 / (self.span - from).as_secs_f64()
    }

    /// One-way delays of the first flow from `from` on, ms, sorted.
    pub(super) fn delays_ms(&self, from: Duration) -> Vec<f64> {
        let since = HostInstant::default() + from;
        let late = self.arrivals.iter().filter(|a| a.at >= since);
        let mut delays: Vec<f64> = late.map(|a| (a.at - a.sent).as_secs_f64() * 1e3).collect();
        delays.sort_by(f64::total_cmp);
        delays
    }
}

#[derive(Default)]
struct Kept {
    /// By direction: passages of packets that did not leave yet, by when they entered (up) or are delivered (down).
    passages: [HashMap<HostInstant, VecDeque<Passage>>; 2],
    observed: Observed,
    /// The least time from a packet's last block to its delivery.
    least: [Option<Duration>; 2],
}

struct Seen {
    network: Built<Segment>,
    kept: Rc<RefCell<Kept>>,
    shared: Shared,
    data: Direction,
    events: Vec<CellEvent>,
    monitor: Option<Sounder>,
    /// From then on the modem is dead.
    dies: Option<HostInstant>,
    /// Whether the modem's bytes are kept.
    keeps: bool,
}

fn index(direction: Direction) -> usize {
    usize::from(direction == Direction::Uplink)
}

impl Seen {
    fn take_events(&mut self) {
        self.network.drain_events(&mut self.events);
        let mut kept = self.kept.borrow_mut();
        for event in self.events.drain(..) {
            match event {
                CellEvent::Passage { device, direction, passage } if device.0 == 0 => {
                    let key = match direction {
                        Direction::Uplink => passage.entered,
                        Direction::Downlink => passage.delivered,
                    };
                    let at = index(direction);
                    kept.passages[at].entry(key).or_default().push_back(passage);
                    kept.observed.passages[at].push(passage);
                    let took = passage.delivered - passage.sent;
                    kept.least[at] = Some(kept.least[at].map_or(took, |least| least.min(took)));
                }
                CellEvent::Transmission(device, sent) if device.0 == 0 => {
                    kept.observed.blocks.push(Block {
                        direction: sent.direction,
                        at: sent.slot.at,
                        carrier: sent.slot.carrier.0.into(),
                        harq: sent.harq,
                        number: sent.number,
                        arrived: sent.arrived,
                    });
                }
                _ => {}
            }
        }
    }

    /// What the radio did to a packet that is through.
    fn passage(&self, port: Port, out: &Carried<Segment>) -> Option<(Passage, Duration)> {
        let mut kept = self.kept.borrow_mut();
        let at = index(port.direction);
        let key = match port.direction {
            Direction::Uplink => out.entered,
            Direction::Downlink => out.exits,
        };
        let passages = kept.passages[at].get_mut(&key)?;
        let passage = passages.pop_front()?;
        if passages.is_empty() {
            kept.passages[at].remove(&key);
        }
        let least = kept.least[at].unwrap_or_default();
        Some((passage, least))
    }

    fn judge(&self, port: Port, out: &Carried<Segment>) {
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
            let (sent, at, size) = (out.entered, out.exits, out.size.count());
            self.kept.borrow_mut().observed.arrivals.push(Arrival { sent, at, size, queued });
        } else {
            truth.acks.insert(out.exits, added);
            truth.acked.entry(out.exits).or_default().push_back(out.entered);
        }
    }
}

impl Network<Segment> for Seen {
    fn handle_packet(&mut self, now: HostInstant, port: Port, size: Bytes, payload: Segment) {
        if let (Some(sounder), Direction::Uplink, Device(0)) =
            (&mut self.monitor, port.direction, port.device)
        {
            sounder.handle_entered(now, size);
        }
        self.network.handle_packet(now, port, size, payload);
    }

    fn handle_time(&mut self, now: HostInstant) {
        self.network.handle_time(now);
    }

    fn poll_output(&mut self) -> Option<(Port, Output<Segment>)> {
        let (port, output) = self.network.poll_output()?;
        if let Output::Carried(out) = &output
            && port.device == Device(0)
        {
            self.take_events();
            self.judge(port, out);
        }
        Some((port, output))
    }

    fn wakeup(&self) -> Option<HostInstant> {
        self.network.wakeup()
    }

    fn no_output_before(&self, at: HostInstant) -> HostInstant {
        self.network.no_output_before(at)
    }

    fn poll_heard(&mut self) -> Option<(HostInstant, Heard)> {
        self.network.poll_heard()
    }

    fn poll_diag(&mut self) -> Option<Diag> {
        loop {
            let diag = self.network.poll_diag()?;
            if self.dies.is_some_and(|dies| diag.at >= dies) {
                continue;
            }
            if self.keeps {
                self.kept.borrow_mut().observed.diag.push((diag.at, diag.bytes.clone()));
            }
            if let Some(sounder) = &mut self.monitor {
                sounder.handle_bytes(Came::At(diag.at), &diag.bytes, |_, _| {});
                let mut kept = self.kept.borrow_mut();
                while let Some(event) = sounder.poll_delay() {
                    kept.observed.events.push((diag.at, event));
                }
            }
            return Some(diag);
        }
    }
}

/// Makes a run. With `dies` its modem is silent from then on.
pub(super) fn observe(
    run: &Run,
    shared: &Shared,
    dies: Option<Duration>,
) -> Result<Observed, Wrong> {
    watch(run, shared, dies, false)
}

/// Makes a run and keeps the modem's bytes.
pub(super) fn observe_diag(run: &Run, shared: &Shared) -> Result<Observed, Wrong> {
    watch(run, shared, None, true)
}

fn watch(
    run: &Run,
    shared: &Shared,
    dies: Option<Duration>,
    keeps: bool,
) -> Result<Observed, Wrong> {
    let actors = Actors::new(&run.plan)?;
    let mut built: Built<Segment> = network(&run.plan, &run.folder, run.seed)?;
    built.show(&[Device(0)], false);
    let kept = Rc::new(RefCell::new(Kept::default()));
    let data = actors.flows.first().map_or(Direction::Downlink, |flow| flow.port.direction);
    let origin = HostInstant::default();
    let seen = Seen {
        network: built,
        kept: Rc::clone(&kept),
        shared: shared.clone(),
        data,
        events: Vec::new(),
        monitor: Some(Sounder::new(Config::new(data)).with_delays()),
        dies: dies.map(|dies| origin + dies),
        keeps,
    };
    let mut world = World::new(seen, run.seed);
    populate(&mut world, run, &actors);
    let mut targets: Vec<(HostInstant, f64)> = Vec::new();
    world.observe_until(origin + run.plan.duration, &mut |now: HostInstant, event: &Event<'_>| {
        let Event::Acked { flow: FIRST, controller, .. } = event else { return };
        let is_due = targets.last().is_none_or(|(at, _)| now - *at >= TARGETS_EVERY);
        if is_due && controller.state() != "probing" {
            targets.extend(controller.pacing_rate().map(|rate| (now, rate.mbit_per_sec())));
        }
    });
    drop(world);
    let mut observed =
        Rc::into_inner(kept).map(|kept| kept.into_inner().observed).unwrap_or_default();
    observed.span = run.plan.duration;
    (observed.targets, observed.data) = (targets, Some(data));
    Ok(observed)
}
