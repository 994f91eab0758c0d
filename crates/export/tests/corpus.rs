//! Runs the fuzz target with its seeds, and generates the seeds.

#![allow(clippy::unwrap_used, reason = "a test whose set-up fails has to fail")]

#[path = "../../diag/tests/synthetic/mod.rs"]
#[allow(dead_code, reason = "each user of this file has its own needs")]
mod synthetic;
mod targets;

use std::collections::BTreeMap;
use std::path::PathBuf;

fn corpus() -> PathBuf {
    PathBuf::from(concat!(env!("CARGO_MANIFEST_DIR"), "/../../fuzz/corpus/export"))
}

#[test]
fn seeds_are_written_in_every_format_and_read_back() {
    let mut records = 0;
    for file in std::fs::read_dir(corpus()).unwrap() {
        records += targets::export(&std::fs::read(file.unwrap().path()).unwrap());
    }
    assert!(records > 200, "{records}");
}

/// `cargo test -p sounding-export --test corpus -- --ignored`
#[test]
#[ignore = "writes the seeds anew"]
fn regenerate() {
    std::fs::create_dir_all(corpus()).unwrap();
    let mut by_code: BTreeMap<_, Vec<u8>> = BTreeMap::new();
    for (code, body) in synthetic::bodies(0) {
        let seed = by_code.entry(code).or_default();
        seed.extend(code.number().to_le_bytes());
        seed.extend((body.len() as u16).to_le_bytes());
        seed.extend(body);
    }
    // Every version of a code together: a table has columns for all of them.
    for (code, seed) in by_code {
        std::fs::write(corpus().join(code.to_string().to_lowercase()), seed).unwrap();
    }
    // An unknown version and an unknown code.
    std::fs::write(corpus().join("undescribed"), b"\x39\xB1\x02\x00\xFF\xFF\xFF\x1F\x03\x00abc")
        .unwrap();
}
