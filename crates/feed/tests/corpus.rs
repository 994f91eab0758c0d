//! Runs the fuzz target with its seeds, and generates the seeds.

#![allow(clippy::unwrap_used, reason = "a test whose set-up fails has to fail")]

mod targets;

use std::path::PathBuf;

use targets::GREETING;

fn corpus() -> PathBuf {
    PathBuf::from(concat!(env!("CARGO_MANIFEST_DIR"), "/../../fuzz/corpus/feed"))
}

const SHORT: &[u8] =
    br#"{"number":1,"modem":"wan","direction":"uplink","made_at_ns":7,"valid_for_ms":200.0}"#;

const WHOLE: &[u8] = br#"{"number":18446744073709551615,"modem":"wan","direction":"downlink","made_at_ns":18446744073709551615,"advice_bits_per_sec":9500000,"advice_cause":"capacity","rate_bits_per_sec":10000000,"bound":"capacity","state":"active","source":"grants","age_ms":1e300,"valid_for_ms":200.0,"backlog_bytes":700,"users":3,"of_a_later_version":[{}]}"#;

const DELAYS: &[u8] = br#"{"number":2,"modem":"wan","direction":"uplink","made_at_ns":7,"valid_for_ms":200.0,"delays":{"first":18446744073709551615,"events":[{"kind":"harq","from_ns":9,"to_ns":1,"amount_ns":18446744073709551615,"age_ns":0,"confidence":"of a later version"},{"kind":"rlc","from_ns":1,"to_ns":9,"amount_ns":8,"age_ns":3,"confidence":"decoded"}]}}"#;

/// The seeds: name, bytes, the number of lines, and the error that the stream ends with.
fn seeds() -> Vec<(&'static str, Vec<u8>, u64, &'static str)> {
    let two = [GREETING, SHORT, b"\n", WHOLE, b"\n"].concat();
    let cut = two[..two.len() - 9].to_vec();
    let long = [GREETING, &[b' '; 5000], SHORT, b"\n"].concat();
    let later = br#"{"feed":"rate","version":2,"longest_gap_ms":100}"#;
    vec![
        ("whole", two, 2, "the feed ended: unexpected end of file"),
        ("delays", [GREETING, DELAYS, b"\n"].concat(), 1, "the feed ended: unexpected end of file"),
        ("cut", cut, 1, "the feed ended: unexpected end of file"),
        ("long", long, 0, "line 2 is not one of the feed's: it is longer than 4096 bytes"),
        ("later", [later, &b"\n"[..]].concat(), 0, "the feed has version 2"),
        (
            "no-greeting",
            [SHORT, b"\n"].concat(),
            0,
            "line 1 is not one of the feed's: missing field",
        ),
        ("no-number", [GREETING, b"{}\n"].concat(), 0, "line 2 is not one of the feed's: missing"),
        ("nothing", Vec::new(), 0, "the feed ended: unexpected end of file"),
    ]
}

#[test]
fn seeds_are_lines_or_end_with_the_reason() {
    for (name, _, lines, reason) in seeds() {
        let (count, error) = targets::feed(&std::fs::read(corpus().join(name)).unwrap());
        assert_eq!(count, lines, "{name}: {error}");
        assert!(error.to_string().starts_with(reason), "{name}: {error}");
    }
}

#[test]
fn every_seed_does_no_harm() {
    let files = std::fs::read_dir(corpus()).unwrap();
    let all: Vec<Vec<u8>> =
        files.map(|file| std::fs::read(file.unwrap().path()).unwrap()).collect();
    assert!(all.len() >= seeds().len());
    for seed in &all {
        for length in (0..=seed.len()).step_by(1 + seed.len() / 700) {
            targets::feed(&seed[..length]);
        }
    }
}

#[test]
#[ignore = "writes the seeds"]
fn seeds_are_written() {
    for (name, bytes, ..) in seeds() {
        std::fs::write(corpus().join(name), bytes).unwrap();
    }
}
