//! What the specifications say of the controllers for flows in the background, on a link of fixed rate: a packet a
//! millisecond.

#![allow(clippy::unwrap_used, reason = "a test whose input is wrong has to fail")]

mod common;

use common::{
    BDP, Sample, UP, at_secs, jain, mbit, millis, named, rivals, settled, windows, world,
};
use sounding_sim::world::Flow;

#[test]
fn ledbat_keeps_its_target_of_100_ms_in_the_queue() {
    let (world, flow) = settled("ledbat", mbit(12), 10 * BDP, 60);
    let report = world.report(flow);
    let mean = report.queueing.mean().unwrap();
    // And the packet itself.
    assert!((millis(98)..=millis(104)).contains(&mean), "{mean:?}");
    let used = report.utilisation(mbit(12) * report.span());
    assert!(used >= 0.99, "{used}");
    assert_eq!(report.lost, 0);
}

#[test]
fn ledbat_grows_by_a_segment_a_round_and_reaches_its_target_in_time() {
    let mut world = world(mbit(12), 10 * BDP);
    let flow = world.add_flow(Flow::bulk(UP, named("ledbat")));
    let samples = windows(&mut world, flow, at_secs(30));
    let most = |until| {
        let until = samples.iter().filter(|sample| sample.at <= until);
        until.map(|sample| sample.cwnd).fold(0.0, f64::max)
    };
    // 41 ms a round at first: at most 24 in a second.
    assert!((18.0..=28.0).contains(&most(at_secs(1))), "{}", most(at_secs(1)));
    // 41 of path and 100 of queue, of which the last are slow to come.
    assert!((130.0..=143.0).contains(&most(at_secs(30))), "{}", most(at_secs(30)));
}

#[test]
fn ledbat_gives_way_to_cubic_that_comes_later() {
    let shared = rivals(&["ledbat", "cubic"], 5 * BDP, 60, 120);
    assert!(shared.share_of_first() <= 0.15, "{shared:?}");
}

/// RFC 6817 §5 knows it as the latecomer's advantage: the second takes the first's queue for path.
#[test]
fn of_two_flows_of_ledbat_the_later_takes_all() {
    let shared = rivals(&["ledbat", "ledbat"], 10 * BDP, 60, 120);
    assert!(shared.share_of_first() <= 0.2, "{shared:?}");
    assert!(shared.queueing >= millis(110), "{shared:?}");
}

#[test]
fn ledbat_plus_plus_keeps_its_target_of_60_ms_in_the_queue() {
    let mut world = world(mbit(12), 10 * BDP);
    let flow = world.add_flow(Flow::bulk(UP, named("ledbat++")));
    windows(&mut world, flow, at_secs(30));
    let samples = windows(&mut world, flow, at_secs(90));
    let steering: Vec<&Sample> =
        samples.iter().filter(|sample| sample.state == "steering").collect();
    let rtts = steering.iter().map(|sample| sample.rtt.unwrap().as_secs_f64());
    let mean = rtts.sum::<f64>() / steering.len() as f64;
    // 41 ms of path.
    assert!((mean - 0.101).abs() <= 0.002, "{mean}");
}

#[test]
fn ledbat_plus_plus_slows_down_for_two_rounds_in_at_most_a_tenth_of_the_time() {
    let mut world = world(mbit(12), 10 * BDP);
    let flow = world.add_flow(Flow::bulk(UP, named("ledbat++")));
    let samples = windows(&mut world, flow, at_secs(120));
    let begins: Vec<&Sample> = samples
        .windows(2)
        .filter(|pair| pair[0].state == "steering" && pair[1].state == "slowed")
        .map(|pair| &pair[1])
        .collect();
    assert!(begins.len() >= 4, "{}", begins.len());
    for begin in &begins {
        assert!((begin.cwnd - 2.0).abs() < 0.01, "{begin:?}");
        let back = samples
            .iter()
            .find(|sample| sample.at > begin.at && sample.state == "steering")
            .unwrap();
        let next = begins.iter().find(|next| next.at > begin.at);
        let Some(next) = next else { continue };
        let (slow, apart) = (back.at - begin.at, next.at - back.at);
        let ratio = apart.as_secs_f64() / slow.as_secs_f64();
        assert!((ratio - 9.0).abs() <= 0.2, "{slow:?} {apart:?}");
    }
}

#[test]
fn flows_of_ledbat_plus_plus_share_whoever_came_first() {
    let shared = rivals(&["ledbat++", "ledbat++"], 10 * BDP, 60, 240);
    assert!(jain(&shared.rates) >= 0.95, "{shared:?}");
    assert!(shared.queueing <= millis(75), "{shared:?}");
}

#[test]
fn ledbat_plus_plus_gives_way_to_cubic_wherever_it_comes_in() {
    for (pair, cubic) in [(["cubic", "ledbat++"], 0), (["ledbat++", "cubic"], 1)] {
        let shared = rivals(&pair, 5 * BDP, 60, 120);
        let share = shared.rates[cubic] / shared.rates.iter().sum::<f64>();
        assert!(share >= 0.85, "{shared:?}");
    }
}

#[test]
fn lp_keeps_the_queue_at_a_part_of_the_delays_it_has_seen() {
    let (world, flow) = settled("lp", mbit(12), 10 * BDP, 120);
    let report = world.report(flow);
    // 15 % of the 400 ms that slow start found.
    let (p50, p95) =
        (report.queueing.quantile(0.5).unwrap(), report.queueing.quantile(0.95).unwrap());
    assert!(p50 <= millis(60) && p95 <= millis(65), "{p50:?} {p95:?}");
    let used = report.utilisation(mbit(12) * report.span());
    assert!(used >= 0.99, "{used}");
    assert_eq!(report.lost, 0);
}

#[test]
fn lp_leaves_the_link_to_cubic_and_to_reno() {
    for other in ["cubic", "reno"] {
        let shared = rivals(&[other, "lp"], 5 * BDP, 60, 120);
        assert!(shared.share_of_first() >= 0.95, "{other}: {shared:?}");
    }
}

#[test]
fn flows_of_lp_share() {
    let shared = rivals(&["lp", "lp"], 5 * BDP, 60, 120);
    assert!(jain(&shared.rates) >= 0.95, "{shared:?}");
}
