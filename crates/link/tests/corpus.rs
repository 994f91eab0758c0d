//! Runs the fuzz target with its seeds, and generates the seeds.

#![allow(clippy::unwrap_used, reason = "a test whose set-up fails has to fail")]

#[path = "../../diag/tests/synthetic/mod.rs"]
#[allow(dead_code, reason = "each user of this file has its own needs")]
mod synthetic;
mod targets;

use std::path::PathBuf;
use std::time::Duration;

use sounding_diag::LogRecord;
use sounding_diag::capture::Format;
use sounding_diag::packet::Packet;
use sounding_link::{Method, Source};
use sounding_trace::dci::{self, Block, Dci, Heard, Moment};
use sounding_units::ModemInstant;

use targets::Event::{self, Later, Other, Passes, Read};

fn corpus() -> PathBuf {
    PathBuf::from(concat!(env!("CARGO_MANIFEST_DIR"), "/../../fuzz/corpus/link"))
}

fn corpus_of_rows() -> PathBuf {
    corpus().with_file_name("rows")
}

#[test]
fn rows_are_few_whatever_the_time_of_a_record_is() {
    let mut count = 0;
    for file in std::fs::read_dir(corpus_of_rows()).unwrap() {
        let path = file.unwrap().path();
        let lines = targets::rows(&std::fs::read(&path).unwrap());
        assert!(lines > 3, "{path:?}: {lines}");
        count += 1;
    }
    assert_eq!(count, 5);
}

/// A live modem's records, and what is strange about them.
fn seeds_of_rows() -> [(&'static str, Vec<Event>); 5] {
    const MS: u64 = 1_000_000;
    const NOW: u64 = 1_100_000_000_000 << 16;
    const YEARS: u64 = (10 * 365 * 24 * 3600 * 800) << 16;
    let usual = |strange: &[Event]| {
        let mut events = vec![Read(NOW)];
        for turn in 0..30 {
            events.extend([Passes(50 * MS), Later(50)]);
            if turn == 15 {
                events.extend(strange);
            }
        }
        events
    };
    let silence = [Passes(3 * 3600 * 1000 * MS), Later(3 * 3600 * 1000), Passes(u64::MAX)];
    let later = Read(NOW + YEARS);
    let set = [later, Later(0), later, later, later, later, later];
    let others = [Other(0), Other(NOW + YEARS), Other(NOW), Other(u64::MAX), Later(-203_000)];
    [
        ("no-time", usual(&[Read(0), Other(0), Passes(MS), Later(0), Read(0)])),
        ("one-wrong", usual(&[Read(NOW + YEARS), Later(-203_000), Read(u64::MAX), Later(61_000)])),
        ("silence", usual(&silence)),
        ("set", usual(&set)),
        ("others", usual(&others)),
    ]
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

/// Lines of a sniffer's log: two users with data, and one that comes once.
fn control_messages() -> Vec<u8> {
    let mut text = String::from("\n");
    for subframe in 0..120_u16 {
        for (rnti, prb) in [(70, 20), (71, 9), (100 + subframe, 4)] {
            let block = Block { mcs: 9, rv: Some(0), ndi: Some(false), bits: 400 * u32::from(prb) };
            let (frame, slot) = (subframe / 10, (subframe % 10) as u8);
            let time = Duration::from_millis(subframe.into());
            let heard = Heard::Dci(Dci {
                moment: Moment { time, cell: 0, frame, slot },
                rnti,
                direction: dci::Direction::Downlink,
                prb,
                cell_prb: Some(50),
                blocks: [Some(block), None],
                harq: Some(0),
            });
            dci::Format::DciLog(dci::Direction::Downlink).write(&heard, &mut text);
        }
    }
    text.into_bytes()
}

/// `cargo test -p sounding-link --test corpus -- --ignored`
#[test]
#[ignore = "writes the seeds anew"]
fn regenerate() {
    std::fs::create_dir_all(corpus()).unwrap();
    std::fs::create_dir_all(corpus_of_rows()).unwrap();
    for (name, events) in seeds_of_rows() {
        let bytes: Vec<u8> = events.into_iter().flat_map(Event::bytes).collect();
        std::fs::write(corpus_of_rows().join(name), bytes).unwrap();
    }
    std::fs::write(corpus().join("end-of-time"), end_of_time()).unwrap();
    let formats = (0u8..).zip(targets::FORMATS).flat_map(|(number, format)| {
        let name = format!("{format:?}").to_lowercase();
        (0..4).map(move |knobs| (format!("{name}-{knobs}"), knobs | number << 2, format))
    });
    let methods = (0u8..).zip(Method::ALL).skip(2).map(|(number, method)| {
        let sniffed = if method == Method::Cell { targets::SNIFFED } else { 0 };
        let knobs = 1 | targets::method_knobs(number) | sniffed;
        (Source::from(method).to_string(), knobs, Format::Hdlc)
    });
    for (name, first, format) in formats.chain(methods) {
        let knobs = first & 3;
        let mut stream = vec![first, 100];
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
        if first & targets::SNIFFED != 0 {
            stream.extend(control_messages());
        }
        std::fs::write(corpus().join(&name), stream).unwrap();
    }
}
