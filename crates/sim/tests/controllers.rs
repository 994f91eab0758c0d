//! What theory says of each controller on a link of fixed rate. Kernel and user-space peers on the same path agree:
//! CUBIC's mean queue with a buffer of one BDP is 31 ms there, Reno's 22, BBR's median 8.

#![allow(clippy::unwrap_used, reason = "a test whose input is wrong has to fail")]

mod common;

use std::time::Duration;

use common::{
    BDP, MSS, PACKET, Sample, UP, at_secs, jain, mbit, millis, named, settled, windows, world,
};
use sounding_cc::Oracle;
use sounding_sim::world::Flow;
use sounding_trace::Schedule;
use sounding_units::{Bytes, HostInstant};

fn utilisation(controller: &str, buffer: u64) -> f64 {
    let (world, flow) = settled(controller, mbit(12), buffer, 120);
    let report = world.report(flow);
    report.utilisation(mbit(12) * report.span())
}

/// The window before each cut and right after it.
fn cuts(samples: &[Sample]) -> Vec<(Sample, Sample)> {
    let pairs = samples.windows(2).map(|pair| (pair[0], pair[1]));
    pairs.filter(|(before, after)| after.cwnd < before.cwnd * 0.8).collect()
}

fn saw_tooth(controller: &str) -> Vec<(Sample, Sample)> {
    let mut world = world(mbit(12), BDP);
    let flow = world.add_flow(Flow::bulk(UP, named(controller)));
    windows(&mut world, flow, at_secs(30));
    let cuts = cuts(&windows(&mut world, flow, at_secs(150)));
    assert!(cuts.len() >= 5, "{}", cuts.len());
    cuts
}

#[test]
fn reno_fills_the_link_over_a_buffer_of_one_bdp() {
    let used = utilisation("reno", BDP);
    assert!(used >= 0.99, "{used}");
}

#[test]
fn reno_leaves_some_of_the_link_over_a_buffer_of_half_a_bdp() {
    // From ¾ BDP to 1½ BDP and back: 0.964 of the link in rounds of the RTT, less what the pause of recovery takes.
    let used = utilisation("reno", BDP / 2);
    assert!((0.92..0.97).contains(&used), "{used}");
}

#[test]
fn reno_halves_and_adds_a_segment_a_round() {
    let teeth = saw_tooth("reno");
    for (before, after) in &teeth {
        assert!((after.cwnd / before.cwnd - 0.5).abs() <= 0.02, "{before:?} {after:?}");
    }
    // From 40 to 80 segments with a queue that grows from none to a BDP: 40 rounds of 60 ms on average.
    let periods = teeth.windows(2).map(|pair| (pair[1].0.at - pair[0].0.at).as_secs_f64());
    for period in periods {
        assert!((2.2..2.8).contains(&period), "{period} s");
    }
}

#[test]
fn reno_keeps_half_a_bdp_in_a_buffer_of_one() {
    let (world, flow) = settled("reno", mbit(12), BDP, 120);
    let mean = world.report(flow).queueing.mean().unwrap();
    assert!((millis(19)..millis(25)).contains(&mean), "{mean:?}");
}

#[test]
fn cubic_fills_the_link_over_a_buffer_of_half_a_bdp() {
    // A cut to 0.7 of (1 + b) BDP stays above a BDP for b of 0.43 and more.
    let used = utilisation("cubic", BDP / 2);
    assert!(used >= 0.99, "{used}");
}

#[test]
fn cubic_cuts_to_seven_tenths() {
    for (before, after) in saw_tooth("cubic") {
        assert!((after.cwnd / before.cwnd - 0.7).abs() <= 0.02, "{before:?} {after:?}");
    }
}

#[test]
fn cubic_keeps_three_quarters_of_a_bdp_in_a_buffer_of_one() {
    let (world, flow) = settled("cubic", mbit(12), BDP, 120);
    let mean = world.report(flow).queueing.mean().unwrap();
    assert!((millis(28)..millis(34)).contains(&mean), "{mean:?}");
}

