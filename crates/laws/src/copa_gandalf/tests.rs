use alloc::vec::Vec;

use sounding_cc::Departure;
use sounding_cc::parameter::Values;

use super::*;

fn at(ms: u64) -> HostInstant {
    HostInstant::from_nanos((1_000 + ms) * 1_000_000)
}

fn flow(config: Config) -> CopaGandalf {
    CopaGandalf::with(&Start::tcp(at(0), None, 1), config)
}

fn ack(copa: &mut CopaGandalf, ms: u64, rtt_ms: u64) {
    let rtt = Duration::from_millis(rtt_ms);
    let sent = Departure { at: at(ms).saturating_before(rtt), ..Departure::default() };
    let (now, acked, rtt) = (at(ms), Bytes::new(1_448), Some(rtt));
    copa.handle_ack(&Ack { now, acked, rtt, sent, ..Ack::default() });
}

/// An acknowledgement a millisecond in this span, of a download whose device reports every ten.
fn download(copa: &mut CopaGandalf, span: core::ops::Range<u64>, rtt_ms: u64) {
    for ms in span {
        if ms.is_multiple_of(10) {
            let news = DelayUpdate::new(at(ms), Vec::new()).with_down_until(Some(at(ms)));
            copa.handle_delays(at(ms), Direction::Downlink, &news);
        }
        ack(copa, ms, rtt_ms);
    }
}

#[test]
fn a_device_that_reports_is_believed_until_it_was_silent_for_100_ms() {
    let mut copa = flow(Config::default());
    download(&mut copa, 0..200, 40);
    assert_eq!(copa.law.by(), Some(CorrectedBy::Peer));
    for (ms, by) in [(290, Some(CorrectedBy::Peer)), (291, None)] {
        ack(&mut copa, ms, 40);
        assert_eq!(copa.law.by(), by, "{ms}");
    }
}

#[test]
fn another_pace_holds_for_corrected_rtts_after_slow_start_alone() {
    let own = Config { pace: 110, ..Config::default() };
    let mut flows = [flow(Config::default()), flow(own)];
    let mut parts = [(0..100, 40), (100..400, 90)].map(|(span, rtt_ms)| {
        flows.iter_mut().for_each(|copa| download(copa, span.clone(), rtt_ms));
        let [usual, own] = flows.each_ref().map(|copa| copa.pacing_rate().unwrap().bytes_per_sec());
        (100 * own).div_ceil(usual)
    });
    assert_eq!(parts, [100, 55]);
    flows.iter_mut().for_each(|copa| ack(copa, 600, 90));
    let rates = flows.each_ref().map(|copa| copa.pacing_rate().unwrap().bytes_per_sec());
    parts[1] = 100 * rates[1] / rates[0];
    assert_eq!(parts, [100; 2], "without a device it is Copa");
}

#[test]
fn plans_state_each_parameter_and_the_kernel_has_the_defaults() {
    let stated = [("delta", "0.25"), ("pace", "1.1"), ("rise", "8"), ("unsure", "1ms")];
    let values = Values::parse(Config::PARAMETERS, stated).unwrap();
    let wanted = Config { inverse_delta: 4 * config::ONE, pace: 110, rise: 8, unsure_us: 1_000 };
    assert_eq!(Config::of(&values), wanted);
    let kernel = Config { inverse_delta: 2 * config::ONE, pace: 200, rise: 16, unsure_us: 2_500 };
    assert_eq!(Config::default(), kernel);
}

/// An upload whose RTTs are 40 ms, and whose modem reports each 10 ms.
fn upload(copa: &mut CopaGandalf, span: core::ops::Range<u64>, interval: Option<u64>) {
    for ms in span {
        if ms.is_multiple_of(10) {
            let until = Some(at(ms));
            let news = DelayUpdate::new(at(ms), Vec::new())
                .with_up_until(until)
                .with_down_until(until)
                .with_report_interval(interval.map(Duration::from_millis));
            copa.handle_delays(at(ms), Direction::Uplink, &news);
        }
        ack(copa, ms, 40);
    }
}

#[test]
fn the_paths_rtt_follows_the_interval_of_reports_and_falls_with_it() {
    let mut copa = flow(Config::default());
    let mut begin = 0;
    let mut least = |interval: Option<u64>| {
        upload(&mut copa, begin..begin + 500, interval);
        begin += 500;
        copa.believed().unwrap().as_micros()
    };
    // Half an interval of reports, where they are no further apart than 20 ms.
    let wanted = [None, Some(10), Some(20), Some(32), Some(16), Some(5)];
    assert_eq!(wanted.map(&mut least), [42_500, 45_000, 50_000, 42_500, 48_000, 42_500]);
}
