//! `--listen`: which records a modem sends, which of them are readable, and which methods work.

use std::time::Duration;

use sounding_diag::LogRecord;
use sounding_diag::capture::{Capture, Format, Located};
use sounding_diag::packet::Packet;
use sounding_testbed::radio::RadioLink;

use super::*;

/// A capture of an LTE modem.
fn lte() -> Vec<u8> {
    RadioLink::generated(7, Duration::from_secs(20)).unwrap().capture
}

/// A capture of a modem in a cell of NR with an upload and a download.
fn nr() -> Vec<u8> {
    let folder = tempfile::tempdir().unwrap();
    let plan = r#"
        duration = "4s"
        [cell]
        carriers = [{ rat = "nr", numerology = 1, tdd = "DDDSUDDSUU", prb = 51, frequency_mhz = 3550.0 }]
        [[cell.devices]]
        name = "phone"
        modem = {}
        [[flows]]
        direction = "up"
        [[flows]]
        direction = "down"
    "#;
    std::fs::write(folder.path().join("plan.toml"), plan).unwrap();
    let output = program()
        .args(["sim", "plan.toml", "--out", "out", "--captures"])
        .current_dir(folder.path())
        .output()
        .unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    std::fs::read(folder.path().join("out/run-0001/phone.qmdl")).unwrap()
}

/// The same capture with another version of the records of these codes, one that is not described.
fn with_new_versions(capture: &[u8], codes: &[u16]) -> Vec<u8> {
    let mut out = Vec::new();
    let mut capture = Capture::new(capture).unwrap();
    while let Some(found) = capture.poll_packet() {
        let Ok(Located { packet: Packet::Log(log), .. }) = found else { continue };
        let mut body = log.body.to_vec();
        if codes.contains(&log.code.number()) {
            // The first byte is LTE's version, and the third is the major one of NR's.
            let at = if log.code.number() >= 0xB800 { 2 } else { 0 };
            body[at] = 250;
        }
        let log = LogRecord { body: &body, ..log };
        Format::Hdlc.emit(&Packet::Log(log), &mut out).unwrap();
    }
    out
}

fn heard(capture: &[u8]) -> (Vec<Json>, Vec<Json>) {
    let rig = Rig::with_modem(capture, "ttyUSB7");
    let output = rig.doctor(&["--json", "--listen", "3s"]);
    let said = String::from_utf8(output.stdout).unwrap();
    let checks = said.lines().map(|line| serde_json::from_str::<Json>(line).unwrap());
    let of = |area: &str, checks: &[Json]| -> Vec<Json> {
        checks.iter().filter(|check| check["area"] == area).cloned().collect()
    };
    let checks: Vec<Json> = checks.collect();
    (of("records", &checks), of("methods", &checks))
}

#[test]
fn a_modem_that_is_listened_to_has_its_records_and_methods_judged() {
    let (records, methods) = heard(&lte());
    let grants = records.iter().find(|check| check["record"]["code"] == "0xB139");
    let grants = grants.unwrap_or_else(|| panic!("{records:#?}"));
    assert_eq!(grants["ok"], true, "{grants}");
    assert!(grants["record"]["decoded"].as_u64() > Some(10), "{grants}");
    let uplink = named(&methods, "uplink grants");
    assert_eq!(uplink["works"], true, "{uplink}");
    assert!(uplink["by"][0].as_str().unwrap().starts_with("0xB139 v"), "{uplink}");
    assert_eq!(named(&methods, "uplink formula")["works"], true, "{methods:#?}");
    // This modem is on LTE alone, so nothing is known about NR.
    let nr = named(&methods, "NR");
    assert!(nr["works"].is_null() && nr["ok"] == false, "{nr}");
    assert!(nr["detail"].as_str().unwrap().contains("no record of NR came"), "{nr}");
}

#[test]
fn records_in_unknown_versions_are_named_with_the_methods_that_fail_for_them() {
    let changed = with_new_versions(&lte(), &[0xB139, 0xB064]);
    let (records, methods) = heard(&changed);
    let record = named(&records, "0xB139 v250");
    assert_eq!((&record["ok"], &record["record"]["decoded"]), (&false.into(), &0.into()));
    assert!(record["detail"].as_str().unwrap().contains("not readable"), "{record}");
    for name in ["uplink grants", "uplink formula"] {
        let method = named(&methods, name);
        assert_eq!(method["works"], false, "{method}");
        assert!(method["detail"].as_str().unwrap().contains("0xB139 v250"), "{method}");
    }
}

#[test]
fn nr_is_said_plainly_whether_it_is_read_or_not() {
    let capture = nr();
    let (records, methods) = heard(&capture);
    assert_eq!(named(&methods, "NR")["works"], true, "{records:#?} {methods:#?}");
    assert_eq!(named(&methods, "downlink grants")["works"], true, "{methods:#?}");
    let codes: Vec<u16> = (0xB800..=0xB8FF).collect();
    let (_, methods) = heard(&with_new_versions(&capture, &codes));
    let nr = named(&methods, "NR");
    assert_eq!(nr["works"], false, "{nr}");
    let detail = nr["detail"].as_str().unwrap();
    assert!(detail.contains("versions that are not readable (0xB"), "{nr}");
}

#[test]
fn the_text_has_a_mark_for_what_is_not_known() {
    let rig = Rig::with_modem(&lte(), "ttyUSB7");
    let output = rig.doctor(&["--listen", "2s"]);
    let printed = String::from_utf8(output.stdout).unwrap();
    let line = |name: &str| {
        let found = printed.lines().find(|line| line.contains(name));
        found.unwrap_or_else(|| panic!("{name}: {printed}")).to_owned()
    };
    assert!(line("methods   uplink grants").starts_with("ok  "), "{printed}");
    assert!(line("methods   NR ").starts_with("--  "), "{printed}");
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(said.contains("the modem's log mask is as it was"), "{said}");
}

#[test]
fn without_a_modem_that_answers_listening_is_a_failure_with_a_reason() {
    let rig = Rig::new();
    let output = rig.doctor(&["--listen", "2s"]);
    let printed = String::from_utf8(output.stdout).unwrap();
    assert_eq!(output.status.code(), Some(1), "{printed}");
    assert!(printed.contains("no modem was listened to"), "{printed}");
    for (span, says) in [("0s", "1s to 1h"), ("2", "time unit")] {
        let output = rig.doctor(&["--listen", span]);
        let said = String::from_utf8_lossy(&output.stderr).into_owned();
        assert!(output.status.code() == Some(2) && said.contains(says), "{span}: {said}");
    }
}
