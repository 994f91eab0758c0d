//! `biscay.h`, which the kernel runs, and `sounding_laws::biscay`, which simulations run, answer
//! alike.

#![allow(clippy::unwrap_used, reason = "a test whose set-up fails has to fail")]

mod filter;

use std::collections::BTreeSet;
use std::sync::LazyLock;
use std::time::Duration;

use filter::{Filter, Told};
use proptest::prelude::*;
use proptest::strategy::ValueTree;
use proptest::test_runner::TestRunner;
use sounding_laws::Phase;
use sounding_laws::biscay::{
    Biscay, Bound, Cleared, Command, Config, FallbackReason, FeedEstimate, PathSample, Snapshot,
    State, Timeout,
};
use sounding_laws::radio_law::Ack;
use sounding_units::{Bytes, HostInstant, Rate};

/// `LAW_ACK`, `LAW_LIMITED`, `LAW_RTO`, `LAW_UNDO`.
const FLAGS: [u32; 4] = [1, 2, 4, 8];

/// One thing that happens to a flow.
#[derive(Clone, Debug)]
struct Step {
    pass_ns: u64,
    bytes_per_sec: u64,
    age_ns: i64,
    silence_ns: i64,
    served: bool,
    valid: bool,
    agreeing: u32,
    other_flows: u32,
    e2e: u64,
    shadow_pacing: u64,
    shadow_cwnd: u32,
    rtt_min_us: u32,
    rtt_us: u32,
    mss: u32,
    moves: u32,
    behind: u32,
    acked: u32,
    lost: u32,
    inflight: u32,
    flows: u32,
    link: u64,
    restart: bool,
    limited: bool,
    timeout: Timeout,
}

/// Mostly what a link and a path would say, at times anything that a [`Rate`] can carry.
fn number(plausible: u64) -> impl Strategy<Value = u64> {
    prop_oneof![30 => 0..=plausible, 1 => 0..=u64::MAX / 8, 1 => Just(0), 1 => Just(u64::MAX / 8)]
}

fn count(plausible: u32) -> impl Strategy<Value = u32> {
    prop_oneof![30 => 0..=plausible, 1 => any::<u32>(), 1 => Just(0), 1 => Just(u32::MAX)]
}

prop_compose! {
    fn step()(
        (pass_ns, bytes_per_sec, age_ns, silence_ns, served, valid, agreeing, other_flows) in (
            number(30_000_000),
            number(10_000_000),
            prop_oneof![20 => 0..150_000_000i64, 1 => -2_000_000_000..2_000_000_000i64],
            prop_oneof![20 => 0..50_000_000i64, 1 => -2_000_000_000..2_000_000_000i64],
            prop::bool::weighted(0.2),
            prop::bool::weighted(0.97),
            prop_oneof![1 => 0..2u32, 5 => 2..9u32],
            prop_oneof![9 => Just(0u32), 1 => count(4)],
        ),
        (e2e, shadow_pacing, link, shadow_cwnd, rtt_min_us, rtt_us, mss) in (
            number(10_000_000),
            number(10_000_000),
            prop_oneof![1 => Just(0), 2 => number(20_000_000)],
            count(500),
            prop_oneof![20 => 20_000..60_000u32, 1 => count(60_000)],
            prop_oneof![20 => 20_000..400_000u32, 1 => count(60_000)],
            prop_oneof![20 => Just(1448u32), 1 => count(9_000)],
        ),
        (moves, behind, acked, lost, inflight, flows, restart, limited, timeout) in (
            0..8u32,
            prop_oneof![3 => 0..3u32, 1 => count(400)],
            count(8),
            prop_oneof![3 => Just(0u32), 1 => count(4)],
            count(600),
            1..6u32,
            prop::bool::weighted(0.03),
            prop::bool::weighted(0.05),
            prop_oneof![
                30 => Just(Timeout::None),
                1 => Just(Timeout::Fired),
                1 => Just(Timeout::Undone)
            ],
        ),
    ) -> Step {
        Step {
            pass_ns, bytes_per_sec, age_ns, silence_ns, served, valid, agreeing, other_flows, e2e,
            shadow_pacing, shadow_cwnd, rtt_min_us, rtt_us, mss, moves, behind, acked, lost,
            inflight, flows, link, restart, limited, timeout,
        }
    }
}

prop_compose! {
    fn config()(
        allowance_us in count(50_000),
        (gain, narrow, wide, loss) in (count(2_000), count(400), count(400), count(300)),
        (narrow_rounds, wide_rounds, settled_after) in (0..4u32, 0..4u32, 0..3u32),
        (min_cwnd, max_cwnd) in (count(10), count(100_000)),
        narrow_for in number(200_000_000),
    ) -> Config {
        Config {
            narrow_for: Duration::from_nanos(narrow_for),
            allowance: Duration::from_micros(u64::from(allowance_us)),
            pacing_gain_permille: gain,
            narrow_permille: narrow,
            wide_permille: wide,
            narrow_rounds,
            wide_rounds,
            narrow_loss_permille: loss,
            min_cwnd,
            max_cwnd,
            settled_after,
            ..Config::default()
        }
    }
}

