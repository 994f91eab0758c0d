//! Runs the fuzz target with its seeds, and generates the seeds.

#![allow(clippy::unwrap_used, reason = "a test whose set-up fails has to fail")]

mod targets;

use std::path::PathBuf;

fn corpus() -> PathBuf {
    PathBuf::from(concat!(env!("CARGO_MANIFEST_DIR"), "/../../fuzz/corpus/nas"))
}

/// Protocol discriminators of mobility and session management: TS 24.007 §11.2.3.1.1, TS 24.501
/// §9.2.
const HEADERS: [(u8, &[u8]); 4] =
    [(0, &[0x07]), (0, &[0x52, 0x01]), (1, &[0x7E, 0x00]), (1, &[0x2E, 0x01, 0x01])];

#[test]
fn seeds_decode_and_show_nothing_that_is_not_in_them() {
    let mut names = std::collections::BTreeSet::new();
    for file in std::fs::read_dir(corpus()).unwrap() {
        let path = file.unwrap().path();
        let seed = std::fs::read(&path).unwrap();
        let decoded = targets::nas(&seed);
        names.extend(decoded.and_then(|message| message.name().map(str::to_owned)));
    }
    assert!(names.len() > 50, "{names:?}");
}

/// A small, repeatable random generator: splitmix64.
fn next(state: &mut u64) -> u64 {
    *state = state.wrapping_add(0x9E37_79B9_7F4A_7C15);
    let mut word = *state;
    word = (word ^ word >> 30).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    word = (word ^ word >> 27).wrapping_mul(0x94D0_49BB_1331_11EB);
    word ^ word >> 31
}

/// Out of many messages of random bytes, which belong to no person: of each type the one that
/// encodes longest.
///
/// `cargo test -p sounding-nas --test corpus -- --ignored`
#[test]
#[ignore = "writes the seeds anew"]
fn regenerate() {
    std::fs::create_dir_all(corpus()).unwrap();
    let mut state = 24_301;
    for (number, (system, header)) in HEADERS.into_iter().enumerate() {
        for kind in 0..=255 {
            let mut best = (0, Vec::new());
            for round in 0..200 {
                let direction = (round & 1) << 1;
                let mut seed = vec![system | direction];
                seed.extend(header);
                seed.push(kind);
                // Most bytes are small, so that more lengths fit.
                let len = next(&mut state) % 60;
                seed.extend((0..len).map(|_| {
                    let mask = if next(&mut state).is_multiple_of(3) { 0xFF } else { 0x07 };
                    next(&mut state) as u8 & mask
                }));
                if let Some(message) = targets::nas(&seed)
                    && message.whole().len() > best.0
                {
                    best = (message.whole().len(), seed);
                }
            }
            if best.0 > 0 {
                std::fs::write(corpus().join(format!("{number}-{kind:02x}")), best.1).unwrap();
            }
        }
    }
    // Integrity protected and encrypted, around a message in the clear.
    std::fs::write(corpus().join("protected"), b"\x00\x17\x01\x02\x03\x04\x05\x07\x44\x0F")
        .unwrap();
    std::fs::write(
        corpus().join("protected-5gs"),
        b"\x01\x7E\x01\x01\x02\x03\x04\x05\x7E\x00\x44\x0F",
    )
    .unwrap();
}
