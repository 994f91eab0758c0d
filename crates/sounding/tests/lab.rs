//! `sounding lab` as a user meets it.

#![allow(clippy::unwrap_used, reason = "a test whose set-up fails has to fail")]

use std::process::Command;

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
    }
}

#[test]
fn a_comparison_without_the_reference_says_where_it_belongs() {
    let output = lab(&["run", "mahimahi", "--data", "/nonexistent"]);
    let error = String::from_utf8_lossy(&output.stderr);
    assert!(!output.status.success());
    assert!(error.contains("SOUNDING_DATA"), "{error}");
}
