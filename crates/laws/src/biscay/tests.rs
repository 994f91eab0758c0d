mod model;
mod path;
mod rounds;
mod steps;
mod table;

use sounding_units::Bytes;

use super::*;
use crate::radio_law::Ack;
use path::{Drive, World};

/// Settings with round numbers and a pace below the share, so that the expected values of tests do
/// not depend on the defaults.
fn plain() -> Config {
    Config { allowance: Duration::from_millis(10), pacing_gain_permille: 990, ..Config::default() }
}

/// The bytes of full segments.
fn bytes(segments: u32) -> Bytes {
    Bytes::new(u64::from(segments) * 1448)
}

fn is_biscay(state: State) -> bool {
    matches!(state, State::RadioLimited { .. })
}

fn is_narrow(state: State) -> bool {
    matches!(state, State::BottleneckElsewhere { .. })
}

/// A flow that has settled on its path under the law.
fn settled(world: World) -> Drive {
    let mut drive = Drive::new(world);
    drive.run_ms(3_000);
    assert!(is_biscay(drive.flow.state()), "{:?}", drive.flow.state());
    drive
}

#[test]
fn a_true_estimate_fills_the_radio_and_leaves_no_queue() {
    let mut drive = settled(World::default());
    let delivered = drive.run_ms(2_000);
    assert!((290..=300).contains(&delivered), "{delivered}");
    assert!(drive.queue_ms() <= 10, "{} ms", drive.queue_ms());
}

#[test]
fn the_defaults_fill_the_radio_with_a_queue_of_the_allowance_and_three_bursts() {
    let mut drive = Drive::with_knobs(World::default(), Config::default());
    drive.run_ms(3_000);
    let delivered = drive.run_ms(2_000);
    assert!((298..=300).contains(&delivered), "{delivered}");
    assert!(drive.queue_ms() <= 15 + 3, "{} ms", drive.queue_ms());
}

#[test]
fn a_flow_drives_by_its_second_agreeing_sample() {
    let mut drive = Drive::new(World::default());
    let took = drive.run_until(1_000, is_biscay).unwrap();
    // The first ACK is back after 50 ms, the second sample there after 60.
    assert!((50..=70).contains(&took), "{took} ms");
}

#[test]
fn a_drop_of_the_radio_told_late_is_not_taken_for_a_narrow_wire() {
    let mut drive = settled(World { told_late: 100, ..World::default() });
    drive.world.radio = 5_000;
    assert_eq!(drive.run_until(5_000, |state| !is_biscay(state)), None);
    // The allowance, and three bursts of two packets.
    assert!(drive.queue_ms() <= 10 + 15, "{} ms", drive.queue_ms());
}

#[test]
fn a_rise_of_the_radio_is_not_taken_for_a_narrow_wire() {
    let mut drive = settled(World { radio: 5_000, ..World::default() });
    drive.world.radio = 60_000;
    assert_eq!(drive.run_until(5_000, |state| !is_biscay(state)), None);
    let delivered = drive.run_ms(1_000);
    assert!(delivered >= 570, "{delivered}");
}

#[test]
fn a_radio_that_steps_up_and_down_every_second_stays_the_bottleneck() {
    let mut drive = settled(World::default());
    for second in 0..20 {
        drive.world.radio = [8_000, 40_000, 15_000, 80_000][second % 4];
        assert_eq!(drive.run_until(1_000, |state| !is_biscay(state)), None, "second {second}");
    }
}

#[test]
fn a_report_five_percent_off_either_way_stays_the_bottleneck() {
    let mut drive = settled(World::default());
    for slice in 0..50 {
        drive.world.told_permille = [950, 1050, 1000, 1050, 950][slice % 5];
        assert_eq!(drive.run_until(100, |state| !is_biscay(state)), None, "slice {slice}");
    }
}

#[test]
fn a_stall_of_a_handover_is_not_taken_for_a_narrow_wire() {
    let mut drive = settled(World::default());
    drive.world.radio = 1;
    drive.run_ms(150);
    drive.world.radio = 30_000;
    assert_eq!(drive.run_until(3_000, is_narrow), None);
}

#[test]
fn a_wire_narrower_than_the_radio_is_found_within_two_seconds() {
    let mut drive = settled(World { radio: 40_000, ..World::default() });
    drive.world.wire = 10_000;
    let took = drive.run_until(5_000, is_narrow).unwrap();
    // Three rounds, each as long as the queue that the wrong window builds, one to build it, and
    // two to try a smaller one.
    assert!((400..=1_900).contains(&took), "{took} ms");
}

#[test]
fn a_wire_a_quarter_below_the_radio_is_found_too() {
    let mut drive = settled(World { radio: 40_000, ..World::default() });
    drive.world.wire = 30_000;
    assert!(drive.run_until(5_000, is_narrow).is_some());
}

#[test]
fn a_wire_as_wide_as_the_radio_is_not_found() {
    let mut drive = settled(World { radio: 40_000, wire: 40_000, ..World::default() });
    assert_eq!(drive.run_until(5_000, is_narrow), None);
}

#[test]
fn a_narrow_wire_stays_found_and_a_recovered_one_is_left() {
    let mut drive = settled(World { radio: 40_000, ..World::default() });
    drive.world.wire = 10_000;
    drive.run_until(5_000, is_narrow).unwrap();
    assert_eq!(drive.run_until(5_000, |state| !is_narrow(state)), None);
    drive.world.wire = 1_000_000;
    let took = drive.run_until(5_000, is_biscay).unwrap();
    assert!(took <= 3_000, "{took} ms");
}

