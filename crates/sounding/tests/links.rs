//! Tests `sounding convert` between files of links over time, and `sounding lab import`, as
//! commands.

#![allow(clippy::unwrap_used, reason = "a test whose set-up fails has to fail")]

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::time::Duration;

use sounding_testbed::radio::RadioLink;

fn sounding(arguments: &[&str]) -> Output {
    Command::new(assert_cmd::cargo::cargo_bin!("sounding"))
        .args(arguments)
        .stdin(Stdio::null())
        .output()
        .unwrap()
}

fn stderr(output: &Output) -> String {
    // Lines are wrapped to the width of a terminal.
    let text = String::from_utf8_lossy(&output.stderr).replace(['│', '×'], "");
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

struct Folder(tempfile::TempDir);

impl Folder {
    fn new() -> Self {
        Self(tempfile::tempdir().unwrap())
    }

    fn path(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    fn convert(&self, from: &Path, to: &str) -> Output {
        sounding(&["convert", from.to_str().unwrap(), self.path(to).to_str().unwrap()])
    }

    /// Converts, and checks that no message is printed.
    fn quietly(&self, from: &Path, to: &str) -> PathBuf {
        let output = self.convert(from, to);
        assert!(output.status.success(), "{} to {to}: {}", from.display(), stderr(&output));
        assert_eq!(stderr(&output), "", "{} to {to}", from.display());
        self.path(to)
    }
}

fn same(one: &Path, other: &Path) -> bool {
    fs::read(one).unwrap() == fs::read(other).unwrap()
}

/// Converts a trace by every path of formats and compares the bytes.
fn goes_round(folder: &Folder, trace: &Path) {
    let csv = folder.quietly(trace, "a.csv");
    let parquet = folder.quietly(&csv, "a.parquet");
    let again = folder.quietly(&parquet, "a.trace");
    assert!(same(trace, &again), "{}", trace.display());
    let parquet = folder.quietly(trace, "b.parquet");
    let packed = folder.quietly(&parquet, "b.csv.gz");
    let again = folder.quietly(&packed, "b.down");
    assert!(same(trace, &again), "{}", trace.display());
    assert!(same(&csv, &folder.quietly(&folder.path("a.parquet"), "c.csv")));
}

#[test]
fn a_trace_survives_csv_and_parquet_byte_for_byte() {
    let folder = Folder::new();
    fs::write(folder.path("own.trace"), "0\n0\n3\n3\n3\n5000\n").unwrap();
    goes_round(&folder, &folder.path("own.trace"));
}

#[test]
fn every_shared_trace_survives_csv_and_parquet_byte_for_byte() {
    let traces = sounding_testdata::shared_files("traces/mahimahi/traces");
    let is_trace =
        |path: &&PathBuf| path.extension().is_some_and(|end| end == "up" || end == "down");
    for trace in traces.iter().filter(is_trace) {
        goes_round(&Folder::new(), trace);
    }
}

const RATES: &str = "from_ns,until_ns,rate_bits_per_sec\n\
                     0,1500000001,12345678\n1500000001,2000000000,0\n2000000000,2500000000,48000000\n\
                     2500000000,9000000000,0\n";

#[test]
fn rates_are_exact_in_tables_and_the_loss_in_a_trace_is_reported() {
    let folder = Folder::new();
    fs::write(folder.path("rates.csv"), RATES).unwrap();
    let parquet = folder.quietly(&folder.path("rates.csv"), "rates.parquet");
    assert!(same(&folder.quietly(&parquet, "again.csv"), &folder.path("rates.csv")));
    let output = folder.convert(&parquet, "rates.trace");
    let said = stderr(&output);
    assert!(output.status.success(), "{said}");
    assert!(said.contains("whole packets") && said.contains("6.5"), "{said}");
    let trace = fs::read_to_string(folder.path("rates.trace")).unwrap();
    // 12.345678 Mbit/s for 1.5 s and 48 Mbit/s for half a second, in packets of 1500 bytes.
    let carried: f64 = 12_345_678.0 * 1.500000001 + 48e6 * 0.5;
    assert_eq!(trace.lines().count(), (carried / 12_000.0) as usize);
    assert_eq!(trace.lines().next_back(), Some("2499"));
}

#[test]
fn a_file_without_a_link_is_refused_with_its_place_and_leaves_no_output() {
    let folder = Folder::new();
    for (name, text, said) in [
        ("a.csv", "time_ms,packets\n1,1\n1,1\n", "row 2 is at 1"),
        ("b.csv", "seconds,Mbit\n1,1\n", "seconds,Mbit"),
        ("c.trace", "1\n2\nx\n", "line 3"),
        ("d.parquet", "time_ms,packets\n", "no Parquet"),
        ("e.csv", "", "empty"),
    ] {
        fs::write(folder.path(name), text).unwrap();
        let output = folder.convert(&folder.path(name), "out.trace");
        assert!(!output.status.success(), "{name}");
        assert!(stderr(&output).contains(said), "{name}: {}", stderr(&output));
        assert!(!folder.path("out.trace").exists(), "{name}");
    }
    // A rate too large for a column of Parquet stays in CSV.
    let most = format!("from_ns,until_ns,rate_bits_per_sec\n0,5,{}\n", u64::MAX);
    fs::write(folder.path("most.csv"), most).unwrap();
    let output = folder.convert(&folder.path("most.csv"), "most.parquet");
    assert!(stderr(&output).contains("no room"), "{}", stderr(&output));
    assert!(!folder.path("most.parquet").exists());
}

#[test]
fn a_link_is_no_capture_and_a_capture_has_two_links() {
    let folder = Folder::new();
    fs::write(folder.path("a.trace"), "1\n").unwrap();
    let output = folder.convert(&folder.path("a.trace"), "a.jsonl");
    assert!(stderr(&output).contains("no Diag record"), "{}", stderr(&output));
    let capture = RadioLink::generated(3, Duration::from_secs(1)).unwrap().capture;
    fs::write(folder.path("a.qmdl"), capture).unwrap();
    let output = folder.convert(&folder.path("a.qmdl"), "b.csv");
    assert!(stderr(&output).contains("a capture has two links"), "{}", stderr(&output));
}

const LOG: &str = "# mahimahi mm-link (Downlink) [car.down] > x.log\n1 + 1504\n2 # 1504\n2 - 1504 1\n3 # 1504\nx\n";

#[test]
fn an_imported_log_is_a_folder_of_results() {
    let folder = Folder::new();
    fs::write(folder.path("bbr.log"), LOG).unwrap();
    let [log, out] = ["bbr.log", "out"].map(|name| folder.path(name));
    let named = format!("mine={}", log.display());
    let (log, out) = (log.to_str().unwrap(), out.to_str().unwrap());
    let all = ["lab", "import", log, &named, "--out", out, "--series", "1ms", "--json"];
    let output = sounding(&all);
    assert!(output.status.success(), "{}", stderr(&output));
    assert!(stderr(&output).contains("1 lines left out"), "{}", stderr(&output));
    let printed: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
    let written = fs::read(folder.path("out/result.json")).unwrap();
    assert_eq!(printed, serde_json::from_slice::<serde_json::Value>(&written).unwrap());
    let controllers: Vec<_> = printed["runs"]
        .as_array()
        .unwrap()
        .iter()
        .map(|run| &run["flows"][0]["controller"])
        .collect();
    assert_eq!(controllers, ["bbr", "mine"]);
    for file in ["flows.parquet", "run-0001/series.parquet", "run-0002/series.parquet"] {
        assert!(folder.path("out").join(file).exists(), "{file}");
    }
    // Existing files are never overwritten.
    let again = sounding(&all);
    assert!(stderr(&again).contains("is there already"), "{}", stderr(&again));
}
