//! Hosts and flows: all sent data arrives, for every application and every loss in the network. Two
//! runs of one world are equal.

#![allow(clippy::unwrap_used, reason = "a test whose input is wrong has to fail")]

mod common;

use common::{BDP, PACKET, TestWorld, UP, at_secs, links, mbit, millis, named, world};
use sounding_sim::world::{Acks, Event, Flow, Traffic};
use sounding_sim::{
    Device, Duplex, Links, Order, Path, PathConfig, Port, QueueLimit, Wired, World,
};
use sounding_trace::{Schedule, Steps};
use sounding_units::{Bytes, HostInstant, Rate};

/// Every kind of flow beside every other, over a link that steps and drops.
fn busy_world(seed: u64) -> TestWorld {
    let steps: Steps = "0s 20Mbit, 3s 5Mbit, 6s 0bit, 6500ms 40Mbit".parse().unwrap();
    let mut world = World::new(links(steps, BDP, HostInstant::default()), seed);
    for (at, name) in (0..).zip(["reno", "cubic", "bbr", "biscay"]) {
        world.add_flow(Flow::bulk(UP, named(name)).begins(at_secs(at)));
    }
    let on_off = Traffic::OnOff { on: millis(300), off: millis(900) };
    let responses = Traffic::Responses { size: Bytes::new(50_000), think: millis(100) };
    world.add_flow(Flow::bulk(UP, named("cubic")).sends(on_off));
    world.add_flow(Flow::bulk(UP, named("bbr")).sends(responses).acknowledged(Acks::EveryPacket));
    world.add_flow(Flow::bulk(UP.reverse(), named("reno")).sends(Traffic::Steady(mbit(2))));
    world.add_flow(Flow::datagrams(UP, mbit(1)).begins(at_secs(2)));
    world
}

#[test]
fn the_same_world_is_the_same_in_two_threads() {
    let digest = || {
        let mut world = busy_world(7);
        world.run_until(at_secs(12));
        world.digest()
    };
    let digests = [0, 1].map(|_| std::thread::spawn(digest)).map(|thread| thread.join().unwrap());
    assert_eq!(digests[0], digests[1]);
}

#[test]
fn the_same_world_is_the_same_in_every_build() {
    let mut world = busy_world(7);
    world.run_until(at_secs(12));
    // With and without optimisation, on every machine. Changes with any change of what hosts or
    // controllers do.
    assert_eq!(world.digest(), 0xb485_95a4_682d_02f5, "{:#x}", world.digest());
}

#[test]
fn another_seed_is_another_world() {
    let digest = |seed| {
        let mut world = busy_world(seed);
        world.run_until(at_secs(12));
        world.digest()
    };
    assert_ne!(digest(7), digest(8));
}

