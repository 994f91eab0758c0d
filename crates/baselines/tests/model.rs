//! Every controller under a transport's calls: time passes, packets leave, come back and are lost,
//! the modem reports and falls silent, in any order. The window never closes, the rate is a number,
//! and no wakeup is in the past.

#![allow(clippy::unwrap_used, reason = "a test whose set-up fails has to fail")]

mod targets;

use std::path::PathBuf;

use proptest::prelude::*;
use targets::{Operation, Setting, Silence};

fn operation() -> impl Strategy<Value = Operation> {
    let silent = prop_oneof![Just(Silence::Stale), Just(Silence::Idle), Just(Silence::Handover)];
    prop_oneof![
        6 => (0..3_000_u16).prop_map(Operation::Pass),
        1 => (0..20_000_u16).prop_map(Operation::Pass),
        1 => any::<u16>().prop_map(Operation::Sleep),
        8 => (1..80_u8, prop::bool::weighted(0.1))
            .prop_map(|(segments, app_limited)| Operation::Send { segments, app_limited }),
        10 => (prop_oneof![8 => Just(0_u8), 1 => 1..16_u8], 1..40_u8, prop::bool::weighted(0.05))
            .prop_map(|(lost, acked, marked)| Operation::Acknowledge { lost, acked, marked }),
        1 => any::<bool>().prop_map(|spurious| Operation::TimeOut { spurious }),
        4 => (any::<u16>(), any::<bool>(), 1..8_u8)
            .prop_map(|(rate, served, flows)| Operation::Tell { rate, served, flows }),
        1 => silent.prop_map(|silent| Operation::Fall { silent }),
    ]
}

fn setting() -> impl Strategy<Value = Setting> {
    (0..100_000_u32, 1..255_u8, any::<bool>(), any::<u64>())
        .prop_map(|(clock_s, rtt_ms, rtt_known, seed)| Setting { clock_s, rtt_ms, rtt_known, seed })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(192))]

    #[test]
    fn a_flow_can_always_go_on(
        setting in setting(),
        operations in prop::collection::vec(operation(), 1..300),
    ) {
        targets::run(setting, &operations);
    }
}

fn corpus() -> PathBuf {
    PathBuf::from(concat!(env!("CARGO_MANIFEST_DIR"), "/../../fuzz/corpus/controllers"))
}

const SETTING: Setting = Setting { clock_s: 7, rtt_ms: 40, rtt_known: true, seed: 3 };

/// Operations from the seeds.
fn stories() -> Vec<(&'static str, Setting, Vec<Operation>)> {
    use Operation::{Acknowledge, Fall, Pass, Send, Sleep, Tell, TimeOut};
    let send = Send { segments: 40, app_limited: false };
    let ack = Acknowledge { lost: 0, acked: 10, marked: false };
    let tell = Tell { rate: 1_000, served: false, flows: 1 };
    let round = [send, Pass(400), ack, tell];
    let rounds = |count: usize| round.repeat(count);
    let with = |extra: &[Operation]| [&rounds(12), extra, &rounds(6)].concat();
    vec![
        ("a-steady-path", SETTING, rounds(40)),
        ("a-clock-at-zero", Setting { clock_s: 0, rtt_known: false, ..SETTING }, rounds(12)),
        ("a-short-path", Setting { rtt_ms: 1, ..SETTING }, rounds(12)),
        ("no-delay-at-all", Setting { rtt_ms: 0, ..SETTING }, rounds(12)),
        ("losses", SETTING, with(&[send, Acknowledge { lost: 8, acked: 5, marked: false }])),
        ("marks", SETTING, with(&[send, Acknowledge { lost: 0, acked: 20, marked: true }])),
        ("a-timeout", SETTING, with(&[send, Pass(9_000), TimeOut { spurious: false }])),
        ("a-timeout-that-was-wrong", SETTING, with(&[send, TimeOut { spurious: true }])),
        ("timeouts-in-a-row", SETTING, with(&[send, TimeOut { spurious: false }].repeat(5))),
        (
            "a-modem-that-falls-silent",
            SETTING,
            with(&[Fall { silent: Silence::Stale }, Pass(15_000)]),
        ),
        ("a-handover", SETTING, with(&[Fall { silent: Silence::Handover }, Pass(500), tell])),
        (
            "a-link-of-nothing",
            SETTING,
            with(&[Tell { rate: 0, served: false, flows: 7 }, send, ack]),
        ),
        ("a-machine-that-slept", SETTING, with(&[Sleep(u16::MAX), send, ack])),
        (
            "an-application-with-little-to-say",
            SETTING,
            [Send { segments: 1, app_limited: true }, Pass(400), ack].repeat(40),
        ),
    ]
}

/// The bytes that the fuzz target reads as these operations. Operations that bytes cannot express
/// are approximated.
fn encode(setting: Setting, operations: &[Operation]) -> Vec<u8> {
    let [clock, clock_low] = [setting.clock_s >> 16, setting.clock_s].map(|byte| byte as u8);
    let mut bytes =
        vec![clock, clock_low, setting.rtt_ms, setting.rtt_known.into(), setting.seed as u8];
    for &operation in operations {
        let word = |kind: u8, number: u16| {
            let [low, high] = number.to_le_bytes();
            [kind, low, high]
        };
        bytes.extend(match operation {
            Operation::Pass(tenths) => word(0, tenths),
            Operation::Sleep(seconds) => word(3, seconds),
            Operation::Send { segments, app_limited } => [4, segments, app_limited.into()],
            Operation::Acknowledge { lost, acked, marked } => {
                [7, acked, lost << 4 | u8::from(marked)]
            }
            Operation::TimeOut { spurious } => [11, spurious.into(), 0],
            Operation::Tell { rate, served, flows } => {
                word(12 | u8::from(served) << 4 | flows << 5, rate)
            }
            Operation::Fall { silent } => [15, silent as u8, 0],
        });
    }
    bytes
}

#[test]
fn every_seed_does_no_harm() {
    let seeds = std::fs::read_dir(corpus()).unwrap();
    let run = seeds.map(|file| targets::controllers(&std::fs::read(file.unwrap().path()).unwrap()));
    assert!(run.count() >= stories().len());
}

#[test]
fn seeds_say_what_their_stories_do() {
    for (name, setting, operations) in stories() {
        let seed = std::fs::read(corpus().join(name)).unwrap();
        assert_eq!(seed, encode(setting, &operations), "{name}");
    }
}

/// `cargo test -p sounding-baselines --test model -- --ignored`
#[test]
#[ignore = "writes the seeds anew"]
fn regenerate() {
    std::fs::create_dir_all(corpus()).unwrap();
    for (name, setting, operations) in stories() {
        std::fs::write(corpus().join(name), encode(setting, &operations)).unwrap();
    }
}
