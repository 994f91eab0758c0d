//! Single steps: the law's output for one acknowledgement.

use super::super::*;
use super::{Ack, bytes};

/// A second into the host's day.
const NOW: HostInstant = HostInstant::from_nanos(1_000_000_000);

fn fresh(rate_mbit: u64) -> Snapshot {
    let rate = Rate::from_bits_per_sec(rate_mbit * 1_000_000);
    let estimate = FeedEstimate { rate, sampled_at: NOW, bound: Bound::Capacity, other_flows: 0 };
    Snapshot { estimate: Some(estimate), agreeing: 2, heartbeat_at: NOW }
}

fn path() -> PathSample {
    PathSample {
        rtt_min: Some(Duration::from_millis(50)),
        mss: 1448,
        e2e: Rate::from_bits_per_sec(30_000_000),
        flows: 1,
        link: None,
        shadow_cwnd: 33,
        shadow_pacing: Rate::from_bits_per_sec(7_000_000),
    }
}

fn flow() -> Biscay {
    Biscay::new(super::plain(), NOW, 0)
}

/// The command after one ordinary acknowledgement at `NOW`.
fn after(feed: &Snapshot, path: &PathSample) -> (State, Command) {
    let mut flow = flow();
    let ack = Ack { acked: bytes(1), delivered: bytes(1), ..Ack::default() };
    let command = flow.handle_ack(NOW, feed, path, Timeout::None, &ack);
    (flow.state(), command)
}

#[test]
fn the_window_is_the_share_in_one_rtt_and_the_allowance_and_three_bursts() {
    let (_, command) = after(&fresh(30), &path());
    // 30 Mbit/s × 60 ms = 225 000 B = 150 packets; a burst is 3 534 B >> 0 = two segments.
    assert_eq!(command.cwnd, 150 + 3 * 2);
    // 1448 of 1500 bytes are payload, and a percent is left to drain what queue there is.
    assert_eq!(command.pacing, Rate::from_bits_per_sec(28_670_400));
}

#[test]
fn an_rtt_that_the_window_alone_makes_is_not_the_paths_and_a_longer_one_is() {
    let mut flow = flow();
    let mut window = |ms: u64| {
        let path = PathSample { rtt_min: Some(Duration::from_millis(ms)), ..path() };
        let ack = Ack { acked: bytes(1), delivered: bytes(1), ..Ack::default() };
        flow.handle_ack(NOW, &fresh(30), &path, Timeout::None, &ack).cwnd
    };
    let least = window(50);
    // 156 packets of 1500 bytes take 62.4 ms at 30 Mbit/s; the kernel remembers no shorter RTT
    // after five minutes of it.
    assert_eq!([window(62), window(62)], [least; 2]);
    assert!(window(63) > least);
    assert_eq!(window(50), least);
}

#[test]
fn flows_that_share_a_link_have_no_more_in_flight_together_than_one_alone() {
    let (_, alone) = after(&fresh(30), &path());
    for flows in 2..=6 {
        let (_, each) = after(&fresh(30), &PathSample { flows, ..path() });
        // Each rounds up to a whole segment.
        assert!(each.cwnd * flows < alone.cwnd + flows, "{flows} flows of {}", each.cwnd);
    }
    // As from the kernel, which has divided already.
    let link = Some(Rate::from_bits_per_sec(30_000_000));
    let (_, part) = after(&fresh(10), &PathSample { link, ..path() });
    let (_, third) = after(&fresh(30), &PathSample { flows: 3, ..path() });
    assert_eq!(part.cwnd, third.cwnd);
}

#[test]
fn without_a_feed_the_shadow_drives() {
    let absent = Snapshot { estimate: None, ..fresh(30) };
    let (state, command) = after(&absent, &path());
    assert_eq!(state, State::NoEstimate(None));
    assert_eq!(
        command,
        Command { cwnd: 33, pacing: Rate::from_bits_per_sec(7_000_000), cut: None, longer: None }
    );
}

