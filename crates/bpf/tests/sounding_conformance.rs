//! `sounding.h`, which the kernel runs, and `sounding_laws::sounding`, which simulations run,
//! answer alike.

#![allow(clippy::unwrap_used, reason = "a test whose set-up fails has to fail")]

mod filter;

use std::collections::BTreeSet;
use std::sync::LazyLock;
use std::time::Duration;

use filter::{Filter, Told};
use proptest::prelude::*;
use proptest::strategy::ValueTree;
use proptest::test_runner::TestRunner;
use sounding_cc::sharing::{Claim, Part, Pool, WEIGHT};
use sounding_laws::Phase;
use sounding_laws::biscay::{Config, Timeout};
use sounding_laws::radio_law::{Ack, FeedUpdate, Report};
use sounding_laws::sounding::{Bound, Law, State};
use sounding_units::{Bytes, HostInstant, Rate};

/// `LAW_ACK`, `LAW_RTO`, `LAW_UNDO`, `LAW_RECOVERY`, `LAW_MARKED`, `LAW_LIMITED`.
const FLAGS: [u32; 6] = [1, 4, 8, 16, 32, 2];
/// 100 Gbit/s, above which an estimate is absurd, and so is one a second ahead.
const MAX_RATE: u64 = sounding_estimate::MAX_RATE.bytes_per_sec();
const MAX_LEAD: Duration = Duration::from_secs(1);
const HEADERS: Bytes = Bytes::new(52);

/// The C law, compiled once.
static FILTER: LazyLock<Filter> = LazyLock::new(|| Filter::compile("sounding_host"));

/// A flow before anything happens to it.
#[derive(Clone, Copy, Debug)]
struct Begin {
    mss: u32,
    rtt_us: u32,
    delivered: u32,
}

/// What the feed says, and since when.
#[derive(Clone, Debug)]
struct Feed {
    is_new: bool,
    bytes_per_sec: u64,
    age_ns: i64,
    silence_ns: i64,
    served: bool,
    valid: bool,
    /// `enum feed_lull`.
    lull: u32,
}

/// What others claim of the link.
#[derive(Clone, Debug)]
struct Others {
    hungry: u32,
    limited: u32,
    rate: u64,
    weight: u32,
}

/// One thing that happens to a flow.
#[derive(Clone, Debug)]
struct Step {
    pass_ns: u64,
    feed: Feed,
    others: Others,
    rtt_us: u32,
    rate: u64,
    moves: u32,
    behind: u32,
    acked: u32,
    lost: u32,
    inflight: u32,
    shadow_cwnd: u32,
    restart: bool,
    recovering: bool,
    marked: bool,
    limited: bool,
    timeout: Timeout,
}

/// Mostly what a link and a path would say, at times anything that a [`Rate`] can carry.
fn number(plausible: u64) -> impl Strategy<Value = u64> {
    prop_oneof![40 => 0..=plausible, 1 => 0..=u64::MAX / 8, 1 => Just(0)]
}

fn count(plausible: u32) -> impl Strategy<Value = u32> {
    prop_oneof![40 => 0..=plausible, 1 => any::<u32>(), 1 => Just(0)]
}

prop_compose! {
    fn begin()(
        mss in prop_oneof![20 => Just(1448u32), 1 => count(9_000)],
        rtt_us in prop_oneof![Just(0u32), 20_000..60_000u32],
        delivered in count(100),
    ) -> Begin {
        Begin { mss, rtt_us, delivered }
    }
}

prop_compose! {
    fn feed(served: bool, rate: u64)(
        is_new in prop::bool::weighted(0.5),
        bytes_per_sec in prop_oneof![30 => rate..=rate + rate / 4, 1 => number(10_000_000)],
        age_ns in prop_oneof![60 => 0..150_000_000i64, 1 => -2_000_000_000..2_000_000_000i64],
        silence_ns in prop_oneof![60 => 0..50_000_000i64, 1 => -2_000_000_000..2_000_000_000i64],
        flips in prop::bool::weighted(0.05),
        valid in prop::bool::weighted(0.97),
        lull in 0..4u32,
    ) -> Feed {
        Feed { is_new, bytes_per_sec, age_ns, silence_ns, served: served != flips, valid, lull }
    }
}

