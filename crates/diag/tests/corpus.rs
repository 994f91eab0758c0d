//! The seeds of the fuzz targets, run through the targets; and how the seeds are made.

mod synthetic;
mod targets;

use std::path::{Path, PathBuf};

use sounding_diag::LogCode;
use sounding_diag::hdlc::encode;
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
fn every_described_version_is_a_seed() {
    let seeds = seeds("records");
    for (code, body) in synthetic::bodies(0) {
        let version = if has_version(code) { &body[..1] } else { &[] };
        let start = [code.number().to_le_bytes().as_slice(), version].concat();
        assert!(seeds.iter().any(|seed| seed.starts_with(&start)), "{code} v{version:?}");
    }
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
        let name = match has_version(code) {
            true => format!("{code}-v{}", body[0]).to_lowercase(),
            false => code.to_string().to_lowercase(),
        };
        write("records", &name, &[code.number().to_le_bytes().as_slice(), &body].concat());
        let mut payload = Vec::new();
        synthetic::record(code, &body).emit(&mut payload).expect("bodies are short");
        encode(&payload, &mut stream);
    }
    write("capture", "every-record", &stream);
    write("capture", "middle-to-middle", &stream[5..2000]);
    write("capture", "text", b"time,cell,rsrp\n");
    write("capture", "command", b"\x00\x78\xF0\x7E");
    write("hdlc", "frames", &[&[7], &stream[..1500]].concat());
    write("hdlc", "escapes", &[&[1; 1], [0x7D; 40].as_slice(), &[0x7E; 3]].concat());
    write("hdlc", "too-long", &[&[64; 1], [0x55; 1200].as_slice(), &[0x7E]].concat());
}
