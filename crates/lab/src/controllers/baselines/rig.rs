//! The path on which controllers' properties are tested, and runs over it: 12 Mbit/s, 20 ms in each
//! direction. A full packet takes a millisecond, and the BDP is 40 packets.

use std::collections::BTreeMap;
use std::rc::Rc;
use std::time::Duration;

use sounding_cc::{Controller, Start};
use sounding_experiment::metrics;
use sounding_sim::world::{Acks, Event, Flow, FlowId, Report, Segment};
use sounding_sim::{Device, Duplex, Links, Order, Path, PathConfig, Port, QueueLimit, World};
use sounding_trace::{Schedule, Steps};
use sounding_units::{Bytes, HostInstant, Rate};

use super::lossy::Lossy;

/// Payload of a segment.
const MSS: f64 = 1448.0;
/// A packet, in bytes of IP.
pub(super) const PACKET: u64 = 1500;
/// 12 Mbit/s over 40 ms.
pub(super) const BDP: u64 = 40 * PACKET;
/// IP bytes per second; 1448 in 1500 are payload.
pub(super) const MBIT: u64 = 12;
/// The device of every flow.
const UP: Port = Port::up(Device(0));
/// How long a flow runs before it is measured, and how long it is measured then, by default.
const SETTLES: u64 = 30;
const LASTS: u64 = 120;

type Plain = World<Links<Path<Segment>>>;

pub(super) fn at_secs(secs: u64) -> HostInstant {
    HostInstant::from_nanos(secs * 1_000_000_000)
}

fn mbit(mbit: u64) -> Rate {
    Rate::from_bits_per_sec(mbit * 1_000_000)
}

/// In milliseconds; NaN if there is none, which is outside every range.
pub(super) fn millis(span: Option<Duration>) -> f64 {
    span.map_or(f64::NAN, |span| span.as_secs_f64() * 1e3)
}

/// The constructor of a controller in the registry.
fn named(name: &str) -> fn(&Start) -> Box<dyn Controller> {
    sounding_baselines::by_name(name).unwrap_or_else(|| panic!("no controller is called {name}"))
}

fn directions(bottleneck: impl Into<Schedule>, buffer: u64) -> (PathConfig, PathConfig) {
    let mut up = PathConfig::new(bottleneck);
    up.delay = Duration::from_millis(20);
    up.queue = QueueLimit::bytes(Bytes::new(buffer));
    let mut down = PathConfig::new(mbit(1000));
    down.delay = Duration::from_millis(20);
    (up, down)
}

fn world(bottleneck: impl Into<Schedule>, buffer: u64) -> Plain {
    let (up, down) = directions(bottleneck, buffer);
    World::new(Links::one(&up, &down, HostInstant::default()), 1)
}

/// Window, flight and RTT at an acknowledgement.
#[derive(Clone, Copy, Debug)]
pub(super) struct Sample {
    pub(super) at: HostInstant,
    /// In segments.
    pub(super) cwnd: f64,
    /// In segments.
    pub(super) in_flight: f64,
    pub(super) rtt_ms: f64,
    pub(super) pacing_mbit: f64,
    pub(super) state: &'static str,
}

/// A single flow whose acknowledgements are all recorded.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Watch {
    pub(super) controller: &'static str,
    pub(super) mbit: u64,
    pub(super) buffer: u64,
    /// Whether each segment is acknowledged, and not every second one.
    pub(super) each: bool,
    /// End of the run, in seconds.
    pub(super) until: u64,
}

impl Watch {
    /// On the usual path, from the beginning.
    pub(super) fn of(controller: &'static str, buffer: u64, until: u64) -> Self {
        Self { controller, mbit: MBIT, buffer, each: false, until }
    }
}

/// How flows shared a link.
#[derive(Clone, Debug)]
pub(super) struct Rivals {
    /// Goodputs, in Mbit/s.
    pub(super) rates: Vec<f64>,
    /// Mean over the first flow's packets.
    pub(super) queueing_ms: f64,
    /// How many acknowledgements each flow spent in `competitive`.
    pub(super) competing: Vec<f64>,
}