#[test]
fn cubic_reaches_its_plateau_after_k() {
    // 400 Mbit/s over 40 ms and as much buffer again: windows of 2700 segments, where Reno's growth is slower.
    let bdp = 400_000_000 / 8 / 25;
    let mut world = world(mbit(400), bdp);
    let flow = world.add_flow(Flow::bulk(UP, named("cubic")));
    let samples = windows(&mut world, flow, at_secs(100));
    let cuts = cuts(&samples);
    let (mut teeth, mut lowered) = (0, 0);
    for pair in cuts.windows(2) {
        let [(before, after), (_, next)] = pair else { continue };
        let mut tooth =
            samples.iter().filter(|sample| sample.at >= after.at && sample.at < next.at);
        let Some(plateau) = tooth.find(|sample| sample.state == "convex") else { continue };
        teeth += 1;
        assert!(plateau.cwnd >= 1000.0);
        let k = ((plateau.cwnd - after.cwnd) / 0.4).cbrt();
        let took = (plateau.at - after.at).as_secs_f64();
        assert!((took / k - 1.0).abs() <= 0.05, "{took} s, K {k} s, plateau {}", plateau.cwnd);
        // Where the cut came below the one before, the plateau is lower (fast convergence).
        let ratio = plateau.cwnd / before.cwnd;
        assert!((ratio - 1.0).abs() < 0.01 || (ratio - 0.85).abs() < 0.01, "{ratio}");
        lowered += u32::from(ratio < 0.9);
    }
    assert!(teeth >= 3 && lowered >= 1, "{lowered} of {teeth}");
}

#[test]
fn hystart_ends_slow_start_before_the_buffer_is_full() {
    let lost_at_first = |name| {
        // The RTT of a round has risen at 170 segments, and five rounds make three times as many of them.
        let mut world = world(mbit(12), 16 * BDP);
        let flow = world.add_flow(Flow::bulk(UP, named(name)));
        world.run_until(at_secs(4));
        world.report(flow).dropped
    };
    for (with, without) in [("reno-hystart", "reno"), ("cubic", "cubic-no-hystart")] {
        // Without it, as much again as path and buffer hold is sent in the round that fills them.
        assert_eq!(lost_at_first(with), 0, "{with}");
        assert!(lost_at_first(without) >= 500, "{without}: {}", lost_at_first(without));
    }
}

#[test]
fn two_cubics_share_in_halves() {
    let mut world = world(mbit(12), BDP);
    let flows = [0, 5].map(|at| world.add_flow(Flow::bulk(UP, named("cubic")).begins(at_secs(at))));
    world.run_until(at_secs(60));
    world.measure_afresh();
    world.run_until(at_secs(300));
    let rates = flows.map(|flow| world.report(flow).goodput().mbit_per_sec());
    assert!(jain(&rates) >= 0.95, "{rates:?}");
}

#[test]
fn bbr_fills_the_link_and_keeps_a_fifth_of_a_bdp_in_a_deep_buffer() {
    let (world, flow) = settled("bbr", mbit(12), 10 * BDP, 120);
    let report = world.report(flow);
    let used = report.utilisation(mbit(12) * report.span());
    assert!(used >= 0.95, "{used}");
    let (mean, p95) = (report.queueing.mean().unwrap(), report.queueing.quantile(0.95).unwrap());
    assert!(mean <= millis(10), "{mean:?}");
    assert!(p95 <= millis(18), "{p95:?}");
    assert_eq!(report.lost, 0);
}

#[test]
fn bbr_never_has_more_than_two_bdp_in_flight_once_it_knows_the_path() {
    let mut world = world(mbit(12), 10 * BDP);
    let flow = world.add_flow(Flow::bulk(UP, named("bbr")));
    windows(&mut world, flow, at_secs(5));
    let samples = windows(&mut world, flow, at_secs(65));
    let most = samples.iter().map(|sample| sample.in_flight).fold(0.0, f64::max);
    // 40 segments of BDP; three quanta of two; what acknowledgements of two at once add; and the probing phase's two.
    assert!(most <= 2.0 * 40.0 + 6.0 + 2.0 + 2.0, "{most}");
}

#[test]
fn bbr_drains_to_four_segments_every_ten_seconds() {
    let mut world = world(mbit(12), 10 * BDP);
    let flow = world.add_flow(Flow::bulk(UP, named("bbr")));
    windows(&mut world, flow, at_secs(5));
    let samples = windows(&mut world, flow, at_secs(65));
    let begins: Vec<&Sample> = samples
        .windows(2)
        .filter(|pair| pair[0].state != "probe rtt" && pair[1].state == "probe rtt")
        .map(|pair| &pair[1])
        .collect();
    assert_eq!(begins.len(), 6);
    for pair in begins.windows(2) {
        let apart = pair[1].at - pair[0].at;
        assert!((millis(10_000)..millis(10_500)).contains(&apart), "{apart:?}");
    }
    for begin in begins {
        let dip = samples
            .iter()
            .filter(|sample| sample.at >= begin.at && sample.at < begin.at + millis(400));
        let least_rtt = dip.clone().filter_map(|sample| sample.rtt).min().unwrap();
        assert!(dip.map(|sample| sample.in_flight).fold(f64::MAX, f64::min) <= 4.0);
        // The queue is empty: 40 ms of path, the packet itself, and one of the same burst.
        assert!(least_rtt <= millis(43), "{least_rtt:?}");
    }
}

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
        // What arrives in a millisecond is carried in the next at the earliest.
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