/// What both sides must agree on after a step.
#[derive(Debug, PartialEq, Eq)]
struct Answer {
    state: (u32, u32),
    since_ns: u64,
    share: u64,
    delivery: u64,
    narrow: (u32, u64),
    asked: (u32, u32),
    longer: u32,
    wide_rounds: u32,
    ramp: u32,
    transitions: u32,
    flows: u32,
    cwnd: u32,
    pacing: u64,
    cut: Option<u64>,
}

/// The Rust law's answer in the C law's words.
fn answer_of(flow: &Biscay, command: &Command) -> Answer {
    let (mut narrow, mut tested, mut wide, mut cap) = ((0, 0), (0, 0), 0, 0);
    let reason = match flow.state() {
        State::NoEstimate(None) => 0,
        State::NoEstimate(Some(FallbackReason::Absent)) => 2,
        State::NoEstimate(Some(FallbackReason::Stale)) => 3,
        State::NoEstimate(Some(FallbackReason::Silent)) => 4,
        State::NoEstimate(Some(FallbackReason::Absurd)) => 5,
        State::RadioLimited { after, narrow: seen, ramp } => {
            narrow = seen.map_or((0, 0), |seen| (seen.rounds, seen.since.as_nanos()));
            tested = seen.and_then(|seen| seen.asked).map_or((0, 0), |asked| {
                // C counts from 1, because 0 means that there is no queue test.
                (asked.rounds + 1, asked.rtt.as_micros() as u32)
            });
            cap = ramp.unwrap_or(0);
            if after == Cleared::Fresh { 1 } else { 7 }
        }
        State::BottleneckElsewhere { wide_rounds } => {
            wide = wide_rounds;
            6
        }
    };
    let phase = Phase::ALL.iter().position(|&phase| phase == flow.state().phase()).unwrap() as u32;
    Answer {
        state: (phase, reason),
        since_ns: flow.since().as_nanos(),
        share: flow.share().bytes_per_sec(),
        delivery: flow.delivery().bytes_per_sec(),
        narrow,
        asked: tested,
        longer: command.longer.map_or(0, |longer| longer.as_micros() as u32),
        wide_rounds: wide,
        ramp: cap,
        transitions: flow.transitions(),
        flows: flow.flows(),
        cwnd: command.cwnd,
        pacing: command.pacing.bytes_per_sec(),
        cut: command.cut.map(Rate::bytes_per_sec),
    }
}

/// `struct host_answer` as the filter wrote it.
fn parse(answer: [u64; 18]) -> Answer {
    let [
        state,
        reason,
        since_ns,
        share,
        delivery,
        narrow_rounds,
        narrow_since_ns,
        asking,
        asked_us,
        longer,
        wide_rounds,
        ramp,
        transitions,
        flows,
        cwnd,
        pacing,
        cuts,
        cut,
    ] = answer;
    Answer {
        state: (state as u32, reason as u32),
        since_ns,
        share,
        delivery,
        narrow: (narrow_rounds as u32, narrow_since_ns),
        asked: (asking as u32, asked_us as u32),
        longer: longer as u32,
        wide_rounds: wide_rounds as u32,
        ramp: ramp as u32,
        transitions: transitions as u32,
        flows: flows as u32,
        cwnd: cwnd as u32,
        pacing,
        cut: (cuts != 0).then_some(cut),
    }
}

fn tell_knobs(told: &mut Told, config: &Config) {
    let spans = [config.max_age, config.max_silence, config.narrow_for];
    told.longs(&spans.map(|span| span.as_nanos() as u64));
    told.ints(&[
        config.allowance.as_micros() as u32,
        config.pacing_gain_permille,
        config.narrow_permille,
        config.wide_permille,
        config.narrow_rounds,
        config.wide_rounds,
        config.narrow_loss_permille,
        config.min_cwnd,
        config.max_cwnd,
        config.settled_after,
    ]);
}

/// Longs of `struct law_input` after the moment, and its ints, without what they say.
const REST: ([u64; 17], [u32; 14]) = ([0; 17], [0; 14]);

fn tell_begin(told: &mut Told, config: &Config, now: HostInstant) {
    tell_knobs(told, config);
    told.longs(&[now.as_nanos()]);
    told.longs(&REST.0);
    told.ints(&REST.1);
    told.longs(&[1]);
}

