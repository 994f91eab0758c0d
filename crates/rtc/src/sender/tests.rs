use std::collections::VecDeque;
use std::time::Duration;

use sounding_units::{Bytes, HostInstant, Rate};

use super::{Estimator, Report};
use crate::{Corrections, Reported, Stock, Wait, WaitKind};

const PACKET: Bytes = Bytes::new(1_200);
const WAY: Duration = Duration::from_millis(30);
/// What the video needs at most.
const SOURCE: u64 = 4_000_000;
/// Between an event and the modem's record of it.
const RECORD_AFTER: Duration = Duration::from_millis(60);
/// The receiver's clock began long before.
const CLOCK: Duration = Duration::from_secs(5_000);

fn ms(ms: u64) -> Duration {
    Duration::from_millis(ms)
}

/// Stalls of a radio: from when to when nothing leaves.
fn stalls(seconds: u64) -> Vec<(HostInstant, HostInstant)> {
    let mut state = 7_u64;
    let mut at = HostInstant::from_nanos(1_000_000_000);
    let end = at + Duration::from_secs(seconds);
    let mut stalls = Vec::new();
    while at < end {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        let (gap, length) = (60 + (state >> 33) % 120, 15 + (state >> 45) % 50);
        stalls.push((at + ms(gap), at + ms(gap + length)));
        at = at + ms(gap + length);
    }
    stalls
}

/// What a run showed.
#[derive(Debug)]
struct Seen {
    /// The mean rate after the first ten seconds, in bit/s, at most that of the source.
    rate: u64,
    /// Falls of the rate by a tenth or more.
    falls: u32,
    lowest: u64,
}

/// Video over a link of `capacity` that stalls, for a minute of virtual time. The queue is never longer than some packets.
fn run<C: Corrections>(
    capacity: Rate,
    corrections: C,
    report: impl Fn(&mut C, HostInstant, &[(HostInstant, HostInstant)]),
) -> Seen {
    let stalls = stalls(60);
    let start = HostInstant::from_nanos(1_000_000_000);
    let mut estimator = Estimator::new(start, PACKET, corrections);
    let (mut next, mut free) = (start, start);
    let mut under_way: VecDeque<(HostInstant, Report)> = VecDeque::new();
    let (mut sum, mut count, mut falls, mut lowest) = (0, 0, 0, u64::MAX);
    let mut before = estimator.rate().bits_per_sec();
    for step in 0..60_000_u64 {
        let now = start + ms(step);
        while next <= now {
            let stalled = stalls.iter().find(|(from, to)| *from <= next && next < *to);
            let leaves = stalled.map_or(next, |(_, to)| *to).max(free) + PACKET.time_at(capacity).unwrap_or_default();
            free = leaves;
            let arrived = Some(CLOCK + (leaves + WAY - start));
            under_way.push_back((leaves + WAY + WAY, Report { sent: next, arrived, size: PACKET }));
            let rate = Rate::from_bits_per_sec(estimator.rate().bits_per_sec().min(SOURCE));
            next = next + PACKET.time_at(rate).unwrap_or(ms(100));
        }
        report(estimator.corrections_mut(), now, &stalls);
        // Feedback every 50 ms.
        if step % 50 == 0 {
            let known = under_way.partition_point(|(at, _)| *at <= now);
            estimator.handle_reports(now, under_way.drain(..known).map(|(_, report)| report));
        } else if estimator.wakeup(now).is_some() {
            estimator.handle_time(now);
        }
        let rate = estimator.rate().bits_per_sec().min(SOURCE);
        falls += u32::from(rate * 10 <= before * 9);
        before = rate;
        if step >= 10_000 {
            (sum, count, lowest) = (sum + rate, count + 1, lowest.min(rate));
        }
    }
    Seen { rate: sum / count, falls, lowest }
}

fn by_records(reported: &mut Reported, now: HostInstant, stalls: &[(HostInstant, HostInstant)]) {
    let until = now.saturating_before(RECORD_AFTER);
    let recent = stalls.iter().filter(|(_, to)| *to <= until && until - *to < ms(300));
    for &(from, to) in recent {
        let wait = Wait { kind: WaitKind::Scheduling, from, to, amount: to - from };
        reported.handle_wait(wait);
    }
    // A stall that lasts has no record yet.
    let lasting = stalls.iter().find(|(from, to)| *from <= until && *to > until);
    reported.handle_report(now, Some(lasting.map_or(until, |(from, _)| *from)));
}

#[test]
fn a_radio_that_stalls_on_an_empty_link_costs_no_rate_when_its_records_correct_the_arrivals() {
    let capacity = Rate::from_bits_per_sec(40_000_000);
    let stock = run(capacity, Stock, |_, _, _| {});
    let corrected = run(capacity, Reported::default(), by_records);
    println!("stock {stock:?}\ncorrected {corrected:?}");
    assert!(stock.falls >= 10, "{stock:?}");
    assert!(corrected.falls * 5 <= stock.falls, "{corrected:?} beside {stock:?}");
    assert!(corrected.rate * 100 >= SOURCE * 85, "{corrected:?}");
    assert!(stock.rate < corrected.rate, "{corrected:?} beside {stock:?}");
}

#[test]
fn records_of_stalls_do_not_hide_a_link_that_is_too_slow() {
    let capacity = Rate::from_bits_per_sec(1_500_000);
    let corrected = run(capacity, Reported::default(), by_records);
    println!("corrected {corrected:?}");
    assert!(corrected.rate < 1_500_000, "{corrected:?}");
    assert!(corrected.falls > 0, "{corrected:?}");
}
