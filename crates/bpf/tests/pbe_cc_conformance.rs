//! `pbe_cc.h`, which the kernel runs, and `sounding_laws::pbe_cc`, which simulations run, answer
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
use sounding_cc::Start;
use sounding_cc::sharing::{self, Part, Pool, WEIGHT};
use sounding_estimate::{Bound, FairShare, State as Link};
use sounding_laws::Phase;
use sounding_laws::pbe_cc::{Config, Law, State};
use sounding_laws::radio_law::{Ack, FeedUpdate, Report};
use sounding_units::{Bytes, HostInstant, Rate};

/// `LAW_ACK`, `LAW_LIMITED`, `LAW_RTO`, `LAW_DELAY`.
const FLAGS: [u32; 4] = [1, 2, 4, 64];
/// 100 Gbit/s, above which an estimate is absurd, and so is one a second ahead.
const MAX_RATE: u64 = sounding_estimate::MAX_RATE.bytes_per_sec();
const MAX_LEAD: Duration = Duration::from_secs(1);
const MAX_SEGMENTS: u64 = 1 << 20;
const SHADOW_PACING: u64 = 7_777_777;

/// The C law, compiled once.
static FILTER: LazyLock<Filter> = LazyLock::new(|| Filter::compile("pbe_cc_host"));

/// A flow before anything happens to it.
#[derive(Clone, Copy, Debug)]
struct Begin {
    mss: u32,
    rtt_us: u32,
    delivered: u32,
    /// What the clock of the delays is ahead.
    origin_us: u32,
}

/// What the device reports, and since when.
#[derive(Clone, Debug)]
struct Feed {
    is_new: bool,
    bytes_per_sec: u64,
    /// Zero: unknown.
    fair: u64,
    carriers: u32,
    age_ns: i64,
    silence_ns: i64,
    full: bool,
    valid: bool,
    state: Link,
}

/// One thing that happens to a flow.
#[derive(Clone, Debug)]
struct Step {
    pass_ns: u64,
    feed: Feed,
    hungry: u32,
    rtt_us: u32,
    delay_us: Option<u32>,
    rate: u64,
    bandwidth: u64,
    moves: u32,
    behind: u32,
    acked: u32,
    shadow_cwnd: u32,
    restart: bool,
    limited: bool,
    timeout: bool,
}

/// What stays the same for a while.
#[derive(Clone, Copy, Debug)]
struct Scene {
    rate: u64,
    /// In hundredths of the rate; zero: unknown.
    fair: u64,
    carriers: u32,
    full: bool,
    /// What arrives, in hundredths of the rate.
    arrives: u64,
    queue_us: u32,
    hungry: u32,
    /// Between acknowledgements: minima of ten seconds age only where these are far apart.
    pass_ns: u64,
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
        mss in prop_oneof![20 => Just(1448u32), 1 => 0..70_000u32],
        rtt_us in prop_oneof![1 => Just(0u32), 4 => 20_000..60_000u32],
        delivered in count(100),
        origin_us in any::<u32>(),
    ) -> Begin {
        Begin { mss, rtt_us, delivered, origin_us }
    }
}

prop_compose! {
    fn feed(scene: Scene)(
        is_new in prop::bool::weighted(0.5),
        bytes_per_sec in prop_oneof![
            30 => scene.rate..=scene.rate + scene.rate / 20, 1 => number(10_000_000),
        ],
        fair in prop_oneof![60 => Just(scene.rate * scene.fair / 100), 1 => 0..=2 * MAX_RATE],
        carriers in prop_oneof![60 => Just(scene.carriers), 1 => 0..4u32],
        age_ns in prop_oneof![90 => 0..150_000_000i64, 1 => -2_000_000_000..2_000_000_000i64],
        silence_ns in prop_oneof![90 => 0..50_000_000i64, 1 => -2_000_000_000..2_000_000_000i64],
        flips in prop::bool::weighted(0.02),
        valid in prop::bool::weighted(0.97),
        state in prop_oneof![
            60 => Just(Link::Active), 2 => Just(Link::Idle), 1 => Just(Link::Handover),
            1 => Just(Link::Silent), 1 => Just(Link::Stale),
        ],
    ) -> Feed {
        let full = scene.full != flips;
        // A device that has no rate is mostly idle.
        let state = if valid || state != Link::Active { state } else { Link::Idle };
        Feed { is_new, bytes_per_sec, fair, carriers, age_ns, silence_ns, full, valid, state }
    }
}

