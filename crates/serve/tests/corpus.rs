//! Runs the fuzz target with its seeds, and generates the seeds.

#![allow(clippy::unwrap_used, reason = "a test whose set-up fails has to fail")]

mod targets;

use std::path::PathBuf;

use sounding_serve::Refusal;

fn corpus() -> PathBuf {
    PathBuf::from(concat!(env!("CARGO_MANIFEST_DIR"), "/../../fuzz/corpus/requests"))
}

type Seed = (&'static str, &'static [u8], Option<Result<(), Refusal>>);

/// The seeds: name, bytes, and what becomes of them.
const SEEDS: &[Seed] = &[
    (
        "by-query",
        b"GET /?token=e8f3c1b0d2a49576 HTTP/1.1\r\nHost: 127.0.0.1:8080\r\n\r\n",
        Some(Ok(())),
    ),
    (
        "by-bearer",
        b"GET /metrics HTTP/1.1\r\nHost: router.lan:8080\r\nAuthorization: Bearer e8f3c1b0d2a49576\r\n\r\n",
        Some(Ok(())),
    ),
    (
        "by-cookie",
        b"GET /feed HTTP/1.1\r\nHost: localhost:8080\r\nCookie: a=b; sounding-8080=e8f3c1b0d2a49576\r\n\r\n",
        Some(Ok(())),
    ),
    (
        "after-empty-lines",
        b"\n\r\n\nGET / HTTP/1.1\r\nHost: router.lan:8080\r\nAuthorization: Bearer e8f3c1b0d2a49576\r\n\r\n",
        Some(Ok(())),
    ),
    ("no-token", b"GET / HTTP/1.1\r\nHost: 127.0.0.1:8080\r\n\r\n", Some(Err(Refusal::Token))),
    ("other-host", b"GET / HTTP/1.1\r\nHost: a.example\r\n\r\n", Some(Err(Refusal::Host))),
    (
        "other-origin",
        b"GET / HTTP/1.1\r\nHost: 127.0.0.1:8080\r\nOrigin: null\r\n\r\n",
        Some(Err(Refusal::Origin)),
    ),
    ("post", b"POST / HTTP/1.1\r\nHost: 127.0.0.1:8080\r\n\r\n", Some(Err(Refusal::Method))),
    ("two-hosts", b"GET / HTTP/1.1\r\nHost: a\r\nHost: b\r\n\r\n", Some(Err(Refusal::Malformed))),
    ("part", b"GET / HTTP/1.1\r\nHost: 127.0.0.1:80", None),
    ("bytes", b"\x16\x03\x01\x02\x00\x01", Some(Err(Refusal::Malformed))),
    ("not-text", b"GET / HTTP/1.1\r\nHost: \xFF\xFE\r\n\r\n", Some(Err(Refusal::Host))),
];

#[test]
fn seeds_are_let_in_or_refused_as_they_should() {
    for (name, _, expected) in SEEDS {
        let seed = std::fs::read(corpus().join(name)).unwrap();
        assert_eq!(targets::request(&seed), *expected, "{name}");
    }
}

#[test]
fn every_seed_does_no_harm() {
    let files = std::fs::read_dir(corpus()).unwrap();
    let seeds: Vec<Vec<u8>> =
        files.map(|file| std::fs::read(file.unwrap().path()).unwrap()).collect();
    assert!(seeds.len() >= SEEDS.len());
    for seed in &seeds {
        for length in 0..=seed.len() {
            targets::request(&seed[..length]);
        }
    }
}

#[test]
#[ignore = "writes the seeds"]
fn seeds_are_written() {
    for (name, bytes, _) in SEEDS {
        std::fs::write(corpus().join(name), bytes).unwrap();
    }
}
