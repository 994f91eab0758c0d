use super::law::Law;
use super::state::State;
use super::*;
use crate::radio_law::Report;
use sounding_cc::Controller;
use sounding_estimate::{Bound, FairShare, LinkEstimate};

mod drills;
mod queue;

const RTT: Duration = Duration::from_millis(40);
/// Payload of a packet of 1500 bytes is 1448: rates of IP become rates of payload by this.
const PAYLOAD: f64 = 1448.0 / 1500.0;

fn ms(ms: u64) -> HostInstant {
    HostInstant::from_nanos(ms * 1_000_000)
}

fn mbit(mbit: u64) -> Rate {
    Rate::from_bits_per_sec(mbit * 1_000_000)
}

fn carries(rate: u64, bound: Bound, fair: Option<FairShare>) -> FeedUpdate {
    FeedUpdate::Carries(Report { rate: mbit(rate), bound, fair, sampled_at: ms(1_000) })
}

fn claim(rate: u64, fair: u64, carriers: u32) -> FeedUpdate {
    let fair = Some(FairShare::new(mbit(fair), 2, carriers));
    carries(rate, Bound::Capacity, fair)
}

/// A flow at the end of a path that delivers what is sent up to `carries`, and delays what is too
/// much.
struct Flow {
    law: Law,
    now: u64,
    delivered: u32,
    carries: Rate,
    claims: FeedUpdate,
    late: Duration,
}

impl Flow {
    fn new(config: Config, claims: FeedUpdate, carries: Rate) -> Self {
        let law = Law::new(config, &Start::tcp(ms(1_000), Some(RTT), 1), 0);
        Self { law, now: 1_000, delivered: 0, carries, claims, late: Duration::ZERO }
    }

    /// Lets so many milliseconds pass, with an acknowledgement in each.
    fn run(&mut self, millis: u64) {
        for _ in 0..millis {
            self.now += 1;
            let now = ms(self.now);
            self.law.handle_feed(now, self.claims);
            let paced = self.law.pacing();
            let rate = if self.law.law_controls() { paced.min(self.carries) } else { self.carries };
            let acked = rate * Duration::from_millis(1);
            let round = (rate * RTT).count() as u32;
            self.delivered += acked.count() as u32;
            let ack = Ack {
                now,
                rtt: Some(RTT + self.late),
                delay: Some(Duration::from_millis(20) + self.late),
                rate: Some(rate),
                acked,
                delivered: Bytes::new(self.delivered.into()),
                prior_delivered: Bytes::new(self.delivered.saturating_sub(round).into()),
                ..Ack::default()
            };
            self.law.handle_ack(&ack, self.carries);
            self.law.handle_time(now);
        }
    }

    fn mbit(&self) -> f64 {
        self.law.pacing().mbit_per_sec()
    }
}

#[test]
fn a_flow_ramps_to_its_fair_share_in_three_rtts_and_then_sends_the_capacity() {
    let mut flow = Flow::new(Config::default(), claim(60, 40, 1), mbit(1000));
    for (passed, part) in [(60, 0.5), (30, 0.75)] {
        flow.run(passed);
        assert!(matches!(flow.law.state(), State::Ramp { .. }));
        assert!((flow.mbit() / (40.0 * PAYLOAD) - part).abs() < 0.02, "{}", flow.mbit());
    }
    flow.run(35);
    assert_eq!(flow.law.state(), State::RadioLimited);
    assert!((flow.mbit() / (60.0 * PAYLOAD) - 1.0).abs() < 0.01, "{}", flow.mbit());
    let window = flow.law.cwnd().count() as f64 * 8.0 / 60e6 / PAYLOAD;
    // A round trip, the slack and two segments.
    assert!((0.075..0.087).contains(&window), "{window} s of the rate");
}

#[test]
fn an_added_carrier_starts_a_ramp_from_the_present_rate_and_a_lost_one_a_step() {
    let mut flow = Flow::new(Config::default(), claim(40, 40, 1), mbit(1000));
    flow.run(200);
    flow.claims = claim(80, 80, 2);
    flow.run(60);
    assert!(matches!(flow.law.state(), State::Ramp { .. }));
    assert!((flow.mbit() / (60.0 * PAYLOAD) - 1.0).abs() < 0.03, "{}", flow.mbit());
    flow.run(100);
    flow.claims = claim(30, 30, 1);
    flow.run(2);
    assert!((flow.mbit() / (30.0 * PAYLOAD) - 1.0).abs() < 0.01, "{}", flow.mbit());
}

