//! Runs the fuzz target with its seeds, and generates the seeds.

mod dci_targets;

use std::path::PathBuf;
use std::time::Duration;

use dci_targets::{FORMATS, REMOTE};
use sounding_trace::dci::{Block, Dci, Direction, Heard, Moment, Remote};

const NAMES: [&str; FORMATS.len()] = ["dci-log-down", "dci-log-up", "falcon", "nr-scope"];

fn corpus() -> PathBuf {
    PathBuf::from(concat!(env!("CARGO_MANIFEST_DIR"), "/../../fuzz/corpus/dci"))
}

#[test]
fn every_format_has_a_seed_with_messages_and_a_bad_line() {
    for (format, name) in NAMES.iter().enumerate() {
        let seed =
            std::fs::read(corpus().join(name)).expect("the corpus is part of the repository");
        assert_eq!(usize::from(seed[0]), format);
        let counts = dci_targets::dci(&seed);
        assert!(counts.messages >= 2 && counts.bad == 1, "{name}: {counts:?}");
    }
}

#[test]
fn a_datagram_has_a_seed_with_messages_and_a_bad_end() {
    let seed =
        std::fs::read(corpus().join("remote")).expect("the corpus is part of the repository");
    assert_eq!(seed[0], REMOTE);
    let counts = dci_targets::dci(&seed);
    assert_eq!((counts.messages, counts.silent, counts.bad), (4, 2, 1));
}

/// `cargo test -p sounding-trace --test dci_corpus -- --ignored`
#[test]
#[ignore = "writes the seeds anew"]
fn regenerate() {
    std::fs::create_dir_all(corpus()).expect("the corpus can be written");
    for (number, (format, name)) in FORMATS.iter().zip(NAMES).enumerate() {
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
        std::fs::write(corpus().join(name), seed).expect("it can be written");
    }
    std::fs::write(corpus().join("remote"), remote()).expect("it can be written");
}

/// A configuration, two subframes, and what begins as nothing does.
fn remote() -> Vec<u8> {
    let mut seed = vec![REMOTE];
    seed.extend(Remote::emit_config(&[100, 50]));
    for slot in 0..2 {
        let time = Duration::from_micros(1_700_000_000_000_000 + u64::from(slot) * 1_000);
        let moment = Moment { time, cell: slot, frame: 1022, slot };
        let messages = [Direction::Downlink, Direction::Uplink].map(|direction| Dci {
            moment,
            rnti: 61,
            direction,
            prb: 20,
            cell_prb: None,
            blocks: [Some(Block { bits: 18_336, ..Block::default() }), None],
            harq: None,
        });
        seed.extend(Remote::emit_subframe(moment, &messages));
    }
    seed.extend([0xFF; 4]);
    seed.extend([0x17; 4]);
    seed
}
