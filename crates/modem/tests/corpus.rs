//! Runs the fuzz target with its seeds, and generates the seeds.

#![allow(clippy::unwrap_used, reason = "a test whose set-up fails has to fail")]

#[path = "../../diag/tests/synthetic/mod.rs"]
#[allow(dead_code, reason = "each user of this file has its own needs")]
mod synthetic;
mod targets;

use std::path::PathBuf;

use sounding_diag::capture::emit_unframed;
use sounding_diag::command::{Answer, EQUIPMENTS, LogMask};
use sounding_diag::hdlc;
use sounding_diag::packet::Packet;
use sounding_diag::{LogCode, LogRecord};
use sounding_modem::beside::{Greeting, Request};
use sounding_units::ModemInstant;

fn corpus() -> PathBuf {
    PathBuf::from(concat!(env!("CARGO_MANIFEST_DIR"), "/../../fuzz/corpus/modem"))
}

#[test]
fn seeds_of_every_kind_do_no_harm() {
    let mut kinds = [0; targets::KINDS as usize];
    for file in std::fs::read_dir(corpus()).unwrap() {
        let seed = std::fs::read(file.unwrap().path()).unwrap();
        kinds[usize::from(seed[0])] += 1;
        targets::modem(&seed);
    }
    assert!(kinds.iter().all(|seeds| *seeds > 0), "{kinds:?}");
}

/// What a modem says to a session in turn.
fn answers() -> Vec<Vec<u8>> {
    let bits = [0xA5; 8];
    let mask = LogMask { equipment: 0xB, items: 64, bits: &bits };
    let mut ranges = [0; EQUIPMENTS];
    ranges[0xB] = 64;
    let answers = [
        Answer::Version { compiled_on: b"Apr  2 2015", compiled_at: b"21:45:40" },
        Answer::BuildId(b"MPSS"),
        Answer::Protocol(1),
        Answer::LogRanges(ranges),
        Answer::LogMaskOf(mask),
        Answer::LogMask(mask),
        Answer::EventMask(&[3]),
        Answer::MessageRanges(&[0, 0, 1, 0]),
    ];
    let payload = |answer: Answer<'_>| {
        let mut payload = Vec::new();
        answer.emit(&mut payload);
        payload
    };
    answers.map(payload).into()
}

/// Records. Some are years away from the others, long before them, or without a time.
fn times() -> Vec<u8> {
    let mut stream = Vec::new();
    for record in 0..40_u64 {
        let millis = match record {
            7 => 0,
            11 => 1,
            17 => 1_700_000_000_000,
            23 => 1_400_000_000_000 - 203_000,
            31.. => 1_400_000_100_000 + record,
            _ => 1_400_000_000_000 + record,
        };
        let at = ModemInstant::from_nanos(millis * 1_000_000);
        let code = LogCode::new(if record % 3 == 0 { 0xB064 } else { 0x1FFB });
        let log = LogRecord { code, at, stamp: at.to_diag(), radio: None, body: &[7] };
        let mut payload = Vec::new();
        log.emit(&mut payload).unwrap();
        hdlc::encode(&payload, &mut stream);
    }
    stream
}

/// `cargo test -p sounding-modem --test corpus -- --ignored`
#[test]
#[ignore = "writes the seeds anew"]
fn regenerate() {
    std::fs::create_dir_all(corpus()).unwrap();
    let write = |name: &str, seed: &[u8]| std::fs::write(corpus().join(name), seed).unwrap();
    let mut packets = answers();
    for (code, body) in synthetic::bodies(0).into_iter().step_by(40) {
        let mut payload = Vec::new();
        Packet::Log(synthetic::record(code, &body)).emit(&mut payload).unwrap();
        packets.push(payload);
    }
    packets.retain(|payload| payload.len() < 200);
    let mut unframed = vec![2];
    let (mut framed, mut bare, mut stream, mut wrapped) =
        (vec![0], vec![1], Vec::new(), Vec::new());
    for payload in &packets {
        let mut frame = Vec::new();
        hdlc::encode(payload, &mut frame);
        framed.push(frame.len() as u8);
        framed.extend(&frame);
        let mut plain = Vec::new();
        emit_unframed(payload, &mut plain).unwrap();
        unframed.push(plain.len() as u8);
        unframed.extend(plain);
        bare.push(payload.len() as u8);
        bare.extend(payload);
        wrapped.extend((frame.len() as u32).to_le_bytes());
        wrapped.extend(&frame);
        stream.extend(frame);
    }
    // A session has two halves: before its port closes, and after.
    let halves = |half: &[u8]| [half, half].concat();
    write("live-frames", &[&[0], &halves(&framed)[..]].concat());
    write("live-packets", &[&[0], &halves(&bare)[..]].concat());
    write("live-unframed", &[&[0], &halves(&unframed)[..]].concat());
    write("readings-unframed", &[&[1], &unframed[..]].concat());
    write("readings-frames", &[&[1], &framed[..]].concat());
    write("readings-packets", &[&[1], &bare[..]].concat());
    write("probe-frames", &[&[2], &framed[..]].concat());
    write("probe-refused", &[2, 1, 2, 0x13, 0]);
    write("paced", &[&[3], &stream[..]].concat());
    write("paced-times", &[&[3], &times()[..]].concat());
    let count = packets.len() as u32;
    let head = [&0x20u32.to_le_bytes()[..], &count.to_le_bytes()].concat();
    write("vendor", &[&[4], &head[..], &wrapped].concat());
    // From a second chip: its number stands before the length.
    let second = [
        &0x20u32.to_le_bytes()[..],
        &1u32.to_le_bytes(),
        &[0xFF; 4],
        &4u32.to_le_bytes(),
        &[1, 2, 3, 0x7E],
    ];
    write("vendor-second-chip", &[&[4], &second.concat()[..]].concat());
    write("note", b"\x054 20 ff0001 005a01\n11 20 - 005a01\nend\n");
    write("named-unframed", b"\x06non-hdlc:/dev/ttyUSB0");
    write("named-tcp", b"\x06tcp:[::1]:43555");
    write("named-router", b"\x06vendor-router:diag");
    write("named-path", b"\x06/dev/ttyUSB0");
    let greeting = Greeting::new("/dev/ttyUSB0").line();
    // A packet, a loss of three, codes that are not on, a port that closed and opened.
    let mut frames = Vec::new();
    let lacks = br#"{"budget":[45369],"unknown":[4097],"kept":[]}"#;
    for (kind, payload) in
        [(1, &packets[0][..]), (2, &3u64.to_le_bytes()), (3, lacks), (4, &[]), (5, &[])]
    {
        frames.push(kind);
        frames.extend((payload.len() as u32).to_le_bytes());
        frames.extend(7u64.to_le_bytes());
        frames.extend(payload);
    }
    write("told", &[&[7], &greeting[..], &frames].concat());
    write("told-no-greeting", &[&[7], &frames[..]].concat());
    let mut refused = Greeting::new("tcp:[::1]:43555");
    refused.refused = Some("permission".into());
    write("told-refused", &[&[7], &refused.line()[..]].concat());
    let line = Request::new(Some(&[LogCode::new(0xB139), LogCode::new(0xB064)])).line();
    write("asked", &[&[8], &line[..line.len() - 1]].concat());
    let line = Request::new(None).line();
    write("asked-everything", &[&[8], &line[..line.len() - 1]].concat());
}