prop_compose! {
    fn step(scene: Scene)(
        feed in feed(scene),
        (pass_ns, rtt_us, delay_us) in (
            number(scene.pass_ns),
            prop_oneof![20 => 20_000 + scene.queue_us..24_000 + scene.queue_us, 1 => count(60_000)],
            prop_oneof![
                40 => (9_000 + scene.queue_us..16_000 + scene.queue_us).prop_map(Some),
                2 => Just(None),
                1 => (0..100_000_000u32).prop_map(Some),
            ],
        ),
        (rate, bandwidth) in (
            prop_oneof![
                9 => scene.rate * scene.arrives / 110..=scene.rate * scene.arrives / 100,
                1 => number(scene.rate),
                1 => Just(0),
            ],
            number(scene.rate),
        ),
        (moves, behind, acked, shadow_cwnd) in (
            0..8u32,
            prop_oneof![3 => 0..3u32, 1 => count(400)],
            count(8),
            count(500),
        ),
        (restart, limited, timeout) in (
            prop::bool::weighted(0.03),
            prop::bool::weighted(0.02),
            prop::bool::weighted(0.01),
        ),
    ) -> Step {
        Step {
            pass_ns, feed, hungry: scene.hungry, rtt_us, delay_us, rate, bandwidth, moves, behind,
            acked, shadow_cwnd, restart, limited, timeout,
        }
    }
}

prop_compose! {
    fn scene()(
        rate in prop_oneof![10_000..10_000_000u64, Just(3_000_000)],
        fair in prop_oneof![1 => Just(0u64), 2 => 20..150u64],
        carriers in 1..3u32,
        full in any::<bool>(),
        arrives in prop_oneof![Just(100u64), Just(70), Just(40), Just(120)],
        queue_us in prop_oneof![2 => Just(0u32), 1 => 30_000..200_000u32],
        hungry in prop_oneof![3 => Just(0u32), 1 => 0..4u32],
        pass_ns in prop_oneof![3 => Just(15_000_000u64), 1 => Just(2_000_000_000)],
    ) -> Scene {
        let hungry = hungry * WEIGHT;
        Scene { rate, fair, carriers, full, arrives, queue_us, hungry, pass_ns }
    }
}

