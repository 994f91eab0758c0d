//! The commands that talk to a modem, with a simulated one at the other end: recorded, killed,
//! full, held, found.

#![allow(clippy::unwrap_used, reason = "a test whose set-up fails has to fail")]

use std::fs::File;
use std::io::{BufRead, BufReader, Read as _};
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use serde_json::Value as Json;
use sounding_diag::capture::{Capture, Located};
use sounding_diag::packet::Packet;
use sounding_testbed::radio::RadioLink;

/// Time limit of a step. On an idle machine every step takes less than a second.
const PATIENCE: Duration = Duration::from_secs(60);

fn program() -> Command {
    Command::new(assert_cmd::cargo::cargo_bin!("sounding"))
}

/// Before a source whose HDLC framing is off.
const UNFRAMED: &str = "non-hdlc:";

/// A folder with a capture in it, and a modem that serves it.
struct Rig {
    folder: tempfile::TempDir,
    capture: Vec<u8>,
    modem: Option<Child>,
    source: String,
}

impl Rig {
    fn new(flags: &[&str]) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let capture = RadioLink::generated(7, Duration::from_secs(3)).unwrap().capture;
        std::fs::write(folder.path().join("capture.qmdl"), &capture).unwrap();
        let mut rig = Self { folder, capture, modem: None, source: String::new() };
        let mut modem = program()
            .args(["modem", "sim"])
            .arg(rig.path("capture.qmdl"))
            .args(flags)
            .current_dir(rig.folder.path())
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        let mut line = String::new();
        BufReader::new(modem.stdout.take().unwrap()).read_line(&mut line).unwrap();
        rig.source = line.trim().to_owned();
        let (framing, place) = match rig.source.strip_prefix(UNFRAMED) {
            Some(place) => (UNFRAMED, place.to_owned()),
            None => ("", rig.source.clone()),
        };
        if !place.contains(':') {
            rig.source = format!("{framing}{}", rig.path(&place).display());
        }
        rig.modem = Some(modem);
        rig
    }

    fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    fn record(&self, file: &str, flags: &[&str]) -> Command {
        let mut command = program();
        command.arg("record").arg(&self.source).arg(self.path(file)).args(flags);
        command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
        command
    }

    fn expected(&self) -> Vec<Vec<u8>> {
        logs(&self.capture).0
    }
}

impl Drop for Rig {
    fn drop(&mut self) {
        if let Some(mut modem) = self.modem.take() {
            let _ = modem.kill();
            let _ = modem.wait();
        }
    }
}

/// Log records, as code, time and body; and how many frames were broken.
fn logs(bytes: &[u8]) -> (Vec<Vec<u8>>, u64) {
    let Ok(mut capture) = Capture::new(bytes) else { return (Vec::new(), 0) };
    let mut records = Vec::new();
    while let Some(found) = capture.poll_packet() {
        if let Ok(Located { packet: Packet::Log(log), .. }) = found {
            let head = [&log.code.number().to_le_bytes()[..], &log.stamp.to_le_bytes()].concat();
            records.push([&head, log.body].concat());
        }
    }
    (records, capture.counts().frames.bad)
}

fn logs_of(path: &Path) -> (Vec<Vec<u8>>, u64) {
    logs(&std::fs::read(path).unwrap_or_default())
}

fn wait_for(what: &str, mut is_so: impl FnMut() -> bool) {
    let begin = Instant::now();
    while !is_so() {
        assert!(begin.elapsed() < PATIENCE, "{what} does not happen");
        std::thread::sleep(Duration::from_millis(10));
    }
}

fn signal(child: &Child, signal: i32) {
    // SAFETY: the child has not been waited for, so the id is its own.
    assert_eq!(unsafe { libc::kill(child.id() as i32, signal) }, 0);
}

