//! The definitions of the comparison: applied to mahimahi's own logs they must give mahimahi's own
//! figures.

#![allow(clippy::unwrap_used, reason = "a test whose input is wrong has to fail")]

use std::io::Read;
use std::path::Path;
use std::time::Duration;

use sounding_lab::fidelity::mahimahi::{Figures, Passage, Reference};
use sounding_units::Bytes;

const TUN_HEADER: u64 = 4;

fn figures(path: &Path) -> Figures {
    let mut text = String::new();
    let file = std::fs::File::open(path).unwrap();
    flate2::read::GzDecoder::new(file).read_to_string(&mut text).unwrap();
    let mut base = 0;
    let (mut passages, mut opportunities) = (Vec::new(), Vec::new());
    for line in text.lines() {
        if let Some(found) = line.strip_prefix("# base timestamp: ") {
            base = found.parse().unwrap();
        }
        let words: Vec<&str> = line.split(' ').collect();
        let number = |index: usize| words[index].parse::<u64>().unwrap();
        match words[1] {
            _ if words[0] == "#" => {}
            "#" => opportunities.push(number(0)),
            "-" => passages.push(Passage {
                arrived_ms: number(0) - number(3),
                departed_ms: number(0),
                size: Bytes::new(number(2) - TUN_HEADER),
            }),
            _ => {}
        }
    }
    let count = |from: u64, to: u64| {
        opportunities.iter().filter(|&&at| at >= from && at <= to).count() as u64
    };
    let figures = Figures::of(&passages, Duration::from_secs(60), count).unwrap();
    Figures { start_ms: figures.start_ms - base, ..figures }
}

#[test]
fn the_figures_of_mahimahis_logs_are_those_it_was_reported_with() {
    let Some(path) = sounding_testdata::shared("reference/mahimahi_default_sndbuf.json") else {
        return;
    };
    let reference = Reference::read(&path).unwrap();
    let mut checked = 0;
    for path in sounding_testdata::shared_files("reference/mahimahi-logs") {
        // att-driving.down.bbr.default.r1.up.log.gz: trace, direction of data, algorithm, buffers,
        // repetition, link.
        let name = path.file_name().unwrap().to_string_lossy().into_owned();
        let parts: Vec<&str> = name.split('.').collect();
        if parts[1] != parts[5] {
            continue;
        }
        let repetition: usize = parts[4][1..].parse().unwrap();
        let theirs = reference.row(&parts[..3].join("."))[repetition - 1];
        let ours = figures(&path);
        // Sums of the same numbers in another order differ in the last digits.
        let rounded = |figures: Figures| Figures {
            throughput_mbit: (figures.throughput_mbit * 1e9).round(),
            capacity_mbit: (figures.capacity_mbit * 1e9).round(),
            utilisation: (figures.utilisation * 1e9).round(),
            mean_ms: (figures.mean_ms * 1e6).round(),
            ..figures
        };
        assert_eq!(rounded(ours), rounded(theirs), "{name}");
        checked += 1;
    }
    assert_eq!(checked, 24);
}
