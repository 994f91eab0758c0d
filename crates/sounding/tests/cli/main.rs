//! The verbs with wrong input: captures that are cut, flipped, empty or of another format, wrong
//! devices, wrong words.

#![allow(clippy::unwrap_used, reason = "a test whose set-up fails has to fail")]

mod describe;
mod help;
mod limits;
mod waits;

use std::ffi::OsStr;
use std::io::Write as _;
use std::os::unix::ffi::OsStrExt as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::time::Duration;

use serde_json::Value as Json;
use sounding_testbed::radio::RadioLink;

fn sounding(arguments: &[&str]) -> Output {
    let program = assert_cmd::cargo::cargo_bin!("sounding");
    Command::new(program).args(arguments).stdin(Stdio::null()).output().unwrap()
}

fn stdout(output: &Output) -> String {
    String::from_utf8_lossy(&output.stdout).into_owned()
}

fn stderr(output: &Output) -> String {
    // Lines are wrapped to the width of a terminal.
    String::from_utf8_lossy(&output.stderr)
        .replace("│", "")
        .split_whitespace()
        .collect::<Vec<_>>()
        .join(" ")
}

/// A capture of three seconds in a separate folder.
struct Capture {
    folder: tempfile::TempDir,
    bytes: Vec<u8>,
}

impl Capture {
    fn new() -> Self {
        let link = RadioLink::generated(3, Duration::from_secs(3)).unwrap();
        Self { folder: tempfile::tempdir().unwrap(), bytes: link.capture }
    }

    fn file(&self, bytes: &[u8]) -> PathBuf {
        let path = self.folder.path().join("capture.qmdl");
        std::fs::write(&path, bytes).unwrap();
        path
    }
}

fn text(path: &Path) -> &str {
    path.to_str().unwrap()
}

fn summary(path: &Path) -> Json {
    let output = sounding(&["decode", text(path), "--summary", "--json"]);
    assert!(output.status.success(), "{}", stderr(&output));
    serde_json::from_slice(&output.stdout).unwrap()
}

fn decoded(summary: &Json) -> u64 {
    let records = summary["records"].as_array().unwrap();
    records.iter().map(|record| record["decoded"].as_u64().unwrap()).sum()
}

#[test]
fn every_record_of_a_sound_capture_is_a_line_of_json() {
    let capture = Capture::new();
    let path = capture.file(&capture.bytes);
    let output = sounding(&["decode", text(&path)]);
    let lines: Vec<Json> =
        stdout(&output).lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert_eq!(lines.len() as u64, decoded(&summary(&path)));
    assert!(lines.len() > 300);
    assert!(lines.iter().all(|line| line["fields"].is_object() && line["code"].is_string()));
}

#[test]
fn a_capture_cut_anywhere_loses_only_its_last_record() {
    let capture = Capture::new();
    let whole = decoded(&summary(&capture.file(&capture.bytes)));
    for cut in [1, 2, 7, 20] {
        let path = capture.file(&capture.bytes[..capture.bytes.len() - cut]);
        let summary = summary(&path);
        assert_eq!(decoded(&summary), whole - 1, "cut by {cut}");
        assert_eq!(summary["corrupt_frames"], 1, "cut by {cut}");
    }
}

#[test]
fn a_flipped_bit_costs_one_frame_and_is_counted() {
    let capture = Capture::new();
    let whole = decoded(&summary(&capture.file(&capture.bytes)));
    let mut bytes = capture.bytes.clone();
    let place = bytes.len() / 2 + bytes[bytes.len() / 2..].iter().position(|&b| b == 0).unwrap();
    bytes[place] = 1;
    let summary = summary(&capture.file(&bytes));
    assert_eq!((decoded(&summary), &summary["corrupt_frames"]), (whole - 1, &Json::from(1)));
}

#[test]
fn what_is_not_a_capture_is_named_with_what_it_looks_like() {
    let capture = Capture::new();
    for (bytes, says) in [
        (&b""[..], "empty"),
        (b"hello, this is a letter to somebody", "text"),
        (b"PK\x03\x04rest of a zip file", "zip"),
        (b"\xd4\xc3\xb2\xa1\x02\x00\x04\x00", "pcap"),
        (&[0; 5000], "zeros"),
    ] {
        for verb in ["decode", "link"] {
            let output = sounding(&[verb, text(&capture.file(bytes))]);
            let error = stderr(&output);
            assert_eq!(output.status.code(), Some(1), "{verb} {says}");
            assert!(error.contains(says) && error.contains("capture.qmdl"), "{verb}: {error}");
            assert!(output.stdout.is_empty(), "{verb} {says}");
        }
    }
}