fn steps() -> impl Strategy<Value = Vec<Step>> {
    let stretch = scene().prop_flat_map(|scene| proptest::collection::vec(step(scene), 1..60));
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

/// What the device reports, as the kernel's `law_verdict` and `pbe_cc_feed_update` find it.
fn update(config: &Config, now: HostInstant, step: &Step) -> FeedUpdate {
    let feed = &step.feed;
    let (sampled_at, beaten_at) = (before(now, feed.age_ns), before(now, feed.silence_ns));
    let is_old = now - sampled_at > config.max_age || sampled_at - now > MAX_LEAD;
    if now - beaten_at > config.max_silence {
        return FeedUpdate::Nothing;
    }
    let is_absurd = feed.bytes_per_sec > MAX_RATE || beaten_at - now > MAX_LEAD;
    if feed.valid && (is_absurd || is_old) {
        return FeedUpdate::Nothing;
    }
    if feed.state == Link::Handover {
        return FeedUpdate::Handover;
    }
    let is_idle = feed.state == Link::Idle && feed.fair > 0 && !is_old;
    if !feed.valid && !is_idle {
        return FeedUpdate::Nothing;
    }
    let part = |rate| part(step.hungry).of(Rate::from_bytes_per_sec(rate));
    FeedUpdate::Carries(Report {
        rate: part(if feed.valid { feed.bytes_per_sec } else { 0 }),
        bound: if feed.full { Bound::Capacity } else { Bound::Floor },
        fair: (feed.fair > 0)
            .then(|| FairShare::new(part(feed.fair.min(MAX_RATE)), 1, feed.carriers)),
        sampled_at,
    })
}

/// What both sides must agree on after a step.
#[derive(Debug, PartialEq, Eq)]
struct Answer {
    phase: u32,
    /// Of the phase: growth, when it began or ends, where a ramp begins, the phase after a drain.
    growth: u64,
    at_ns: u64,
    from: u64,
    elsewhere: bool,
    cwnd: u64,
    pacing: u64,
    cut: Option<u64>,
}

fn answer_of(law: &mut Law, begin: &Begin, step: &Step) -> Answer {
    let (mut grows, mut at, mut begins, mut is_elsewhere) = (0, 0, 0, false);
    match law.state() {
        State::Ramp { since, from } => (at, begins) = (since.as_nanos(), from),
        State::Probing { growth } => grows = growth,
        State::Drain { until, elsewhere } => (at, is_elsewhere) = (until.as_nanos(), elsewhere),
        _ => {}
    }
    let phase = Phase::ALL.iter().position(|&phase| phase == law.state().phase()).unwrap();
    let mss = u64::from(begin.mss.clamp(1, 65_535));
    let shadow = Rate::from_bytes_per_sec(SHADOW_PACING);
    let (cwnd, pacing) = if law.law_controls() {
        ((law.cwnd().count() / mss).clamp(2, MAX_SEGMENTS), law.pacing())
    } else {
        let pacing = law.limit().map_or(shadow, |limit| shadow.min(limit));
        (u64::from(step.shadow_cwnd.max(2)), pacing)
    };
    Answer {
        phase: phase as u32,
        growth: grows,
        at_ns: at,
        from: begins,
        elsewhere: is_elsewhere,
        cwnd,
        pacing: pacing.bytes_per_sec(),
        cut: law.take_cut().map(Rate::bytes_per_sec),
    }
}

/// `struct host_answer` as the filter wrote it.
fn parse(answer: [u64; 9]) -> Answer {
    let [phase, growth, at_ns, from, elsewhere, cwnd, pacing, cuts, cut] = answer;
    Answer {
        phase: phase as u32,
        growth,
        at_ns,
        from,
        elsewhere: elsewhere != 0,
        cwnd,
        pacing,
        cut: (cuts != 0).then_some(cut),
    }
}

fn tell_config(told: &mut Told, config: &Config) {
    told.longs(&[config.max_age, config.max_silence].map(|span| span.as_nanos() as u64));
    // The rest is another law's.
    told.longs(&[0]);
    told.ints(&[0, 0, 0, 0, 0, 0, 0, config.min_cwnd, 0, 0]);
}

fn tell_begin(told: &mut Told, config: &Config, now: HostInstant, begin: &Begin) {
    tell_config(told, config);
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
    (epoch, delivered): (u64, u32),
) {
    let Step { feed, .. } = step;
    let before = |ns| before(now, ns).as_nanos();
    let state = Link::ALL.iter().position(|&state| state == feed.state).unwrap();
    let mut flags = if step.restart { 0 } else { FLAGS[0] };
    flags |= if step.limited { FLAGS[1] } else { 0 } | if step.timeout { FLAGS[2] } else { 0 };
    flags |= step.delay_us.map_or(0, |_| FLAGS[3]);
    let hungry = u64::from(WEIGHT) + u64::from(step.hungry);
    tell_config(told, config);
    told.longs(&[now.as_nanos(), feed.bytes_per_sec, before(feed.age_ns), epoch]);
    told.ints(&[u32::from(feed.full), u32::from(feed.valid), 9, 0, 0, state as u32]);
    told.longs(&[feed.fair]);
    told.ints(&[2, feed.carriers]);
    told.longs(&[before(feed.silence_ns), step.bandwidth, SHADOW_PACING, 0, step.rate]);
    told.longs(&[hungry, hungry, 0, 0]);
    told.ints(&[WEIGHT, WEIGHT, step.shadow_cwnd, 0, step.rtt_us, begin.mss]);
    told.ints(&[delivered, delivered.wrapping_sub(step.behind), step.acked, 0, 0, 1, flags]);
    told.ints(&[step.delay_us.map_or(0, |delay| delay.wrapping_add(begin.origin_us))]);
    told.longs(&[0]);
}

/// One sequence through the Rust law: the input for the C law, and the Rust law's answers.
fn drive(begin: &Begin, steps: &[Step]) -> (Told, Vec<Answer>) {
    let config = Config::default();
    let mut now = HostInstant::from_nanos(20_000_000_000);
    let (mut delivered, mut epoch, mut heard) = (begin.delivered, 0, 0);
    let mss = u64::from(begin.mss.clamp(1, 65_535));
    let span = |us: u32| Duration::from_micros(us.into());
    let start = Start { mss: Bytes::new(mss), ..Start::tcp(now, Some(span(begin.rtt_us)), 0) };
    let mut law = Law::new(config, &start, delivered);
    let mut told = Told::default();
    let mut answers = Vec::new();
    tell_begin(&mut told, &config, now, begin);
    for step in steps {
        now = now + Duration::from_nanos(step.pass_ns);
        delivered = delivered.wrapping_add(step.moves);
        epoch += u64::from(step.feed.is_new);
        tell_step(&mut told, &config, begin, step, now, (epoch, delivered));
        if step.timeout {
            law.handle_timeout(now);
        }
        let update = update(&config, now, step);
        if update == FeedUpdate::Nothing || epoch != heard {
            law.handle_feed(now, update);
            heard = epoch;
        }
        if step.restart {
            law.handle_time(now);
        } else {
            let ack = Ack {
                now,
                rtt: Some(span(step.rtt_us)),
                delay: step.delay_us.map(span),
                rate: (step.rate > 0).then(|| Rate::from_bytes_per_sec(step.rate)),
                acked: Bytes::new(u64::from(step.acked) * mss),
                delivered: Bytes::new(delivered.into()),
                prior_delivered: Bytes::new(delivered.wrapping_sub(step.behind).into()),
                is_limited: step.limited,
                ..Ack::default()
            };
            law.handle_ack(&ack, Rate::from_bytes_per_sec(step.bandwidth));
        }
        answers.push(answer_of(&mut law, begin, step));
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

/// 300 sequences that are the same in every run.
fn sequences() -> impl Iterator<Item = (Begin, Vec<Step>)> {
    let mut runner = TestRunner::deterministic();
    (0..300).map(move |_| {
        let begin = begin().new_tree(&mut runner).unwrap().current();
        (begin, steps().new_tree(&mut runner).unwrap().current())
    })
}

#[test]
fn a_kernel_that_believes_a_high_claim_is_found_out() {
    // Each is a part of interpretation 25. Without it the C has to differ, or the comparison above
    // does not get there.
    let parts = [
        ["rate = law_min(rate, arrives);", "rate = law_max(rate, 1);"],
        ["if (!arrives || !pbe_cc_late_is", "if (1 || !pbe_cc_late_is"],
        ["law_max(pbe_cc_most_of(arrives), pbe_cc_first_rate(st, mss))", "pbe_cc_most_of(arrives)"],
        ["if (late && pbe_cc_is_flat(st, in))", "if (0 && pbe_cc_is_flat(st, in))"],
        ["#define PBE_CC_GROWS\t\t105U", "#define PBE_CC_GROWS\t\t125U"],
        ["pbe_cc_most_of(pbe_cc_arrives(st)) &&", "pbe_cc_arrives(st) &&"],
        ["law_since(in->now_ns, st->peaked_at_ns) >= pbe_cc_rtt_min(st) * 1000", "1"],
    ];
    for part in parts {
        let changed = Filter::compile_changed("pbe_cc_host", "laws/pbe_cc/pbe_cc.h", part);
        let mut alike =
            sequences().map(|(begin, steps)| changed.agrees(drive(&begin, &steps), parse));
        assert!(alike.any(|alike| alike.is_err()), "no sequence needs {}", part[0]);
    }
}

#[test]
fn the_sequences_visit_every_state_and_come_back_from_each() {
    // Otherwise the comparison above would say little.
    let (mut seen, mut left) = (BTreeSet::new(), BTreeSet::new());
    let mut cuts = 0;
    for (begin, steps) in sequences() {
        let answers = drive(&begin, &steps).1;
        let to_radio = answers.windows(2).filter(|pair| pair[1].phase == 1 && pair[0].phase != 1);
        left.extend(to_radio.map(|pair| pair[0].phase));
        for answer in answers {
            seen.insert((answer.phase, answer.elsewhere));
            cuts += u32::from(answer.cut.is_some());
        }
    }
    let phases: BTreeSet<u32> = seen.iter().map(|&(phase, _)| phase).collect();
    let all = Phase::ALL.iter().zip(0..);
    let ours =
        |phase| Some(phase).filter(|phase| sounding_laws::Law::PbeCc.phases().contains(phase));
    let ours = all.filter_map(|(&phase, number)| ours(phase).map(|_| number));
    assert_eq!(phases, ours.collect());
    assert!(seen.contains(&(9, true)) && seen.contains(&(9, false)), "both kinds of drain");
    for phase in [0, 2, 6, 7, 8, 9] {
        assert!(left.contains(&phase), "back to the radio from {phase}: {left:?}");
    }
    assert!(cuts > 0);
}
