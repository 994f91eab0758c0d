//! The seeds of the fuzz target, run through it; and how the seeds are made.

#![allow(clippy::unwrap_used, reason = "a test whose set-up fails has to fail")]

mod targets;

use std::path::PathBuf;

use proptest::prelude::*;
use proptest::sample::Index;
use sounding_rtc::{Feedback, Tick};

fn corpus() -> PathBuf {
    PathBuf::from(concat!(env!("CARGO_MANIFEST_DIR"), "/../../fuzz/corpus/rtc"))
}

#[test]
fn seeds_are_read_as_far_as_they_can_be() {
    let mut found = Vec::new();
    for (name, _, arrivals) in seeds() {
        let seed = std::fs::read(corpus().join(name)).unwrap();
        assert_eq!(targets::rtc(&seed), arrivals, "{name}");
        found.push(name.to_owned());
    }
    for file in std::fs::read_dir(corpus()).unwrap() {
        let name = file.unwrap().file_name().into_string().unwrap();
        assert!(found.contains(&name), "{name} is not made by this file");
    }
}

proptest! {
    #[test]
    fn whatever_a_peer_sends_is_read_or_refused(
        bytes in proptest::collection::vec(any::<u8>(), 0..200),
        changes in proptest::collection::vec((any::<Index>(), any::<u8>()), 0..8),
    ) {
        targets::rtc(&bytes);
        for (_, mut seed, _) in seeds() {
            for (at, value) in &changes {
                let at = at.index(seed.len());
                seed[at] = *value;
            }
            targets::rtc(&seed);
        }
    }
}

fn feedback(base: u16, arrivals: impl IntoIterator<Item = Option<i64>>) -> Vec<u8> {
    let arrivals = arrivals.into_iter().map(|at| at.map(Tick::from_steps)).collect();
    Feedback::new((0x1234_5678, 0x9ABC_DEF0), base, 3, arrivals).unwrap().emit()
}

/// Names, bytes, and how many arrivals are read.
fn seeds() -> Vec<(&'static str, Vec<u8>, u64)> {
    let steady = feedback(65_500, (0..80).map(|at| Some(at * 20)));
    let bursts = feedback(7, (0..60).map(|at| Some(at / 6 * 300)));
    let lost = feedback(1, (0..200).map(|at| (at % 9 == 0 || at > 180).then_some(at * 3)));
    let reordered = feedback(0, (0..40).map(|at| Some(1_000 + (at ^ 5) * 7)));
    let nothing = feedback(9, [None, None, None]);
    let first = feedback(0, [Some(Tick::MIN.steps()), Some(Tick::MIN.steps() + 9)]);
    let last = feedback(0, [Some(Tick::MAX.steps()), None]);
    let far = feedback(0, [Some(0), Some(i64::from(i16::MAX)), Some(0)]);
    let report = [0x80, 201, 0, 1, 0, 0, 0, 9];
    let compound = [&report[..], &steady, &bursts, &report].concat();
    let cut = steady[..steady.len() - 4].to_vec();
    let mut reserved = lost.clone();
    reserved[20..22].copy_from_slice(&[0xFF, 0xFF]);
    let mut rtp = vec![0x90, 0x60, 1, 2, 0, 0, 0, 9, 0, 0, 0, 7, 0xBE, 0xDE, 0, 2];
    rtp.extend([0x32, 1, 2, 3, 0x51, 0, 9, 0]);
    vec![
        ("steady", steady, 80),
        ("bursts", bursts, 60),
        ("lost", lost, 40),
        ("reordered", reordered, 40),
        ("nothing", nothing, 0),
        ("first-reference", first, 2),
        ("last-reference", last, 1),
        ("far-apart", far, 3),
        ("compound", compound, 140),
        ("cut", cut, 0),
        ("reserved-symbol", reserved, 0),
        ("rtp", rtp, 0),
    ]
}

/// `cargo test -p sounding-rtc --test corpus -- --ignored`
#[test]
#[ignore = "writes the seeds anew"]
fn regenerate() {
    std::fs::create_dir_all(corpus()).unwrap();
    for (name, seed, _) in seeds() {
        std::fs::write(corpus().join(name), seed).unwrap();
    }
}
