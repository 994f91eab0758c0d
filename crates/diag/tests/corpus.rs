//! The seeds of the fuzz targets, run through the targets; and how the seeds are made.

mod synthetic;
mod targets;

use std::path::{Path, PathBuf};

use sounding_diag::LogCode;
use sounding_diag::command::{Answer, EQUIPMENTS, LogMask, MessageRange};
use sounding_diag::hdlc::encode;
use sounding_diag::packet::Packet;
use sounding_diag::record;

fn corpus(target: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fuzz/corpus").join(target)
}

/// Every seed of a target.
fn seeds(target: &str) -> Vec<Vec<u8>> {
    let folder = std::fs::read_dir(corpus(target)).expect("the corpus is part of the repository");
    let files = folder.map(|file| file.expect("the folder can be listed").path());
    let seeds: Vec<_> =
        files.map(|file| std::fs::read(file).expect("a seed can be read")).collect();
    assert!(!seeds.is_empty(), "{target} has seeds");
    seeds
}

#[test]
fn seeds_of_the_framing_are_framed() {
    seeds("hdlc").iter().for_each(|seed| targets::hdlc(seed));
}

#[test]
fn seeds_of_sessions_end() {
    seeds("session").iter().for_each(|seed| targets::session(seed));
}

#[test]
fn seeds_of_the_records_are_read() {
    seeds("records").iter().for_each(|seed| targets::records(seed));
}

#[test]
fn seeds_of_the_captures_are_read() {
    seeds("capture").iter().for_each(|seed| {
        targets::capture(seed);
    });
}

#[test]
fn seeds_of_the_formats_are_read_the_same_however_they_are_cut() {
    seeds("formats").iter().for_each(|seed| targets::formats(seed));
}

#[test]
fn every_format_is_a_seed() {
    let seeds = seeds("formats");
    for (number, format) in targets::FORMATS.into_iter().enumerate() {
        assert!(seeds.iter().any(|seed| usize::from(seed[0]) == number), "{format}");
    }
}

#[test]
fn every_described_version_is_a_seed() {
    let seeds = seeds("records");
    for (code, body) in synthetic::bodies(0) {
        let version = if has_version(code) { &body[..code.version_size()] } else { &[] };
        let start = [code.number().to_le_bytes().as_slice(), version].concat();
        assert!(seeds.iter().any(|seed| seed.starts_with(&start)), "{code} v{version:?}");
    }
}

/// The modem's answers to each request of a session in turn.
fn answers() -> Vec<u8> {
    let bits = [0xFF; 8];
    let mask = |equipment| LogMask { equipment, items: 64, bits: &bits };
    let mut ranges = [0; EQUIPMENTS];
    (ranges[4], ranges[0xB]) = (64, 0x400);
    let mut stream = Vec::new();
    for answer in [
        Answer::Version { compiled_on: b"Apr  2 2015", compiled_at: b"21:45:40" },
        Answer::BuildId(b"MPSS"),
        Answer::Protocol(1),
        Answer::LogRanges(ranges),
        Answer::LogMaskOf(mask(4)),
        Answer::LogMaskOf(mask(0xB)),
        Answer::LogMask(mask(4)),
        Answer::LogMask(mask(0xB)),
        Answer::EventMask(&[3]),
        Answer::MessageRanges(&[0, 0, 1, 0]),
        Answer::MessageMaskOf(MessageRange { first: 0, last: 1 }, &[1; 8]),
    ] {
        let mut payload = Vec::new();
        answer.emit(&mut payload);
        stream.push(payload.len() as u8);
        stream.extend(payload);
    }
    stream
}

/// Whether records of this code begin with a version.
fn has_version(code: LogCode) -> bool {
    record::layouts(code).into_iter().flatten().all(|layout| !layout.versions.is_empty())
}

/// `cargo test -p sounding-diag --test corpus -- --ignored`
#[test]
#[ignore = "writes the seeds anew"]
fn regenerate() {
    let write = |target: &str, name: &str, seed: &[u8]| {
        std::fs::create_dir_all(corpus(target)).expect("the corpus can be written");
        std::fs::write(corpus(target).join(name), seed).expect("the corpus can be written");
    };
    let mut stream = Vec::new();
    for (code, body) in synthetic::bodies(0) {
        let version = code.version_of(&body).filter(|_| has_version(code));
        let name = match version.map(record::Version::Packet) {
            Some(version) => format!("{code}-v{version}").to_lowercase(),
            None => code.to_string().to_lowercase(),
        };
        write("records", &name, &[code.number().to_le_bytes().as_slice(), &body].concat());
        let mut payload = Vec::new();
        synthetic::record(code, &body).emit(&mut payload).expect("bodies are short");
        encode(&payload, &mut stream);
    }
    for (number, format) in targets::FORMATS.into_iter().enumerate() {
        let mut whole = Vec::new();
        for (code, body) in synthetic::bodies(0).into_iter().take(6) {
            let log = synthetic::record(code, &body);
            format.emit(&Packet::Log(log), &mut whole).expect("bodies are short");
        }
        let name = format!("{format:?}").to_lowercase();
        let start = [number as u8, 3];
        write("formats", &name, &[start.as_slice(), &whole].concat());
        write("formats", &format!("{name}-middle"), &[start.as_slice(), &whole[7..400]].concat());
        write("capture", &name, &whole);
    }
    let guids = [[26, 0, 0, 0, 1, 1, 1, 0, 0, 0].as_slice(), &[7; 16]].concat();
    write("capture", "qmdl2", &[guids.as_slice(), &stream[..1500]].concat());
    write("capture", "every-record", &stream);
    write("capture", "middle-to-middle", &stream[5..2000]);
    write("capture", "text", b"time,cell,rsrp\n");
    write("capture", "command", b"\x00\x78\xF0\x7E");
    write("session", "answers", &answers());
    write("session", "refusals", &[4, 0x13, 0, 0, 0, 1, 0x13, 2, 0x14, 0x73, 1, 0x15]);
    // Runs of one byte before frames.
    let padded = [&[0x10; 40][..], &stream[..1500], &[0x10; 7], &stream[..1500]].concat();
    write("capture", "padded", &padded);
    write("hdlc", "padded", &[&[7], &padded[..]].concat());
    write("hdlc", "frames", &[&[7], &stream[..1500]].concat());
    write("hdlc", "escapes", &[&[1; 1], [0x7D; 40].as_slice(), &[0x7E; 3]].concat());
    write("hdlc", "too-long", &[&[64; 1], [0x55; 1200].as_slice(), &[0x7E]].concat());
}
