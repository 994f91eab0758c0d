//! Labels change in the call of the first record that can show it, and labels of rare reports.

use super::*;

/// The number of records, one a millisecond, after which the label is first this one.
fn records_until(modem: &mut Modem, label: Bound, grant: impl Fn(ModemInstant) -> Grant) -> u64 {
    let is_reached = |modem: &mut Modem| {
        modem.grants(1, 1, &grant);
        modem.estimate().bound == label
    };
    (1..=200).find(|_| is_reached(modem)).unwrap()
}

#[test]
fn a_label_changes_in_the_call_of_the_first_record_that_can_show_it() {
    let filled = FILLED_FOR.as_millis() as u64;
    let full_down = arrived;
    let empty_down = |at| Grant { padding: Some(Bytes::new(1)), ..arrived(at) };
    let mut modem = Modem::new(downlink());
    // The block that begins the queue, and those of the time that it has to last.
    assert_eq!(records_until(&mut modem, Bound::Capacity, full_down), filled + 1);
    assert_eq!(records_until(&mut modem, Bound::Floor, empty_down), 1);
    // Data cannot have waited for longer than the block that took all there was.
    assert_eq!(records_until(&mut modem, Bound::Capacity, full_down), filled + 1);

    let mut modem = Modem::new(uplink());
    assert_eq!(records_until(&mut modem, Bound::Capacity, block), filled + 1);
    assert_eq!(records_until(&mut modem, Bound::Floor, padded), 1);
    // New data of an empty buffer waits for a grant's cycle of 15 ms in any case.
    assert_eq!(records_until(&mut modem, Bound::Capacity, block), 15 + filled);
}

/// A device that may send a report every `timer_ms`. Its answer comes 10 ms later, a thousand bytes
/// each millisecond: whether an estimate was ever the radio's limit.
fn is_ever_full(waiting: u64, timer_ms: u64) -> bool {
    let mut modem = Modem::new(uplink());
    let answer = 10..10 + waiting / 1_000;
    let report = BufferStatus { least: Bytes::new(waiting), most: Bytes::new(waiting * 9 / 8) };
    (0..2_000).any(|ms| {
        modem.ms += 1;
        let (host, at) = (modem.host(), modem.modem());
        modem.estimator.handle_record(host, at);
        let since = ms % timer_ms;
        let report = (since == 0).then_some(report);
        if report.is_some() || answer.contains(&since) {
            modem.estimator.handle_kpi(host, &Kpi::Grant(Grant { report, ..block(at) }));
        }
        ms > 1_000 && modem.estimate().bound == Bound::Capacity
    })
}

#[test]
fn waiting_for_a_rare_report_is_not_waiting_for_the_radio() {
    for timer_ms in [20, 40, 64, 80] {
        assert!(!is_ever_full(3_000, timer_ms), "{timer_ms} ms");
        // A queue that is not served in time is the radio's limit all the same.
        assert!(is_ever_full(timer_ms * 2_000, timer_ms), "{timer_ms} ms");
    }
}
