//! Runs the fuzz target with its seeds, and generates the seeds.

mod targets;

use std::path::PathBuf;

use sounding_rrc::Pdu;

fn corpus() -> PathBuf {
    PathBuf::from(concat!(env!("CARGO_MANIFEST_DIR"), "/../../fuzz/corpus/rrc"))
}

#[test]
fn seeds_of_every_kind_of_message_decode() {
    let folder = std::fs::read_dir(corpus()).expect("the corpus is part of the repository");
    let mut kinds = vec![false; Pdu::ALL.len()];
    for file in folder {
        let path = file.expect("the folder can be listed").path();
        let seed = std::fs::read(&path).expect("a seed can be read");
        assert!(targets::rrc(&seed).is_some(), "{path:?} decodes");
        kinds[usize::from(seed[0])] = true;
    }
    assert!(kinds.iter().all(|seen| *seen), "{kinds:?}");
}

/// A small, repeatable random generator: splitmix64.
fn next(state: &mut u64) -> u64 {
    *state = state.wrapping_add(0x9E37_79B9_7F4A_7C15);
    let mut word = *state;
    word = (word ^ word >> 30).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    word = (word ^ word >> 27).wrapping_mul(0x94D0_49BB_1331_11EB);
    word ^ word >> 31
}

/// Out of many messages of random bits, which belong to no person: of each kind the one that
/// encodes longest.
///
/// `cargo test -p sounding-rrc --test corpus -- --ignored`
#[test]
#[ignore = "writes the seeds anew"]
fn regenerate() {
    std::fs::create_dir_all(corpus()).expect("the corpus can be written");
    let mut state = 36_331;
    for kind in 0..Pdu::ALL.len() as u8 {
        let mut best = (0, Vec::new());
        for _ in 0..3000 {
            let len = 4 + next(&mut state) % 150;
            let mut seed = vec![kind];
            // Few bits are set, so that more is absent and the message gets further.
            seed.extend((0..len).map(|_| (next(&mut state) & next(&mut state)) as u8));
            if let Some(decoded) = targets::rrc(&seed) {
                let written = serde_json::to_string(&decoded.value).map_or(0, |text| text.len());
                if written > best.0 {
                    best = (written, seed);
                }
            }
        }
        assert!(best.0 > 0, "no message of kind {kind} decodes");
        std::fs::write(corpus().join(format!("kind-{kind:02}")), best.1)
            .expect("it can be written");
    }
}