impl Rivals {
    /// The first flow's part of the total goodput.
    pub(super) fn share_of_first(&self) -> f64 {
        self.rates[0] / self.rates.iter().sum::<f64>()
    }

    /// Jain's index of the rates; NaN if all are zero, which is outside every range.
    pub(super) fn jain(&self) -> f64 {
        metrics::jain(&self.rates).unwrap_or(f64::NAN)
    }
}

/// The flows that share the usual link, each started five seconds after the previous one, and the
/// measured seconds.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Race {
    controllers: Vec<&'static str>,
    buffer: u64,
    from: u64,
    secs: u64,
}

/// Runs, each made once.
#[derive(Debug, Default)]
pub(super) struct Rig {
    alone: BTreeMap<(&'static str, u64, u64), Rc<Report>>,
    watched: BTreeMap<Watch, Rc<Vec<Sample>>>,
    raced: BTreeMap<Race, Rc<Rivals>>,
}

impl Rig {
    /// One bulk flow: the two minutes after the first 30 s.
    pub(super) fn alone(&mut self, controller: &'static str, rate: u64, buffer: u64) -> Rc<Report> {
        let run = || {
            let span = (at_secs(SETTLES), at_secs(SETTLES + LASTS));
            Rc::new(one(world(mbit(rate), buffer), named(controller), span))
        };
        self.alone.entry((controller, rate, buffer)).or_insert_with(run).clone()
    }

    /// The share of the usual path's capacity that it used.
    pub(super) fn used(&mut self, controller: &'static str, buffer: u64) -> f64 {
        used(&self.alone(controller, MBIT, buffer), MBIT)
    }

    /// Packets that the network dropped of one bulk flow's first four seconds.
    pub(super) fn lost_at_first(&mut self, controller: &'static str, buffer: u64) -> u64 {
        one(world(mbit(MBIT), buffer), named(controller), (at_secs(0), at_secs(4))).dropped
    }

    /// The longest queue that a packet of one bulk flow met, in ms.
    pub(super) fn worst_queue(&mut self, controller: &'static str, buffer: u64, until: u64) -> f64 {
        let span = (at_secs(0), at_secs(until));
        millis(one(world(mbit(MBIT), buffer), named(controller), span).queueing.most())
    }

    /// Every acknowledgement of one bulk flow.
    pub(super) fn watch(&mut self, watch: Watch) -> Rc<Vec<Sample>> {
        let run = || {
            let acks = if watch.each { Acks::EveryPacket } else { Acks::Delayed };
            let mut world = world(mbit(watch.mbit), watch.buffer);
            let flow = Flow::bulk(UP, named(watch.controller)).acknowledged(acks);
            let flow = world.add_flow(flow);
            Rc::new(samples(&mut world, flow, at_secs(watch.until)))
        };
        self.watched.entry(watch).or_insert_with(run).clone()
    }

    /// The same, without the seconds before `from`.
    pub(super) fn watch_from(&mut self, watch: Watch, from: u64) -> Vec<Sample> {
        let samples = self.watch(watch);
        samples.iter().filter(|sample| sample.at >= at_secs(from)).copied().collect()
    }