#[test]
fn without_an_rtt_the_shadow_drives() {
    let (state, command) = after(&fresh(30), &PathSample { rtt_min: None, ..path() });
    assert_eq!(state, State::NoEstimate(None));
    assert_eq!(command.cwnd, 33);
}

#[test]
fn one_sample_alone_does_not_end_startup() {
    let (state, _) = after(&Snapshot { agreeing: 1, ..fresh(30) }, &path());
    assert_eq!(state, State::NoEstimate(None));
}

#[test]
fn a_link_that_carries_nothing_keeps_two_segments() {
    let (state, command) = after(&fresh(0), &path());
    assert!(matches!(state, State::RadioLimited { .. }));
    assert_eq!(
        command,
        Command { cwnd: 2, pacing: Rate::from_bits_per_sec(1_000_000), cut: None, longer: None }
    );
}

#[test]
fn a_link_that_carries_a_little_keeps_four_segments() {
    let path = PathSample { rtt_min: Some(Duration::from_micros(10)), ..path() };
    let config = Config { allowance: Duration::ZERO, min_cwnd: 40, ..super::plain() };
    let mut flow = Biscay::new(config, NOW, 0);
    let command = flow.handle_ack(NOW, &fresh(1), &path, Timeout::None, &Ack::default());
    assert_eq!(command.cwnd, 40);
}

#[test]
fn no_window_is_above_the_cap() {
    let path = PathSample { rtt_min: Some(Duration::from_secs(3_000)), ..path() };
    let (_, command) = after(&fresh(100_000), &path);
    assert_eq!(command.cwnd, 1 << 16);
}

#[test]
fn more_than_a_hundred_gigabit_is_absurd() {
    let mut flow = flow();
    let ack = Ack::default();
    flow.handle_ack(NOW, &fresh(30), &path(), Timeout::None, &ack);
    flow.handle_ack(NOW, &fresh(100_001), &path(), Timeout::None, &ack);
    assert_eq!(flow.state(), State::NoEstimate(Some(FallbackReason::Absurd)));
}

/// A settled flow's verdict on a feed stamped `sampled` and beaten `beaten` before now.
fn verdict(sampled: Duration, beaten: Duration) -> State {
    let now = NOW + Duration::from_secs(10);
    let mut feed = fresh(30);
    let mut flow = flow();
    flow.handle_ack(NOW, &feed, &path(), Timeout::None, &Ack::default());
    feed.heartbeat_at = now.saturating_before(beaten);
    feed.estimate.as_mut().unwrap().sampled_at = now.saturating_before(sampled);
    flow.handle_ack(now, &feed, &path(), Timeout::None, &Ack::default());
    flow.state()
}

#[test]
fn an_estimate_is_obeyed_for_200_ms_and_no_longer() {
    let alive = Duration::ZERO;
    assert!(matches!(verdict(Duration::from_millis(200), alive), State::RadioLimited { .. }));
    let older = verdict(Duration::from_nanos(200_000_001), alive);
    assert_eq!(older, State::NoEstimate(Some(FallbackReason::Stale)));
}

#[test]
fn a_daemon_is_believed_for_60_ms_of_silence_and_no_longer() {
    let sampled = Duration::ZERO;
    assert!(matches!(verdict(sampled, Duration::from_millis(60)), State::RadioLimited { .. }));
    let longer = verdict(sampled, Duration::from_nanos(60_000_001));
    assert_eq!(longer, State::NoEstimate(Some(FallbackReason::Silent)));
}

#[test]
fn a_feed_from_the_far_future_is_absurd_and_one_from_the_near_is_fresh() {
    let mut flow = flow();
    let mut feed = fresh(30);
    feed.estimate.as_mut().unwrap().sampled_at = NOW + Duration::from_secs(1);
    flow.handle_ack(NOW, &feed, &path(), Timeout::None, &Ack::default());
    assert!(matches!(flow.state(), State::RadioLimited { .. }));
    feed.estimate.as_mut().unwrap().sampled_at = NOW + Duration::from_nanos(1_000_000_001);
    flow.handle_ack(NOW, &feed, &path(), Timeout::None, &Ack::default());
    assert_eq!(flow.state(), State::NoEstimate(Some(FallbackReason::Absurd)));
}

