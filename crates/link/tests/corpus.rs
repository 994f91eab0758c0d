//! The seeds of the fuzz target, run through it; and how the seeds are made.

#![allow(clippy::unwrap_used, reason = "a test whose set-up fails has to fail")]

#[path = "../../diag/tests/synthetic/mod.rs"]
#[allow(dead_code, reason = "each user of this file has its own needs")]
mod synthetic;
mod targets;

use std::path::PathBuf;

use sounding_diag::LogRecord;
use sounding_diag::capture::Format;
use sounding_diag::packet::Packet;
use sounding_units::ModemInstant;

fn corpus() -> PathBuf {
    PathBuf::from(concat!(env!("CARGO_MANIFEST_DIR"), "/../../fuzz/corpus/link"))
}

#[test]
fn seeds_give_the_same_estimates_however_they_are_cut() {
    for file in std::fs::read_dir(corpus()).unwrap() {
        let path = file.unwrap().path();
        let kpis = targets::link(&std::fs::read(&path).unwrap());
        assert!(kpis > Some(10), "{path:?}: {kpis:?}");
    }
}

/// Records whose time stamps are all ones.
fn end_of_time() -> Vec<u8> {
    let mut stream = vec![0, 100];
    for (code, body) in synthetic::bodies(0) {
        let at = ModemInstant::from_diag(u64::MAX);
        let log = LogRecord { at, stamp: u64::MAX, ..synthetic::record(code, &body) };
        if code.number() == 0xB139 && stream.len() < 3000 {
            Format::Hdlc.emit(&Packet::Log(log), &mut stream).unwrap();
        }
    }
    stream
}

/// `cargo test -p sounding-link --test corpus -- --ignored`
#[test]
#[ignore = "writes the seeds anew"]
fn regenerate() {
    std::fs::create_dir_all(corpus()).unwrap();
    std::fs::write(corpus().join("end-of-time"), end_of_time()).unwrap();
    for (number, format) in (0u8..).zip(targets::FORMATS) {
        for knobs in 0..4 {
            let mut stream = vec![knobs | number << 2, 100];
            // A record each millisecond, but for one clock that is set and one that goes back.
            let mut millis = 1_400_000_000_000;
            for (at, (code, body)) in synthetic::bodies(u64::from(knobs)).into_iter().enumerate() {
                millis = match at {
                    100 => millis + 100_000,
                    200 => millis - 50_000,
                    _ => millis + 1,
                };
                let at = ModemInstant::from_nanos(millis * 1_000_000);
                let log = LogRecord { at, stamp: at.to_diag(), ..synthetic::record(code, &body) };
                // Only what a KPI can be in, and not all of that: seeds are short.
                let mut kpis = 0;
                let _ = sounding_kpi::extract(&log, |_| kpis += 1);
                if kpis > 0 {
                    format.emit(&Packet::Log(log), &mut stream).unwrap();
                }
            }
            std::fs::write(corpus().join(format!("{format:?}-{knobs}").to_lowercase()), stream)
                .unwrap();
        }
    }
}