fn tell_step(
    told: &mut Told,
    config: &Config,
    step: &Step,
    now: HostInstant,
    feed: &Snapshot,
    [delivered, prior]: [u32; 2],
) {
    let timeout = match step.timeout {
        Timeout::None => 0,
        Timeout::Fired => FLAGS[2],
        Timeout::Undone => FLAGS[3],
    };
    let flags = if step.restart { 0 } else { FLAGS[0] }
        | if step.limited && !step.restart { FLAGS[1] } else { 0 }
        | timeout;
    // Without an ACK the kernel side leaves these at zero.
    let seen = |value: u32| if step.restart { 0 } else { value };
    let sampled_at = feed.estimate.map_or(0, |estimate| estimate.sampled_at.as_nanos());
    tell_knobs(told, config);
    told.longs(&[now.as_nanos(), step.bytes_per_sec, sampled_at, 0]);
    told.ints(&[u32::from(!step.served), u32::from(step.valid), step.agreeing]);
    told.ints(&[step.other_flows]);
    told.longs(&[0, 0, 0, feed.heartbeat_at.as_nanos(), step.e2e, step.shadow_pacing, step.link]);
    // The delivery rate and the pool are the other law's.
    told.longs(&[0; 5]);
    told.ints(&[0, 0, step.shadow_cwnd, step.rtt_min_us, seen(step.rtt_us), step.mss]);
    told.ints(&[seen(delivered), seen(prior), seen(step.acked)]);
    told.ints(&[seen(step.lost), seen(step.inflight), step.flows, flags, 0]);
    told.longs(&[0]);
}

/// One sequence through the Rust law: the input for the C law, and the Rust law's answers.
fn drive(config: &Config, steps: &[Step]) -> (Told, Vec<Answer>) {
    let mut now = HostInstant::from_nanos(5_000_000_000);
    let mut delivered = 0u32;
    let mut flow = Biscay::new(*config, now, delivered);
    let mut told = Told::default();
    let mut answers = Vec::new();
    tell_begin(&mut told, config, now);
    for step in steps {
        now = now + Duration::from_nanos(step.pass_ns);
        delivered = delivered.wrapping_add(step.moves);
        let before = |ns: i64| HostInstant::from_nanos(now.as_nanos().saturating_add_signed(-ns));
        let feed = Snapshot {
            estimate: step.valid.then_some(FeedEstimate {
                rate: Rate::from_bytes_per_sec(step.bytes_per_sec),
                sampled_at: before(step.age_ns),
                bound: if step.served { Bound::Floor } else { Bound::Capacity },
                other_flows: step.other_flows,
            }),
            agreeing: step.agreeing,
            heartbeat_at: before(step.silence_ns),
        };
        let path = PathSample {
            rtt_min: Some(Duration::from_micros(u64::from(step.rtt_min_us))),
            mss: step.mss,
            e2e: Rate::from_bytes_per_sec(step.e2e),
            flows: step.flows,
            link: (step.link > 0).then(|| Rate::from_bytes_per_sec(step.link)),
            shadow_cwnd: step.shadow_cwnd,
            shadow_pacing: Rate::from_bytes_per_sec(step.shadow_pacing),
        };
        let mss = u64::from(step.mss.clamp(1, 65_535));
        let bytes = |segments: u32| Bytes::new(u64::from(segments) * mss);
        let prior = delivered.wrapping_sub(step.behind);
        let ack = Ack {
            rtt: Some(Duration::from_micros(u64::from(step.rtt_us))),
            delivered: bytes(delivered),
            prior_delivered: bytes(prior),
            acked: bytes(step.acked),
            lost: bytes(step.lost),
            in_flight: bytes(step.inflight),
            is_limited: step.limited && !step.restart,
            ..Ack::default()
        };
        tell_step(&mut told, config, step, now, &feed, [delivered, prior]);
        let command = if step.restart {
            flow.handle_restart(now, &feed, &path, step.timeout)
        } else {
            flow.handle_ack(now, &feed, &path, step.timeout, &ack)
        };
        answers.push(answer_of(&flow, &command));
    }
    (told, answers)
}

/// The C law, compiled once.
static FILTER: LazyLock<Filter> = LazyLock::new(|| Filter::compile("biscay_host"));

proptest! {
    #![proptest_config(ProptestConfig {
        cases: 200,
        failure_persistence: None,
        ..ProptestConfig::default()
    })]

    #[test]
    fn both_laws_answer_alike(
        config in config(),
        steps in proptest::collection::vec(step(), 1..600),
    ) {
        FILTER.agrees(drive(&config, &steps), parse)?;
    }
}

#[test]
fn the_sequences_visit_every_state() {
    // Otherwise the comparison above would say little.
    let mut runner = TestRunner::deterministic();
    let mut seen = BTreeSet::new();
    for _ in 0..40 {
        let config = config().new_tree(&mut runner).unwrap().current();
        let steps = proptest::collection::vec(step(), 400).new_tree(&mut runner).unwrap().current();
        for answer in drive(&config, &steps).1 {
            seen.insert(answer.state);
            if answer.ramp > 0 {
                seen.insert((1, u32::MAX));
            }
            if answer.longer > 0 {
                seen.insert((1, u32::MAX - 1));
            }
        }
    }
    let special = [(1, u32::MAX - 1), (1, u32::MAX)];
    let all =
        [(0, 0), (0, 2), (0, 3), (0, 4), (0, 5), (1, 1), (1, 7), special[0], special[1], (6, 6)];
    assert_eq!(seen.into_iter().collect::<Vec<_>>(), all);
}
