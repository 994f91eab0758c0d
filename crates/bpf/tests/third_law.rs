//! A law is its own files and one row in each table: `steady` is added by nothing else, and is all
//! that the other laws are.

#![allow(clippy::unwrap_used, reason = "a test whose set-up fails has to fail")]

mod filter;
#[allow(dead_code, reason = "made for kernel.rs too")]
mod support;

use std::sync::LazyLock;
use std::time::Duration;

use filter::{Filter, Told};
use proptest::prelude::*;
use sounding_bpf::{Config, Instance, LawConfig, Phase, Reason};
use sounding_cc::sharing::{Claim, Part, Pool, WEIGHT};
use sounding_laws::steady::{Command, Law as Steady};
use sounding_laws::{Fallback, Law, RadioController};
use sounding_testdata::steadily;
use sounding_units::{HostInstant, Rate};
use support::*;

/// The C law, compiled once.
static FILTER: LazyLock<Filter> = LazyLock::new(|| Filter::compile("steady_host"));

const NOW: HostInstant = HostInstant::from_nanos(5_000_000_000);

/// One acknowledgement, and what the feed says then.
#[derive(Clone, Debug)]
struct Step {
    valid: bool,
    rate: u64,
    age: Duration,
    silence: Duration,
    hungry: u32,
    rtt_min_us: u32,
    mss: u32,
    stock: (u32, u64),
}

prop_compose! {
    fn step()(
        valid in prop::bool::weighted(0.9),
        rate in prop_oneof![9 => 0..20_000_000u64, 1 => 0..sounding_estimate::MAX_RATE.bytes_per_sec()],
        (age_ms, silence_ms) in (0..250u64, 0..70u64),
        hungry in 0..4u32,
        rtt_min_us in prop_oneof![1 => Just(0u32), 9 => 1_000..100_000u32, 1 => any::<u32>()],
        mss in prop_oneof![9 => Just(1448u32), 1 => any::<u32>()],
        stock in (any::<u32>(), 0..10_000_000u64),
    ) -> Step {
        let [age, silence] = [age_ms, silence_ms].map(Duration::from_millis);
        Step { valid, rate, age, silence, hungry: hungry * WEIGHT, rtt_min_us, mss, stock }
    }
}

fn part(step: &Step) -> Part {
    let mut pool = Pool::default();
    pool.add(Claim::Hungry, WEIGHT);
    pool.add(Claim::Hungry, step.hungry);
    pool.part(WEIGHT)
}

/// Phase, changes of phase, whether this was one, window and pacing rate.
type Answer = [u64; 5];

/// One flow under the Rust law: what the C law is to be told, and the Rust law's answers.
fn drive(steps: &[Step]) -> (Told, Vec<Answer>) {
    let config = LawConfig::default();
    let (mut law, mut told) = (Steady::default(), Told::default());
    let answers = steps.iter().map(|step| {
        told.longs(&[config.max_age, config.max_silence].map(|span| span.as_nanos() as u64));
        let [sampled_at, heartbeat_at] =
            [step.age, step.silence].map(|ago| NOW.saturating_before(ago).as_nanos());
        told.longs(&[NOW.as_nanos(), step.rate, sampled_at, heartbeat_at, step.valid.into()]);
        told.ints(&[step.hungry, step.rtt_min_us, step.mss, step.stock.0]);
        told.longs(&[step.stock.1]);

        let is_fresh = step.age <= config.max_age && step.silence <= config.max_silence;
        let rate = Rate::from_bytes_per_sec(step.rate);
        let share = (step.valid && is_fresh).then(|| part(step).of(rate));
        let rtt_min = Some(Duration::from_micros(step.rtt_min_us.into()));
        let stock = Command { cwnd: step.stock.0, pacing: Rate::from_bytes_per_sec(step.stock.1) };
        let before = law.transitions();
        let command = law.step(share, rtt_min, step.mss, stock);
        let phase = Phase::ALL.iter().position(|&phase| phase == law.phase()).unwrap();
        [
            phase as u64,
            law.transitions().into(),
            (law.transitions() - before).into(),
            command.cwnd.into(),
            command.pacing.bytes_per_sec(),
        ]
    });
    let answers = answers.collect();
    (told, answers)
}

proptest! {
    #![proptest_config(ProptestConfig {
        cases: 100,
        failure_persistence: None,
        ..ProptestConfig::default()
    })]

    #[test]
    fn both_sides_answer_alike(steps in proptest::collection::vec(step(), 1..200)) {
        FILTER.agrees(drive(&steps), |answer: Answer| answer)?;
    }
}

#[test]
fn the_table_has_it_and_what_follows_the_table() {
    let law = Law::by_name("steady").unwrap();
    assert!(Law::ALL.contains(&law));
    assert_eq!(law.fallback(), Fallback::Bbr);
    assert_eq!(RadioController::by_name("steady").map(|known| known.law), Some(law));
    assert!(sounding_baselines::names().any(|name| name == "steady"));
}

fn load() -> Option<Instance> {
    load_config(Config { law: Law::by_name("steady").unwrap(), ..Config::default() })
}

#[test]
fn the_verifier_takes_it_and_each_of_its_programs_is_known() {
    let Some(loaded) = load() else { return };
    let programs = loaded.programs().unwrap();
    let total: u32 = programs.iter().map(|program| program.verified_insns).sum();
    println!("{total} instructions verified");
    for own in ["init", "cong_control", "cwnd_event"] {
        assert!(programs.iter().any(|program| program.name == own), "{own}");
    }
}

#[test]
fn a_flow_is_paced_at_the_rate_of_the_estimate_and_goes_on_without_one() {
    steadily(|| {
        let Some(loaded) = load() else { return };
        let log = KernelLog::watch();
        let daemon = Daemon::publish(loaded.feed(), 40);
        let bulk = in_netns(|| {
            let (near, far) = connected();
            select(&near, loaded.name()).unwrap();
            Bulk::start((near, far))
        });
        let flow = || loaded.flow(&bulk.sender).unwrap().unwrap();
        let seen = wait_for("the law to control the flow", || {
            Some(flow()).filter(|seen| seen.phase == Phase::RadioLimited)
        });
        let rate = Rate::from_bits_per_sec(40_000_000);
        assert_eq!(seen.share, rate);
        // The payload of 1500 bytes with timestamps: the rate counts IP packets.
        let payload = Rate::from_bytes_per_sec(rate.bytes_per_sec() * 1448 / 1500);
        assert_eq!(seen.pacing, payload);

        drop(daemon);
        let fell = wait_for("a transition", || {
            std::iter::from_fn(|| loaded.poll_transition())
                .find(|seen| seen.to == Phase::NoEstimate)
        });
        assert_eq!((fell.from, fell.reason), (Phase::RadioLimited, Reason::Silent));
        let before = bulk.arrived();
        wait_for("data without an estimate", || {
            (bulk.arrived() > before + 1_000_000).then_some(())
        });
        drop(bulk);
        assert_eq!(log.alarms(), Vec::<String>::new());
    });
}
