//! `sounding lab` as a user meets it.

#![allow(clippy::unwrap_used, reason = "a test whose set-up fails has to fail")]

use std::process::Command;

use serde_json::Value as Json;
use sounding_testdata::steadily;
use sounding_units::ModemInstant;

fn lab(arguments: &[&str]) -> std::process::Output {
    Command::new(assert_cmd::cargo::cargo_bin!("sounding"))
        .arg("lab")
        .args(arguments)
        .output()
        .unwrap()
}

#[test]
fn every_experiment_listed_can_be_run() {
    let list = String::from_utf8(lab(&["list", "--json"]).stdout).unwrap();
    assert!(list.lines().count() >= 2, "{list}");
    for line in list.lines() {
        let entry: serde_json::Value = serde_json::from_str(line).unwrap();
        let name = entry["name"].as_str().unwrap();
        let help = lab(&["run", name, "--help"]);
        assert!(help.status.success(), "{name} is listed and not known");
        let rights = entry["needs"]["rights"].as_str().unwrap();
        assert!(["nothing", "root", "root-with"].contains(&rights), "{entry}");
        assert!(entry["duration"].is_string() || entry["duration"].is_null(), "{entry}");
    }
    for alias in ["biscay", "biscay/table3"] {
        assert!(lab(&["run", alias, "--help"]).status.success(), "{alias}");
    }
}

#[test]
fn the_list_for_people_has_the_same_experiments_in_the_same_order() {
    let names = |list: std::process::Output, name: fn(&str) -> String| -> Vec<String> {
        String::from_utf8(list.stdout).unwrap().lines().map(name).collect()
    };
    let plain =
        names(lab(&["list"]), |line| line.split_whitespace().next().unwrap_or_default().to_owned());
    let json = names(lab(&["list", "--json"]), |line| {
        let entry: Json = serde_json::from_str(line).unwrap();
        entry["name"].as_str().unwrap().to_owned()
    });
    assert_eq!(plain, json);
}

#[test]
fn a_comparison_without_the_reference_says_where_it_belongs() {
    let output = lab(&["run", "mahimahi", "--data", "/nonexistent"]);
    let error = String::from_utf8_lossy(&output.stderr);
    assert!(!output.status.success());
    assert!(error.contains("SOUNDING_DATA"), "{error}");
}

#[test]
fn a_place_that_takes_no_file_is_refused_before_the_work() {
    let folder = tempfile::tempdir().unwrap();
    let nowhere = folder.path().join("missing/result.json");
    for flag in ["--json", "--markdown"] {
        let output = lab(&["run", "bound", "--seeds", "8", flag, nowhere.to_str().unwrap()]);
        let error = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(1), "{error}");
        assert!(error.contains("cannot write"), "{error}");
        assert!(output.stdout.is_empty(), "no experiment ran");
    }
}

#[test]
fn a_link_that_there_is_not_is_answered_with_those_there_are() {
    let output = lab(&["run", "estimators", "--links", "5g"]);
    let error = String::from_utf8_lossy(&output.stderr);
    assert!(!output.status.success());
    assert!(error.contains("nr.downlink.drive"), "{error}");
}

fn result(arguments: &[&str]) -> Json {
    let output = lab(arguments);
    let error = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{error}");
    serde_json::from_slice(&output.stdout).unwrap()
}

#[test]
fn controllers_on_a_command_line_take_parameters() {
    let of = |names: &'static str| {
        ["run", "closed-loop", "--controllers", names, "--cases", "still", "--seeds", "1", "--json"]
    };
    let result = result(&of("copa,copa:delta=0.1:mode=default"));
    let rows = result["rows"].as_array().unwrap();
    let is_of = |name: &str| rows.iter().any(|row| row["contender"] == name);
    assert!(is_of("copa") && is_of("copa(delta=0.1,mode=default)"), "{result}");

    for (names, expected) in [
        ("copa:delta=20", "copa: `delta` is 0.001 to 10, not \"20\""),
        ("copa:dleta=1", "unknown parameter `dleta`, there are `delta`, `mode`"),
        ("reno:beta=1", "reno takes no parameters"),
        ("kopa", "there are advice, "),
    ] {
        let output = lab(&of(names));
        assert_eq!(output.status.code(), Some(2));
        let said = String::from_utf8_lossy(&output.stderr);
        assert!(said.contains(expected), "{said}");
    }
}

#[test]
fn a_drained_modem_delivers_young_records_and_a_full_buffer_old_groups() {
    steadily(|| {
        let ways = ["--ways", "drained,high-water", "--duration", "4s", "--json"];
        let result = result(&[&["run", "granularity"], &ways[..]].concat());
        let [drained, full] = [&result["rows"][0], &result["rows"][1]];
        assert_eq!(drained["records_each"], 1, "{drained}");
        assert!(full["records_each"].as_u64().unwrap() > 30, "{full}");
        let age = |row: &Json| row["age_ms"]["median"].as_f64().unwrap();
        assert!(age(drained) * 10.0 < age(full), "{drained} {full}");
        // A reader of the board sees nothing before the process that writes it has it.
        let [received, posted] =
            ["received_ms", "posted_ms"].map(|of| drained[of]["median"].as_f64().unwrap());
        assert!(received <= posted && posted <= age(drained), "{drained}");
    });
}

#[test]
fn overhead_counts_what_each_mask_lets_through_and_what_reading_takes() {
    let begin = ModemInstant::from_nanos(1_460_000_000_000_000_000);
    let capture = sounding_modem::uplink_capture(&[2000; 5000], begin, 970);
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("uplink.qmdl");
    std::fs::write(&file, &capture).unwrap();
    let file = file.display().to_string();
    let result = result(&[
        "run",
        "overhead",
        "--captures",
        &file,
        "--rate",
        "1Mbit",
        "--duration",
        "1s",
        "--json",
    ]);
    let kbit = |row: usize| result["masks"][row]["kbit_per_sec"].as_f64().unwrap();
    let whole = capture.len() as f64 * 8.0 / 1e3 / 5.0;
    assert!((kbit(0) / whole - 1.0).abs() < 0.05, "{whole}: {result}");
    // The buffer status is not in Gandalf's table, and all three records are in BISCAY's.
    assert!(kbit(1) < kbit(0) && kbit(2) == kbit(0), "{result}");
    let cpu = result["cpu"].as_array().unwrap();
    assert_eq!(cpu.len(), 4, "{result}");
    assert!(cpu.iter().all(|row| row["cpu_percent"].as_f64().unwrap() > 0.0), "{result}");
    let daemons = result["daemons"].as_array().unwrap();
    assert_eq!(daemons.len(), 4, "{result}");
    let read = |row: &Json| {
        row["lines_per_sec"].as_f64() > Some(1.0)
            && row["resident"]["bytes"].as_u64() > Some(1 << 20)
    };
    assert!(daemons.iter().all(read), "{result}");
}
