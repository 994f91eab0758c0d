//! What the papers say of the controllers that learn what a varying link brings: Sprout and Verus.

#![allow(clippy::unwrap_used, reason = "a test whose input is wrong has to fail")]

mod common;

use common::{BDP, UP, at_secs, mbit, millis, named, settled, world};
use sounding_cc::{Controller, Start, Verus};
use sounding_sim::world::{Flow, Report};
use sounding_trace::Steps;

/// From 1 to 11 Mbit/s and back in steps that are no pattern, one every 300 ms: an xorshift's.
fn wandering() -> Steps {
    let (mut lot, mut mbit) = (9_u64, 6_u64);
    let steps: Vec<String> = (0..200)
        .map(|step| {
            lot ^= lot << 13;
            lot ^= lot >> 7;
            lot ^= lot << 17;
            mbit = (mbit + lot % 5).saturating_sub(2).clamp(1, 11);
            format!("{}ms {mbit}Mbit", step * 300)
        })
        .collect();
    steps.join(", ").parse().unwrap()
}

fn over_a_wandering_link(controller: &str) -> Report {
    let mut world = world(wandering(), 100 * BDP);
    let flow = world.add_flow(Flow::bulk(UP, named(controller)));
    world.run_until(at_secs(5));
    world.measure_afresh();
    world.run_until(at_secs(60));
    world.report(flow).clone()
}

#[test]
fn sprout_keeps_95_percent_of_packets_within_100_ms_on_a_link_that_varies() {
    let sprout = over_a_wandering_link("sprout");
    let p95 = sprout.one_way.quantile(0.95).unwrap();
    assert!(p95 <= millis(100), "{p95:?}");
    let cubic = over_a_wandering_link("cubic");
    let much = cubic.one_way.quantile(0.95).unwrap();
    assert!(much >= 10 * p95, "{much:?}");
    let kept = sprout.throughput().mbit_per_sec() / cubic.throughput().mbit_per_sec();
    assert!(kept >= 0.7, "{kept}");
}

#[test]
fn sprout_uses_a_steady_link_and_keeps_what_it_is_unsure_of_in_the_queue() {
    for rate in [3, 6, 11] {
        let (world, flow) = settled("sprout", mbit(rate), 5 * BDP, 30);
        let report = world.report(flow);
        let used = report.utilisation(mbit(rate) * report.span());
        assert!(used >= 0.95, "{rate}: {used}");
        assert!(report.queueing.quantile(0.95).unwrap() <= millis(60), "{rate}");
        assert_eq!(report.lost, 0);
    }
}

#[test]
fn sprout_stops_in_an_outage_and_is_back_within_a_second() {
    let steps: Steps = "0s 6Mbit, 10s 0bit, 12s 6Mbit".parse().unwrap();
    let mut world = world(steps, 100 * BDP);
    let flow = world.add_flow(Flow::bulk(UP, named("sprout")));
    world.run_until(at_secs(10));
    world.measure_afresh();
    world.run_until(at_secs(12));
    // What was under way when it began, and a few to find its end.
    assert!(world.report(flow).sent <= 60, "{}", world.report(flow).sent);
    world.run_until(at_secs(13));
    world.measure_afresh();
    world.run_until(at_secs(15));
    let report = world.report(flow);
    assert!(report.utilisation(mbit(6) * report.span()) >= 0.95);
}

fn verus(ratio: f64) -> Report {
    let mut world = world(mbit(12), 50 * BDP);
    let flow = world.add_flow(Flow::bulk(UP, move |start: &Start| -> Box<dyn Controller> {
        Box::new(Verus::with_ratio(start, ratio))
    }));
    world.run_until(at_secs(20));
    world.measure_afresh();
    world.run_until(at_secs(80));
    world.report(flow).clone()
}

#[test]
fn verus_keeps_delays_below_its_ratio_of_the_least_and_uses_the_link() {
    for ratio in [2.0, 4.0, 6.0] {
        let report = verus(ratio);
        let used = report.utilisation(mbit(12) * report.span());
        assert!(used >= 0.85, "{ratio}: {used}");
        let p95 = report.rtt.quantile(0.95).unwrap().as_secs_f64() / 0.041;
        assert!(p95 <= ratio + 1.0, "{ratio}: {p95}");
    }
}

#[test]
fn a_higher_ratio_bears_more_delay() {
    let delays = [2.0, 4.0, 6.0].map(|ratio| verus(ratio).queueing.quantile(0.5).unwrap());
    assert!(delays[0] < delays[1] && delays[1] < delays[2], "{delays:?}");
}

#[test]
fn verus_ends_slow_start_at_fifteen_times_the_least_delay() {
    let mut world = world(mbit(12), 50 * BDP);
    let flow = world.add_flow(Flow::bulk(UP, named("verus")));
    world.run_until(at_secs(5));
    // What is sent in the RTT that finds it is on top.
    let most = world.report(flow).rtt.most().unwrap().as_secs_f64() / 0.041;
    assert!((15.0..=32.0).contains(&most), "{most}");
}

#[test]
fn verus_follows_a_link_that_varies_at_less_delay_than_what_fills_the_buffer() {
    let [verus, cubic] = ["verus", "cubic"].map(over_a_wandering_link);
    let [delay, most] = [&verus, &cubic].map(|report| report.one_way.quantile(0.5).unwrap());
    assert!(3 * delay <= most, "{delay:?} {most:?}");
    let kept = verus.throughput().mbit_per_sec() / cubic.throughput().mbit_per_sec();
    assert!(kept >= 0.85, "{kept}");
}