#[test]
fn late_packets_at_too_low_a_rate_show_a_bottleneck_in_the_internet() {
    let mut flow = Flow::new(Config::default(), claim(60, 60, 1), mbit(1000));
    flow.run(400);
    (flow.carries, flow.late) = (mbit(20), Duration::from_millis(40));
    flow.run(120);
    assert!(!matches!(flow.law.state(), State::RadioLimited | State::Ramp { .. }));
    flow.run(60);
    assert_eq!(flow.law.state(), State::BottleneckElsewhere);
    // BBR probes by a quarter, and no further than the fair share (Eq. 7).
    let limit = |flow: &Flow| flow.law.limit().expect("a limit").mbit_per_sec();
    assert!((limit(&flow) / 25.0 - 1.0).abs() < 0.01, "{}", limit(&flow));
    flow.carries = mbit(50);
    flow.run(10);
    assert!((limit(&flow) / (60.0 * PAYLOAD) - 1.0).abs() < 0.01, "{}", limit(&flow));
    (flow.carries, flow.late) = (mbit(58), Duration::ZERO);
    flow.run(200);
    assert_eq!(flow.law.state(), State::RadioLimited);
}

#[test]
fn late_packets_of_a_full_radio_do_not_unless_the_law_is_as_published() {
    for (config, stays) in [(Config::default(), true), (Config::default().published(), false)] {
        let mut flow = Flow::new(config, claim(60, 60, 1), mbit(1000));
        flow.run(400);
        flow.late = Duration::from_millis(40);
        flow.run(30);
        assert_eq!(flow.law.state() == State::RadioLimited, stays, "{:?}", flow.law.state());
    }
}

#[test]
fn a_claim_is_not_believed_after_three_rounds_that_deliver_less_than_four_fifths() {
    for factor in [2, 10] {
        let mut flow = Flow::new(Config::default(), claim(20 * factor, 20 * factor, 1), mbit(20));
        flow.run(3 * 40);
        // The start is over: three round trips later no more than 1.25 of what arrives is sent.
        flow.run(4 * 40);
        assert_eq!(flow.law.state(), State::EstimateTooHigh, "{factor}");
        let limit = flow.law.limit().expect("a limit").mbit_per_sec();
        assert!(limit <= 20.0 * 1.25 + 0.1, "{limit}");
    }
}

#[test]
fn a_device_that_pauses_between_lies_is_not_believed_anew() {
    let mut flow = Flow::new(Config::default(), claim(200, 200, 1), mbit(20));
    flow.run(7 * 40);
    assert_eq!(flow.law.state(), State::EstimateTooHigh);
    for (pause, believes) in [(300, false), (1_500, true)] {
        flow.claims = FeedUpdate::Nothing;
        flow.run(pause);
        assert_eq!(flow.law.state(), State::NoEstimate);
        flow.claims = claim(200, 200, 1);
        flow.run(1);
        assert_eq!(flow.law.law_controls(), believes, "{pause} ms: {:?}", flow.law.state());
    }
}

#[test]
fn a_capacity_that_jumps_fourfold_is_no_misreport() {
    let mut flow = Flow::new(Config::default(), claim(10, 10, 1), mbit(1000));
    for jump in [10, 40, 10, 40, 160, 40] {
        flow.claims = claim(jump, jump, 1);
        for _ in 0..300 {
            flow.run(1);
            assert_ne!(flow.law.state(), State::EstimateTooHigh);
        }
    }
}

#[test]
fn without_a_fair_share_a_floor_is_probed_above_and_a_capacity_is_sent() {
    let of = |rate, bound| carries(rate, bound, None);
    let mut flow = Flow::new(Config::default(), of(5, Bound::Floor), mbit(1000));
    flow.run(200);
    assert!(matches!(flow.law.state(), State::Probing { .. }));
    assert!(flow.mbit() > 5.0 && flow.mbit() <= 10.0 * PAYLOAD + 2.5, "{}", flow.mbit());
    flow.claims = of(30, Bound::Capacity);
    flow.run(2);
    assert_eq!(flow.law.state(), State::RadioLimited);
    assert!((flow.mbit() / (30.0 * PAYLOAD) - 1.0).abs() < 0.01, "{}", flow.mbit());
}

#[test]
fn what_is_not_reported_any_more_leaves_the_flow_to_bbr() {
    let mut flow = Flow::new(Config::default(), claim(40, 40, 1), mbit(1000));
    flow.run(200);
    flow.claims = FeedUpdate::Handover;
    flow.run(1);
    assert_eq!(flow.law.state(), State::Handover);
    flow.claims = FeedUpdate::Nothing;
    flow.run(1);
    assert!(!flow.law.law_controls());
    flow.claims = claim(40, 40, 1);
    flow.run(1);
    // It sends the fair share already.
    assert_eq!(flow.law.state(), State::RadioLimited);
}
