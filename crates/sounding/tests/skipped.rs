//! The unreadable parts of a capture are reported by every command that reads captures, with their
//! place, and do not stop it.

#![allow(clippy::unwrap_used, reason = "a test whose set-up fails has to fail")]

use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::time::Duration;

use flate2::Compression;
use flate2::write::GzEncoder;
use serde_json::Value as Json;
use sounding_diag::capture::{Capture, Format};
use sounding_testbed::radio::RadioLink;

/// A phone's own, with no damage in it.
const REAL: &str = "captures/lgs96__mobileinsight_core/diag_log_20211220_104041.mi2log";

const TERMINATOR: u8 = 0x7E;

fn sounding(arguments: &[&str]) -> Output {
    let program = assert_cmd::cargo::cargo_bin!("sounding");
    let output = Command::new(program).args(arguments).stdin(Stdio::null()).output().unwrap();
    assert!(output.status.success(), "{arguments:?}: {}", said(&output));
    output
}

fn said(output: &Output) -> String {
    String::from_utf8(output.stderr.clone()).unwrap()
}

fn lines(output: &Output) -> Vec<Json> {
    let text = str::from_utf8(&output.stdout).unwrap();
    text.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

/// A capture in a folder for whatever is made of it.
struct Rig {
    folder: tempfile::TempDir,
    capture: PathBuf,
}

impl Rig {
    fn new(name: &str, bytes: &[u8]) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let capture = folder.path().join(name);
        std::fs::write(&capture, bytes).unwrap();
        Self { folder, capture }
    }

    fn name(&self) -> &str {
        self.capture.to_str().unwrap()
    }

    fn out(&self, name: &str) -> String {
        self.folder.path().join(name).display().to_string()
    }

    /// Every command's output about it.
    fn verbs(&self) -> Vec<String> {
        let capture = self.name();
        let (lines, table, frames) =
            (self.out("a.jsonl"), self.out("a.parquet"), self.out("a.qmdl"));
        [
            &["decode", capture][..],
            &["link", capture],
            &["kpi", capture, "--kpi", "lte.pusch.tbs"],
            &["convert", capture, &lines],
            &["convert", capture, &table, "--only", "0xB139"],
            &["convert", capture, &frames],
        ]
        .iter()
        .map(|arguments| said(&sounding(arguments)))
        .collect()
    }
}

/// Where the frame begins that ends in `bytes`, or would.
fn last_frame(bytes: &[u8]) -> usize {
    bytes.iter().rposition(|&byte| byte == TERMINATOR).map_or(0, |at| at + 1)
}

/// A real capture that was cut in the middle of a frame, and has a flipped bit in another; where
/// these begin.
fn cut_and_flipped() -> Option<(Vec<u8>, usize, usize)> {
    let mut bytes = std::fs::read(sounding_testdata::shared(REAL)?).unwrap();
    let mut half = bytes.len() / 2;
    while bytes[half - 1] == TERMINATOR {
        half -= 1;
    }
    bytes.truncate(half);
    let flipped = bytes.len() / 4 + bytes[bytes.len() / 4..].iter().position(|&b| b == 0).unwrap();
    bytes[flipped] = 1;
    let (flipped, cut) = (last_frame(&bytes[..flipped]), last_frame(&bytes));
    Some((bytes, flipped, cut))
}

#[test]
fn every_verb_says_of_a_cut_capture_what_it_did_not_read_and_where() {
    let Some((bytes, flipped, cut)) = cut_and_flipped() else { return };
    let rig = Rig::new("drive.mi2log", &bytes);
    for said in rig.verbs() {
        let line = said.lines().find(|line| line.contains("not read")).unwrap_or(&said);
        let parts = [
            rig.name(),
            "not read: 1 corrupt frame,",
            &format!(
                "the frame that the end cuts off at offset {cut} ({} bytes)",
                bytes.len() - cut
            ),
            &format!("bytes at offset {flipped}: check is"),
            &format!("`sounding decode {} --summary`", rig.name()),
        ];
        for part in parts {
            assert!(line.contains(part), "{part}: {said}");
        }
        assert_eq!(said.matches("corrupt frame").count(), 1, "once: {said}");
    }
}

