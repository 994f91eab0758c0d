//! The path of most tests: 12 Mbit/s, 20 ms each way, so that a full packet takes a millisecond and the BDP is 40 of
//! them.

#![allow(dead_code, reason = "each test needs some of it")]

pub(crate) mod lossy;

use std::time::Duration;

use sounding_cc::{Controller, Start};
use sounding_sim::world::{Event, Flow, FlowId, Segment};
use sounding_sim::{Device, Links, Path, PathConfig, Port, QueueLimit, World};
use sounding_trace::Schedule;
use sounding_units::{Bytes, HostInstant, Rate};

/// Payload of a segment.
pub(crate) const MSS: u64 = 1448;
/// A packet, in bytes of IP.
pub(crate) const PACKET: u64 = 1500;
/// 12 Mbit/s over 40 ms.
pub(crate) const BDP: u64 = 40 * PACKET;
/// The device of every flow.
pub(crate) const UP: Port = Port::up(Device(0));

pub(crate) type TestWorld = World<Links<Path<Segment>>>;

pub(crate) fn mbit(mbit: u64) -> Rate {
    Rate::from_bits_per_sec(mbit * 1_000_000)
}

pub(crate) fn millis(millis: u64) -> Duration {
    Duration::from_millis(millis)
}

pub(crate) fn at_secs(secs: u64) -> HostInstant {
    HostInstant::from_nanos(secs * 1_000_000_000)
}

/// How to make a controller that the registry knows.
pub(crate) fn named(name: &str) -> fn(&Start) -> Box<dyn Controller> {
    sounding_cc::by_name(name).unwrap()
}

/// A bottleneck on the way up that holds `buffer` bytes, 20 ms each way, and a gigabit on the way back.
pub(crate) fn links<P>(
    bottleneck: impl Into<Schedule>,
    buffer: u64,
    origin: HostInstant,
) -> Links<Path<P>> {
    let (up, down) = directions(bottleneck, buffer);
    Links::one(&up, &down, origin)
}

fn directions(bottleneck: impl Into<Schedule>, buffer: u64) -> (PathConfig, PathConfig) {
    let mut up = PathConfig::new(bottleneck);
    up.delay = millis(20);
    up.queue = QueueLimit::bytes(Bytes::new(buffer));
    let mut down = PathConfig::new(mbit(1000));
    down.delay = millis(20);
    (up, down)
}

pub(crate) fn world(bottleneck: impl Into<Schedule>, buffer: u64) -> TestWorld {
    World::new(links(bottleneck, buffer, HostInstant::default()), 1)
}

/// A window over time.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Sample {
    pub(crate) at: HostInstant,
    pub(crate) cwnd: f64,
    pub(crate) in_flight: f64,
    pub(crate) rtt: Option<Duration>,
    pub(crate) state: &'static str,
}

/// Runs until `until` and keeps every window, in segments.
pub(crate) fn windows(world: &mut TestWorld, flow: FlowId, until: HostInstant) -> Vec<Sample> {
    let mut samples = Vec::new();
    world.observe_until(until, &mut |at: HostInstant, event: &Event<'_>| {
        if let Event::Acked { flow: whose, ack, controller } = event
            && *whose == flow
        {
            samples.push(Sample {
                at,
                cwnd: controller.cwnd().count() as f64 / MSS as f64,
                in_flight: ack.in_flight.count() as f64 / MSS as f64,
                rtt: ack.rtt,
                state: controller.state(),
            });
        }
    });
    samples
}

/// Runs one bulk flow for a while before it is measured, and then for `secs`.
pub(crate) fn settled(
    controller: &str,
    bottleneck: Rate,
    buffer: u64,
    secs: u64,
) -> (TestWorld, FlowId) {
    let mut world = world(bottleneck, buffer);
    let flow = world.add_flow(Flow::bulk(UP, named(controller)));
    world.run_until(at_secs(30));
    world.measure_afresh();
    world.run_until(at_secs(30 + secs));
    (world, flow)
}

/// Jain's index of how evenly rates are shared: one of all alike, 1 ÷ n of one that has all.
pub(crate) fn jain(rates: &[f64]) -> f64 {
    let squares = rates.iter().map(|rate| rate * rate).sum::<f64>();
    rates.iter().sum::<f64>().powi(2) / (rates.len() as f64 * squares)
}

/// Goodputs in Mbit/s of flows that begin five seconds apart, from the second of `from` on for `secs`.
pub(crate) fn rivals(controllers: &[&str], buffer: u64, from: u64, secs: u64) -> Rivals {
    let mut world = world(mbit(12), buffer);
    let flows: Vec<FlowId> = (0..)
        .zip(controllers)
        .map(|(at, name)| world.add_flow(Flow::bulk(UP, named(name)).begins(at_secs(5 * at))))
        .collect();
    world.run_until(at_secs(from));
    world.measure_afresh();
    world.run_until(at_secs(from + secs));
    let rates = flows.iter().map(|&flow| world.report(flow).goodput().mbit_per_sec()).collect();
    Rivals { rates, queueing: world.report(flows[0]).queueing.mean().unwrap() }
}

/// How flows shared a link.
#[derive(Debug)]
pub(crate) struct Rivals {
    pub(crate) rates: Vec<f64>,
    /// Of the first flow, on average.
    pub(crate) queueing: Duration,
}

impl Rivals {
    /// What the first had of all that was carried.
    pub(crate) fn share_of_first(&self) -> f64 {
        self.rates[0] / self.rates.iter().sum::<f64>()
    }
}
