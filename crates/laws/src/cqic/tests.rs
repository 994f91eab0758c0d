use sounding_cc::{Controller, Loss};
use sounding_estimate::{Bound, Direction, LinkEstimate, Source, State as Link};

use super::*;
use crate::radio_law::Report;

const RTT: Duration = Duration::from_millis(50);
/// Payload of a packet of 1500 bytes is 1448: rates of IP become rates of payload by this.
const PAYLOAD: f64 = 1448.0 / 1500.0;

fn ms(ms: u64) -> HostInstant {
    HostInstant::from_nanos(ms * 1_000_000)
}

fn start() -> Start {
    Start::tcp(ms(1_000), Some(RTT), 1)
}

fn law() -> Law {
    Law::new(Config::default(), &start())
}

fn carries(mbit: u64, at: u64) -> FeedUpdate {
    let (rate, bound) = (Rate::from_bits_per_sec(mbit * 1_000_000), Bound::Capacity);
    FeedUpdate::Carries(Report { rate, bound, fair: None, sampled_at: ms(at) })
}

fn mbit(law: &Law) -> f64 {
    law.pacing().mbit_per_sec()
}

#[test]
fn the_first_report_is_the_pace_and_twice_the_path_is_the_window() {
    let mut law = law();
    assert!(!law.law_controls());
    law.handle_feed(ms(1_000), carries(24, 990));
    assert!((mbit(&law) - 24.0 * PAYLOAD).abs() < 0.01, "{}", mbit(&law));
    // 24 Mbit/s of IP over 2 × 50 ms.
    let window = 24e6 * PAYLOAD / 8.0 * 0.1;
    assert!((law.cwnd().count() as f64 - window).abs() < 2.0, "{:?}", law.cwnd());
    let config = Config { gain_percent: 125, ..Config::default() };
    let mut tight = Law::new(config, &start());
    tight.handle_feed(ms(1_000), carries(24, 990));
    assert!((tight.cwnd().count() as f64 - window * 0.625).abs() < 2.0, "{:?}", tight.cwnd());
}

#[test]
fn the_rate_goes_up_and_down_with_the_report_at_once() {
    let mut law = law();
    for rate in [1, 95, 5, 40] {
        law.handle_feed(ms(1_100), carries(rate, 1_090));
        assert!((mbit(&law) - rate as f64 * PAYLOAD).abs() < 0.01, "{}", mbit(&law));
    }
}

#[test]
fn a_timeout_halves_the_rate_until_a_later_sample_comes() {
    let mut law = law();
    law.handle_feed(ms(1_000), carries(40, 990));
    law.handle_timeout(ms(1_300));
    assert_eq!(law.state(), State::Hold { since: ms(1_300) });
    assert!((mbit(&law) - 20.0 * PAYLOAD).abs() < 0.01, "{}", mbit(&law));
    // The report that an acknowledgement repeats is older than it.
    law.handle_feed(ms(1_310), carries(40, 1_300));
    assert!((mbit(&law) - 20.0 * PAYLOAD).abs() < 0.01, "{}", mbit(&law));
    law.handle_feed(ms(1_350), carries(30, 1_340));
    assert_eq!(law.state(), State::RadioLimited);
    assert!((mbit(&law) - 30.0 * PAYLOAD).abs() < 0.01, "{}", mbit(&law));
}

#[test]
fn a_report_counts_for_a_second_and_then_the_stock_algorithm_has_the_flow() {
    let mut law = law();
    law.handle_feed(ms(1_000), carries(40, 990));
    law.handle_feed(ms(1_990), FeedUpdate::Nothing);
    assert_eq!(law.state(), State::RadioLimited);
    let at = law.wakeup().unwrap();
    assert_eq!(at, ms(1_990) + Duration::from_nanos(1));
    law.handle_time(at);
    assert_eq!((law.state(), law.wakeup()), (State::NoEstimate, None));
    law.handle_feed(ms(2_100), carries(10, 2_090));
    assert_eq!(law.state(), State::RadioLimited);
}

#[test]
fn in_a_handover_the_rate_stays_and_the_next_rtt_begins_a_new_path() {
    let mut law = law();
    law.handle_feed(ms(1_000), carries(40, 990));
    let window = law.cwnd();
    for at in [1_100, 1_110] {
        law.handle_feed(ms(at), FeedUpdate::Handover);
        assert_eq!((law.state(), law.cwnd()), (State::Handover, window));
    }
    law.handle_ack(ms(1_150), Some(2 * RTT));
    law.handle_feed(ms(1_160), FeedUpdate::Handover);
    law.handle_ack(ms(1_170), Some(3 * RTT));
    law.handle_feed(ms(1_200), carries(40, 1_190));
    assert!(law.cwnd().count().abs_diff(2 * window.count()) < 2, "{:?} {window:?}", law.cwnd());
}

#[test]
fn a_rate_of_nothing_leaves_a_few_segments_a_round_trip() {
    let mut law = law();
    law.handle_feed(ms(1_000), carries(0, 990));
    assert_eq!(law.cwnd(), start().segments(4));
    assert_eq!(law.pacing(), Rate::from_bytes_per_sec(4 * 1448 * 20));
}

fn estimate(state: Link, source: Source) -> LinkEstimate {
    LinkEstimate::new(Direction::Downlink, Rate::from_bits_per_sec(30_000_000), Bound::Floor)
        .with_age(Duration::from_millis(10))
        .with_state(state)
        .with_source(source)
}

#[test]
fn an_idle_device_has_a_rate_by_its_channel_and_none_by_its_grants() {
    for (source, phase) in [(Source::Cqi, Phase::RadioLimited), (Source::Grants, Phase::NoEstimate)]
    {
        let config = Config::default();
        let mut flow = Cqic::new(config, Fallback::Cubic, &start(), Duration::ZERO);
        flow.handle_estimate(ms(1_000), &estimate(Link::Idle, source), 1);
        assert_eq!(flow.state(), phase.name(), "{source}");
    }
}

#[test]
fn a_loss_changes_nothing() {
    let mut flow = Cqic::new(Config::default(), Fallback::Cubic, &start(), Duration::ZERO);
    flow.handle_estimate(ms(1_000), &estimate(Link::Active, Source::Cqi), 1);
    let before = (flow.cwnd(), flow.pacing_rate());
    let size = start().mss;
    let (now, in_flight, sent) = (ms(1_050), size, Departure::default());
    flow.handle_loss(&Loss { now, size, in_flight, sent, begins_recovery: true });
    assert_eq!((flow.cwnd(), flow.pacing_rate()), before);
}