#[test]
fn a_missing_file_and_a_folder_are_errors_with_their_path() {
    for path in ["/nowhere/drive.mi2log", "/tmp"] {
        let output = sounding(&["link", path]);
        assert_eq!(output.status.code(), Some(1));
        assert!(stderr(&output).contains(path), "{}", stderr(&output));
    }
}

#[test]
fn standard_input_is_read_as_a_file_is() {
    let capture = Capture::new();
    let from_file = sounding(&["link", text(&capture.file(&capture.bytes))]);
    let program = assert_cmd::cargo::cargo_bin!("sounding");
    let mut child = Command::new(program)
        .args(["link", "-"])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let mut stdin = child.stdin.take().unwrap();
    let bytes = capture.bytes.clone();
    let writer = std::thread::spawn(move || stdin.write_all(&bytes).unwrap());
    let from_pipe = child.wait_with_output().unwrap();
    writer.join().unwrap();
    assert_eq!(from_pipe.stdout, from_file.stdout);
}

#[test]
fn a_reader_that_has_had_enough_ends_the_listing_quietly() {
    let capture = Capture::new();
    let path = capture.file(&capture.bytes);
    let program = assert_cmd::cargo::cargo_bin!("sounding");
    let mut child = Command::new(program)
        .args(["decode", text(&path)])
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    drop(child.stdout.take());
    let output = child.wait_with_output().unwrap();
    assert!(output.status.success() && output.stderr.is_empty(), "{}", stderr(&output));
}

/// For a command whose output goes there.
fn into(output: &str, arguments: &[&str]) -> Output {
    let program = assert_cmd::cargo::cargo_bin!("sounding");
    let output = std::fs::File::options().write(true).open(output).unwrap();
    let mut command = Command::new(program);
    command.args(arguments).stdin(Stdio::null()).stdout(output).stderr(Stdio::piped());
    command.spawn().unwrap().wait_with_output().unwrap()
}

#[test]
fn an_output_that_takes_no_more_is_an_error_that_names_it() {
    let capture = Capture::new();
    let path = capture.file(&capture.bytes);
    let path = text(&path);
    for arguments in [
        &["decode", path][..],
        &["decode", path, "--summary"],
        &["decode", "--coverage"],
        &["link", path],
        &["link", path, "--json"],
        &["kpi", path, "--kpi", "lte.pusch.tbs"],
        &["kpi", "list"],
        &["convert", path, "-", "--to", "jsonl"],
        &["run", "--example-config"],
        &["doctor", "--no-ports", "--json"],
        &["run", "--help"],
        &["--version"],
    ] {
        let output = into("/dev/full", arguments);
        let said = stderr(&output);
        assert_eq!(output.status.code(), Some(1), "{arguments:?}: {said}");
        assert!(!said.contains("panicked"), "{arguments:?}: {said}");
        let is_named = said.contains("standard output: ") || said.contains("-: no space left");
        assert!(is_named && said.contains("space left"), "{arguments:?}: {said}");
    }
}

#[test]
fn standard_error_may_be_closed() {
    let capture = Capture::new();
    let cut = capture.file(&capture.bytes[..capture.bytes.len() - 5]);
    let whole = sounding(&["link", text(&cut)]);
    assert!(stderr(&whole).contains("not read"), "{}", stderr(&whole));
    let program = assert_cmd::cargo::cargo_bin!("sounding");
    let full = std::fs::File::options().write(true).open("/dev/full").unwrap();
    let output = Command::new(program).args(["link", text(&cut)]).stderr(full).output().unwrap();
    assert!(output.status.success());
    assert_eq!(output.stdout, whole.stdout);
}

#[test]
fn a_path_in_an_error_is_in_one_piece_where_no_terminal_listens() {
    let folder = tempfile::tempdir().unwrap();
    // Longer than a line of a terminal, with places where a line might be broken.
    let deep = folder.path().join("a folder of drives".repeat(3)).join("north-south/second run");
    std::fs::create_dir_all(&deep).unwrap();
    let missing = deep.join("there is no such capture.qmdl");
    let letter = deep.join("a letter and no capture.qmdl");
    std::fs::write(&letter, "hello").unwrap();
    let nowhere = deep.join("no such folder either/out of it.jsonl");
    for arguments in [
        &["decode", text(&missing)][..],
        &["link", text(&letter)],
        &["convert", text(&letter), "-", "--to", "dlf"],
        &["convert", text(&letter), text(&letter), "--to", "dlf"],
        &["convert", text(&missing), text(&nowhere)],
        &["sim", text(&missing)],
    ] {
        let output = sounding(arguments);
        assert!(!output.status.success(), "{arguments:?}");
        let said = String::from_utf8(output.stderr).unwrap();
        let path = if arguments[1].contains("letter") { &letter } else { &missing };
        assert!(said.contains(text(path)), "{arguments:?}: {said}");
    }
}

