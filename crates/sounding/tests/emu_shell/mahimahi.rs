//! The names, arguments and habits of mahimahi.

use std::os::unix::fs::symlink;
use std::path::Path;
use std::process::Command;

use sounding_testdata::{STRANGER, may_emulate};

use crate::{emu, program, shared_folder, stderr, stdout};

/// This program by a name of mahimahi's, by sudo.
fn called(folder: &Path, name: &str, arguments: &[&str]) -> Command {
    let path = folder.join(name);
    if !path.exists() {
        symlink(program(), &path).unwrap();
    }
    let mut command = Command::new(path);
    command.env("SUDO_UID", STRANGER.to_string()).env("SUDO_GID", STRANGER.to_string());
    command.env_remove("MAHIMAHI_BASE").args(arguments);
    command
}

#[test]
fn a_line_of_mahimahi_runs_as_it_stands() {
    if !may_emulate() {
        return;
    }
    let folder = shared_folder();
    for name in ["mm-loss", "mm-link"] {
        symlink(program(), folder.path().join(name)).unwrap();
    }
    std::fs::write(folder.path().join("trace"), "1\n2\n3\n").unwrap();
    let line = [
        "20",
        "./mm-loss",
        "uplink",
        "0",
        "./mm-link",
        "trace",
        "trace",
        "--uplink-log=log",
        "--uplink-queue=droptail",
        "--uplink-queue-args=packets=50",
        "--",
        "sh",
        "-c",
        "echo $MAHIMAHI_BASE; exit 4",
    ];
    let output =
        called(folder.path(), "mm-delay", &line).current_dir(folder.path()).output().unwrap();
    assert_eq!(output.status.code(), Some(4), "{}", stderr(&output));
    let base = stdout(&output).trim().parse::<std::net::Ipv4Addr>();
    assert!(base.is_ok(), "{}", stdout(&output));
    let log = std::fs::read_to_string(folder.path().join("log")).unwrap();
    assert!(log.contains("# queue: droptail [packets=50]\n"), "{log}");
}

#[test]
fn arguments_that_are_not_mahimahis_are_refused_with_its_usage() {
    let folder = shared_folder();
    let output = called(folder.path(), "mm-delay", &["soon", "true"]).output().unwrap();
    assert_eq!(output.status.code(), Some(2));
    assert!(
        stderr(&output).contains("usage: mm-delay DELAY-IN-MS [COMMAND]"),
        "{}",
        stderr(&output)
    );
}

#[test]
fn rates_are_read_as_other_tools_write_them() {
    if !may_emulate() {
        return;
    }
    for rate in ["12Mbps", "12M", "12mbit/s"] {
        let output = emu(&["--up", rate, "--down", rate, "--", "true"]).output().unwrap();
        assert!(output.status.success(), "{}", stderr(&output));
    }
}

#[test]
fn without_the_rights_the_same_line_is_shown_with_sudo() {
    if !may_emulate() {
        return;
    }
    // Root in name only, and as another user: no capability is left.
    let output = Command::new("setpriv")
        .args(["--bounding-set=-all", "--inh-caps=-all", "--reuid=65534", "--clear-groups"])
        .arg(program())
        .args(["emu", "--up", "0s 5Mbit, 1s 9Mbit", "--", "true"])
        .output()
        .unwrap();
    assert_eq!(output.status.code(), Some(1));
    let line = format!("sudo {} emu --up '0s 5Mbit, 1s 9Mbit' -- true", program());
    assert!(stderr(&output).contains(&line), "{}", stderr(&output));
}

