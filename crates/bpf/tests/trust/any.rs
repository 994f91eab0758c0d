//! Any report on any connection: `trust.h`, which the kernel runs, and `sounding_laws::trust`,
//! which simulations run, believe the same.

use proptest::prelude::*;
use sounding_laws::trust::{Input, Trust};

use super::*;

fn number(plausible: u64) -> impl Strategy<Value = u64> {
    prop_oneof![20 => 0..=plausible, 1 => any::<u64>(), 1 => Just(0), 1 => Just(u64::MAX)]
}

fn count(plausible: u32) -> impl Strategy<Value = u32> {
    prop_oneof![20 => 0..=plausible, 1 => any::<u32>(), 1 => Just(0), 1 => Just(u32::MAX)]
}

/// What happens to a connection at once: a step, and by how much the counts of delivered, sent and
/// lost bytes and the time move.
#[derive(Clone, Copy, Debug)]
struct Move {
    step: Step,
    delivered: u32,
    behind: u32,
    lost: u32,
    pass_ns: u64,
}

prop_compose! {
    fn moves()(
        (rate, delivered_rate, delivered, behind, lost) in (
            number(200_000_000), number(20_000_000), count(200), count(200),
            prop_oneof![3 => Just(0), 2 => count(100)],
        ),
        pass_ns in number(100_000_000),
        (mss, rtt_us, queue_us, inflight, acked, limited, forgets) in (
            count(9_000), count(200_000), count(200_000), count(3), 0..2u32,
            prop_oneof![9 => Just(0), 1 => Just(LIMITED)], prop::bool::weighted(0.02),
        ),
    ) -> Move {
        let verb = if forgets { FORGET } else { STEP };
        let met = Step { mss, rtt_us, queue_us, inflight, acked, limited, ..Step::default() };
        let step = Step { rate, delivered_rate, verb, ..met };
        Move { step, delivered, behind, lost, pass_ns }
    }
}

prop_compose! {
    /// A while in which as much arrives of each 10 ms, as much is lost, and the same is claimed.
    /// Every third step ends a round.
    fn a_while()(
        steps in 1..60u32,
        arrives in 10..80u32,
        lost in prop_oneof![8 => Just(0), 1 => Just(1), 2 => 5..60u32],
        rate in prop_oneof![8 => Just(125_000_000u64), 2 => 100_000..12_000_000u64, 1 => Just(0)],
        inflight in prop_oneof![4 => Just(1), 2 => 50..400u32],
        limited in prop_oneof![9 => Just(0), 1 => Just(LIMITED)],
    ) -> Vec<Move> {
        let of = |number: u32| {
            // The most of the last rounds, and a little more than their mean.
            let delivered_rate = u64::from(arrives) * MSS * 110;
            let met = Step { mss: MSS as u32, rtt_us: RTT_US, queue_us: QUEUE_US, ..Step::default() };
            let step = Step { rate, delivered_rate, inflight, acked: 1, limited, verb: STEP, ..met };
            let behind = if number.is_multiple_of(3) { 0 } else { 500 };
            Move { step, delivered: arrives, behind, lost, pass_ns: 10_000_000 }
        };
        (0..steps).map(of).collect()
    }
}

/// A connection whose claims are cut and believed again.
fn doubted() -> impl Strategy<Value = Vec<Move>> {
    prop::collection::vec(a_while(), 1..24).prop_map(|whiles| whiles.concat())
}

/// The moves as steps of counters that wrap.
fn steps_of(moves: Vec<Move>, begins: u32) -> Vec<Step> {
    let (mut delivered, mut lost, mut now_ns) = (begins, begins, 0u64);
    let of = |moved: Move| {
        let prior_delivered = delivered.wrapping_sub(moved.behind);
        delivered = delivered.wrapping_add(moved.delivered);
        lost = lost.wrapping_add(moved.lost);
        now_ns = now_ns.saturating_add(moved.pass_ns);
        Step { delivered, prior_delivered, lost, now_ns, ..moved.step }
    };
    moves.into_iter().map(of).collect()
}

/// What Rust answers.
fn ours(steps: &[Step]) -> Vec<[u64; 3]> {
    let mut trust = Trust::default();
    let of = |step: &Step| {
        let input = Input {
            rate: step.rate,
            delivered_rate: step.delivered_rate,
            now_ns: step.now_ns,
            delivered: step.delivered,
            prior_delivered: step.prior_delivered,
            lost: step.lost,
            mss: step.mss,
            rtt_us: step.rtt_us,
            queue_us: step.queue_us,
            inflight: step.inflight,
            window: WINDOW,
            acked: step.acked != 0,
            limited: step.limited != 0,
        };
        match step.verb {
            FORGET => {
                trust.forget(step.delivered);
                [0; 3]
            }
            WITHIN => [trust.within(&input, step.rate), 0, 0],
            _ => {
                let believed = trust.step(&input);
                [believed, trust.rounds().into(), trust.overstated().into()]
            }
        }
    };
    steps.iter().map(of).collect()
}

proptest! {
    #[test]
    fn rust_and_c_believe_the_same(
        moves in prop_oneof![prop::collection::vec(moves(), 1..60), doubted()],
        begins in any::<u32>(),
        fair in any::<bool>(),
    ) {
        let mut steps = steps_of(moves, begins);
        if fair {
            let shares = |step: Step| [step, Step { verb: WITHIN, ..step }];
            steps = steps.into_iter().flat_map(shares).collect();
        }
        prop_assert_eq!(ours(&steps), ask(&steps));
    }

    #[test]
    fn no_rate_is_used_beyond_the_claim_or_three_times_what_arrived(
        moves in prop_oneof![prop::collection::vec(moves(), 1..60), doubted()],
        begins in any::<u32>(),
    ) {
        let steps = steps_of(moves, begins);
        for (step, [believed, rounds, overstated]) in steps.iter().zip(ask(&steps)) {
            if step.verb == FORGET {
                continue;
            }
            let mss = u64::from(step.mss.clamp(1, 65_535));
            let seen = step.delivered_rate.min(12_500_000_000);
            let proven = seen * (mss + 52) / mss * 3;
            let span_us: u64 =
                [step.rtt_us, step.queue_us].map(|us| u64::from(us.min(10_000_000))).iter().sum();
            let start = 128 * (mss + 52) * 1_000_000 / span_us.max(1);
            prop_assert!(believed <= step.rate);
            prop_assert!(believed <= proven.max(start));
            if rounds >= 3 && seen > 0 {
                prop_assert!(believed <= proven);
            }
            prop_assert!(rounds <= 3 && overstated <= 16);
        }
    }
}
