//! Flows of one network whose far ends are at different distances.

#![allow(clippy::unwrap_used, reason = "a test whose input is wrong has to fail")]

mod common;

use std::time::Duration;

use common::{BDP, UP, at_secs, mbit, millis, named, world};
use sounding_sim::world::{Event, Flow, Report, Traffic};
use sounding_units::{Bytes, HostInstant};

/// The result of a flow without a queue, over 20 ms each way plus `delay`.
fn alone(flow: Flow, delay: Duration) -> (Report, Vec<Duration>) {
    let mut world = world(mbit(12), BDP);
    let id = world.add_flow(flow);
    world.delay_far_end(id, delay);
    let mut rtts = Vec::new();
    world.observe_until(at_secs(5), &mut |_: HostInstant, event: &Event<'_>| {
        if let Event::Acked { ack, .. } = event {
            rtts.extend(ack.rtt);
        }
    });
    (world.report(id).clone(), rtts)
}

#[test]
fn a_far_end_adds_its_delay_each_way_whichever_end_sends() {
    for port in [UP, UP.reverse()] {
        let steady = || Flow::bulk(port, named("cubic")).sends(Traffic::Steady(mbit(1)));
        let (near, near_rtts) = alone(steady(), Duration::ZERO);
        let (far, far_rtts) = alone(steady(), millis(100));
        let least = |rtts: &[Duration]| rtts.iter().min().copied().unwrap();
        assert_eq!(least(&far_rtts), least(&near_rtts) + millis(200), "{port:?}");
        let one_way = |report: &Report| report.one_way.quantile(0.5).unwrap();
        let more = one_way(&far) - one_way(&near);
        assert!((millis(98)..millis(102)).contains(&more), "{port:?} {more:?}");
        // It queues as it did before: that is in the network.
        let queueing = |report: &Report| report.queueing.quantile(0.5).unwrap();
        assert!(queueing(&far).abs_diff(queueing(&near)) < millis(1));
    }
}

#[test]
fn datagrams_arrive_as_many_and_later() {
    for port in [UP, UP.reverse()] {
        let (near, _) = alone(Flow::datagrams(port, mbit(2)), Duration::ZERO);
        let (far, _) = alone(Flow::datagrams(port, mbit(2)), millis(100));
        let first = |report: &Report| report.arrivals.unwrap().0;
        assert_eq!(first(&far), first(&near) + millis(100), "{port:?}");
        assert_eq!((near.dropped, far.dropped), (0, 0));
    }
}

#[test]
fn flows_of_one_link_have_the_round_trips_of_their_own_distances() {
    // PBE-CC §6.4.2: 52, 64 and 297 ms, and 40 of each are the network's.
    let mut world = world(mbit(12), 10 * BDP);
    let extra = [6, 12, 128].map(millis);
    let flows = extra.map(|delay| {
        let traffic = Traffic::Steady(mbit(1));
        let id = world.add_flow(Flow::bulk(UP.reverse(), named("cubic")).sends(traffic));
        world.delay_far_end(id, delay);
        id
    });
    let mut least = [Duration::MAX; 3];
    world.observe_until(at_secs(5), &mut |_: HostInstant, event: &Event<'_>| {
        if let Event::Acked { flow, ack, .. } = event
            && let Some(rtt) = ack.rtt
        {
            let at = flows.iter().position(|id| id == flow).unwrap();
            least[at] = least[at].min(rtt);
        }
    });
    for (least, extra) in least.iter().zip(extra) {
        let wanted = millis(40) + 2 * extra;
        assert!((wanted..wanted + millis(5)).contains(least), "{least:?} {wanted:?}");
    }
}

#[test]
fn a_finite_flow_over_a_lossy_link_arrives_whole_from_far_away() {
    for port in [UP, UP.reverse()] {
        let mut world = world(mbit(12), BDP / 8);
        let size = Bytes::new(2_000_000);
        let flow = Flow::bulk(port, named("cubic")).sends(Traffic::Finite(size));
        let id = world.add_flow(flow);
        world.delay_far_end(id, millis(50));
        world.run_until(at_secs(60));
        assert_eq!(world.report(id).completion.count(), 1, "{port:?}");
    }
}

#[test]
fn a_flow_of_no_distance_is_what_it_was_and_another_repeats_to_the_bit() {
    let digest = |delay: Option<Duration>| {
        let mut world = world(mbit(12), BDP);
        let ids = ["bbr", "cubic"].map(|name| world.add_flow(Flow::bulk(UP, named(name))));
        if let Some(delay) = delay {
            world.delay_far_end(ids[1], delay);
        }
        world.run_until(at_secs(10));
        world.digest()
    };
    assert_eq!(digest(None), digest(Some(Duration::ZERO)));
    assert_ne!(digest(None), digest(Some(millis(30))));
    assert_eq!(digest(Some(millis(30))), digest(Some(millis(30))));
}
