//! Runs the fuzz target with its seeds, and generates the seeds.

#![allow(clippy::unwrap_used, reason = "a test whose set-up fails has to fail")]

mod targets;

use std::path::PathBuf;
use std::sync::atomic::{AtomicU64, Ordering};

use sounding_diag::layout::Item;
use sounding_kpi::Reading;
use sounding_kpi::board::{Board, Writer, words_for};
use sounding_units::{HostInstant, ModemInstant};

fn corpus() -> PathBuf {
    PathBuf::from(concat!(env!("CARGO_MANIFEST_DIR"), "/../../fuzz/corpus/board"))
}

#[test]
fn seeds_are_read_or_refused() {
    let mut opened = 0;
    for file in std::fs::read_dir(corpus()).unwrap() {
        let seed = std::fs::read(file.unwrap().path()).unwrap();
        opened += usize::from(targets::board(&seed).is_some());
    }
    assert!(opened >= 3);
}

#[test]
fn a_board_is_refused_where_it_is_cut_and_read_where_it_is_whole() {
    let whole = posted();
    assert_eq!(targets::board(&whole), Some(3));
    for cut in 0..whole.len() {
        assert_eq!(targets::board(&whole[..cut]), None, "cut at {cut}");
    }
}

/// A board of three KPIs. Two of them have been posted.
fn posted() -> Vec<u8> {
    let names = [("lte.pusch.tbs", "B"), ("lte.cell.rsrp", "dBm"), ("x", "1")];
    let words: Vec<AtomicU64> = (0..words_for(names.len())).map(|_| AtomicU64::new(0)).collect();
    let now = HostInstant::from_nanos(5_000_000_000);
    let mut writer = Writer::create(&words, names.into_iter(), 77, now).unwrap();
    for value in [1.0, 2.0, 3.0, 4.0] {
        for slot in [0, 1] {
            let at = ModemInstant::from_nanos(1_000_000);
            writer.handle(&Reading { slot, value, item: Item::default(), at }, now);
        }
        writer.post(Board::open(&words).unwrap());
    }
    bytes(&words)
}

fn bytes(words: &[AtomicU64]) -> Vec<u8> {
    words.iter().flat_map(|word| word.load(Ordering::Relaxed).to_ne_bytes()).collect()
}

/// `cargo test -p sounding-board --test corpus -- --ignored`
#[test]
#[ignore = "writes the seeds anew"]
fn regenerate() {
    std::fs::create_dir_all(corpus()).unwrap();
    let write = |name: &str, seed: &[u8]| std::fs::write(corpus().join(name), seed).unwrap();
    let whole = posted();
    write("posted", &whole);
    write("cut", &whole[..whole.len() - 9]);
    write("longer-than-it-says", &[&whole[..], &[7; 13]].concat());
    // The header names a latest post that does not exist.
    let mut overtaken = whole.clone();
    overtaken[words_for(3) * 8 - 3 * 24 * 8] ^= 1;
    write("overtaken", &overtaken);
    // A name that is no text, and one without an end.
    let mut named = whole.clone();
    named[8 * 8..8 * 8 + 48].fill(0xFF);
    named[16 * 8..16 * 8 + 64].fill(b'a');
    write("names", &named);
    let mut many = whole;
    many[8..12].copy_from_slice(&u32::MAX.to_ne_bytes());
    write("more-than-there-are", &many);
    write("empty", &[]);
}
