//! Runs the fuzz target with its seeds, and generates the seeds.

#![allow(clippy::unwrap_used, reason = "a test whose set-up fails has to fail")]

mod decoded;
#[path = "../../diag/tests/synthetic/mod.rs"]
#[allow(dead_code, reason = "each user of this file has its own needs")]
mod synthetic;
mod targets;
#[path = "../../diag/tests/tree/mod.rs"]
#[allow(dead_code, reason = "each user of this file has its own needs")]
mod tree;

use std::collections::BTreeSet;
use std::path::PathBuf;

use sounding_diag::LogCode;

fn corpus() -> PathBuf {
    PathBuf::from(concat!(env!("CARGO_MANIFEST_DIR"), "/../../fuzz/corpus/kpi"))
}

#[test]
fn every_record_with_a_kpi_is_a_seed_and_any_set_of_kpis_reads_it_as_decoding_does() {
    let mut codes = BTreeSet::new();
    for file in std::fs::read_dir(corpus()).unwrap() {
        let seed = std::fs::read(file.unwrap().path()).unwrap();
        if targets::kpi(&seed).unwrap() > 0 {
            codes.insert(LogCode::new(u16::from_le_bytes([seed[8], seed[9]])));
        }
    }
    let missing: Vec<_> =
        targets::fields().map(|kpi| kpi.code).filter(|code| !codes.contains(code)).collect();
    assert!(missing.is_empty(), "{missing:?}");
}

#[test]
fn a_seed_cut_anywhere_is_read_the_same_by_any_set_of_kpis() {
    for chosen in [u64::MAX, 0x5555_5555_5555_5555, 0x0123_4567_89AB_CDEF] {
        for (code, body) in synthetic::bodies(3) {
            for cut in (0..body.len()).step_by(1 + body.len() / 20) {
                let head = [&chosen.to_le_bytes()[..], &code.number().to_le_bytes()].concat();
                targets::kpi(&[&head, &body[..cut]].concat());
            }
        }
    }
}

/// `cargo test -p sounding-kpi --test corpus -- --ignored`
#[test]
#[ignore = "writes the seeds anew"]
fn regenerate() {
    std::fs::create_dir_all(corpus()).unwrap();
    let codes: BTreeSet<_> = targets::fields().map(|kpi| kpi.code).collect();
    for (number, (code, body)) in synthetic::bodies(0).into_iter().enumerate() {
        if codes.contains(&code) {
            let head = [&u64::MAX.to_le_bytes()[..], &code.number().to_le_bytes()].concat();
            let name = format!("{code}-{number:03}").to_lowercase();
            std::fs::write(corpus().join(name), [&head[..], &body].concat()).unwrap();
        }
    }
}
