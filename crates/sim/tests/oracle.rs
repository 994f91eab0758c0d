//! The oracle on a link that it knows.

#![allow(clippy::unwrap_used, reason = "a test whose input is wrong has to fail")]

mod common;

use std::time::Duration;

use common::{BDP, MSS, PACKET, UP, at_secs, millis, world};
use sounding_baselines::Oracle;
use sounding_sim::world::Flow;
use sounding_trace::Schedule;
use sounding_units::{Bytes, HostInstant};

#[test]
fn the_oracle_uses_every_opportunity_of_a_trace_and_never_queues() {
    // Bursts and pauses: 1 to 4 opportunities in some milliseconds, none for 50.
    let opportunities =
        (1..400_u32).filter(|ms| ms % 100 < 50).flat_map(|ms| vec![ms; (ms % 4) as usize + 1]);
    let trace = sounding_trace::Trace::from_millis(opportunities.collect()).unwrap();
    let schedule = Schedule::from(trace);
    let capacity = schedule.clone();
    let mut world = world(schedule.clone(), 10 * BDP);
    let flow = world.add_flow(Flow::bulk(UP, move |start| {
        let carried = move |until: HostInstant| {
            let until = Duration::from_nanos(until.as_nanos());
            let packets = capacity.capacity(Duration::ZERO, until).count() / PACKET;
            Bytes::new(packets * MSS)
        };
        // A packet that arrives in a millisecond is carried in the next at the earliest.
        Box::new(Oracle::new(start, millis(1), carried))
    }));
    world.run_until(at_secs(5));
    world.measure_afresh();
    world.run_until(at_secs(35));
    let report = world.report(flow);
    let used = report.utilisation(schedule.capacity(millis(5_000), millis(35_000)));
    assert!(used >= 0.999, "{used}");
    let most = report.queueing.most().unwrap();
    assert!(most <= millis(2), "{most:?}");
}
