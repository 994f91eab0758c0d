//! KPIs by name, from the command line: listed, printed from a capture, published from a modem.

#![allow(clippy::unwrap_used, reason = "a test whose set-up fails has to fail")]

use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};
use std::time::{Duration, Instant};

use serde_json::Value as Json;
use sounding_board::{Place, Reader, Writer};
use sounding_host::monotonic_now;
use sounding_testbed::radio::RadioLink;

fn command(arguments: &[&str]) -> Command {
    let mut command = Command::new(assert_cmd::cargo::cargo_bin!("sounding"));
    command.args(arguments).stdin(Stdio::null());
    command
}

fn sounding(arguments: &[&str]) -> Output {
    command(arguments).output().unwrap()
}

fn lines(output: &Output) -> Vec<String> {
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8_lossy(&output.stdout).lines().map(str::to_owned).collect()
}

fn capture(folder: &Path) -> PathBuf {
    let path = folder.join("capture.qmdl");
    std::fs::write(&path, RadioLink::generated(3, Duration::from_secs(3)).unwrap().capture)
        .unwrap();
    path
}

#[test]
fn the_list_names_every_kpi_with_its_unit_range_and_record() {
    let listed = lines(&sounding(&["kpi", "list"]));
    assert_eq!(listed.len(), sounding_kpi::registry::all().count());
    assert!(
        listed.iter().any(|line| line.starts_with("lte.pusch.tbs ") && line.contains("0xB139"))
    );
    let as_json = lines(&sounding(&["kpi", "list", "--json"]));
    for line in as_json {
        let kpi: Json = serde_json::from_str(&line).unwrap();
        assert!(kpi["least"].as_f64() < kpi["most"].as_f64(), "{line}");
        for key in ["name", "unit", "what", "origin", "code", "path"] {
            assert!(!kpi[key].as_str().unwrap().is_empty(), "{key}: {line}");
        }
    }
}

#[test]
fn what_is_printed_of_a_capture_is_what_its_records_say() {
    let folder = tempfile::tempdir().unwrap();
    let capture = capture(folder.path());
    let capture = capture.to_str().unwrap();
    let mut expected = Vec::new();
    for line in lines(&sounding(&["decode", capture, "--code", "0xB139"])) {
        let record: Json = serde_json::from_str(&line).unwrap();
        for transmission in record["fields"]["transmissions"].as_array().unwrap() {
            expected.push(transmission["tb_bytes"].as_f64().unwrap());
        }
    }
    assert!(expected.len() > 100);
    let printed = lines(&sounding(&["kpi", capture, "--kpi", "lte.pusch.tbs", "--json"]));
    let of = |line: &String| serde_json::from_str::<Json>(line).unwrap()["value"].as_f64().unwrap();
    assert_eq!(printed.iter().map(of).collect::<Vec<_>>(), expected);

    let table = lines(&sounding(&["kpi", capture, "--kpi", "lte.pusch.tbs", "--csv"]));
    assert_eq!(table[0], "modem_unix_ns,host_ns,kpi,item,value");
    let of = |line: &String| line.rsplit(',').next().unwrap().parse::<f64>().unwrap();
    assert_eq!(table[1..].iter().map(of).collect::<Vec<_>>(), expected);
}

#[test]
fn a_kpi_that_is_none_and_a_board_of_a_capture_are_refused_with_the_way_out() {
    let folder = tempfile::tempdir().unwrap();
    let capture = capture(folder.path());
    let capture = capture.to_str().unwrap();
    for (arguments, says) in [
        (["kpi", capture, "--kpi", "lte.pusch.colour"], "kpi list"),
        (["board", capture, "--name", "x"], "modem replay"),
        (["board", "/dev/null", "--name", "x"], "not a serial device"),
    ] {
        let output = sounding(&arguments);
        let said = String::from_utf8_lossy(&output.stderr).into_owned();
        assert_eq!(output.status.code(), Some(1), "{arguments:?}");
        assert!(said.contains(says), "{said}");
    }
}

/// Ends with the test.
struct Running(Child);

impl Drop for Running {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

fn until<T>(mut found: impl FnMut() -> Option<T>) -> T {
    let start = Instant::now();
    loop {
        if let Some(found) = found() {
            return found;
        }
        assert!(start.elapsed() < Duration::from_secs(60), "nothing has come");
        std::thread::sleep(Duration::from_millis(5));
    }
}

#[test]
fn a_modem_is_on_the_board_while_it_speaks() {
    let folder = tempfile::tempdir().unwrap();
    let capture = capture(folder.path());
    let port = folder.path().join("modem");
    let port = port.to_str().unwrap();
    let modem = command(&["modem", "sim", capture.to_str().unwrap(), "--link", port])
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn();
    let _modem = Running(modem.unwrap());
    until(|| Path::new(port).exists().then_some(()));
    let board = command(&["board", port, "--kpi", "lte.pusch.tbs,lte.cell.rsrp"])
        .env("SOUNDING_BOARD_DIR", folder.path())
        .stderr(Stdio::null())
        .spawn();
    let mut board = Running(board.unwrap());
    let place = Place::new(folder.path(), "modem").unwrap();
    let mut reader = until(|| Reader::open(&place).ok());
    assert_eq!(reader.names(), ["lte.pusch.tbs", "lte.cell.rsrp"]);
    let first = until(|| reader.read(0).unwrap());
    let later = until(|| reader.read(0).unwrap().filter(|s| s.sequence > first.sequence + 10));
    assert!(later.total > first.total && later.modem_at >= first.modem_at);
    assert_eq!(reader.writer(monotonic_now()), Writer::Alive);

    let pid = nix::unistd::Pid::from_raw(board.0.id().cast_signed());
    nix::sys::signal::kill(pid, nix::sys::signal::Signal::SIGINT).unwrap();
    assert!(board.0.wait().unwrap().success());
    reader.rearm();
    assert_eq!(reader.writer(monotonic_now()), Writer::Ended);
    assert!(reader.read(0).unwrap().is_some(), "the last value stays");
}
