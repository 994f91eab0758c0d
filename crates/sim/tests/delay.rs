//! What theory says of the controllers that go by delay, on a link of fixed rate: a packet a millisecond, so that
//! milliseconds of queue are packets. A packet on its way through the link counts as one.

#![allow(clippy::unwrap_used, reason = "a test whose input is wrong has to fail")]

mod common;

use std::time::Duration;

use common::{
    BDP, Sample, UP, at_secs, jain, mbit, millis, named, rivals, settled, windows, world,
};
use sounding_sim::world::{Acks, Flow};

/// Windows of one flow alone, every segment acknowledged, once it has settled.
fn alone(controller: &str, secs: u64) -> Vec<Sample> {
    let mut world = world(mbit(12), 5 * BDP);
    let flow = Flow::bulk(UP, named(controller)).acknowledged(Acks::EveryPacket);
    let flow = world.add_flow(flow);
    world.run_until(at_secs(30));
    windows(&mut world, flow, at_secs(30 + secs))
}

#[test]
fn vegas_keeps_two_to_four_segments_in_the_queue() {
    for buffer in [BDP, 10 * BDP] {
        let (world, flow) = settled("vegas", mbit(12), buffer, 30);
        let report = world.report(flow);
        let used = report.utilisation(mbit(12) * report.span());
        assert!(used >= 0.99, "{used}");
        let (least, most) = (report.queueing.least().unwrap(), report.queueing.most().unwrap());
        assert!(least >= millis(1) && most <= millis(5), "{least:?} {most:?}");
        assert_eq!(report.lost, 0);
    }
    for sample in alone("vegas", 10) {
        // 41 ms of path, the packet's own included.
        let queued = sample.cwnd - 41.0;
        assert!((1.0..=4.0).contains(&queued), "{sample:?}");
    }
}

#[test]
fn vegas_leaves_slow_start_before_the_queue_is_long() {
    let mut world = world(mbit(12), 10 * BDP);
    let flow = world.add_flow(Flow::bulk(UP, named("vegas")));
    world.run_until(at_secs(10));
    let most = world.report(flow).queueing.most().unwrap();
    assert!(most <= millis(40), "{most:?}");
}

#[test]
fn two_flows_of_vegas_share() {
    let shared = rivals(&["vegas", "vegas"], 5 * BDP, 60, 60);
    assert!(jain(&shared.rates) >= 0.95, "{shared:?}");
    // Two to four segments each.
    assert!((millis(4)..=millis(9)).contains(&shared.queueing), "{shared:?}");
}

#[test]
fn vegas_gives_way_to_what_fills_the_buffer() {
    let shared = rivals(&["cubic", "vegas"], 5 * BDP, 60, 60);
    assert!(shared.share_of_first() >= 0.85, "{shared:?}");
}

#[test]
fn copa_keeps_one_and_a_quarter_segments_over_delta_and_uses_the_link() {
    let (world, flow) = settled("copa-default", mbit(12), 5 * BDP, 60);
    let report = world.report(flow);
    let used = report.utilisation(mbit(12) * report.span());
    assert!(used >= 0.99, "{used}");
    // 0.8 to 1.6 ÷ δ of queue, and the packet itself.
    let mean = report.queueing.mean().unwrap();
    assert!(
        (millis(2) + millis(1) * 6 / 10..=millis(4) + millis(1) * 2 / 10).contains(&mean),
        "{mean:?}"
    );
}

#[test]
fn copa_swings_around_its_target_in_five_rounds_and_empties_the_queue_in_each() {
    let samples = alone("copa-default", 10);
    let rtts: Vec<(u64, Duration)> =
        samples.iter().map(|sample| (sample.at.as_nanos(), sample.rtt.unwrap())).collect();
    // No stretch of five rounds of 44 ms without an RTT of an empty queue, or one packet.
    for at in (30_000..39_700).step_by(50).map(|ms| ms * 1_000_000) {
        let within = rtts.iter().filter(|(then, _)| (at..at + 220_000_000).contains(then));
        let least = within.map(|&(_, rtt)| rtt).min().unwrap();
        assert!(least <= millis(42), "{least:?}");
    }
    let turns: Vec<f64> = samples
        .windows(3)
        .filter(|three| three[0].cwnd < three[1].cwnd && three[2].cwnd < three[1].cwnd)
        .map(|three| three[1].at.as_nanos() as f64 / 1e9)
        .collect();
    let period = (turns[turns.len() - 1] - turns[0]) / (turns.len() - 1) as f64;
    // Five where windows and delays are no whole packets.
    assert!((3.5..=6.0).contains(&(period / 0.043)), "{period} s");
}

#[test]
fn copa_alone_stays_nearly_always_in_its_default_mode() {
    let samples = alone("copa", 30);
    let competing = samples.iter().filter(|sample| sample.state == "competitive").count();
    assert!(competing * 2 < samples.len(), "{competing} of {}", samples.len());
    let (world, flow) = settled("copa", mbit(12), 5 * BDP, 60);
    let p95 = world.report(flow).queueing.quantile(0.95).unwrap();
    assert!(p95 <= millis(15), "{p95:?}");
}

#[test]
fn flows_of_copa_share_and_their_queue_is_short() {
    for flows in [2, 3] {
        let shared = rivals(&vec!["copa-default"; flows], 5 * BDP, 30, 60);
        assert!(jain(&shared.rates) >= 0.99, "{shared:?}");
        // One and a quarter over δ each, and a packet.
        let most = millis(4) * u32::try_from(flows).unwrap();
        assert!(shared.queueing <= most, "{shared:?}");
    }
    // Where they may compete they at times take each other for something else, but share no less.
    let shared = rivals(&["copa", "copa"], 5 * BDP, 30, 60);
    assert!(jain(&shared.rates) >= 0.95, "{shared:?}");
}

#[test]
fn copa_competes_with_what_fills_the_buffer_and_gives_way_where_it_may_not() {
    let competes = rivals(&["cubic", "copa"], 5 * BDP, 60, 120);
    assert!((0.3..0.75).contains(&competes.share_of_first()), "{competes:?}");
    let gives_way = rivals(&["cubic", "copa-default"], 5 * BDP, 60, 120);
    assert!(gives_way.share_of_first() >= 0.9, "{gives_way:?}");
}
