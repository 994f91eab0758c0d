use sounding_estimate::Confidence;

use super::*;

/// Numbers of a seed, 0..`below`.
struct Numbers(u64);

impl Numbers {
    fn below(&mut self, below: u64) -> u64 {
        // SplitMix64.
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut word = self.0;
        word = (word ^ word >> 30).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        word = (word ^ word >> 27).wrapping_mul(0x94D0_49BB_1331_11EB);
        (word ^ word >> 31) % below
    }
}

pub(in crate::delay) const BEGIN: u64 = 1_000_000_000_000;

pub(in crate::delay) fn at(nanos: u64) -> HostInstant {
    HostInstant::from_nanos(nanos)
}

pub(in crate::delay) fn event(to: u64, length: u64) -> RanDelay {
    RanDelay::new(Direction::Uplink, DelayKind::Harq, at(to - length), at(to))
        .with_confidence(Confidence::Inferred)
}

/// Events, and bursts of the arrivals of [`flow`].
fn scene(seed: u64, shift: i64, unseen: u64) -> (Vec<RanDelay>, Vec<Burst>) {
    let (events, arrivals) = flow(seed, shift, unseen, 150);
    (events, bursts(arrivals))
}

/// So many events at any times, and arrivals of a flow of a packet each two milliseconds that they
/// hold, `shift` later. Of 20 events `unseen` hold no packet, and as many idle periods have no
/// event.
pub(in crate::delay) fn flow(
    seed: u64,
    shift: i64,
    unseen: u64,
    count: usize,
) -> (Vec<RanDelay>, Vec<HostInstant>) {
    let mut numbers = Numbers(seed);
    let mut events = Vec::new();
    let mut arrivals = Vec::new();
    let mut now = BEGIN;
    for _ in 0..count {
        for _ in 0..numbers.below(40) + 10 {
            now += 2_000_000;
            arrivals.push(now + numbers.below(300_000));
        }
        let length = 8_000_000 * (1 + numbers.below(3));
        let is_seen = numbers.below(20) >= unseen;
        let is_told = numbers.below(20) >= unseen;
        now += 2_000_000;
        if is_told {
            events.push(event(now + length, length));
        }
        let held = length / 2_000_000;
        for packet in 0..held {
            let late =
                if is_seen { now + length + packet * 20_000 } else { now + packet * 2_000_000 };
            arrivals.push(late + numbers.below(200_000));
        }
        now += length;
    }
    arrivals.sort_unstable();
    let shifted = arrivals.into_iter().map(|of| at(of.saturating_add_signed(shift)));
    (events, shifted.collect())
}

#[test]
fn the_shift_of_two_clocks_is_found_whatever_it_is() {
    let second = Duration::from_secs(30);
    for seed in 0..40 {
        let shift = Numbers(seed + 1_000).below(50_000_000_000) as i64 - 25_000_000_000;
        let (events, bursts) = scene(seed, shift, 4);
        let found = search(&bursts, &events, 0, second).unwrap();
        assert!(found.is_accepted(), "seed {seed}: {found:?}");
        assert!(found.nanos.abs_diff(shift) < 1_000_000, "seed {seed}: {found:?} for {shift}");
        // A guess near it finds the same.
        let near = search(&bursts, &events, shift + 3_000_000, Duration::from_secs(1));
        assert!(near.unwrap().nanos.abs_diff(found.nanos) < 500_000, "seed {seed}: {near:?}");
    }
}

#[test]
fn a_shift_of_other_packets_is_not_believed() {
    for seed in 0..40 {
        let (events, _) = scene(seed, 0, 4);
        let (_, others) = scene(seed + 500, 0, 4);
        let found = search(&others, &events, 0, Duration::from_secs(2)).unwrap();
        assert!(!found.is_accepted(), "seed {seed}: {found:?}");
    }
}

#[test]
fn where_most_events_left_no_mark_no_shift_is_believed() {
    let (events, bursts) = scene(7, 1_000_000, 14);
    let found = search(&bursts, &events, 0, Duration::from_secs(1)).unwrap();
    assert!(!found.is_accepted(), "{found:?}");
}

#[test]
fn without_events_or_bursts_there_is_no_shift() {
    let (events, bursts) = scene(1, 0, 4);
    assert_eq!(search(&bursts, &[], 0, Duration::from_secs(1)), None);
    assert_eq!(search(&[], &events, 0, Duration::from_secs(1)), None);
    let down = events[0].with_direction(Direction::Downlink);
    let waits = events[0].with_kind(DelayKind::Scheduling);
    assert_eq!(search(&bursts, &[down, waits], 0, Duration::from_secs(1)), None);
    // Nor does an event so far away panic.
    let far = event(u64::MAX, 8_000_000);
    assert_eq!(search(&bursts, &[far], i64::MAX, Duration::MAX), None);
}

#[test]
fn a_burst_is_an_idle_period_and_then_two_packets_at_once() {
    let ms = |tenths: u64| at(BEGIN + tenths * 100_000);
    let arrivals = [0, 20, 100, 102, 104, 200, 300, 303, 330];
    let found = bursts(arrivals.map(ms));
    let wanted = [(100, 80), (300, 100)];
    let wanted =
        wanted.map(|(at, idle)| Burst { at: ms(at), idle: Duration::from_micros(idle * 100) });
    assert_eq!(found, wanted);
}

#[test]
fn a_repeat_that_ends_right_after_another_leaves_no_mark() {
    let ends_at = |ms: u64| event(BEGIN + ms * 1_000_000, 8_000_000);
    let ms = |of: u64| at(BEGIN + of * 1_000_000);
    let span = Duration::from_millis;
    // The last one was alone for six of its eight milliseconds.
    let found = ends(&[ends_at(20), ends_at(21), ends_at(23), ends_at(29), ends_at(60)]);
    assert_eq!(found, [(ms(20), span(8)), (ms(29), span(6)), (ms(60), span(8))]);
}