prop_compose! {
    fn others(wanting: bool)(
        hungry in 0..4u32,
        limited in 0..2u32,
        rate in number(1_000_000).prop_map(|rate| rate.min(MAX_RATE)),
        weight in prop_oneof![20 => Just(WEIGHT), 1 => 1..=1u32 << 20],
    ) -> Others {
        let count = |flows| if wanting { flows * WEIGHT } else { 0 };
        Others { hungry: count(hungry), limited: count(limited), rate, weight }
    }
}

prop_compose! {
    fn step(served: bool, rate: u64, queue_us: u32, lossy: bool, wanting: bool)(
        (feed, others) in (feed(served, rate), others(wanting)),
        (pass_ns, rtt_us, delivery) in (
            number(30_000_000),
            prop_oneof![20 => 20_000 + queue_us..40_000 + queue_us, 1 => count(60_000)],
            prop_oneof![2 => number(rate), 1 => number(rate / 2), 1 => Just(0)],
        ),
        (moves, behind, acked, lost, inflight, shadow_cwnd) in (
            0..8u32,
            prop_oneof![3 => 0..3u32, 1 => count(400)],
            count(8),
            if lossy { count(8).boxed() } else { prop_oneof![9 => Just(0u32), 1 => count(1)].boxed() },
            count(1_000),
            count(500),
        ),
        (restart, recovering, marked, limited, timeout) in (
            prop::bool::weighted(0.03),
            prop::bool::weighted(0.02),
            prop::bool::weighted(0.02),
            prop::bool::weighted(0.2),
            prop_oneof![
                40 => Just(Timeout::None),
                1 => Just(Timeout::Fired),
                1 => Just(Timeout::Undone)
            ],
        ),
    ) -> Step {
        Step {
            pass_ns, feed, others, rtt_us, rate: delivery, moves, behind, acked, lost, inflight,
            shadow_cwnd, restart, recovering, marked, limited, timeout,
        }
    }
}

/// A stretch in which the path and its estimate stay alike, or a queue grows by so many percent of
/// the elapsed time.
fn stretch() -> impl Strategy<Value = Vec<Step>> {
    let queue = prop_oneof![Just(0u32), 30_000..200_000u32];
    let grows = prop_oneof![2 => Just(0u64), 1 => 30..100u64];
    let kind = (any::<bool>(), 10_000..10_000_000u64, queue, grows, any::<bool>(), any::<bool>());
    kind.prop_flat_map(|(served, rate, queue_us, grows, lossy, wanting)| {
        let steps = proptest::collection::vec(step(served, rate, queue_us, lossy, wanting), 1..60);
        steps.prop_map(move |steps| growing(steps, grows))
    })
}

fn growing(mut steps: Vec<Step>, percent: u64) -> Vec<Step> {
    let mut grown = 0;
    for step in steps.iter_mut().filter(|_| percent > 0) {
        grown = (grown + step.pass_ns / 1_000 * percent / 100).min(1_000_000);
        step.rtt_us = step.rtt_us.saturating_add(grown as u32);
        // It can show within a round only if that is longer than a few acknowledgements.
        step.behind = step.behind.max(200);
    }
    steps
}

fn steps() -> impl Strategy<Value = Vec<Step>> {
    proptest::collection::vec(stretch(), 1..12).prop_map(|stretches| stretches.concat())
}

/// So long before `now`, or after it.
fn before(now: HostInstant, ns: i64) -> HostInstant {
    HostInstant::from_nanos(now.as_nanos().saturating_add_signed(-ns))
}

/// The publisher's state, as the kernel's `law_verdict` and `sounding_feed_update` find it.
fn word(config: &Config, now: HostInstant, feed: &Feed) -> FeedUpdate {
    let (sampled_at, beaten_at) = (before(now, feed.age_ns), before(now, feed.silence_ns));
    let is_silent = now - beaten_at > config.max_silence;
    let report = Report {
        rate: Rate::from_bytes_per_sec(feed.bytes_per_sec),
        bound: if feed.served { Bound::Floor } else { Bound::Capacity },
        fair: None,
        sampled_at,
    };
    if feed.valid {
        let ahead = sampled_at - now > MAX_LEAD || beaten_at - now > MAX_LEAD;
        let is_absurd = ahead || feed.bytes_per_sec > MAX_RATE;
        if is_absurd || is_silent || now - sampled_at > config.max_age {
            return FeedUpdate::Nothing;
        }
        return FeedUpdate::Carries(report);
    }
    match feed.lull {
        1 if !is_silent => FeedUpdate::Idle(report),
        2 if !is_silent => FeedUpdate::Handover,
        _ => FeedUpdate::Nothing,
    }
}

