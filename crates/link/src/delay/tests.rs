use std::vec::Vec;

use sounding_diag::record::{MacUplink, PdschStat, PuschTxReport};
use sounding_estimate::Confidence;
use sounding_kpi::BufferStatus;
use sounding_units::Bytes;

use super::*;

fn at(ms: u64) -> ModemInstant {
    ModemInstant::from_nanos(1_000_000_000_000 + ms * 1_000_000)
}

fn host(ms: u64) -> HostInstant {
    HostInstant::from_nanos(5_000_000_000 + ms * 1_000_000)
}

fn received(ms: u64, harq: u8, ndi: bool, arrived: bool) -> Grant {
    Grant {
        at: at(ms),
        direction: Direction::Downlink,
        carrier: 0,
        harq: Some(harq),
        ndi: Some(ndi),
        layer: Layer::Phy,
        code: PdschStat::CODE,
        size: Bytes::new(1_000),
        padding: None,
        retransmission: false,
        decoded: Some(arrived),
        allocation: None,
        report: None,
    }
}

fn sent(ms: u64, retransmission: bool) -> Grant {
    Grant {
        direction: Direction::Uplink,
        ndi: None,
        code: PuschTxReport::CODE,
        retransmission,
        decoded: None,
        ..received(ms, (ms % 8) as u8, false, true)
    }
}

/// A block of MAC with so many bytes, and what it says waits.
fn filled(ms: u64, bytes: u64, waiting: Option<u64>) -> Grant {
    let report = waiting.map(|of| BufferStatus { least: Bytes::new(of), most: Bytes::new(of) });
    Grant {
        layer: Layer::Mac,
        code: MacUplink::CODE,
        size: Bytes::new(bytes),
        padding: Some(Bytes::ZERO),
        report,
        ..sent(ms, false)
    }
}

fn events(grants: &[Grant], read_at: u64) -> Vec<RanDelay> {
    let mut delays = Delays::default();
    // The fastest record sets the offset of the clocks.
    delays.handle_record(host(0), at(0));
    delays.handle_record(host(read_at), at(read_at));
    grants.iter().for_each(|grant| delays.handle_kpi(&Kpi::Grant(*grant)));
    core::iter::from_fn(|| delays.poll()).collect()
}

#[test]
fn a_block_decoded_after_two_repeats_is_one_event_from_its_first_transmission() {
    let grants = [
        received(100, 3, true, false),
        received(101, 4, true, true),
        received(108, 3, true, false),
        received(116, 3, true, true),
        received(124, 3, false, true),
    ];
    let found = events(&grants, 140);
    let delivered = Duration::from_micros(2_500);
    let (from, to) = (host(100) + delivered, host(116) + delivered);
    let wanted = RanDelay::new(Direction::Downlink, DelayKind::Harq, from, to)
        .with_age(Duration::from_micros(21_500));
    assert_eq!(found, [wanted]);
}

#[test]
fn a_new_block_in_the_place_of_a_lost_one_is_no_repeat() {
    let grants = [received(100, 3, true, false), received(108, 3, false, true)];
    assert_eq!(events(&grants, 140), []);
    // Nor is one that comes much later.
    let grants = [received(100, 3, true, false), received(300, 3, true, true)];
    assert_eq!(events(&grants, 320), []);
}

#[test]
fn each_repeat_of_the_uplink_replaces_the_event_before() {
    let grants = [sent(100, false), sent(108, true), sent(116, true), sent(117, true)];
    let found = events(&grants, 120);
    assert_eq!(found.len(), 2);
    assert!(found.iter().all(|event| event.from == host(100)));
    assert_eq!(found[1].amount, Duration::from_millis(16));
    assert_eq!(found[1].confidence, Confidence::Inferred);
}

/// Reports every 5 ms. What one reports is granted 5 ms later: 1000 bytes enter in each interval.
fn steady(more: impl Fn(u64) -> u64) -> Vec<Grant> {
    (1..60).map(|turn| filled(turn * 5, 1_000, Some(1_000 + more(turn)))).collect()
}

#[test]
fn the_wait_for_reports_and_grants_is_the_schedulers() {
    let found = events(&steady(|_| 0), 400);
    let last = found.last().unwrap();
    // Bytes that entered just after a report wait for the next one and for its answer.
    assert_eq!((last.kind, last.direction), (DelayKind::Scheduling, Direction::Uplink));
    assert_eq!(last.to, host(59 * 5));
    assert!(last.amount <= Duration::from_millis(10) && last.amount >= Duration::from_millis(4));
    let middle = found.iter().find(|event| event.to == host(200)).unwrap();
    assert!(middle.amount.abs_diff(Duration::from_millis(10)) < Duration::from_micros(10));
}

#[test]
fn what_waits_behind_a_backlog_is_not_the_schedulers() {
    // From the 30th report on 20 000 bytes more wait than leave.
    let found = events(&steady(|turn| if turn >= 30 { 20_000 } else { 0 }), 400);
    let late: Vec<_> = found.iter().filter(|event| event.to >= host(250)).collect();
    assert!(!late.is_empty());
    for event in late {
        assert_eq!(event.amount, Duration::ZERO, "{event:?}");
    }
}

#[test]
fn where_reports_are_rare_nothing_is_explained() {
    let rare: Vec<Grant> = (1..60).map(|turn| filled(turn * 50, 1_000, Some(1_000))).collect();
    // The usual interval is assumed until it is measured.
    let found = events(&rare, 3_100);
    assert!(found.iter().all(|event| event.to < host(400)), "{found:?}");
}

#[test]
fn a_clock_that_is_set_begins_everything_anew() {
    let mut delays = Delays::default();
    delays.handle_record(host(0), at(0));
    delays.handle_kpi(&Kpi::Grant(received(0, 3, true, false)));
    delays.handle_record(host(8), ModemInstant::from_nanos(8_000_000));
    let late = Grant { at: ModemInstant::from_nanos(8_000_000), ..received(0, 3, true, true) };
    delays.handle_kpi(&Kpi::Grant(late));
    assert_eq!(delays.poll(), None);
    assert_eq!(delays.known_until(Direction::Downlink), Some(host(8)));
}

#[test]
fn the_interval_of_reports_is_the_timer_that_they_show() {
    let interval = |apart: u64, reports: u64, waiting: u64| {
        let mut delays = Delays::default();
        delays.handle_record(host(0), at(0));
        for turn in 0..reports {
            delays.handle_kpi(&Kpi::Grant(filled(turn * apart, 1_000, Some(waiting))));
        }
        delays.take_update().report_interval.map(|interval| interval.as_millis())
    };
    // A block after the timer ran out has the report.
    assert_eq!(
        [5, 7, 10, 14, 16, 19, 20, 33].map(|apart| interval(apart, 40, 500)),
        [Some(5), Some(5), Some(10), Some(10), Some(16), Some(16), Some(20), Some(32)]
    );
    // Few reports, reports of an empty buffer, and reports in every block show none.
    assert_eq!([interval(10, 4, 500), interval(10, 40, 0), interval(1, 40, 500)], [None; 3]);
}
