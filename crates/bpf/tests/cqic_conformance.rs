//! `cqic.h`, which the kernel runs, and `sounding_laws::cqic`, which simulations run, answer alike.

#![allow(clippy::unwrap_used, reason = "a test whose set-up fails has to fail")]

mod filter;

use std::collections::BTreeSet;
use std::sync::LazyLock;
use std::time::Duration;

use filter::{Filter, Told};
use proptest::prelude::*;
use proptest::strategy::ValueTree;
use proptest::test_runner::TestRunner;
use sounding_cc::Start;
use sounding_cc::sharing::{self, Part, Pool, WEIGHT};
use sounding_estimate::{Bound, State as Link};
use sounding_laws::Phase;
use sounding_laws::cqic::{Config, Law, State};
use sounding_laws::radio_law::{FeedUpdate, Report};
use sounding_units::{Bytes, HostInstant, Rate};

/// `LAW_ACK`, `LAW_RTO`.
const FLAGS: [u32; 2] = [1, 4];
/// 100 Gbit/s, above which an estimate is absurd, and so is one a second ahead.
const MAX_RATE: u64 = sounding_estimate::MAX_RATE.bytes_per_sec();
const MAX_LEAD: Duration = Duration::from_secs(1);
const MAX_SEGMENTS: u64 = 1 << 20;
const SHADOW_PACING: u64 = 7_777_777;

/// The C law, compiled once.
static FILTER: LazyLock<Filter> = LazyLock::new(|| Filter::compile("cqic_host"));

/// A flow before anything happens to it.
#[derive(Clone, Copy, Debug)]
struct Begin {
    mss: u32,
    rtt_us: u32,
}

/// One thing that happens to a flow, and what the device reports by then.
#[derive(Clone, Debug)]
struct Step {
    pass_ns: u64,
    bytes_per_sec: u64,
    age_ns: i64,
    silence_ns: i64,
    bound: u32,
    valid: bool,
    state: Link,
    hungry: u32,
    rtt_us: u32,
    shadow_cwnd: u32,
    restart: bool,
    timeout: bool,
}

/// Mostly what a link would say, at times anything that a [`Rate`] can carry.
fn number(plausible: u64) -> impl Strategy<Value = u64> {
    prop_oneof![40 => 0..=plausible, 1 => 0..=u64::MAX / 8, 1 => Just(0)]
}

fn count(plausible: u32) -> impl Strategy<Value = u32> {
    prop_oneof![40 => 0..=plausible, 1 => any::<u32>(), 1 => Just(0)]
}

prop_compose! {
    fn begin()(
        mss in prop_oneof![20 => Just(1448u32), 1 => 0..70_000u32],
        rtt_us in prop_oneof![1 => Just(0u32), 4 => 20_000..60_000u32],
    ) -> Begin {
        Begin { mss, rtt_us }
    }
}

prop_compose! {
    fn step(pass: u64, hungry: u32)(
        pass_ns in number(pass),
        bytes_per_sec in number(20_000_000),
        age_ns in prop_oneof![90 => 0..150_000_000i64, 9 => -2_000_000_000..2_000_000_000i64],
        silence_ns in prop_oneof![90 => 0..50_000_000i64, 1 => -2_000_000_000..2_000_000_000i64],
        bound in prop_oneof![40 => 0..=1u32, 1 => any::<u32>()],
        valid in prop::bool::weighted(0.7),
        state in prop_oneof![
            20 => Just(Link::Active), 2 => Just(Link::Idle), 3 => Just(Link::Handover),
            1 => Just(Link::Silent), 1 => Just(Link::Stale),
        ],
        rtt_us in prop_oneof![20 => 20_000..80_000u32, 1 => count(60_000)],
        shadow_cwnd in count(500),
        restart in prop::bool::weighted(0.03),
        timeout in prop::bool::weighted(0.03),
    ) -> Step {
        Step {
            pass_ns, bytes_per_sec, age_ns, silence_ns, bound, valid, state, hungry, rtt_us,
            shadow_cwnd, restart, timeout,
        }
    }
}

fn steps() -> impl Strategy<Value = Vec<Step>> {
    let pass = prop_oneof![3 => Just(15_000_000u64), 1 => Just(2_000_000_000)];
    let stretch =
        (pass, prop_oneof![3 => Just(0u32), 1 => 0..4u32]).prop_flat_map(|(pass, hungry)| {
            proptest::collection::vec(step(pass, hungry * WEIGHT), 1..60)
        });
    proptest::collection::vec(stretch, 1..12).prop_map(|stretches| stretches.concat())
}

/// So long before `now`, or after it.
fn before(now: HostInstant, ns: i64) -> HostInstant {
    HostInstant::from_nanos(now.as_nanos().saturating_add_signed(-ns))
}

fn part(hungry: u32) -> Part {
    let mut pool = Pool::default();
    pool.add(sharing::Claim::Hungry, WEIGHT);
    pool.add(sharing::Claim::Hungry, hungry);
    pool.part(WEIGHT)
}

/// What the device reports, as the kernel's `cqic_carries` finds it.
fn update(now: HostInstant, step: &Step) -> FeedUpdate {
    let sampled_at = before(now, step.age_ns);
    let is_sound = step.bytes_per_sec <= MAX_RATE && step.bound <= 1;
    if step.valid && is_sound && sampled_at - now <= MAX_LEAD {
        let rate = part(step.hungry).of(Rate::from_bytes_per_sec(step.bytes_per_sec));
        let bound = if step.bound == 0 { Bound::Floor } else { Bound::Capacity };
        return FeedUpdate::Carries(Report { rate, bound, fair: None, sampled_at });
    }
    if !step.valid && step.state == Link::Handover {
        return FeedUpdate::Handover;
    }
    FeedUpdate::Nothing
}

