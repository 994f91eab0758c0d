//! What the papers say of PCC's two controllers, on a link of fixed rate that loses packets by chance or not.

#![allow(clippy::unwrap_used, reason = "a test whose input is wrong has to fail")]

mod common;

use common::lossy::lossy_world;
use common::{BDP, UP, at_secs, jain, mbit, millis, named, rivals, settled, world};
use sounding_sim::world::Flow;

/// Goodput of what reaches the queue, over what that can carry as payload.
fn used(controller: &str, per_mille: u64) -> f64 {
    let mut world = lossy_world(mbit(12), BDP, per_mille);
    let flow = world.add_flow(Flow::bulk(UP, named(controller)));
    world.run_until(at_secs(20));
    world.measure_afresh();
    world.run_until(at_secs(60));
    world.report(flow).goodput().mbit_per_sec() / (12.0 * 1448.0 / 1500.0)
}

#[test]
fn allegro_minds_no_loss_up_to_four_percent_and_falls_off_a_cliff_at_five() {
    for per_mille in [0, 10, 20, 30, 40] {
        let used = used("allegro", per_mille);
        assert!(used >= 0.95, "{per_mille}: {used}");
    }
    for per_mille in [60, 70, 90] {
        let used = used("allegro", per_mille);
        assert!(used <= 0.6, "{per_mille}: {used}");
    }
    // A window that is cut for each loss is gone long before.
    let cubic = used("cubic", 20);
    assert!(cubic <= 0.25, "{cubic}");
}

#[test]
fn allegro_fills_any_buffer_at_less_loss_than_it_minds() {
    for buffer in [BDP / 4, BDP, 5 * BDP] {
        let (world, flow) = settled("allegro", mbit(12), buffer, 60);
        let report = world.report(flow);
        let used = report.utilisation(mbit(12) * report.span());
        assert!(used >= 0.99, "{buffer}: {used}");
        assert!((0.0001..0.05).contains(&report.loss()), "{buffer}: {}", report.loss());
    }
}

#[test]
fn flows_of_allegro_share() {
    let shared = rivals(&["allegro", "allegro"], BDP, 60, 120);
    assert!(jain(&shared.rates) >= 0.95, "{shared:?}");
}

#[test]
fn vivace_stays_below_the_rate_at_which_a_queue_grows() {
    for buffer in [BDP, 5 * BDP] {
        let (world, flow) = settled("vivace", mbit(12), buffer, 60);
        let report = world.report(flow);
        let used = report.utilisation(mbit(12) * report.span());
        assert!(used >= 0.85, "{buffer}: {used}");
        let (p50, mean) = (report.queueing.quantile(0.5).unwrap(), report.queueing.mean().unwrap());
        assert!(p50 <= millis(4) && mean <= millis(8), "{buffer}: {p50:?} {mean:?}");
        assert_eq!(report.dropped, 0, "{buffer}");
    }
}

#[test]
fn vivace_bears_a_little_loss_by_chance_and_not_ten_percent() {
    let little = used("vivace", 5);
    assert!(little >= 0.75, "{little}");
    let much = used("vivace", 100);
    assert!(much <= 0.3, "{much}");
}

/// The RTT's slope says that a queue grows, and nothing of one that stands. Recorded, not claimed: after a drop of the
/// rate to a third the queue is there for seconds.
#[test]
fn vivace_finds_the_rate_again_after_a_step_down() {
    let steps: sounding_trace::Steps = "0s 12Mbit, 20s 4Mbit".parse().unwrap();
    let mut world = world(steps, 10 * BDP);
    let flow = world.add_flow(Flow::bulk(UP, named("vivace")));
    world.run_until(at_secs(50));
    world.measure_afresh();
    world.run_until(at_secs(80));
    let report = world.report(flow);
    let used = report.utilisation(mbit(4) * report.span());
    assert!(used >= 0.8, "{used}");
    assert!(report.loss() <= 0.05, "{}", report.loss());
}

#[test]
fn flows_of_vivace_share() {
    let shared = rivals(&["vivace", "vivace"], 5 * BDP, 60, 240);
    assert!(jain(&shared.rates) >= 0.9, "{shared:?}");
}