fn part(others: &Others) -> Part {
    let mut pool = Pool::default();
    pool.add(Claim::Hungry, others.weight);
    pool.add(Claim::Hungry, others.hungry);
    pool.add(Claim::Limited(Rate::from_bytes_per_sec(others.rate)), others.limited);
    pool.part(others.weight)
}

/// What both sides must agree on after a step.
#[derive(Debug, PartialEq, Eq)]
struct Answer {
    phase: u32,
    /// Of the phase: growth, rounds, tested RTT, backlog.
    step: u32,
    rounds: u32,
    tested_us: u32,
    backlog_since_ns: u64,
    cwnd: u32,
    pacing: u64,
    cut: Option<u64>,
    /// What BBR's minimum of the RTT is raised to.
    longer_us: u64,
}

fn answer_of(law: &Law, begin: &Begin, step: &Step, cut: Option<Rate>) -> Answer {
    let (mut growth, mut held, mut tested, mut backlog) = (0, 0, 0, 0);
    match law.state() {
        State::Probing { step } => growth = step as u32,
        State::Hold { rounds } => held = rounds,
        State::QueueTest { rounds, rtt } => (held, tested) = (rounds, rtt as u32),
        State::BottleneckElsewhere { backlog_since } => {
            backlog = backlog_since.map_or(0, HostInstant::as_nanos);
        }
        _ => {}
    }
    let phase = Phase::ALL.iter().position(|&phase| phase == law.state().phase()).unwrap();
    let mss = u64::from(begin.mss.clamp(1, 65_535));
    let (cwnd, pacing) = match law.pacing().filter(|_| law.law_controls()) {
        Some(pacing) => (((law.cwnd().count() / mss) as u32).max(2), pacing.bytes_per_sec()),
        None => (step.shadow_cwnd.max(2), SHADOW_PACING),
    };
    let cut = cut.map(Rate::bytes_per_sec);
    let longer = law.rtt_min().filter(|_| law.law_controls());
    let longer_us = longer.map_or(0, |longer| longer.as_micros() as u64);
    Answer {
        phase: phase as u32,
        step: growth,
        rounds: held,
        tested_us: tested,
        backlog_since_ns: backlog,
        cwnd,
        pacing,
        cut,
        longer_us,
    }
}

const SHADOW_PACING: u64 = 777_777;

/// `struct host_answer` as the filter wrote it.
fn parse(answer: [u64; 10]) -> Answer {
    let [phase, step, rounds, tested_us, backlog_since_ns, cwnd, pacing, cuts, cut, longer_us] =
        answer;
    Answer {
        phase: phase as u32,
        step: step as u32,
        rounds: rounds as u32,
        tested_us: tested_us as u32,
        backlog_since_ns,
        cwnd: cwnd as u32,
        pacing,
        cut: (cuts != 0).then_some(cut),
        longer_us,
    }
}

fn tell_knobs(told: &mut Told, config: &Config) {
    let spans = [config.max_age, config.max_silence, config.narrow_for];
    told.longs(&spans.map(|span| span.as_nanos() as u64));
    // The rest is the other law's.
    told.ints(&[0; 10]);
}

fn tell_begin(told: &mut Told, config: &Config, now: HostInstant, begin: &Begin) {
    tell_knobs(told, config);
    told.longs(&[now.as_nanos()]);
    told.longs(&[0; 17]);
    told.ints(&[0, 0, 0, 0, begin.rtt_us, begin.mss, begin.delivered, 0, 0, 0, 0, 0, 0, 0]);
    told.longs(&[1]);
}

