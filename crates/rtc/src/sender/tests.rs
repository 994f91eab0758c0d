use std::collections::VecDeque;
use std::time::Duration;

use sounding_estimate::{DelayKind, Direction, RanDelay};
use sounding_units::{Bytes, HostInstant, Rate};

use super::{Estimator, Report};
use crate::{Corrections, Reported, Stock};

const PACKET: Bytes = Bytes::new(1_200);
const WAY: Duration = Duration::from_millis(30);
/// What the video needs at most.
const SOURCE: u64 = 1_000_000;
/// Between an event and the modem's record of it.
const RECORD_AFTER: Duration = Duration::from_millis(60);
/// The receiver's clock began long before.
const CLOCK: Duration = Duration::from_secs(5_000);

fn ms(ms: u64) -> Duration {
    Duration::from_millis(ms)
}

/// What the radio adds to a packet: its requests drift against the packets, so that each waits a
/// little longer than the one before, up to 45 ms in 0.4 s.
fn added(sent: HostInstant) -> Duration {
    let within = Duration::from_nanos(sent.as_nanos() % 400_000_000);
    within / 9
}

/// What a run showed.
#[derive(Debug)]
struct Seen {
    /// The mean rate after the first ten seconds, in bit/s, at most that of the source.
    rate: u64,
    /// Falls of the rate by a tenth or more.
    falls: u32,
}

/// Video over a link of `capacity` whose radio adds delay, for a minute of virtual time. The queue
/// is never longer than some packets.
fn run<C: Corrections>(
    capacity: Rate,
    corrections: C,
    report: impl Fn(&mut C, HostInstant, &VecDeque<HostInstant>),
) -> Seen {
    let start = HostInstant::from_nanos(1_000_000_000);
    let mut estimator = Estimator::new(start, PACKET, corrections);
    let (mut next, mut free) = (start, start);
    let mut sent = VecDeque::new();
    let mut under_way: VecDeque<(HostInstant, Report)> = VecDeque::new();
    let (mut sum, mut count, mut falls) = (0, 0, 0);
    let mut before = estimator.rate().bits_per_sec();
    for step in 0..60_000_u64 {
        let now = start + ms(step);
        while next <= now {
            sent.push_back(next);
            let leaves =
                (next + added(next)).max(free) + PACKET.time_at(capacity).unwrap_or_default();
            free = leaves;
            let arrived = Some(CLOCK + (leaves + WAY - start));
            under_way.push_back((leaves + WAY + WAY, Report { sent: next, arrived, size: PACKET }));
            let rate = Rate::from_bits_per_sec(estimator.rate().bits_per_sec().min(SOURCE));
            next = next + PACKET.time_at(rate).unwrap_or(ms(100));
        }
        while sent.front().is_some_and(|&sent| now - sent > ms(500)) {
            sent.pop_front();
        }
        report(estimator.corrections_mut(), now, &sent);
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
        if step >= 20_000 {
            (sum, count) = (sum + rate, count + 1);
        }
    }
    Seen { rate: sum / count, falls }
}

fn by_records(reported: &mut Reported, now: HostInstant, sent: &VecDeque<HostInstant>) {
    let until = now.saturating_before(RECORD_AFTER);
    for &from in sent.iter().filter(|&&sent| sent + added(sent) <= until) {
        let (to, amount) = (from + added(from), added(from));
        reported.handle_event(
            RanDelay::new(Direction::Uplink, DelayKind::Scheduling, from, to)
                .with_amount(amount)
                .with_age(now - to),
        );
    }
    // A wait that lasts has no record yet.
    let lasting = sent.iter().find(|&&sent| sent + added(sent) > until);
    reported.handle_report(now, Some(lasting.map_or(until, |&from| from.min(until))));
}

#[test]
fn the_radios_waits_on_an_empty_link_cost_no_rate_once_corrected() {
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
fn records_of_waits_do_not_hide_a_link_that_is_too_slow() {
    let capacity = Rate::from_bits_per_sec(600_000);
    let corrected = run(capacity, Reported::default(), by_records);
    println!("too slow: corrected {corrected:?}");
    assert!(corrected.rate < 600_000, "{corrected:?}");
    assert!(corrected.falls > 0, "{corrected:?}");
}