#[test]
fn a_device_is_no_capture() {
    for device in ["/dev/null", "/dev/zero", "/dev/ptmx"] {
        for arguments in [
            &["decode", device][..],
            &["convert", device, "a.jsonl"],
            &["convert", device, "a.parquet"],
            &["modem", "sim", device],
            &["modem", "replay", device],
        ] {
            let output = sounding(arguments);
            let said = stderr(&output);
            assert_eq!(output.status.code(), Some(1), "{arguments:?}: {said}");
            for part in [device, "is a device", "sounding record"] {
                assert!(said.contains(part), "{arguments:?}: {said}");
            }
        }
    }
}

#[test]
fn a_capture_may_have_a_name_that_is_no_text() {
    let capture = Capture::new();
    let path = capture.folder.path().join(OsStr::from_bytes(b"dr\xFFve.qmdl"));
    std::fs::write(&path, &capture.bytes).unwrap();
    for arguments in [&["link"][..], &["kpi", "--kpi", "lte.pusch.tbs"], &["decode"]] {
        let program = assert_cmd::cargo::cargo_bin!("sounding");
        let output = Command::new(program).args(arguments).arg(&path).output().unwrap();
        assert!(output.status.success(), "{arguments:?}: {}", stderr(&output));
        assert!(!output.stdout.is_empty(), "{arguments:?}");
    }
}

#[test]
fn a_recording_of_what_is_no_modem_says_that_nothing_came() {
    let capture = Capture::new();
    let out = capture.folder.path().join("out.qmdl");
    let output = sounding(&["record", text(&capture.file(b"a letter")), text(&out)]);
    assert!(output.status.success());
    let said = stderr(&output);
    assert!(said.contains("1 corrupt frame") && said.contains("not one Diag frame"), "{said}");
}

#[test]
fn a_table_of_nothing_is_refused_and_nothing_is_left() {
    let capture = Capture::new();
    let out = capture.folder.path().join("out.parquet");
    let path = capture.file(&capture.bytes);
    let output = sounding(&["convert", text(&path), text(&out), "--only", "0x1FFF"]);
    assert_eq!(output.status.code(), Some(1));
    assert!(stderr(&output).contains("none of the records"), "{}", stderr(&output));
    assert!(!out.exists());
}

#[test]
fn both_methods_find_the_rate_that_the_network_granted() {
    let capture = Capture::new();
    let path = capture.file(&capture.bytes);
    let rates = |method: &str| -> Vec<f64> {
        let output =
            sounding(&["link", text(&path), "--direction", "uplink", "--method", method, "--json"]);
        let rows = stdout(&output);
        let rows = rows.lines().map(|row| serde_json::from_str::<Json>(row).unwrap());
        rows.map(|row| row["rate_bits_per_sec"].as_f64().unwrap()).collect()
    };
    let (grants, formula) = (rates("grants"), rates("formula"));
    assert_eq!(grants, formula);
    assert!(grants.iter().copied().fold(0.0, f64::max) > 1e6, "{grants:?}");
}

#[test]
fn every_method_says_which_it_is_or_that_it_knows_nothing() {
    let capture = Capture::new();
    let path = capture.file(&capture.bytes);
    for (method, known, direction) in [
        ("cell", "cell", "uplink"),
        ("prb", "prb", "uplink"),
        ("mcs", "mcs", "uplink"),
        ("cqi", "none", "downlink"),
    ] {
        let link = ["link", text(&path), "--direction", direction, "--method", method, "--json"];
        let output = sounding(&link);
        let rows = stdout(&output);
        let mut rows = rows.lines().map(|row| serde_json::from_str::<Json>(row).unwrap());
        let last = rows.rfind(|row| row["source"].is_string()).unwrap();
        // A line is learnt from two seconds at least, which the capture may not have.
        let sources = [known, "none"];
        assert!(sources.contains(&last["source"].as_str().unwrap()), "{method}: {last}");
        assert_eq!(last["cell"].is_object(), method == "cell", "{last}");
    }
}

#[test]
fn an_uplink_has_no_cqi() {
    let capture = Capture::new();
    let path = capture.file(&capture.bytes);
    let output = sounding(&["link", text(&path), "--direction", "uplink", "--method", "cqi"]);
    assert_eq!(output.status.code(), Some(1));
    assert!(stderr(&output).contains("--direction downlink"), "{}", stderr(&output));
    let output = sounding(&["link", text(&path), "--method", "cqi", "--json"]);
    assert!(!stdout(&output).contains("\"uplink\""), "{}", stdout(&output));
}

