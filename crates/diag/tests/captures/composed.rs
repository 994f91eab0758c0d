//! A folder of foreign captures, composed here: it is found and compared, and what cannot be
//! compared is reported.

#![allow(clippy::unwrap_used, reason = "a test whose set-up fails has to fail")]

use std::fs;
use std::path::Path;
use std::process::{Command, Output};

use ruzstd::encoding::{CompressionLevel, compress_to_vec};
use serde_json::json;
use sounding_diag::capture::{Capture, Format};
use sounding_diag::packet::Packet;
use sounding_diag::{LogCode, LogRecord};
use sounding_units::ModemInstant;

use crate::found::Found;

/// Why a connection of 1xEV-DO ended: one byte, which the reference calls so if it is zero.
const CODE: LogCode = LogCode::new(0x1071);
const REASON: &str = "AN Connection Close";

/// Three such records as a modem writes them.
fn capture() -> Vec<u8> {
    let mut bytes = Vec::new();
    for second in 0..3 {
        let at = ModemInstant::from_nanos(1_460_000_000_000_000_000 + second * 1_000_000_000);
        let log = LogRecord { code: CODE, at, stamp: 0, radio: None, body: &[0] };
        Format::Hdlc.emit(&Packet::Log(log), &mut bytes).unwrap();
    }
    bytes
}

/// The reference's reading of it, packed, in which each reason is this one.
fn reading(bytes: &[u8], reason: &str) -> Vec<u8> {
    let mut capture = Capture::new(bytes).unwrap();
    let mut lines = String::new();
    while let Some(Ok(located)) = capture.poll_packet() {
        let Packet::Log(log) = located.packet else { panic!("it has records only") };
        let line = json!({
            "off": located.offset,
            "cmd": 0x10,
            "code": log.code.to_string(),
            "ver": 0,
            "len": 13,
            "ts": log.stamp,
            "body": 1,
            "mi": { "log_msg_len": 13, "type_id": "1xEV_Release", "timestamp": "", "Reason": reason },
        });
        lines += &format!("{line}\n");
    }
    assert_eq!(lines.lines().count(), 3);
    compress_to_vec(lines.as_bytes(), CompressionLevel::Uncompressed)
}

fn write(path: &Path, bytes: &[u8]) {
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    fs::write(path, bytes).unwrap();
}

/// A folder with a capture that has a reading, one without, a reading without a capture, and a
/// note.
fn folder(reason: &str) -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    let at = |path: &str| folder.path().join(path);
    let bytes = capture();
    write(&at("captures/phone/walk/one.qmdl"), &bytes);
    write(&at("captures/two.qmdl"), &bytes);
    write(&at("captures/phone/notes.txt"), b"It rained.");
    let reading = reading(&bytes, reason);
    write(&at("expected/phone_walk_one.qmdl.jsonl.zst"), &reading);
    write(&at("expected/2026/phone_three.qmdl.jsonl.zst"), &reading);
    folder
}

#[test]
fn captures_and_their_readings_are_found_and_so_is_what_lacks_one() {
    let folder = folder(REASON);
    let at = |path: &str| folder.path().join(path);
    let found = Found::look(&at("captures"), &at("expected"));
    let [pair] = &found.pairs[..] else { panic!("{found:?}") };
    assert_eq!(pair.name, "phone/walk/one.qmdl");
    assert_eq!(pair.capture, at("captures/phone/walk/one.qmdl"));
    assert_eq!(pair.expected, at("expected/phone_walk_one.qmdl.jsonl.zst"));
    assert!(!pair.is_known());
    assert_eq!(found.unread, [("two.qmdl".to_owned(), at("captures/two.qmdl"))]);
    assert_eq!(found.orphans, [at("expected/2026/phone_three.qmdl.jsonl.zst")]);

    let nothing = Found::look(&at("nothing"), &at("nothing"));
    assert_eq!(nothing, Found::default());
}

/// Everything else here, over such a folder in the place of the shared data.
fn check(folder: &Path) -> (Output, String) {
    let output = Command::new(std::env::current_exe().unwrap())
        .args(["--skip", "composed::"])
        .env("SOUNDING_DATA", folder)
        // The folder lacks the known captures, which is to be reported and no failure here.
        .env_remove("SOUNDING_REQUIRE")
        .output()
        .unwrap();
    let said = [&output.stdout, &output.stderr].map(|bytes| String::from_utf8_lossy(bytes));
    let said = said.concat();
    (output, said)
}

#[test]
fn a_folder_of_other_captures_is_checked_where_the_shared_data_would_be() {
    let folder = folder(REASON);
    let (output, said) = check(folder.path());
    assert!(output.status.success(), "{said}");
    for line in [
        "NOT COMPARED: two.qmdl has no expected reading",
        "phone_three.qmdl.jsonl.zst has no capture",
        "two.qmdl: 3 frames, 3 records read, 0 not described, 0 wrong",
        "known captures are absent",
    ] {
        assert!(said.contains(line), "{line:?} is not in:\n{said}");
    }
}

#[test]
fn a_reading_that_differs_is_named_with_its_capture_record_and_field() {
    let folder = folder("AT Connection Close");
    let (output, said) = check(folder.path());
    assert!(!output.status.success(), "{said}");
    let line = said.lines().find(|line| line.starts_with("phone/walk/one.qmdl: frame 0 at 0"));
    let line = line.unwrap_or_else(|| panic!("no such line in:\n{said}"));
    assert!(line.contains("reason") && line.ends_with("and 3 records in all"), "{line}");
}