fn tell_step(
    told: &mut Told,
    config: &Config,
    begin: &Begin,
    step: &Step,
    now: HostInstant,
    epoch: u64,
    delivered: u32,
) {
    let Step { feed, others, .. } = step;
    let before = |ns| before(now, ns).as_nanos();
    let mut flags = if step.restart { 0 } else { FLAGS[0] };
    flags |= match step.timeout {
        Timeout::None => 0,
        Timeout::Fired => FLAGS[1],
        Timeout::Undone => FLAGS[2],
    };
    flags |= if step.recovering { FLAGS[3] } else { 0 } | if step.marked { FLAGS[4] } else { 0 };
    flags |= if step.limited { FLAGS[5] } else { 0 };
    let hungry = u64::from(others.weight) + u64::from(others.hungry);
    let claimed = if others.limited > 0 { others.rate + others.rate / 8 } else { 0 };
    tell_knobs(told, config);
    told.longs(&[now.as_nanos(), feed.bytes_per_sec, before(feed.age_ns), epoch]);
    told.ints(&[u32::from(!feed.served), u32::from(feed.valid), 9, 0, feed.lull, 0]);
    told.longs(&[0, 0, before(feed.silence_ns), 0, SHADOW_PACING, 0, step.rate]);
    told.longs(&[hungry, hungry + u64::from(others.limited), claimed, 0]);
    told.ints(&[others.weight, others.weight, step.shadow_cwnd, 0, step.rtt_us, begin.mss]);
    told.ints(&[delivered, delivered.wrapping_sub(step.behind), step.acked, step.lost]);
    told.ints(&[step.inflight, 1, flags, 0]);
    told.longs(&[0]);
}

/// One sequence through the Rust law: the input for the C law, and the Rust law's answers.
fn drive(begin: &Begin, steps: &[Step]) -> (Told, Vec<Answer>) {
    let config = Config::default();
    let mut now = HostInstant::from_nanos(5_000_000_000);
    let (mut delivered, mut epoch, mut heard) = (begin.delivered, 0, 0);
    let mss = Bytes::new(begin.mss.into());
    let rtt = Duration::from_micros(begin.rtt_us.into());
    let mut law = Law::new(now, mss, HEADERS, Some(rtt), delivered);
    let segments =
        |count: u32| Bytes::new(u64::from(count) * u64::from(begin.mss.clamp(1, 65_535)));
    let mut told = Told::default();
    let mut answers = Vec::new();
    tell_begin(&mut told, &config, now, begin);
    for step in steps {
        now = now + Duration::from_nanos(step.pass_ns);
        delivered = delivered.wrapping_add(step.moves);
        epoch += u64::from(step.feed.is_new);
        tell_step(&mut told, &config, begin, step, now, epoch, delivered);
        match step.timeout {
            Timeout::None => {}
            Timeout::Fired => law.handle_timeout(),
            Timeout::Undone => law.handle_undone(),
        }
        let word = word(&config, now, &step.feed);
        if word == FeedUpdate::Nothing || epoch != heard {
            law.handle_feed(now, word, part(&step.others), segments(step.shadow_cwnd));
            heard = epoch;
        }
        let ack = Ack {
            now,
            rtt: Some(Duration::from_micros(step.rtt_us.into())),
            rate: (step.rate > 0).then(|| Rate::from_bytes_per_sec(step.rate)),
            acked: segments(step.acked),
            lost: segments(step.lost),
            in_flight: segments(step.inflight),
            delivered: Bytes::new(delivered.into()),
            prior_delivered: Bytes::new(delivered.wrapping_sub(step.behind).into()),
            is_recovering: step.recovering,
            is_marked: step.marked,
            is_limited: step.limited,
            ..Ack::default()
        };
        let cut = if step.restart { None } else { law.handle_ack(&ack) };
        answers.push(answer_of(&law, begin, step, cut));
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
fn the_sequences_visit_every_state() {
    // Otherwise the comparison above would say little.
    let mut runner = TestRunner::deterministic();
    let mut seen = BTreeSet::new();
    let (mut cuts, mut rises) = (0, 0);
    for _ in 0..300 {
        let begin = begin().new_tree(&mut runner).unwrap().current();
        let steps = steps().new_tree(&mut runner).unwrap().current();
        let answers = drive(&begin, &steps).1;
        // From a climb nothing else leads straight to a question.
        rises += answers.windows(2).filter(|pair| (pair[0].phase, pair[1].phase) == (2, 4)).count();
        for answer in answers {
            seen.insert(answer.phase);
            cuts += u32::from(answer.cut.is_some());
        }
    }
    assert_eq!(Vec::from_iter(seen), [0, 1, 2, 3, 4, 5, 6, 7]);
    assert!(cuts > 0 && rises > 0);
}