#[test]
fn a_sniffers_log_that_is_none_is_refused_with_its_line() {
    let capture = Capture::new();
    let path = capture.file(&capture.bytes);
    let log = format!("dcilog:{}", text(&path));
    let link = ["link", text(&path), "--direction", "uplink", "--sniffer", &log, "--method"];
    let output = sounding(&[&link[..], &["cell"]].concat());
    assert_eq!(output.status.code(), Some(1));
    assert!(stderr(&output).contains("line 1"), "{}", stderr(&output));
    let output = sounding(&[&link[..], &["grants"]].concat());
    assert!(stderr(&output).contains("--method cell"), "{}", stderr(&output));
}

#[test]
fn a_device_that_is_not_a_modem_changes_nothing() {
    let algorithms =
        || std::fs::read_to_string("/proc/sys/net/ipv4/tcp_available_congestion_control").unwrap();
    let before = algorithms();
    for (device, says) in [
        ("/nowhere/ttyUSB0", "no such device"),
        ("/dev/null", "not a serial device"),
        ("/tmp", "not a serial device"),
    ] {
        let output = sounding(&["run", "--device", device, "--name", "biscay_wrong"]);
        assert_eq!(output.status.code(), Some(1), "{device}");
        assert!(stderr(&output).contains(says), "{device}: {}", stderr(&output));
    }
    assert!(!algorithms().contains("biscay_wrong"));
    assert!(!before.contains("biscay_wrong"));
}

#[test]
fn a_wrong_configuration_is_answered_with_line_key_and_what_is_allowed() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("sounding.toml");
    std::fs::write(&path, "[modem]\ndevice = '/dev/null'\n[link]\nmethod = 'guess'\n").unwrap();
    let output = sounding(&["run", "--config", text(&path), "--check-config"]);
    let error = stderr(&output);
    assert_eq!(output.status.code(), Some(1));
    for part in ["line 4", "guess", "grants", "formula"] {
        assert!(error.contains(part), "{part}: {error}");
    }
}

#[test]
fn the_example_configuration_passes_its_own_check() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("sounding.toml");
    std::fs::write(&path, sounding(&["run", "--example-config"]).stdout).unwrap();
    let output = sounding(&["run", "--config", text(&path), "--check-config"]);
    assert!(output.status.success(), "{}", stderr(&output));
}

#[test]
fn the_installed_examples_of_daemons_pass_the_check() {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/../../dist/examples");
    let mut names = Vec::new();
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        let output = sounding(&["run", "--check-config", "--config", text(&path)]);
        assert!(output.status.success(), "{}: {}", path.display(), stderr(&output));
        names.push(path.file_stem().unwrap().to_str().unwrap().to_owned());
    }
    names.sort();
    assert_eq!(names, ["background", "copa", "peers"]);
}

#[test]
fn wrong_arguments_exit_with_two_and_help_with_zero() {
    assert_eq!(sounding(&["decode"]).status.code(), Some(2));
    assert_eq!(sounding(&["decode", "x", "--code", "lte"]).status.code(), Some(2));
    for verb in [
        "demo",
        "doctor",
        "background",
        "decode",
        "convert",
        "kpi",
        "board",
        "link",
        "modem",
        "record",
        "run",
        "emu",
        "lab",
    ] {
        let output = sounding(&[verb, "--help"]);
        assert!(output.status.success(), "{verb}");
        assert!(stdout(&output).contains("Usage:"), "{verb}");
    }
}

#[test]
fn the_doctor_gives_a_cure_for_every_no() {
    let output = sounding(&["doctor", "--json", "--no-ports"]);
    for line in stdout(&output).lines() {
        let check: Json = serde_json::from_str(line).unwrap();
        assert!(check["ok"] == true || check["cure"].as_str() != Some(""), "{check}");
    }
}

/// Without rights nothing starts, and the message says which are missing.
#[test]
fn without_root_the_demo_says_what_it_lacks_and_how_to_get_it() {
    if !nix::unistd::geteuid().is_root() {
        return sounding_testdata::skip(sounding_testdata::Need::Root, "root acts as another user");
    }
    let folder = tempfile::tempdir().unwrap();
    // A copy that every user may run, because the build's own folder may be closed to others.
    // Another process makes it: a test that forks meanwhile would hold the file open for
    // writing, and then it cannot be run.
    let program = folder.path().join("sounding");
    let copied =
        Command::new("cp").arg(assert_cmd::cargo::cargo_bin!("sounding")).arg(&program).status();
    assert!(copied.unwrap().success());
    let open = std::os::unix::fs::PermissionsExt::from_mode(0o755);
    std::fs::set_permissions(folder.path(), open).unwrap();
    let output = Command::new("setpriv")
        .args(["--reuid=65534", "--regid=65534", "--clear-groups", "--inh-caps=-all"])
        .arg(&program)
        .args(["demo", "--generated"])
        .output()
        .unwrap();
    let error = stderr(&output);
    assert_eq!(output.status.code(), Some(1), "{error}");
    assert!(error.contains("CAP_") || error.contains("root"), "{error}");
}
