//! `sounding link`: what its rows say is known, how old it is, and what was granted.

#![allow(clippy::unwrap_used, reason = "a test whose set-up fails has to fail")]

mod compose;
mod granted;
mod live;
mod memory;
mod packets;
mod stack;
mod times;
mod unknown;

use std::path::Path;
use std::process::{Command, Output, Stdio};

use serde_json::Value as Json;

fn link(capture: &Path, arguments: &[&str]) -> Output {
    let mut command = Command::new(assert_cmd::cargo::cargo_bin!("sounding"));
    command.arg("link").arg(capture).args(arguments).stdin(Stdio::null()).output().unwrap()
}

/// The lines of JSON that a capture gives.
fn lines(capture: &Path, arguments: &[&str]) -> Vec<Json> {
    let output = link(capture, &[&["--json"], arguments].concat());
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let text = String::from_utf8(output.stdout).unwrap();
    text.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

/// The rows of one direction.
fn rows(capture: &Path, direction: &str, arguments: &[&str]) -> Vec<Json> {
    let mut rows = lines(capture, &[&["--direction", direction], arguments].concat());
    rows.retain(|line| line["direction"] == direction);
    assert!(!rows.is_empty());
    rows
}

fn number(row: &Json, name: &str) -> f64 {
    row[name].as_f64().unwrap_or_else(|| panic!("{name}: {row}"))
}

/// The sum of what rows say was granted.
fn granted(rows: &[Json]) -> u64 {
    rows.iter().filter_map(|row| row["granted_bytes"].as_u64()).sum()
}
