//! The seeds of the fuzz target, run through it; and how the seeds are made.

#![allow(clippy::unwrap_used, reason = "a test whose set-up fails has to fail")]

mod targets;

use std::path::{Path, PathBuf};
use std::time::Duration;

use sounding_trace::dci::{Block, Dci, Direction, Heard, Moment};
use targets::FORMATS;

fn corpus(target: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fuzz/corpus").join(target)
}

const DCI_NAMES: [&str; FORMATS.len()] = ["dci-log-down", "dci-log-up", "falcon", "nr-scope"];

/// What the seeds of links are, and whether they are links.
const SEEDS: &[(&str, u8, &[u8], bool)] = &[
    ("opportunities", 0, b"0\n0\n3\n3\n5000\n", true),
    ("opportunities-of-windows", 0, b"1\r\n2\r\n", true),
    ("opportunities-of-a-week", 0, b"1\n604800000", true),
    ("opportunities-too-late", 0, b"604800001\n", false),
    ("opportunities-back", 0, b"7\n6\n", false),
    ("opportunities-of-no-time", 0, b"0\n0\n", false),
    ("steps", 1, b"0s 20Mbit, 5s 5 Mbit,7500ms 0bit, 1min 1.5Gbit/s", true),
    ("steps-of-one-rate", 1, b"800kbit", true),
    ("steps-closer-than-a-microsecond", 1, b"0us 1bit, 0.5us 2bit", true),
    (
        "steps-as-far-and-fast-as-there-are",
        1,
        b"0s 18446744073709551615bit, 18446744073.7095516s 0bit",
        true,
    ),
    ("steps-back", 1, b"0s 1Mbit, 2s 1Mbit, 1s 1Mbit", false),
    ("steps-without-units", 1, b"0 20", false),
    ("steps-of-points", 1, b"... 1bit", false),
];

#[test]
fn seeds_are_links_or_are_refused() {
    for &(name, .., is_link) in SEEDS {
        let seed = std::fs::read(corpus("trace").join(name)).unwrap();
        assert_eq!(targets::trace(&seed).is_some(), is_link, "{name}");
    }
}

#[test]
fn every_seed_does_no_harm() {
    for file in std::fs::read_dir(corpus("trace")).unwrap() {
        targets::trace(&std::fs::read(file.unwrap().path()).unwrap());
    }
}

#[test]
fn every_format_has_a_seed_with_messages_and_a_bad_line() {
    for (format, name) in DCI_NAMES.iter().enumerate() {
        let seed =
            std::fs::read(corpus("dci").join(name)).expect("the corpus is part of the repository");
        assert_eq!(usize::from(seed[0]), format);
        let counts = targets::dci(&seed);
        assert!(counts.messages >= 2 && counts.bad == 1, "{name}: {counts:?}");
    }
}

/// `cargo test -p sounding-trace --test corpus -- --ignored`
#[test]
#[ignore = "writes the seeds anew"]
fn regenerate() {
    std::fs::create_dir_all(corpus("trace")).unwrap();
    for &(name, kind, text, _) in SEEDS {
        std::fs::write(corpus("trace").join(name), [&[kind], text].concat()).unwrap();
    }
    std::fs::create_dir_all(corpus("dci")).expect("the corpus can be written");
    for (number, (format, name)) in FORMATS.iter().zip(DCI_NAMES).enumerate() {
        let mut text = String::from(format.header());
        text.push('\n');
        for at in 0..6_u16 {
            let time = Duration::from_micros(1_700_000_000_000_000 + u64::from(at) * 1_000);
            let moment = Moment { time, cell: 1, frame: 1022, slot: at as u8 };
            format.write(&Heard::Nothing(moment), &mut text);
            for direction in [Direction::Downlink, Direction::Uplink] {
                let block = |mcs: u8| Block {
                    mcs,
                    rv: Some((at % 4) as u8),
                    ndi: Some(at % 2 == 0),
                    bits: 1_000 * u32::from(at + 1),
                };
                let two = at == 3 && direction == Direction::Downlink;
                let dci = Dci {
                    moment,
                    rnti: 61 + at,
                    direction,
                    prb: 4 * at,
                    cell_prb: Some(50),
                    blocks: [Some(block(5)), two.then(|| block(28))],
                    harq: Some(at as u8),
                };
                format.write(&Heard::Dci(dci), &mut text);
            }
        }
        text.push_str("17\t-3\tx,y\n");
        let mut seed = vec![number as u8];
        seed.extend(text.bytes());
        std::fs::write(corpus("dci").join(name), seed).expect("it can be written");
    }
}