    /// Flows that start five seconds apart, measured for `secs` seconds after `from`.
    pub(super) fn rivals(
        &mut self,
        controllers: &[&'static str],
        buffer: u64,
        from: u64,
        secs: u64,
    ) -> Rc<Rivals> {
        let race = Race { controllers: controllers.to_vec(), buffer, from, secs };
        self.raced.entry(race.clone()).or_insert_with(|| Rc::new(rivals(&race))).clone()
    }
}

/// Throughput over what a link of this many Mbit/s could have carried.
pub(super) fn used(report: &Report, rate: u64) -> f64 {
    report.utilisation(mbit(rate) * report.span())
}

/// One bulk flow over a link whose rate changes, measured over a span.
pub(super) fn over(
    steps: &Steps,
    buffer: u64,
    controller: &'static str,
    (from, to): (u64, u64),
) -> Report {
    one(world(steps.clone(), buffer), named(controller), (at_secs(from), at_secs(to)))
}

/// One bulk flow that a closure makes, on the usual path.
pub(super) fn made(
    make: impl Fn(&Start) -> Box<dyn Controller> + Send + 'static,
    buffer: u64,
    (from, to): (u64, u64),
) -> Report {
    one(world(mbit(MBIT), buffer), make, (at_secs(from), at_secs(to)))
}

/// Parses the steps of a constant text.
pub(super) fn steps(text: &str) -> Steps {
    text.parse().unwrap_or_else(|error| panic!("{text:?}: {error}"))
}

/// Goodput of a flow on the usual path that loses some packets in a thousand before the queue,
/// divided by the largest possible goodput with these losses.
pub(super) fn used_despite_loss(
    controller: &'static str,
    per_mille: u64,
    (from, to): (u64, u64),
) -> f64 {
    let (up, down) = directions(mbit(MBIT), BDP);
    let origin = HostInstant::default();
    let lossy = |config: &PathConfig, order, per_mille| {
        Lossy::new(Path::new(config, order, origin), per_mille)
    };
    let up = lossy(&up, Order::LinkThenDelay, per_mille);
    let down = lossy(&down, Order::DelayThenLink, 0);
    let mut world = World::new(Links::new(vec![Duplex { up, down }]), 1);
    let flow = world.add_flow(Flow::bulk(UP, named(controller)));
    world.run_until(at_secs(from));
    world.measure_afresh();
    world.run_until(at_secs(to));
    world.report(flow).goodput().mbit_per_sec() / (MBIT as f64 * MSS / PACKET as f64)
}

fn one(
    mut world: Plain,
    make: impl Fn(&Start) -> Box<dyn Controller> + Send + 'static,
    (from, to): (HostInstant, HostInstant),
) -> Report {
    let flow = world.add_flow(Flow::bulk(UP, make));
    world.run_until(from);
    world.measure_afresh();
    world.run_until(to);
    world.report(flow).clone()
}

fn samples(world: &mut Plain, flow: FlowId, until: HostInstant) -> Vec<Sample> {
    let mut samples = Vec::new();
    world.observe_until(until, &mut |at: HostInstant, event: &Event<'_>| {
        if let Event::Acked { flow: whose, ack, controller } = event
            && *whose == flow
        {
            samples.push(Sample {
                at,
                cwnd: controller.cwnd().count() as f64 / MSS,
                in_flight: ack.in_flight.count() as f64 / MSS,
                rtt_ms: millis(ack.rtt),
                pacing_mbit: controller.pacing_rate().map_or(f64::NAN, Rate::mbit_per_sec),
                state: controller.state(),
            });
        }
    });
    samples
}

fn rivals(race: &Race) -> Rivals {
    let mut world = world(mbit(MBIT), race.buffer);
    let flows: Vec<FlowId> = (0..)
        .zip(&race.controllers)
        .map(|(at, name)| world.add_flow(Flow::bulk(UP, named(name)).begins(at_secs(5 * at))))
        .collect();
    world.run_until(at_secs(race.from));
    world.measure_afresh();
    let mut states = vec![(0_u64, 0_u64); flows.len()];
    world.observe_until(
        at_secs(race.from + race.secs),
        &mut |_: HostInstant, event: &Event<'_>| {
            if let Event::Acked { flow, controller, .. } = event
                && let Some(at) = flows.iter().position(|known| known == flow)
            {
                states[at].0 += u64::from(controller.state() == "competitive");
                states[at].1 += 1;
            }
        },
    );
    Rivals {
        rates: flows.iter().map(|&flow| world.report(flow).goodput().mbit_per_sec()).collect(),
        queueing_ms: millis(world.report(flows[0]).queueing.mean()),
        competing: states.iter().map(|&(some, all)| some as f64 / all.max(1) as f64).collect(),
    }
}