fn text(bytes: &[u8]) -> String {
    // Lines are wrapped to the width of a terminal.
    let text = String::from_utf8_lossy(bytes).replace("│", "");
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// Records everything, then ends as Ctrl-C does.
fn record_whole(rig: &Rig, flags: &[&str]) -> Output {
    let recorder = rig.record("out.qmdl", flags).spawn().unwrap();
    let expected = rig.expected().len();
    wait_for("the whole recording", || logs_of(&rig.path("out.qmdl")).0.len() >= expected);
    signal(&recorder, libc::SIGINT);
    recorder.wait_with_output().unwrap()
}

#[test]
fn a_recording_is_what_the_modem_sent_and_the_mask_goes_back() {
    let rig = Rig::new(&["--link", "modem", "--speed", "20"]);
    let output = record_whole(&rig, &[]);
    let said = text(&output.stderr);
    assert!(output.status.success(), "{said}");
    let (records, bad) = logs_of(&rig.path("out.qmdl"));
    assert!(records == rig.expected());
    assert_eq!(bad, 0);
    for part in ["sounding-simulated-modem", "log mask is as it was", "log records"] {
        assert!(said.contains(part), "{part}: {said}");
    }
}

#[test]
fn a_router_is_recorded_as_a_stream() {
    let name = format!("sounding-ports-{}", std::process::id());
    let rig = Rig::new(&["--router", &name, "--speed", "20"]);
    let output = record_whole(&rig, &[]);
    assert!(output.status.success(), "{}", text(&output.stderr));
    assert!(logs_of(&rig.path("out.qmdl")).0 == rig.expected());
}

#[test]
fn a_port_without_hdlc_is_recorded_as_one_that_has_it() {
    let rig = Rig::new(&["--link", "modem", "--speed", "20", "--non-hdlc"]);
    assert!(rig.source.starts_with(UNFRAMED), "{}", rig.source);
    let output = record_whole(&rig, &[]);
    let said = text(&output.stderr);
    assert!(output.status.success() && said.contains("log mask is as it was"), "{said}");
    let (records, bad) = logs_of(&rig.path("out.qmdl"));
    assert!(records == rig.expected());
    assert_eq!(bad, 0);
}

#[test]
fn a_modem_that_buffers_for_an_hour_is_drained() {
    let name = format!("sounding-drain-{}", std::process::id());
    let flags = ["--vendor-router", &name, "--buffer", "100000000", "--release", "1h"];
    let rig = Rig::new(&[&flags[..], &["--speed", "20"]].concat());
    let output = record_whole(&rig, &[]);
    assert!(output.status.success(), "{}", text(&output.stderr));
    assert!(logs_of(&rig.path("out.qmdl")).0 == rig.expected());
}

#[test]
fn a_recorder_that_is_killed_leaves_everything_it_had_read() {
    let rig = Rig::new(&["--link", "modem"]);
    let mut recorder = rig.record("out.qmdl", &[]).spawn().unwrap();
    let out = rig.path("out.qmdl");
    wait_for("half of the recording", || logs_of(&out).0.len() >= rig.expected().len() / 2);
    let before = logs_of(&out).0.len();
    signal(&recorder, libc::SIGKILL);
    recorder.wait().unwrap();
    let (records, _) = logs_of(&out);
    assert!(records.len() >= before);
    assert!(records[..] == rig.expected()[..records.len()]);
}

#[test]
fn a_modem_that_is_killed_is_waited_for_and_the_recording_goes_on() {
    let mut rig = Rig::new(&["--link", "modem"]);
    let recorder = rig.record("out.qmdl", &[]).spawn().unwrap();
    let out = rig.path("out.qmdl");
    wait_for("records", || logs_of(&out).0.len() > 20);
    let mut modem = rig.modem.take().unwrap();
    modem.kill().unwrap();
    modem.wait().unwrap();
    let before = logs_of(&out).0.len();
    // A killed modem leaves its link behind.
    std::fs::remove_file(rig.path("modem")).unwrap();
    let mut again = program()
        .args(["modem", "sim", "capture.qmdl", "--link", "modem"])
        .current_dir(rig.folder.path())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    wait_for("more records", || logs_of(&out).0.len() > before + 20);
    signal(&recorder, libc::SIGINT);
    let output = recorder.wait_with_output().unwrap();
    again.kill().unwrap();
    again.wait().unwrap();
    let said = text(&output.stderr);
    assert!(output.status.success() && said.contains("waiting for it"), "{said}");
    assert!(said.contains("is back"), "{said}");
}

#[test]
fn a_full_disk_ends_the_recording_with_an_error_and_a_readable_file() {
    // The modem's answers take some of it.
    const ROOM: u64 = 15_000;
    let rig = Rig::new(&["--link", "modem", "--speed", "20"]);
    let mut command = rig.record("out.qmdl", &[]);
    // SAFETY: setrlimit is async-signal-safe and concerns the child alone.
    unsafe {
        command.pre_exec(|| {
            let resource = nix::sys::resource::Resource::RLIMIT_FSIZE;
            Ok(nix::sys::resource::setrlimit(resource, ROOM, ROOM)?)
        });
    }
    let output = command.output().unwrap();
    let said = text(&output.stderr);
    assert_eq!(output.status.code(), Some(1), "{said}");
    for part in ["out.qmdl", "the recording ends here", "log mask is as it was"] {
        assert!(said.contains(part), "{part}: {said}");
    }
    let (records, bad) = logs_of(&rig.path("out.qmdl"));
    assert!(records.len() > 10 && bad == 0, "{} records, {bad} broken", records.len());
    assert!(records[..] == rig.expected()[..records.len()]);
}

#[test]
fn a_recording_does_not_overwrite_and_does_not_guess() {
    let rig = Rig::new(&["--link", "modem"]);
    let there = rig.record("capture.qmdl", &[]).output().unwrap();
    assert_eq!(there.status.code(), Some(1));
    assert!(text(&there.stderr).contains("capture.qmdl"), "{}", text(&there.stderr));
    assert_eq!(std::fs::read(rig.path("capture.qmdl")).unwrap(), rig.capture);
    for (source, says, code) in
        [("tcp:here", "tcp:HOST:PORT", 2), ("/nowhere/ttyUSB0", "no such device", 1)]
    {
        let output = program().args(["record", source, "x.qmdl"]).output().unwrap();
        assert_eq!(output.status.code(), Some(code));
        assert!(text(&output.stderr).contains(says), "{}", text(&output.stderr));
    }
}

#[test]
fn standard_input_is_recorded_to_its_end() {
    let rig = Rig::new(&["--link", "modem"]);
    let mut command = program();
    command.args(["record", "-"]).arg(rig.path("out.qmdl"));
    command.stdin(File::open(rig.path("capture.qmdl")).unwrap());
    let output = command.output().unwrap();
    assert!(output.status.success(), "{}", text(&output.stderr));
    assert_eq!(std::fs::read(rig.path("out.qmdl")).unwrap(), rig.capture);
}

/// The doctor's report on the port of a rig.
fn diagnosis(rig: &Rig) -> Json {
    let output =
        program().args(["doctor", "--json", "--ports"]).arg(rig.folder.path()).output().unwrap();
    let said = String::from_utf8(output.stdout).unwrap();
    let checks = said.lines().map(|line| serde_json::from_str::<Json>(line).unwrap());
    let mut ports = checks.filter(|check| check["source"] == rig.source.as_str());
    ports.next().unwrap_or_else(|| panic!("the port is not found: {said}"))
}

#[test]
fn the_doctor_finds_a_modem_by_its_answer() {
    let rig = Rig::new(&["--link", "ttyUSB7"]);
    let check = diagnosis(&rig);
    assert_eq!(check["ok"], true, "{check}");
    assert_eq!(check["build"], "sounding-simulated-modem");
    assert_eq!(check["compiled"], "Jan 01 2026 00:00:00");
}

#[test]
fn the_doctor_finds_a_modem_without_hdlc_and_says_how_to_name_it() {
    let rig = Rig::new(&["--link", "ttyUSB7", "--non-hdlc"]);
    let check = diagnosis(&rig);
    assert_eq!(check["ok"], true, "{check}");
    assert!(check["detail"].as_str().unwrap().contains(&rig.source), "{check}");
}

#[test]
fn the_doctor_names_who_holds_a_port_and_leaves_it_alone() {
    let rig = Rig::new(&["--link", "ttyUSB7"]);
    let tty = File::options().read(true).write(true).open(&rig.source).unwrap();
    let mut holder = Command::new("sleep").arg("60").stdin(tty).spawn().unwrap();
    let check = diagnosis(&rig);
    holder.kill().unwrap();
    holder.wait().unwrap();
    assert_eq!(check["ok"], false, "{check}");
    assert_eq!(check["held_by"][0]["pid"], holder.id());
    assert_eq!(check["held_by"][0]["name"], "sleep");
    assert!(check["cure"].as_str().unwrap().contains(&holder.id().to_string()));
}

#[test]
fn a_port_that_somebody_reads_is_left_to_them_by_every_verb() {
    let rig = Rig::new(&["--link", "ttyUSB7"]);
    let tty = File::options().read(true).write(true).open(&rig.source).unwrap();
    let mut holder = Command::new("sleep").arg("60").stdin(tty).spawn().unwrap();
    let outputs = [
        &["link", &rig.source][..],
        &["kpi", &rig.source, "--kpi", "lte.pusch.tbs"],
        &["board", &rig.source, "--name", "held"],
        &["run", "--device", &rig.source, "--name", "biscay_held"],
        &["record", &rig.source, "never.qmdl"],
    ]
    .map(|verb| (verb[0], program().args(verb).current_dir(rig.folder.path()).output().unwrap()));
    let pid = holder.id();
    holder.kill().unwrap();
    holder.wait().unwrap();
    for (verb, output) in outputs {
        let said = text(&output.stderr);
        assert_eq!(output.status.code(), Some(1), "{verb}: {said}");
        assert!(output.stdout.is_empty(), "{verb}");
        for part in [&format!("held by sleep (process {pid})"), "half of the bytes", "end it: kill"]
        {
            assert!(said.contains(part), "{verb}: {part}: {said}");
        }
    }
    assert!(!rig.path("never.qmdl").exists());
}

#[test]
fn the_doctor_says_of_a_port_that_is_silent_where_to_look_next() {
    let mut rig = Rig::new(&["--link", "modem"]);
    let pty = sounding_modem::Pty::create(Some(&rig.path("ttyUSB3"))).unwrap();
    rig.source = rig.path("ttyUSB3").display().to_string();
    let check = diagnosis(&rig);
    drop(pty);
    assert_eq!(check["ok"], false, "{check}");
    assert!(check["detail"].as_str().unwrap().contains("no Diag frame"), "{check}");
    assert!(!check["cure"].as_str().unwrap().is_empty());
}

/// A port as a modem has them for AT commands: it sends back what it gets, and an error.
fn at_port(rig: &mut Rig) -> (Arc<AtomicBool>, JoinHandle<()>) {
    let mut pty = sounding_modem::Pty::create(Some(&rig.path("ttyUSB2"))).unwrap();
    rig.source = rig.path("ttyUSB2").display().to_string();
    let stop = Arc::new(AtomicBool::new(false));
    let until = Arc::clone(&stop);
    let served = std::thread::spawn(move || {
        let mut buffer = [0; 4096];
        while !until.load(Ordering::Relaxed) {
            // An error says that no reader has it open.
            let count = pty.read(&mut buffer).unwrap_or(0);
            if count > 0 {
                let answer = [&buffer[..count], b"\r\nERROR\r\n"].concat();
                pty.write(&answer, PATIENCE).unwrap();
            }
            std::thread::sleep(Duration::from_millis(1));
        }
    });
    (stop, served)
}

#[test]
fn a_port_for_at_commands_is_no_diag_port_however_it_echoes() {
    let mut rig = Rig::new(&["--link", "modem"]);
    let (stop, served) = at_port(&mut rig);
    let check = diagnosis(&rig);
    assert_eq!(check["ok"], false, "{check}");
    assert!(check["detail"].as_str().unwrap().contains("AT commands"), "{check}");
    assert!(check["cure"].as_str().unwrap().contains("other ports"), "{check}");
    // Other commands do not take it for a modem's either.
    let output = rig.record("at.qmdl", &["--for", "2s"]).output().unwrap();
    stop.store(true, Ordering::Relaxed);
    served.join().unwrap();
    let said = text(&output.stderr);
    assert!(said.contains("AT commands") && said.contains("sounding doctor"), "{said}");
    assert!(!said.contains("a modem answers"), "{said}");
}

#[test]
fn a_simulated_modem_that_cannot_be_is_refused() {
    for (flags, says) in [
        (&["--reboot", "1s"][..], "--link"),
        (&["--corrupt", "2"], "1%"),
        (&["--corrupt", "200%"], "0% to 100%"),
        (&["--stall", "1s"], "10s:300ms"),
        (&["--speed", "0"], "above 0"),
        (&["--router", "a", "--tcp", "0"], "cannot be used with"),
    ] {
        let output = program().args(["modem", "sim"]).args(flags).output().unwrap();
        assert!(!output.status.success(), "{flags:?}");
        assert!(text(&output.stderr).contains(says), "{flags:?}: {}", text(&output.stderr));
    }
}

#[test]
fn a_capture_without_records_is_no_modem() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("answers.qmdl");
    let mut bytes = Vec::new();
    sounding_diag::hdlc::encode(b"\x1C\x01\x00", &mut bytes);
    std::fs::write(&path, bytes).unwrap();
    let mut said = String::new();
    let mut modem =
        program().args(["modem", "sim"]).arg(&path).stderr(Stdio::piped()).spawn().unwrap();
    modem.stderr.take().unwrap().read_to_string(&mut said).unwrap();
    assert!(!modem.wait().unwrap().success());
    assert!(said.contains("no log records"), "{said}");
}