#[test]
fn a_flow_sends_by_the_feed_of_the_moment_after_a_pause() {
    let mut flow = flow();
    flow.handle_ack(NOW, &fresh(30), &path(), Timeout::None, &Ack::default());
    let command = flow.handle_restart(NOW, &fresh(3), &path(), Timeout::None);
    assert_eq!(command.cwnd, 15 + 3 * 2);
}

#[test]
fn a_flow_falls_back_after_a_pause_in_which_the_feed_died() {
    let mut flow = flow();
    flow.handle_ack(NOW, &fresh(30), &path(), Timeout::None, &Ack::default());
    let command =
        flow.handle_restart(NOW + Duration::from_secs(5), &fresh(30), &path(), Timeout::None);
    assert_eq!(flow.state(), State::NoEstimate(Some(FallbackReason::Silent)));
    assert_eq!(command.cwnd, 33);
}

#[test]
fn unseen_flows_take_their_part() {
    let mut feed = fresh(30);
    feed.estimate.as_mut().unwrap().other_flows = 2;
    let mut flow = flow();
    flow.handle_ack(NOW, &feed, &path(), Timeout::None, &Ack::default());
    assert_eq!(flow.share(), Rate::from_bits_per_sec(10_000_000));
    assert_eq!(flow.flows(), 3);
}

#[test]
fn a_timeout_restarts_from_ten_and_is_back_after_a_few_rounds() {
    let mut flow = flow();
    let ack = |segments| Ack { acked: bytes(segments), ..Ack::default() };
    flow.handle_ack(NOW, &fresh(30), &path(), Timeout::None, &ack(1));
    let windows = [
        (Timeout::Fired, 0, 10),
        (Timeout::None, 10, 20),
        (Timeout::None, 20, 40),
        (Timeout::None, 40, 80),
        (Timeout::None, 80, 156),
        (Timeout::None, 1, 156),
    ];
    for (timeout, acked, window) in windows {
        let command = flow.handle_ack(NOW, &fresh(30), &path(), timeout, &ack(acked));
        assert_eq!(command.cwnd, window, "after {acked} acknowledged");
    }
}

#[test]
fn a_spurious_timeout_costs_nothing() {
    let mut flow = flow();
    flow.handle_ack(NOW, &fresh(30), &path(), Timeout::Fired, &Ack::default());
    let command = flow.handle_ack(NOW, &fresh(30), &path(), Timeout::Undone, &Ack::default());
    assert_eq!(command.cwnd, 156);
}

#[test]
fn a_pacing_gain_scales_pacing_and_not_the_window() {
    let config = Config { pacing_gain_permille: 1250, ..super::plain() };
    let mut flow = Biscay::new(config, NOW, 0);
    let command = flow.handle_ack(NOW, &fresh(30), &path(), Timeout::None, &Ack::default());
    assert_eq!(
        command,
        Command { cwnd: 156, pacing: Rate::from_bits_per_sec(36_200_000), cut: None, longer: None }
    );
}

#[test]
fn agreement_counts_samples_within_30_percent_and_starts_again_at_others() {
    let mut agreement = Agreement::default();
    let counts: std::vec::Vec<u32> =
        [(10, 1), (13, 2), (13, 2), (10, 3), (20, 4), (20, 5), (0, 6), (0, 7)]
            .into_iter()
            .map(|(mbit, at)| {
                agreement.handle_estimate(&FeedEstimate {
                    rate: Rate::from_bits_per_sec(mbit * 1_000_000),
                    sampled_at: HostInstant::from_nanos(at),
                    bound: Bound::Capacity,
                    other_flows: 0,
                })
            })
            .collect();
    assert_eq!(counts, [1, 2, 2, 3, 1, 2, 1, 2]);
}