#[test]
fn programs_get_the_same_numbers_in_json() {
    let Some((bytes, flipped, cut)) = cut_and_flipped() else { return };
    let rig = Rig::new("drive.mi2log", &bytes);
    let capture = rig.name();
    let link = lines(&sounding(&["link", capture, "--json"]));
    let kpi = lines(&sounding(&["kpi", capture, "--kpi", "lte.pusch.tbs", "--json"]));
    let summary = lines(&sounding(&["decode", capture, "--summary", "--json"]));
    for skipped in [&link.last().unwrap()["skipped"], &kpi.last().unwrap()["skipped"], &summary[0]]
    {
        assert_eq!(skipped["corrupt_frames"], 2, "{skipped}");
        assert_eq!(skipped["first_damage"]["offset"], flipped, "{skipped}");
        assert_eq!(skipped["cut_at"], cut, "{skipped}");
        assert_eq!(skipped["cut_bytes"], bytes.len() - cut, "{skipped}");
    }
    assert!(link.iter().rev().skip(1).all(|row| row["direction"].is_string()), "rows as ever");
}

#[test]
fn undescribed_records_are_counted() {
    // Of versions that no public description has.
    const OLD: &str = "captures/mobile-insight__mobileinsight-core/offline_log_example.mi2log";
    let Some(real) = sounding_testdata::shared(OLD) else { return };
    let real = real.to_str().unwrap();
    let summary = &lines(&sounding(&["decode", real, "--summary", "--json"]))[0];
    let records = summary["records"].as_array().unwrap();
    let unread: u64 = records.iter().map(|kind| kind["unsupported"].as_u64().unwrap()).sum();
    assert!(unread > 1, "{summary}");
    assert_eq!(summary["undescribed_records"], unread);
    let said = said(&sounding(&["decode", real]));
    assert!(said.contains(&format!("{unread} records of unknown codes or versions")), "{said}");
}

fn generated() -> Vec<u8> {
    RadioLink::generated(5, Duration::from_secs(2)).unwrap().capture
}

#[test]
fn a_sound_capture_gets_no_message() {
    let rig = Rig::new("sound.qmdl", &generated());
    for said in rig.verbs() {
        assert!(!said.contains("not read"), "{said}");
    }
    let rows = lines(&sounding(&["link", rig.name(), "--json"]));
    assert!(rows.iter().all(|row| row["skipped"].is_null()), "{rows:?}");
}

/// The same records in a capture of another kind, and where the last of them begins.
fn in_format(capture: &[u8], format: Format) -> (Vec<u8>, usize) {
    let mut capture = Capture::new(capture).unwrap();
    let (mut bytes, mut last) = (Vec::new(), 0);
    while let Some(Ok(located)) = capture.poll_packet() {
        last = bytes.len();
        format.emit(&located.packet, &mut bytes).unwrap();
    }
    (bytes, last)
}

#[test]
fn every_kind_of_capture_says_how_much_of_its_last_frame_is_cut_off() {
    let whole = generated();
    // A header that says: frames without HDLC, no dictionaries.
    let header = [10, 0, 0, 0, 1, 0, 0, 0, 0, 0];
    for (name, format, header) in [
        ("in.qmdl", Format::Hdlc, &[][..]),
        ("in.qmdl2", Format::NonHdlc, &header),
        ("in.hdf", Format::Hdf, &[]),
        ("in.dlf", Format::Dlf, &[]),
    ] {
        let (records, last) = in_format(&whole, format);
        let mut bytes = [header, &records].concat();
        bytes.truncate(bytes.len() - 3);
        let begin = header.len() + last;
        let cut = format!(
            "not read: the frame that the end cuts off at offset {begin} ({} bytes)",
            bytes.len() - begin
        );
        let rig = Rig::new(name, &bytes);
        for said in rig.verbs() {
            assert_eq!(said.matches(&cut).count(), 1, "{name}: {cut}: {said}");
        }
        let summary = sounding(&["decode", rig.name(), "--summary"]);
        let summary = String::from_utf8(summary.stdout).unwrap();
        let cut =
            cut.replace("not read: the frame that the end cuts off", "the end cuts off the frame");
        assert!(summary.contains(&cut), "{name}: {cut}: {summary}");
    }
}

fn packed(bytes: &[u8]) -> Vec<u8> {
    let mut packed = GzEncoder::new(Vec::new(), Compression::default());
    packed.write_all(bytes).unwrap();
    packed.finish().unwrap()
}

#[test]
fn a_packed_capture_that_was_cut_gives_what_precedes_the_cut_and_says_so_once() {
    let packed = packed(&generated());
    let rig = Rig::new("cut.qmdl.gz", &packed[..packed.len() / 2]);
    for said in rig.verbs() {
        assert_eq!(said.matches("the rest of the packed file").count(), 1, "{said}");
    }
}

