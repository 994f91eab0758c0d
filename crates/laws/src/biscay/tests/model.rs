//! Checks the law's invariants after any sequence of events, plausible or not.

use proptest::prelude::*;

use super::super::*;
use super::{Ack, bytes};

#[derive(Clone, Debug)]
enum Event {
    Pass(u64),
    Beat,
    Publish {
        bits: u64,
        lead_ns: i64,
        served: bool,
        other_flows: u32,
        agreeing: u32,
    },
    Withdraw,
    Ack(Ack),
    Restart,
    Timeout(bool),
    PathSample {
        rtt_min: Option<u32>,
        mss: u32,
        e2e: u64,
        flows: u32,
        link: Option<u64>,
        cwnd: u32,
        pacing: u64,
    },
}

/// Mostly a plausible number, sometimes any.
fn number(plausible: u64) -> impl Strategy<Value = u64> {
    prop_oneof![8 => 0..=plausible, 1 => any::<u64>(), 1 => Just(0), 1 => Just(u64::MAX)]
}

fn count(plausible: u32) -> impl Strategy<Value = u32> {
    number(u64::from(plausible)).prop_map(|number| number as u32)
}

fn ack() -> impl Strategy<Value = Ack> {
    (
        proptest::option::of(count(400_000)),
        count(5_000),
        count(5_000),
        count(64),
        count(8),
        count(500),
        any::<bool>(),
    )
        .prop_map(|(rtt, delivered, prior_delivered, acked, lost, inflight, is_limited)| Ack {
            rtt: rtt.map(|us| Duration::from_micros(u64::from(us))),
            delivered: bytes(delivered),
            prior_delivered: bytes(prior_delivered),
            acked: bytes(acked),
            lost: bytes(lost),
            in_flight: bytes(inflight),
            is_limited,
            ..Ack::default()
        })
}

fn event() -> impl Strategy<Value = Event> {
    prop_oneof![
        4 => number(300_000_000).prop_map(Event::Pass),
        2 => Just(Event::Beat),
        3 => (number(100_000_000), -300_000_000..=1_500_000_000i64, any::<bool>(), count(8), count(4))
            .prop_map(|(bits, lead_ns, served, other_flows, agreeing)| {
                Event::Publish { bits, lead_ns, served, other_flows, agreeing }
            }),
        1 => Just(Event::Withdraw),
        8 => ack().prop_map(Event::Ack),
        1 => Just(Event::Restart),
        1 => any::<bool>().prop_map(Event::Timeout),
        2 => (proptest::option::of(count(200_000)), count(9_000), number(20_000_000), count(20), proptest::option::of(number(100_000_000)), count(500), number(20_000_000))
            .prop_map(|(rtt_min, mss, e2e, flows, link, cwnd, pacing)| {
                Event::PathSample { rtt_min, mss, e2e, flows, link, cwnd, pacing }
            }),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn window_and_rate_stay_sane_whatever_happens(
        events in proptest::collection::vec(event(), 1..200),
    ) {
        let config = super::plain();
        let mut now = HostInstant::default();
        let mut flow = Biscay::new(config, now, 0);
        let mut feed = Snapshot { estimate: None, agreeing: 0, heartbeat_at: now };
        let mut path = PathSample {
            rtt_min: None,
            mss: 1448,
            e2e: Rate::ZERO,
            flows: 1,
            link: None,
            shadow_cwnd: 10,
            shadow_pacing: Rate::from_bits_per_sec(1_000_000),
        };
        let mut timeout = Timeout::None;
        for event in events {
            let command = match event {
                Event::Pass(nanos) => { now = now + Duration::from_nanos(nanos); None }
                Event::Beat => { feed.heartbeat_at = now; None }
                Event::Publish { bits, lead_ns, served, other_flows, agreeing } => {
                    let sampled_at = HostInstant::from_nanos(now.as_nanos().saturating_add_signed(lead_ns));
                    let bound = if served { Bound::Floor } else { Bound::Capacity };
                    let rate = Rate::from_bits_per_sec(bits);
                    feed.estimate = Some(FeedEstimate { rate, sampled_at, bound, other_flows });
                    feed.agreeing = agreeing;
                    None
                }
                Event::Withdraw => { feed.estimate = None; None }
                Event::Timeout(undone) => {
                    timeout = if undone { Timeout::Undone } else { Timeout::Fired };
                    None
                }
                Event::PathSample { rtt_min, mss, e2e, flows, link, cwnd, pacing } => {
                    path = PathSample {
                        rtt_min: rtt_min.map(|us| Duration::from_micros(u64::from(us))),
                        mss,
                        e2e: Rate::from_bits_per_sec(e2e),
                        flows,
                        link: link.map(Rate::from_bits_per_sec),
                        shadow_cwnd: cwnd,
                        shadow_pacing: Rate::from_bits_per_sec(pacing),
                    };
                    None
                }
                Event::Ack(ack) => {
                    Some(flow.handle_ack(now, &feed, &path, core::mem::take(&mut timeout), &ack))
                }
                Event::Restart => {
                    Some(flow.handle_restart(now, &feed, &path, core::mem::take(&mut timeout)))
                }
            };
            let Some(command) = command else { continue };
            prop_assert!(command.cwnd >= 2);
            prop_assert!(flow.since() <= now);
            if let State::RadioLimited { .. } = flow.state() {
                let estimate = feed.estimate.expect("the law obeys only what is published");
                prop_assert!(now - estimate.sampled_at <= config.max_age);
                prop_assert!(now - feed.heartbeat_at <= config.max_silence);
                prop_assert!(command.cwnd <= config.max_cwnd.max(path.shadow_cwnd));
let most = estimate.rate.max(Rate::from_bits_per_sec(1_000_000));
                prop_assert!(command.pacing <= most.max(path.shadow_pacing));
            } else {
                prop_assert_eq!(command.pacing, path.shadow_pacing);
                prop_assert_eq!(command.cwnd, path.shadow_cwnd.max(2));
            }
        }
    }
}