#[test]
fn a_drop_in_a_log_is_a_comment_and_import_still_counts_it() {
    if !may_emulate() {
        return;
    }
    let folder = shared_folder();
    let log = folder.path().join("up.log");
    // One packet waits, and the others of the burst are dropped.
    let script = "import os, socket\n\
                  s = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)\n\
                  for n in range(50): s.sendto(bytes(1000), (os.environ['SOUNDING_FAR'], 9))";
    let to = format!("--up-log={}", log.display());
    let link = ["--up", "100kbit", "--queue-packets", "1", &to, "--isolated"];
    let output = emu(&[&link[..], &["--", "python3", "-c", script]].concat()).output().unwrap();
    assert!(output.status.success(), "{}", stderr(&output));
    let text = std::fs::read_to_string(&log).unwrap();
    let drops = text.lines().filter(|line| line.starts_with("# d ")).count();
    assert!(drops >= 40, "{text}");
    let is_other = |line: &&str| !line.starts_with('#');
    let kinds = text.lines().filter(is_other).map(|line| line.split(' ').nth(1).unwrap());
    // All that mm-throughput-graph knows.
    assert!(kinds.clone().all(|kind| ["+", "-", "#"].contains(&kind)), "{text}");
    assert!(kinds.count() > 0);
}

/// Sends for more than a second.
const STREAM: &str = "\
import os, socket, time
s = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
for n in range(120):
    s.sendto(bytes(972), (os.environ['SOUNDING_FAR'], 9))
    time.sleep(0.01)
";

#[test]
fn a_meter_writes_lines_that_add_up_to_what_was_delivered() {
    if !may_emulate() {
        return;
    }
    let folder = shared_folder();
    let lines = folder.path().join("meter");
    let to = format!("--meter={}", lines.display());
    let link = ["--up-loss", "0.5", "--isolated", "--json", &to, "--", "python3", "-c", STREAM];
    let output = emu(&link).output().unwrap();
    assert!(output.status.success(), "{}", stderr(&output));
    let report: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
    let text = std::fs::read_to_string(&lines).unwrap();
    let lines: Vec<serde_json::Value> =
        text.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert!(lines.len() >= 3, "{text}");
    let (mut bits, mut dropped, mut before) = (0.0, 0, 0.0);
    for line in &lines {
        let at = line["time_s"].as_f64().unwrap();
        bits += line["up"]["rate_bits_per_sec"].as_f64().unwrap() * (at - before);
        dropped += line["up"]["dropped_packets"].as_u64().unwrap();
        before = at;
        // The far end answers some packets, because nothing listens there.
        let is_empty = line["down"]["rate_bits_per_sec"] == 0.0;
        assert_eq!(line["down"]["queueing_ms"].is_null(), is_empty, "{line}");
    }
    let delivered = report["up"]["delivered_bytes"].as_f64().unwrap();
    // Rates are rounded to a bit a second.
    assert!((bits / 8.0 - delivered).abs() < 2.0, "{bits} bits, {delivered} bytes");
    assert!(delivered > 0.0 && dropped > 0, "{report}");
    assert_eq!(report["up"]["dropped_packets"], dropped);
}

#[test]
fn a_meter_without_a_terminal_says_that_it_shows_nothing() {
    if !may_emulate() {
        return;
    }
    let output = emu(&["--meter", "--", "true"]).output().unwrap();
    assert!(output.status.success(), "{}", stderr(&output));
    let said = stderr(&output);
    assert!(said.contains("the meter shows nothing") && said.contains("--meter FILE"), "{said}");
    assert!(!output.stderr.contains(&0x1b), "{said}");
}

#[test]
fn a_queue_that_is_none_is_refused_with_the_kinds_that_there_are() {
    let output = emu(&["--up-queue", "red", "--", "true"]).output().unwrap();
    assert_eq!(output.status.code(), Some(2));
    let said = stderr(&output);
    assert!(
        said.contains("--up-queue") && said.contains("droptail, drophead, codel or pie"),
        "{said}"
    );
    let output = emu(&["--down-outages", "0.4ms,0.4ms", "--", "true"]).output().unwrap();
    assert!(stderr(&output).contains("at least 1ms together"), "{}", stderr(&output));
}