#[test]
fn looking_on_changes_nothing() {
    let mut alone = busy_world(7);
    alone.run_until(at_secs(12));
    let (mut watched, mut seen) = (busy_world(7), 0);
    for secs in 1..=12 {
        watched.observe_until(at_secs(secs), &mut |_: HostInstant, _: &Event<'_>| seen += 1);
    }
    assert_eq!(watched.digest(), alone.digest());
    assert!(seen > 10_000, "{seen}");
}

/// Background flows are silent for seconds at every sign of others, and a link that stops or drops
/// is one to them.
fn yields(name: &str) -> bool {
    ["legilimens", "legilimens-published", "background"].contains(&name)
}

#[test]
fn every_byte_of_a_finite_flow_arrives_over_a_link_that_drops() {
    for name in sounding_baselines::names() {
        let mut world = world(mbit(12), 5 * PACKET);
        let size = Bytes::new(10_000_001);
        let flow = world.add_flow(Flow::bulk(UP, named(name)).sends(Traffic::Finite(size)));
        world.run_until(at_secs(200));
        let report = world.report(flow);
        assert!(report.dropped > 0, "{name}");
        assert_eq!(report.delivered, size, "{name}");
        assert_eq!(report.completion.count(), 1, "{name}");
        // 15 % of five packets is less than one: TCP-LP detects a competitor in every queue.
        let most = millis(if name == "lp" || yields(name) { 150_000 } else { 20_000 });
        let took = report.completion.most().unwrap();
        assert!(took < most, "{name}: {took:?}");
    }
}

#[test]
fn what_was_dropped_is_what_was_found_lost_and_sent_again() {
    for name in sounding_baselines::names() {
        let mut world = world(mbit(12), BDP);
        let size = Bytes::new(30_000_000);
        let flow = world.add_flow(Flow::bulk(UP, named(name)).sends(Traffic::Finite(size)));
        world.run_until(at_secs(60));
        let report = world.report(flow);
        // Their windows wait for ticks and epochs: a tail loss probe may find that waiting, or may
        // be dropped itself on a link without what it requests.
        let probes = u64::from(["sprout", "verus", "background"].contains(&name));
        assert!(report.lost.abs_diff(report.dropped) <= probes, "{name}: {}", report.lost);
        assert!(
            report.retransmitted.abs_diff(report.dropped) <= probes,
            "{name}: {}",
            report.retransmitted
        );
        // Its waits are longer than a timeout after a loss.
        assert!(report.timeouts == 0 || name == "background", "{name}: {}", report.timeouts);
    }
}

#[test]
fn a_flow_of_one_segment_takes_two_round_trips() {
    let mut world = world(mbit(12), BDP);
    let flow =
        world.add_flow(Flow::bulk(UP, named("cubic")).sends(Traffic::Finite(Bytes::new(1000))));
    world.run_until(at_secs(1));
    let took = world.report(flow).completion.most().unwrap();
    // Handshake, one way, and the link's own time for a SYN and a thousand bytes and headers.
    assert!((millis(60)..millis(62)).contains(&took), "{took:?}");
}

#[test]
fn an_outage_of_ten_seconds_is_survived() {
    for name in sounding_baselines::names() {
        let steps: Steps = "0s 12Mbit, 5s 0bit, 15s 12Mbit".parse().unwrap();
        let mut world = world(steps, BDP);
        let flow = world.add_flow(Flow::bulk(UP, named(name)));
        // The timeout that finds what was dropped at the end of the queue is by then as long as the
        // outage was.
        world.run_until(at_secs(40));
        assert!(world.report(flow).timeouts >= 1, "{name}");
        world.measure_afresh();
        world.run_until(at_secs(50));
        let used = world.report(flow).utilisation(mbit(12) * millis(10_000));
        let least = if yields(name) { 0.01 } else { 0.9 };
        assert!(used >= least, "{name}: {used}");
    }
}

#[test]
fn a_timeout_before_a_short_queue_does_not_restart_a_controller() {
    for name in sounding_baselines::names() {
        let steps: Steps =
            "0s 12Mbit, 5s 0bit, 6s 1Mbit, 12s 0bit, 13s 1200kbit, 20s 0bit, 21s 2Mbit, 30s 12Mbit"
                .parse()
                .unwrap();
        let mut world = world(steps, BDP);
        let flow = world.add_flow(Flow::bulk(UP, named(name)));
        world.run_until(at_secs(40));
        let report = world.report(flow);
        assert!(report.timeouts >= 1, "{name}");
        // Allegro and Vivace weigh the cost of losses, and accept some.
        let arrived = report.delivered.count() / 1448;
        assert!(report.dropped < arrived, "{name}: {} of {arrived}", report.dropped);
    }
}

#[test]
fn a_timeout_for_packets_that_were_only_late_is_undone() {
    for name in sounding_baselines::names().filter(|name| !yields(name)) {
        let steps: Steps = "0s 12Mbit, 5s 0bit, 6s 12Mbit".parse().unwrap();
        let mut world = world(steps, 10 * BDP);
        // Large enough that nothing is dropped while the link stands still.
        let flow = world.add_flow(Flow::bulk(UP, named(name)).buffered(Bytes::new(200 * 1448)));
        world.run_until(at_secs(5));
        world.measure_afresh();
        world.run_until(at_secs(8));
        let report = world.report(flow);
        assert_eq!((report.timeouts >= 1, report.dropped), (true, 0), "{name}");
        assert_eq!(report.spurious_timeouts, 1, "{name}");
        // All that is sent again is what left before the first acknowledgement was back.
        assert!(report.retransmitted <= 4, "{name}: {}", report.retransmitted);
    }
}

#[test]
fn the_last_segment_of_a_flow_is_probed_before_the_timeout() {
    // The link drops the last of ten segments: nothing comes after it to show that.
    let mut world = world(mbit(12), 8 * PACKET);
    let flow = Flow::bulk(UP, named("cubic")).sends(Traffic::Finite(Bytes::new(14_480)));
    let flow = world.add_flow(flow);
    world.run_until(at_secs(5));
    let report = world.report(flow);
    assert_eq!((report.dropped, report.timeouts), (1, 0));
    assert!(report.completion.most().unwrap() < millis(250), "{:?}", report.completion.most());
}

#[test]
fn a_steady_application_gets_its_rate_and_no_queue() {
    for name in sounding_baselines::names() {
        let mut world = world(mbit(12), 10 * BDP);
        let flow = Flow::bulk(UP, named(name)).sends(Traffic::Steady(mbit(4)));
        let flow = world.add_flow(flow);
        world.run_until(at_secs(5));
        world.measure_afresh();
        world.run_until(at_secs(25));
        let report = world.report(flow);
        let rate = report.goodput().mbit_per_sec();
        // It is slow at first, and sends what has waited in the measured time.
        let most = if name == "gcc-smoothed" { 4.4 } else { 4.01 };
        assert!((3.99..=most).contains(&rate), "{name}: {rate}");
        assert!(report.queueing.quantile(0.95).unwrap() <= millis(2), "{name}");
    }
}

#[test]
fn datagrams_fill_the_link_and_lose_what_does_not_fit() {
    let mut world = world(mbit(12), BDP);
    let flow = world.add_flow(Flow::datagrams(UP, mbit(15)));
    world.run_until(at_secs(1));
    world.measure_afresh();
    world.run_until(at_secs(11));
    let report = world.report(flow);
    assert!((report.throughput().mbit_per_sec() - 12.0).abs() < 0.01, "{}", report.throughput());
    assert!((report.loss() - 0.2).abs() < 0.01, "{}", report.loss());
}

#[test]
fn responses_are_asked_for_one_after_the_other() {
    let mut world = world(mbit(12), 10 * BDP);
    let traffic = Traffic::Responses { size: Bytes::new(1000), think: millis(50) };
    let flow = world.add_flow(Flow::bulk(UP, named("reno")).sends(traffic));
    world.run_until(at_secs(10));
    let report = world.report(flow);
    // 20 ms for the request, 20 for the response and its time on the link, 50 to think.
    let took = report.completion.quantile(0.5).unwrap();
    assert!((millis(40)..millis(42)).contains(&took), "{took:?}");
    assert!((108..=111).contains(&report.completion.count()), "{}", report.completion.count());
}

#[test]
fn a_buffer_limits_what_is_under_way() {
    let mut world = world(mbit(12), 100 * BDP);
    let flow = world.add_flow(Flow::bulk(UP, named("reno")).buffered(Bytes::new(100 * 1448)));
    world.run_until(at_secs(30));
    let report = world.report(flow);
    // A hundred packets at a millisecond each. The path holds forty of them.
    assert!(report.rtt.most().unwrap() <= millis(101), "{:?}", report.rtt.most());
    assert!(report.rtt.quantile(0.5).unwrap() >= millis(98), "{:?}", report.rtt.quantile(0.5));
}

#[test]
fn measuring_afresh_forgets_what_was() {
    let mut world = world(mbit(12), BDP);
    let flow = world.add_flow(Flow::bulk(UP, named("cubic")));
    world.run_until(at_secs(10));
    assert!(world.report(flow).retransmitted > 0);
    world.measure_afresh();
    world.run_until(at_secs(10));
    let report = world.report(flow);
    assert_eq!((report.sent, report.retransmitted, report.span()), (0, 0, millis(0)));
}

fn path(rate: Rate, delay: u64, buffer: u64) -> PathConfig {
    let mut path = PathConfig::new(rate);
    path.delay = millis(delay);
    path.queue = QueueLimit::bytes(Bytes::new(buffer));
    path
}

#[test]
fn the_bottleneck_moves_to_the_wire_where_that_is_narrower() {
    for direction in [UP, UP.reverse()] {
        let radio = links(mbit(1000), 10 * BDP, HostInstant::default());
        let steps: Steps = "0s 100Mbit, 10s 12Mbit".parse().unwrap();
        let mut wire = path(mbit(12), 5, 10 * BDP);
        wire.schedule = Schedule::from(steps);
        let mut world = World::new(Wired::new(radio, &wire, &wire, HostInstant::default()), 1);
        let flow = world.add_flow(Flow::bulk(direction, named("cubic")));
        let mut rates = Vec::new();
        for secs in [5, 10, 15, 30] {
            world.run_until(at_secs(secs));
            rates.push(world.report(flow).throughput().mbit_per_sec());
            world.measure_afresh();
        }
        assert!(rates[1] > 60.0 && (11.5..12.1).contains(&rates[3]), "{direction:?} {rates:?}");
    }
}

#[test]
fn the_way_over_a_wire_is_as_long_as_both() {
    let radio = links(mbit(12), BDP, HostInstant::default());
    let wire = path(mbit(1000), 30, BDP);
    let mut world = World::new(Wired::new(radio, &wire, &wire, HostInstant::default()), 1);
    let flows = [UP, UP.reverse()].map(|port| {
        world.add_flow(Flow::bulk(port, named("reno")).sends(Traffic::Finite(Bytes::new(1000))))
    });
    world.run_until(at_secs(1));
    for flow in flows {
        let least = world.report(flow).one_way.least().unwrap();
        assert!((millis(50)..millis(52)).contains(&least), "{least:?}");
    }
}

#[test]
fn devices_do_not_meet_on_links_of_their_own() {
    let device = |rate| {
        let path = |order| Path::new(&path(rate, 20, BDP), order, HostInstant::default());
        Duplex { up: path(Order::LinkThenDelay), down: path(Order::DelayThenLink) }
    };
    let network = Links::new(vec![device(mbit(5)), device(mbit(20))]);
    let mut world = World::new(network, 1);
    let flows = [0, 1].map(|at| world.add_flow(Flow::bulk(Port::down(Device(at)), named("cubic"))));
    world.run_until(at_secs(30));
    let rates = flows.map(|flow| world.report(flow).throughput().mbit_per_sec());
    assert!((4.8..=5.0).contains(&rates[0]) && (19.0..=20.0).contains(&rates[1]), "{rates:?}");
}