#[test]
fn a_policer_without_a_queue_is_found_by_its_loss() {
    let mut drive = settled(World { radio: 40_000, ..World::default() });
    drive.world.wire = 10_000;
    drive.world.buffer = 5;
    assert!(drive.run_until(5_000, is_narrow).is_some());
}

#[test]
fn loss_alone_is_no_narrow_wire_and_cuts_no_window() {
    let mut drive = settled(World::default());
    let before = drive.command();
    drive.world.told_permille = 1000;
    drive.world.buffer = 3;
    drive.run_ms(1_000);
    assert!(is_biscay(drive.flow.state()));
    assert!(drive.command().cwnd >= before.cwnd - 1, "{} {}", drive.command().cwnd, before.cwnd);
}

#[test]
fn an_application_with_little_to_send_is_no_narrow_wire() {
    let mut drive = settled(World { app: 3_000, ..World::default() });
    assert_eq!(drive.run_until(5_000, is_narrow), None);
}

#[test]
fn a_narrow_wire_is_no_news_to_a_flow_that_does_not_fill_its_window() {
    let mut drive = settled(World { app: 3_000, ..World::default() });
    drive.world.wire = 10_000;
    assert_eq!(drive.run_until(5_000, is_narrow), None);
}

#[test]
fn a_served_floor_is_probed_above() {
    // The radio could carry 30 Mbit/s and reports what was requested: a third.
    let world = World { bound: Bound::Floor, told_permille: 333, ..World::default() };
    let mut drive = settled(world);
    let delivered = drive.run_ms(2_000);
    assert!(delivered >= 285, "{delivered}");
}

#[test]
fn a_capacity_is_not_probed_above() {
    let mut drive = settled(World { told_permille: 333, ..World::default() });
    let delivered = drive.run_ms(2_000);
    assert!(delivered <= 105, "{delivered}");
}

#[test]
fn two_flows_take_half_each() {
    let mut drive = settled(World { flows: 2, ..World::default() });
    let delivered = drive.run_ms(2_000);
    assert!((140..=155).contains(&delivered), "{delivered}");
}

#[test]
fn a_silent_feed_is_left_and_a_living_one_taken_up_again() {
    let mut drive = settled(World::default());
    drive.world.feed_lives = false;
    let took = drive.run_until(1_000, |state| !is_biscay(state)).unwrap();
    assert_eq!(drive.flow.state(), State::NoEstimate(Some(FallbackReason::Silent)));
    assert!(took <= 75, "{took} ms");
    drive.world.feed_lives = true;
    let took = drive.run_until(1_000, is_biscay).unwrap();
    assert!(took <= 12, "{took} ms");
}

#[test]
fn a_flow_that_leaves_for_a_narrow_wire_builds_no_longer_queue_there() {
    let mut drive = settled(World { radio: 40_000, ..World::default() });
    drive.world.wire = 10_000;
    drive.run_until(5_000, is_narrow).unwrap();
    let left = drive.queue_ms();
    for _ in 0..50 {
        drive.run_ms(100);
        assert!(drive.queue_ms() <= left, "{} after {left} ms", drive.queue_ms());
    }
    // BBR's window of two BDP holds one of them in the queue.
    assert!(drive.queue_ms() <= 75, "{} ms", drive.queue_ms());
}

#[test]
fn a_path_that_gets_thrice_as_long_is_not_taken_for_a_narrow_wire() {
    let mut drive = settled(World { base: 20, ..World::default() });
    drive.world.base = 60;
    assert_eq!(drive.run_until(2_000, |state| !is_biscay(state)), None);
    let delivered = drive.run_ms(2_000);
    assert!(delivered >= 290, "{delivered}");
    assert!(drive.queue_ms() <= 10, "{} ms", drive.queue_ms());
}

#[test]
fn a_path_that_got_longer_is_asked_about_again_every_ten_seconds() {
    let mut drive = settled(World { base: 20, ..World::default() });
    drive.world.base = 60;
    assert_eq!(drive.run_until(60_000, |state| !is_biscay(state)), None);
    let delivered = drive.run_ms(30_000);
    // Half a second of every ten goes at half the rate.
    assert!(delivered >= 280, "{delivered}");
}

#[test]
fn a_path_that_is_short_again_keeps_no_queue() {
    let mut drive = settled(World { base: 20, ..World::default() });
    drive.world.base = 60;
    drive.run_ms(3_000);
    drive.world.base = 20;
    drive.run_ms(2_000);
    assert!(drive.queue_ms() <= 10, "{} ms", drive.queue_ms());
    assert_eq!(drive.command().cwnd, 75 + 6);
}

#[test]
fn narrow_wires_are_distinguished_from_longer_paths_at_any_rtt() {
    for base in [5, 20, 50, 150, 300] {
        for wire in [33_000, 25_000, 20_000, 10_000, 4_000] {
            let mut drive = settled(World { radio: 40_000, base, ..World::default() });
            drive.world.wire = wire;
            let found = drive.run_until(30_000, is_narrow);
            assert!(found.is_some(), "wire of {wire} at {base} ms: {:?}", drive.flow.state());
        }
        for longer in [13, 15, 20, 50] {
            let mut drive = settled(World { radio: 40_000, base, ..World::default() });
            drive.world.base = base * longer / 10;
            let fell = drive.run_until(9_000, |state| !is_biscay(state));
            assert_eq!(fell, None, "{base} ms becomes {}", drive.world.base);
        }
    }
}
