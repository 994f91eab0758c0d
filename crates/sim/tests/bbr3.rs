//! What the draft says of BBR v3 on a link of fixed rate: a packet a millisecond.

#![allow(clippy::unwrap_used, reason = "a test whose input is wrong has to fail")]

mod common;

use common::lossy::lossy_world;
use common::{
    BDP, PACKET, Sample, UP, at_secs, jain, mbit, millis, named, rivals, settled, windows, world,
};
use sounding_sim::world::Flow;

#[test]
fn bbr3_uses_the_link_and_keeps_little_of_a_queue() {
    for buffer in [BDP, 10 * BDP] {
        let (world, flow) = settled("bbr3", mbit(12), buffer, 60);
        let report = world.report(flow);
        let used = report.utilisation(mbit(12) * report.span());
        assert!(used >= 0.95, "{used}");
        let (mean, p50) = (report.queueing.mean().unwrap(), report.queueing.quantile(0.5).unwrap());
        assert!(mean <= millis(8) && p50 <= millis(3), "{mean:?} {p50:?}");
        assert!(report.loss() <= 0.001, "{}", report.loss());
    }
}

/// A quarter of a BDP overflows whenever a probe of a quarter more lasts a round. Version 1 does not care.
#[test]
fn bbr3_learns_how_much_a_shallow_buffer_holds_and_version_1_does_not() {
    let [first, third] = ["bbr", "bbr3"].map(|name| {
        let (world, flow) = settled(name, mbit(12), 10 * PACKET, 60);
        let report = world.report(flow);
        (report.loss(), report.utilisation(mbit(12) * report.span()))
    });
    assert!(first.0 >= 0.02, "{first:?}");
    assert!(third.0 <= 0.005, "{third:?}");
    assert!(third.1 >= 0.93, "{third:?}");
}

#[test]
fn bbr3_measures_the_path_every_five_seconds_with_half_a_bdp_in_flight() {
    let mut world = world(mbit(12), 10 * BDP);
    let flow = world.add_flow(Flow::bulk(UP, named("bbr3")));
    windows(&mut world, flow, at_secs(3));
    let samples = windows(&mut world, flow, at_secs(63));
    let begins: Vec<&Sample> = samples
        .windows(2)
        .filter(|pair| pair[0].state != "probe rtt" && pair[1].state == "probe rtt")
        .map(|pair| &pair[1])
        .collect();
    assert!((10..=12).contains(&begins.len()), "{}", begins.len());
    for pair in begins.windows(2) {
        let apart = pair[1].at - pair[0].at;
        assert!((millis(5_000)..millis(5_500)).contains(&apart), "{apart:?}");
    }
    for begin in begins {
        let dip = samples
            .iter()
            .filter(|sample| sample.at >= begin.at && sample.at < begin.at + millis(450));
        let least = dip.clone().map(|sample| sample.in_flight).fold(f64::MAX, f64::min);
        // Of 40 or 41 segments.
        assert!((16.0..=21.0).contains(&least), "{least}");
        assert!(dip.filter_map(|sample| sample.rtt).min().unwrap() <= millis(43));
    }
}

#[test]
fn bbr3_probes_every_two_to_three_seconds_by_a_round_that_refills() {
    let mut world = world(mbit(12), 10 * BDP);
    let flow = world.add_flow(Flow::bulk(UP, named("bbr3")));
    windows(&mut world, flow, at_secs(5));
    let samples = windows(&mut world, flow, at_secs(65));
    let enters = |state| {
        let pairs = samples.windows(2).map(|pair| (pair[0].state, pair[1].state, pair[1].at));
        pairs.filter(move |pair| pair.1 == state && pair.0 != state).collect::<Vec<_>>()
    };
    let probes = enters("probe up");
    assert!(probes.iter().all(|(before, ..)| *before == "refill"), "{probes:?}");
    // Forty rounds of 42 ms are shorter than two seconds: the BDP in segments bounds the rounds.
    assert!((20..=35).contains(&probes.len()), "{}", probes.len());
}

#[test]
fn flows_of_bbr3_share() {
    let shared = rivals(&["bbr3", "bbr3"], 5 * BDP, 60, 60);
    assert!(jain(&shared.rates) >= 0.95, "{shared:?}");
}

#[test]
fn bbr3_and_cubic_leave_each_other_a_quarter_at_least() {
    for buffer in [BDP, 5 * BDP] {
        let shared = rivals(&["cubic", "bbr3"], buffer, 60, 120);
        assert!((0.25..=0.75).contains(&shared.share_of_first()), "{buffer}: {shared:?}");
    }
}

/// Version 1 does not look at loss, and version 3 takes more than 2 % of it in a round for a full path.
#[test]
fn bbr3_bears_loss_by_chance_below_its_threshold_and_gives_way_above() {
    let goodput = |name, per_mille| {
        let mut world = lossy_world(mbit(12), BDP, per_mille);
        let flow = world.add_flow(Flow::bulk(UP, named(name)));
        world.run_until(at_secs(20));
        world.measure_afresh();
        world.run_until(at_secs(60));
        world.report(flow).goodput().mbit_per_sec()
    };
    assert!(goodput("bbr3", 5) >= 9.5);
    assert!(goodput("bbr3", 40) <= 4.0);
    assert!(goodput("bbr", 40) >= 10.5);
}
