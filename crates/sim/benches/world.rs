//! Packets per second that one core simulates: one flow under each controller, on a link of fixed
//! rate and on a recorded one.
//!
//! The recorded link is the busiest shared trace, or one made of bursts where there is none.
//! Divided by the packets of a second at 12 Mbit/s, a thousand, the rate is how much faster than
//! time it runs.

use std::sync::LazyLock;
use std::time::Duration;

use divan::Bencher;
use divan::counter::ItemsCount;
use sounding_sim::world::{Flow, Segment};
use sounding_sim::{Device, Links, Path, PathConfig, Port, QueueLimit, World};
use sounding_trace::{Schedule, Trace, mahimahi};
use sounding_units::{Bytes, HostInstant, Rate};

const SECS: u64 = 60;

static RECORDED: LazyLock<Schedule> = LazyLock::new(|| {
    let shared = sounding_testdata::shared("traces/mahimahi/traces/TMobile-LTE-driving.down");
    let trace = match shared {
        Some(path) => mahimahi::parse(&std::fs::read(path).expect("the trace can be read")),
        None => {
            Ok(Trace::from_millis((1..60_000).filter(|ms| ms % 10 < 8).collect()).expect("a trace"))
        }
    };
    trace.expect("a trace").into()
});

fn main() {
    LazyLock::force(&RECORDED);
    divan::main();
}

fn world(schedule: impl Into<Schedule>, controller: &str) -> World<Links<Path<Segment>>> {
    let mut up = PathConfig::new(schedule);
    up.delay = Duration::from_millis(20);
    up.queue = QueueLimit::bytes(Bytes::new(60_000));
    let mut down = PathConfig::new(Rate::from_bits_per_sec(1_000_000_000));
    down.delay = Duration::from_millis(20);
    let mut world = World::new(Links::one(&up, &down, HostInstant::default()), 1);
    let make = sounding_baselines::by_name(controller).expect("a controller");
    world.add_flow(Flow::bulk(Port::up(Device(0)), make));
    world
}

fn packets(bencher: Bencher<'_, '_>, schedule: &Schedule, controller: &str) {
    let until = HostInstant::from_nanos(SECS * 1_000_000_000);
    let run = || {
        let mut world = world(schedule.clone(), controller);
        world.run_until(until);
        world
    };
    let sent = run().report(sounding_sim::world::FlowId(0)).sent;
    bencher.counter(ItemsCount::new(sent)).bench(run);
}

#[divan::bench(args = sounding_baselines::names())]
fn twelve_mbit(bencher: Bencher<'_, '_>, controller: &str) {
    packets(bencher, &Rate::from_bits_per_sec(12_000_000).into(), controller);
}

#[divan::bench(args = sounding_baselines::names())]
fn recorded(bencher: Bencher<'_, '_>, controller: &str) {
    packets(bencher, &RECORDED, controller);
}
