//! Records that are read in part, or that are longer than their layout, count apart from others in
//! every command.

#![allow(clippy::unwrap_used, reason = "a test whose set-up fails has to fail")]

use std::process::{Command, Stdio};

use serde_json::Value as Json;
use sounding_diag::capture::Format;
use sounding_diag::packet::Packet;
use sounding_diag::record::{Form, compose};
use sounding_diag::{LogCode, LogRecord};
use sounding_units::ModemInstant;

/// A capture of these records, a tenth of a second apart.
fn capture(records: &[(u16, Vec<u8>)]) -> (tempfile::TempDir, String) {
    let mut bytes = Vec::new();
    for (number, (code, body)) in records.iter().enumerate() {
        let stamp = (1_100_000_000_000 + 80 * number as u64) << 16;
        let at = ModemInstant::from_diag(stamp);
        let log = LogRecord { code: LogCode::new(*code), at, stamp, radio: None, body };
        Format::Hdlc.emit(&Packet::Log(log), &mut bytes).unwrap();
    }
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("in.qmdl");
    std::fs::write(&path, bytes).unwrap();
    let path = path.display().to_string();
    (folder, path)
}

/// What a command prints, and what it says.
fn sounding(arguments: &[&str]) -> [String; 2] {
    let program = assert_cmd::cargo::cargo_bin!("sounding");
    let output = Command::new(program).args(arguments).stdin(Stdio::null()).output().unwrap();
    let [printed, said] =
        [output.stdout, output.stderr].map(|text| String::from_utf8(text).unwrap());
    assert!(output.status.success(), "{arguments:?}: {said}");
    [printed, said]
}

fn summary(capture: &str) -> [Json; 2] {
    let [printed, _] = sounding(&["decode", capture, "--summary", "--json"]);
    let mut summary: Json = serde_json::from_str(&printed).unwrap();
    let records = summary["records"].take();
    [records, summary]
}

fn written(code: u16, version: u32, form: &Form) -> Vec<u8> {
    let mut body = Vec::new();
    compose(LogCode::new(code), version, form, &mut body).unwrap();
    body
}

#[test]
fn a_code_without_a_description_is_one_row_without_a_version() {
    // The first byte of 0x1086 is a length. 0x412F is described and has no version: its first byte
    // is a channel.
    let undescribed = (7..70).map(|len| (0x1086, vec![len; usize::from(len)]));
    let unversioned = [1, 3].map(|channel| (0x412F, vec![channel, 0, 1, 0, 0x20]));
    let unknown = [(0xB0E5, vec![250; 20])];
    let (_folder, path) =
        capture(&undescribed.chain(unversioned).chain(unknown).collect::<Vec<_>>());
    let [records, _] = summary(&path);
    let rows: Vec<_> =
        records.as_array().unwrap().iter().map(|kind| (&kind["code"], &kind["version"])).collect();
    let named = [("0x1086", Json::Null), ("0x412F", Json::Null), ("0xB0E5", 250.into())];
    let named = named.map(|(code, version)| (Json::from(code), version));
    assert_eq!(rows, named.iter().map(|(code, version)| (code, version)).collect::<Vec<_>>());
    let [table, _] = sounding(&["decode", &path, "--summary"]);
    assert_eq!(
        table.lines().filter(|line| line.starts_with("0x1086         - ")).count(),
        1,
        "{table}"
    );
}

#[test]
fn a_record_with_an_undescribed_sub_packet_is_read_in_part_and_names_it() {
    let neighbours = Form::sub_packet(31, 4).number("earfcn", 6300);
    let mut body = written(0xB195, 1, &Form::new().list("sub_packets", vec![neighbours]));
    // The request before it is not described.
    body[1] = 2;
    body.splice(4..4, [30, 2, 8, 0, 1, 2, 3, 4]);
    let (_folder, path) = capture(&[(0xB195, body)]);
    let [records, all] = summary(&path);
    let kind = &records[0];
    let counts = ["decoded", "in_part", "longer", "unsupported", "corrupt"].map(|name| &kind[name]);
    assert_eq!(counts, [0, 1, 0, 0, 0].map(Json::from).each_ref());
    assert_eq!(kind["not_described"], serde_json::json!(["1 sub-packet 30 v2"]));
    assert_eq!((&all["partly_read_records"], &all["undescribed_records"]), (&1.into(), &0.into()));
    let [table, _] = sounding(&["decode", &path, "--summary"]);
    assert!(table.contains(", not described: 1 sub-packet 30 v2\n"), "{table}");
    let [_, said] = sounding(&["decode", &path]);
    assert!(said.contains("read: 1 record in part") && !said.contains("not read"), "{said}");
}

#[test]
fn a_record_longer_than_its_layout_keeps_its_values_and_every_command_says_so() {
    let report =
        Form::new().number("report_type", 4).number("cqi_0", 9).number("transmission_mode", 3);
    let whole = written(0xB14D, 101, &report);
    let longer = [&whole[..], &[0, 0]].concat();
    let (folder, path) = capture(&[(0xB14D, whole), (0xB14D, longer)]);
    let [records, all] = summary(&path);
    let counts = ["decoded", "in_part", "longer", "corrupt"].map(|name| &records[0][name]);
    assert_eq!(counts, [1, 0, 1, 0].map(Json::from).each_ref());
    assert_eq!((&all["longer_records"], &all["corrupt_records"]), (&1.into(), &0.into()));

    let [printed, _] = sounding(&["decode", &path]);
    let lines: Vec<Json> =
        printed.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert_eq!(lines.iter().map(|line| &line["fields"]["cqi_0"]).collect::<Vec<_>>(), [9, 9]);
    assert_eq!((&lines[0]["unread_bytes"], &lines[1]["unread_bytes"]), (&Json::Null, &2.into()));
    let [printed, _] = sounding(&["kpi", &path, "--kpi", "lte.csf.cqi", "--csv"]);
    assert_eq!(
        printed.matches("lte.csf.cqi,,9").count() + printed.matches("lte.csf.cqi,0,9").count(),
        2,
        "{printed}"
    );

    let out = |name: &str| folder.path().join(name).display().to_string();
    for arguments in [
        &["decode", &path][..],
        &["kpi", &path, "--kpi", "lte.csf.cqi"],
        &["link", &path, "--method", "cqi"],
        &["convert", &path, &out("out.jsonl")],
        &["convert", &path, &out("out.parquet")],
    ] {
        let [_, said] = sounding(arguments);
        assert!(said.contains("read: 1 record longer than its layout"), "{arguments:?}: {said}");
        assert!(!said.contains("not read"), "{arguments:?}: {said}");
    }
}