#[test]
fn a_packed_capture_that_was_cut_before_its_first_record_is_refused_for_that() {
    let rig = Rig::new("cut.qmdl.gz", &packed(&generated())[..15]);
    let program = assert_cmd::cargo::cargo_bin!("sounding");
    let output = Command::new(program).args(["decode", rig.name()]).output().unwrap();
    assert_eq!(output.status.code(), Some(1));
    let said = said(&output);
    assert!(said.contains("the packed file is damaged") && said.contains("cut.qmdl.gz"), "{said}");
}

#[test]
fn what_comes_through_a_pipe_is_named_so() {
    let mut bytes = generated();
    bytes.truncate(bytes.len() - 3);
    let rig = Rig::new("a.qmdl", &bytes);
    let program = assert_cmd::cargo::cargo_bin!("sounding");
    let stdin = std::fs::File::open(Path::new(rig.name())).unwrap();
    let mut command = Command::new(program);
    command.args(["link", "--direction", "uplink", "-"]);
    let output = command.stdin(stdin).output().unwrap();
    let said = said(&output);
    let cut = last_frame(&bytes);
    let expected = format!(
        "sounding: standard input: not read: the frame that the end cuts off at offset {cut} ({} bytes)\n",
        bytes.len() - cut
    );
    assert_eq!(said, expected);
}

/// A generated capture, and the same with a run of 0x10 before every frame but some, as a Quectel
/// EG25-G puts them; the bytes of these runs.
fn padded() -> (Vec<u8>, Vec<u8>, usize) {
    let plain = RadioLink::generated(5, Duration::from_secs(2)).unwrap().capture;
    let (mut padded, mut runs) = (Vec::new(), 0);
    for (frame, run) in
        plain.split_inclusive(|&byte| byte == TERMINATOR).zip([4, 17, 0, 200, 60, 7].iter().cycle())
    {
        padded.extend(std::iter::repeat_n(0x10, *run));
        padded.extend(frame);
        runs += run;
    }
    (plain, padded, runs)
}

#[test]
fn frames_behind_a_run_of_one_byte_are_read_and_the_runs_counted() {
    let (plain, bytes, runs) = padded();
    let (plain, padded) = (Rig::new("plain.qmdl", &plain), Rig::new("padded.qmdl", &bytes));
    let values = |rig: &Rig| sounding(&["kpi", rig.name(), "--kpi", "lte.pusch.tbs", "--csv"]);
    let (expected, found) = (values(&plain), values(&padded));
    assert!(expected.stdout.len() > 1000);
    assert!(found.stdout == expected.stdout, "no value is lost");
    let told = format!("not read: {runs} bytes of padding before frames");
    assert!(said(&found).contains(&told), "{}", said(&found));
    assert_eq!(said(&expected), "");
    let summary = &lines(&sounding(&["decode", padded.name(), "--summary", "--json"]))[0];
    assert_eq!((&summary["corrupt_frames"], &summary["padding_bytes"]), (&0.into(), &runs.into()));
}

#[test]
fn a_packed_capture_says_how_it_is_packed() {
    let capture = RadioLink::generated(5, Duration::from_secs(1)).unwrap().capture;
    let rig = Rig::new("drive.qmdl", &capture);
    let folder = rig.folder.path();
    let tar = Command::new("tar")
        .args(["--create", "--file", "drive.tar", "drive.qmdl"])
        .current_dir(folder)
        .status();
    assert!(tar.unwrap().success());
    let tar = std::fs::read(folder.join("drive.tar")).unwrap();
    let mut gz = GzEncoder::new(Vec::new(), Compression::fast());
    gz.write_all(&tar).unwrap();
    let files = [
        ("a.tar", tar.clone(), "a tar"),
        ("a.tar.gz", gz.finish().unwrap(), "a tar"),
        ("a.tar.zst", zstd::encode_all(&tar[..], 1).unwrap(), "a tar"),
        ("a.7z", [b"7z\xBC\xAF\x27\x1C", &capture[..]].concat(), "a 7z archive"),
        ("a.rar", [b"Rar!\x1A\x07\x01\x00", &capture[..]].concat(), "a rar archive"),
        ("a.bz2", [b"BZh91AY&SY", &capture[..]].concat(), "a bzip2 file"),
        ("a.zip", [b"PK\x03\x04", &capture[..]].concat(), "a zip"),
    ];
    for (name, bytes, packing) in files {
        std::fs::write(folder.join(name), bytes).unwrap();
        let output = Command::new(assert_cmd::cargo::cargo_bin!("sounding"))
            .args(["decode", name, "--summary"])
            .current_dir(folder)
            .output()
            .unwrap();
        assert_eq!(output.status.code(), Some(1), "{name}");
        let told = format!("it is {packing}: unpack it first");
        assert!(said(&output).contains(&told), "{name}: {}", said(&output));
    }
}
