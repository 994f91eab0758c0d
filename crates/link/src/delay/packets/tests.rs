use sounding_estimate::Confidence;

use super::super::align::align;
use super::super::shift::{
    bursts,
    tests::{BEGIN, at, event, flow},
};
use super::*;

const SHIFT: i64 = 7_000_000_000;

/// Clocks that differ by [`SHIFT`], found with other packets.
fn clocks() -> Alignment {
    let (events, arrivals) = flow(11, SHIFT, 0, 150);
    let found = align(&bursts(arrivals), &events, 0, Duration::from_secs(30)).unwrap();
    assert!(found.is_accepted());
    found
}

fn ms(tenths: u64) -> HostInstant {
    at(BEGIN + tenths * 100_000)
}

fn received(tenths: u64, sent: Option<u64>) -> Received {
    Received { at: at(ms(tenths).as_nanos().saturating_add_signed(SHIFT)), sent: sent.map(ms) }
}

fn is_near(found: Duration, wanted_ms: f64) -> bool {
    (found.as_secs_f64() * 1e3 - wanted_ms).abs() < 0.05
}

#[test]
fn packets_of_a_burst_are_late_by_what_was_left_when_they_were_sent() {
    let clocks = clocks();
    // A block that was due at 20 ms came at 28 ms.
    let events = [event(BEGIN + 28_000_000, 8_000_000)];
    let sent = [10, 30, 50, 70, 110];
    let packets = [received(180, Some(sent[0])), received(200, Some(sent[1]))].into_iter();
    let held = [(280, 100), (281, 120), (282, 140), (283, 170)];
    let held = held.map(|(at, sent)| received(at, Some(sent)));
    let all: Vec<Received> = packets.chain(held).chain([received(320, Some(310))]).collect();
    let found = added(&all, &events, &clocks);
    let wanted = [0.0, 0.0, 8.0, 6.0, 4.0, 1.0, 0.0];
    for (found, wanted) in found.iter().zip(wanted) {
        assert!(is_near(found.harq, wanted) && found.total() == found.harq, "{found:?} {wanted}");
    }
    assert_eq!(found.len(), wanted.len());
    // Without times of sending they count as sent evenly.
    let unknown: Vec<Received> = all.iter().map(|of| Received { sent: None, ..*of }).collect();
    let wanted = [0.0, 0.0, 8.0, 6.0, 4.0, 2.0, 0.0];
    for (found, wanted) in added(&unknown, &events, &clocks).iter().zip(wanted) {
        assert!(is_near(found.harq, wanted), "{found:?} {wanted}");
    }
}

#[test]
fn packets_that_came_meanwhile_show_that_an_event_did_not_hold_them() {
    let events = [event(BEGIN + 28_000_000, 8_000_000)];
    let all: Vec<Received> = (180..300).step_by(20).map(|at| received(at, None)).collect();
    assert!(added(&all, &events, &clocks()).iter().all(|of| of.total().is_zero()));
}

#[test]
fn the_wait_of_a_block_is_that_of_its_packets_also_behind_a_repeat() {
    let wait = |from: u64, to: u64| {
        RanDelay::new(Direction::Uplink, DelayKind::Scheduling, ms(from), ms(to))
            .with_confidence(Confidence::Inferred)
    };
    // A block at 20 ms took what had waited since 14 ms. It came with its repeat at 28 ms.
    let events = [wait(140, 200), wait(210, 250), event(ms(280).as_nanos(), 8_000_000)];
    let all = [received(190, None), received(280, Some(140)), received(281, Some(200))];
    let found = added(&all, &events, &clocks());
    assert!(is_near(found[1].harq, 8.0) && is_near(found[1].scheduling, 6.0), "{found:?}");
    assert!(is_near(found[1].total(), 14.0));
    // The second left later: it waited less for the repeat.
    assert!(is_near(found[2].harq, 2.0), "{found:?}");
    assert_eq!(found[0], Added::default());
}

#[test]
fn the_last_of_several_events_of_a_begin_counts_and_memory_is_that_of_the_packets() {
    let repeat = event(ms(360).as_nanos(), 16_000_000);
    let first = event(ms(280).as_nanos(), 8_000_000);
    let all = [received(190, None), received(360, None), received(361, None)];
    for events in [[first, repeat], [repeat, first]] {
        let found = added(&all, &events, &clocks());
        assert!(is_near(found[1].harq, 16.0) && is_near(found[2].harq, 8.0), "{found:?}");
    }
    assert!(added(&[], &[first], &clocks()).is_empty());
}

#[test]
fn repeats_that_overlap_release_their_packets_one_after_another() {
    // Blocks at 20, 21 and 22 ms came at 28, 29 and 30 ms.
    let events = [280, 290, 300].map(|end| event(ms(end).as_nanos(), 8_000_000));
    let all = [received(199, None), received(280, None), received(290, None), received(300, None)];
    let found = added(&all, &events, &clocks());
    assert_eq!(found[0], Added::default());
    assert!(found[1..].iter().all(|of| is_near(of.harq, 8.0)), "{found:?}");
}
