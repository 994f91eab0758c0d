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

/// A point of a reference's curve: its throughput in percent, and its delay beyond the oracle's or the empty cell's, ms.
fn point(ground: &Json, reference: &str, room_ms: u64, span_ms: u64) -> [f64; 2] {
    let curves = ground["curves"].as_array().unwrap();
    let curve = curves.iter().find(|curve| curve["reference"] == reference).unwrap();
    let points = curve["points"].as_array().unwrap();
    let its = |point: &&Json| point["room_ms"] == room_ms && point["span_ms"] == span_ms;
    let point = points.iter().find(its).unwrap();
    ["throughput_percent", "beyond_ms"].map(|figure| point[figure].as_f64().unwrap())
}

#[test]
fn references_have_a_curve_over_links_and_cells_with_the_controllers_beside_it() {
    let folder = tempfile::tempdir().unwrap();
    let trace = folder.path().join("bursts");
    // Three packets in every other millisecond, and none for 30 ms of each 200.
    let opportunities =
        (1..3_000).filter(|ms| ms % 2 == 0 && ms % 200 < 170).flat_map(|ms| [ms; 3]);
    let text: String = opportunities.map(|ms| format!("{ms}\n")).collect();
    std::fs::write(&trace, text).unwrap();
    let own = ["run", "references", "--own", trace.to_str().unwrap(), "--duration", "6s"];
    let grid = ["--rooms", "10,2", "--spans", "10,30", "--seeds", "1", "--cases", "still"];
    let arguments = [&own[..], &grid].concat();

    let result = result(&[&arguments[..], &["--json"]].concat());
    let grounds = result["grounds"].as_array().unwrap();
    // A link that is given, and a cell of each kind.
    assert_eq!(grounds.len(), 1 + 4, "{result}");
    for ground in grounds {
        assert_eq!(ground["controllers"].as_array().unwrap().len(), 2, "{ground}");
        for reference in ["present", "reported"] {
            for span in [10, 30] {
                let [less, more] = [2, 10].map(|room| point(ground, reference, room, span));
                assert!(less[0] > 40.0 && less[0] < more[0], "{reference}: {less:?} {more:?}");
            }
        }
    }

    let output = lab(&[&arguments[..], &["--only", "open"]].concat());
    let text = String::from_utf8_lossy(&output.stdout);
    assert!(text.contains("| | room | mean of 10 ms | mean of 30 ms |"), "{text}");
    let rows = ["| `present` | 2 ms |", "| `present` | 10 ms |", "| `reported` | 2 ms |"];
    assert!(rows.iter().all(|row| text.contains(row)), "{text}");
    assert!(text.contains("`sounding` has ") && !text.contains("closed loop"), "{text}");
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
        ("kopa", "there are oracle"),
    ] {
        let output = lab(&of(names));
        assert_eq!(output.status.code(), Some(2));
        let said = String::from_utf8_lossy(&output.stderr);
        assert!(said.contains(expected), "{said}");
    }
}

/// What the documents say of them: not so while their queue was believed to be longer than it is.
#[test]
fn over_recordings_references_carry_what_sounding_does_with_less_delay() {
    let Some(data) = sounding_testdata::shared("traces/files.tsv") else { return };
    let data = data.ancestors().nth(2).unwrap().to_str().unwrap();
    let open = ["run", "references", "--only", "open", "--data", data, "--json"];
    let result = result(&[&open[..], &["--rooms", "4,15", "--spans", "10,100"]].concat());
    let ground = &result["grounds"][0];
    let sounding = &ground["controllers"][0];
    assert_eq!(sounding[0], "sounding", "{result}");
    let beyond = sounding[1]["beyond_ms"].as_f64().unwrap();
    for (reference, room, span, part) in [("present", 4, 10, 0.4), ("reported", 15, 100, 0.8)] {
        let [throughput, ms] = point(ground, reference, room, span);
        assert!(throughput >= 98.5, "{reference}: {throughput} %");
        assert!(ms <= part * beyond, "{reference}: {ms} ms, sounding {beyond} ms");
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
}