/// What both sides must agree on after a step.
#[derive(Debug, PartialEq, Eq)]
struct Answer {
    phase: u64,
    /// Of a hold.
    since_ns: u64,
    cwnd: u64,
    pacing: u64,
    transitions: u64,
}

fn answer_of(law: &Law, begin: &Begin, step: &Step, transitions: u64) -> Answer {
    let phase = Phase::ALL.iter().position(|&phase| phase == law.state().phase()).unwrap();
    let since_ns = match law.state() {
        State::Hold { since } => since.as_nanos(),
        _ => 0,
    };
    let mss = u64::from(begin.mss.clamp(1, 65_535));
    let (cwnd, pacing) = if law.law_controls() {
        ((law.cwnd().count() / mss).clamp(2, MAX_SEGMENTS), law.pacing().bytes_per_sec())
    } else {
        (u64::from(step.shadow_cwnd.max(2)), SHADOW_PACING)
    };
    Answer { phase: phase as u64, since_ns, cwnd, pacing, transitions }
}

/// `struct host_answer` as the filter wrote it.
fn parse(answer: [u64; 5]) -> Answer {
    let [phase, since_ns, cwnd, pacing, transitions] = answer;
    Answer { phase, since_ns, cwnd, pacing, transitions }
}

fn tell_config(told: &mut Told) {
    // The ages are those of the daemon's heartbeat, by which this law does not go.
    told.longs(&[200_000_000, 60_000_000, 0]);
    told.ints(&[0, 0, 0, 0, 0, 0, 0, Config::default().min_cwnd, 0, 0]);
}

fn tell_begin(told: &mut Told, now: HostInstant, begin: &Begin) {
    tell_config(told);
    told.longs(&[now.as_nanos()]);
    told.longs(&[0; 17]);
    told.ints(&[0, 0, 0, 0, begin.rtt_us, begin.mss, 0, 0, 0, 0, 0, 0, 0, 0]);
    told.longs(&[1]);
}

fn tell_step(told: &mut Told, begin: &Begin, step: &Step, now: HostInstant) {
    let before = |ns| before(now, ns).as_nanos();
    let state = Link::ALL.iter().position(|&state| state == step.state).unwrap();
    let flags = if step.restart { 0 } else { FLAGS[0] } | if step.timeout { FLAGS[1] } else { 0 };
    let hungry = u64::from(WEIGHT) + u64::from(step.hungry);
    tell_config(told);
    told.longs(&[now.as_nanos(), step.bytes_per_sec, before(step.age_ns), 1]);
    told.ints(&[step.bound, u32::from(step.valid), 9, 0, 0, state as u32]);
    told.longs(&[0]);
    told.ints(&[0, 0]);
    told.longs(&[before(step.silence_ns), 0, SHADOW_PACING, 0, 0]);
    told.longs(&[hungry, hungry, 0, 0]);
    told.ints(&[WEIGHT, WEIGHT, step.shadow_cwnd, 0, step.rtt_us, begin.mss]);
    told.ints(&[0, 0, 1, 0, 0, 1, flags, 0]);
    told.longs(&[0]);
}

/// One sequence through the Rust law: the input for the C law, and the Rust law's answers.
fn drive(begin: &Begin, steps: &[Step]) -> (Told, Vec<Answer>) {
    let mut now = HostInstant::from_nanos(20_000_000_000);
    let mss = u64::from(begin.mss.clamp(1, 65_535));
    let span = |us: u32| Duration::from_micros(us.into());
    let start = Start { mss: Bytes::new(mss), ..Start::tcp(now, Some(span(begin.rtt_us)), 0) };
    let mut law = Law::new(Config::default(), &start);
    let mut told = Told::default();
    let (mut answers, mut transitions) = (Vec::new(), 0);
    tell_begin(&mut told, now, begin);
    for step in steps {
        now = now + Duration::from_nanos(step.pass_ns);
        tell_step(&mut told, begin, step, now);
        let was = law.state().phase();
        if step.timeout {
            law.handle_timeout(now);
        }
        law.handle_feed(now, update(now, step));
        if step.restart {
            law.handle_time(now);
        } else {
            law.handle_ack(now, Some(span(step.rtt_us)));
        }
        transitions += u64::from(law.state().phase() != was);
        answers.push(answer_of(&law, begin, step, transitions));
    }
    (told, answers)
}

proptest! {
    #![proptest_config(ProptestConfig {
        cases: 300,
        failure_persistence: None,
        ..ProptestConfig::default()
    })]

    #[test]
    fn both_laws_answer_alike(begin in begin(), steps in steps()) {
        FILTER.agrees(drive(&begin, &steps), parse)?;
    }
}

#[test]
fn the_sequences_visit_every_state_and_come_back_from_each() {
    // Otherwise the comparison above would say little.
    let mut runner = TestRunner::deterministic();
    let (mut seen, mut left) = (BTreeSet::new(), BTreeSet::new());
    for _ in 0..100 {
        let begin = begin().new_tree(&mut runner).unwrap().current();
        let steps = steps().new_tree(&mut runner).unwrap().current();
        let answers = drive(&begin, &steps).1;
        let to_radio = answers.windows(2).filter(|pair| pair[1].phase == 1 && pair[0].phase != 1);
        left.extend(to_radio.map(|pair| pair[0].phase));
        seen.extend(answers.iter().map(|answer| answer.phase));
    }
    let all = Phase::ALL.iter().zip(0..);
    let ours = all.filter(|(phase, _)| sounding_laws::Law::Cqic.phases().contains(phase));
    assert_eq!(seen, ours.map(|(_, number)| number).collect());
    for phase in [0, 3, 5] {
        assert!(left.contains(&phase), "back to the radio from {phase}: {left:?}");
    }
}
