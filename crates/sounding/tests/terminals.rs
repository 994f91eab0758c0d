//! Foreign text reaches a terminal as text: a modem's words, names of files and of programs,
//! arguments.

#![allow(clippy::unwrap_used, reason = "a test whose set-up fails has to fail")]

use std::ffi::OsStr;
use std::fs::{self, File};
use std::path::PathBuf;
use std::process::{Command, Output, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use sounding_diag::capture::{Located, Reader};
use sounding_diag::command::{Answer, Refusal};
use sounding_diag::hdlc;
use sounding_diag::packet::Packet;
use sounding_modem::Pty;
use sounding_testdata::Running;

/// Sets a window's name, clears the screen, imitates one of our lines, has a C1 control, and
/// reverses the reading order.
const HOSTILE: &str = "MPSS\x1b]0;mine\x07\x1b[2J\r\nok  kernel    forged\u{9b}31m\u{202e}gnp.exe";

/// Nothing here takes a second on an idle machine; a loaded one gets this.
const PATIENCE: Duration = Duration::from_secs(60);

fn sounding(arguments: &[&OsStr]) -> Output {
    let program = assert_cmd::cargo::cargo_bin!("sounding");
    Command::new(program).args(arguments).stdin(Stdio::null()).output().unwrap()
}

/// Asserts that the output has no control characters, and no forged line.
fn assert_is_text(what: &str, bytes: &[u8]) {
    let text = str::from_utf8(bytes).unwrap_or_else(|_| panic!("{what}: not UTF-8: {bytes:?}"));
    for c in text.chars().filter(|c| !matches!(c, '\n' | '\t')) {
        let leads = c.is_control()
            || matches!(c, '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}');
        assert!(!leads, "{what}: {c:?} in {text:?}");
    }
    let forged = text.lines().find(|line| line.starts_with("ok  kernel    forged"));
    assert_eq!(forged, None, "{what}: {text}");
}

/// A modem that answers every request with hostile text.
struct Liar {
    folder: tempfile::TempDir,
    stop: Arc<AtomicBool>,
    modem: Option<JoinHandle<()>>,
}

impl Liar {
    fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        // Named as a modem's port is, so that it is found.
        let mut pty = Pty::create(Some(&folder.path().join("ttyUSB0"))).unwrap();
        let stop = Arc::new(AtomicBool::new(false));
        let until = Arc::clone(&stop);
        let modem = std::thread::spawn(move || {
            let (mut reader, mut buffer) = (Reader::new(), [0; 4096]);
            while !until.load(Ordering::Relaxed) {
                let count = pty.read(&mut buffer).unwrap_or(0);
                if count == 0 {
                    std::thread::sleep(Duration::from_millis(5));
                }
                let mut bytes = &buffer[..count];
                while let Some(found) = reader.poll_packet(&mut bytes) {
                    if let Ok(Located { packet: Packet::Other { command, .. }, .. }) = found {
                        let _ = pty.write(&lie(command), Duration::from_secs(1));
                    }
                }
            }
        });
        Self { folder, stop, modem: Some(modem) }
    }

    fn device(&self) -> PathBuf {
        self.folder.path().join("ttyUSB0")
    }

    fn unplug(&mut self) {
        self.stop.store(true, Ordering::Relaxed);
        if let Some(modem) = self.modem.take() {
            modem.join().unwrap();
        }
    }
}

impl Drop for Liar {
    fn drop(&mut self) {
        self.unplug();
    }
}

/// A frame with the answer to this request.
fn lie(command: u8) -> Vec<u8> {
    let mut payload = Vec::new();
    let answer = match command {
        0x00 => {
            Answer::Version { compiled_on: b"\x1b[2J Jan 01", compiled_at: b"\x1b[31m\x07\n\r" }
        }
        0x7C => Answer::BuildId(HOSTILE.as_bytes()),
        command => Answer::Refused { refusal: Refusal::Command, command: Some(command) },
    };
    answer.emit(&mut payload);
    let mut frame = Vec::new();
    hdlc::encode(&payload, &mut frame);
    frame
}

#[test]
fn what_a_modem_says_of_itself_is_shown_and_not_obeyed() {
    let liar = Liar::new();
    let ports = liar.folder.path().as_os_str();
    for more in [&[][..], &["--json"]] {
        let more: Vec<&OsStr> = more.iter().map(OsStr::new).collect();
        let arguments = [&["doctor".as_ref(), "--ports".as_ref(), ports][..], &more].concat();
        let output = sounding(&arguments);
        assert_is_text("doctor", &output.stdout);
        let said = String::from_utf8_lossy(&output.stdout);
        assert!(said.contains("MPSS\\u001b]0;mine"), "it is shown: {said}");
    }
    let (device, file) = (liar.device(), liar.folder.path().join("drive.qmdl"));
    let record: [&OsStr; 5] =
        ["record".as_ref(), device.as_ref(), file.as_ref(), "--for".as_ref(), "2s".as_ref()];
    let output = sounding(&record);
    assert_is_text("record", &output.stderr);
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(said.contains("a modem answers: MPSS\\u001b]0;mine"), "it is shown: {said}");
}

#[test]
fn what_a_modem_says_is_text_in_the_log_of_a_daemon_too() {
    if let Some(missing) = sounding_bpf::preflight("biscay_tty").into_iter().find(|c| !c.ok) {
        sounding_testdata::skip(sounding_testdata::Need::Kernel, missing.detail);
        return;
    }
    for more in [&[][..], &["--json"]] {
        let mut liar = Liar::new();
        let device = liar.folder.path().join(HOSTILE);
        std::os::unix::fs::symlink(liar.device(), &device).unwrap();
        let log = liar.folder.path().join("log");
        let out = File::create(&log).unwrap();
        let mut daemon = Command::new(assert_cmd::cargo::cargo_bin!("sounding"))
            .args(["run", "--name", &format!("tty_{}", std::process::id() % 1_000_000)])
            .arg("--device")
            .arg(device)
            .args(more)
            .env("SOUNDING_LOG", "debug")
            .env("SOUNDING_RUN_DIR", liar.folder.path().join("run"))
            .stdin(Stdio::null())
            .stdout(out.try_clone().unwrap())
            .stderr(out)
            .spawn()
            .map(Running)
            .unwrap();
        let mut wait_for = |what: &str| {
            let begin = Instant::now();
            while !fs::read_to_string(&log).is_ok_and(|said| said.contains(what)) {
                let ended = daemon.0.try_wait().unwrap();
                let said = fs::read_to_string(&log);
                assert!(ended.is_none() && begin.elapsed() < PATIENCE, "{what}: {said:?}");
                std::thread::sleep(Duration::from_millis(20));
            }
        };
        wait_for(if more.is_empty() { "a modem answers: MPSS" } else { "\"answers\"" });
        liar.unplug();
        // From the device that does not open any more.
        wait_for("DEBUG");
        // SAFETY: the child has not been waited for, so the id is its own.
        assert_eq!(unsafe { libc::kill(daemon.0.id() as i32, libc::SIGINT) }, 0);
        daemon.0.wait().unwrap();
        assert_is_text("run", &fs::read(&log).unwrap());
    }
}

/// A folder with a file of a hostile name in it.
fn named() -> (tempfile::TempDir, PathBuf) {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join(format!("{HOSTILE}.qmdl"));
    fs::write(&path, "a letter to somebody").unwrap();
    (folder, path)
}

#[test]
fn names_of_files_are_text_in_errors_and_answers() {
    let (folder, path) = named();
    let missing = folder.path().join(format!("no {HOSTILE}.toml"));
    let (path, missing) = (path.as_os_str(), missing.as_os_str());
    let out = folder.path().join(format!("out {HOSTILE}.jsonl"));
    let out = out.as_os_str();
    let words = |words: &[&'static str]| -> Vec<&'static OsStr> {
        words.iter().map(|word| OsStr::new(*word)).collect()
    };
    for arguments in [
        [&words(&["link"])[..], &[path]].concat(),
        [&words(&["decode"])[..], &[path]].concat(),
        [&words(&["decode", "--summary"])[..], &[missing]].concat(),
        [&words(&["kpi", "--kpi", "lte.pusch.tbs"])[..], &[path]].concat(),
        [&words(&["convert"])[..], &[path, out]].concat(),
        [&words(&["convert", "--no-redact"])[..], &[path, out]].concat(),
        [&words(&["convert"])[..], &[path, missing]].concat(),
        [&words(&["record"])[..], &[path, out]].concat(),
        [&words(&["record"])[..], &[missing, out]].concat(),
        [&words(&["board"])[..], &[path]].concat(),
        [&words(&["modem", "replay"])[..], &[path]].concat(),
        [&words(&["sim"])[..], &[missing]].concat(),
        [&words(&["lab", "report", "--out", "report"])[..], &[missing]].concat(),
        [&words(&["run", "--check-config", "--config"])[..], &[missing]].concat(),
        [&words(&["doctor", "--ports"])[..], &[missing]].concat(),
        // Arguments that do not parse are said by others' code.
        [&words(&["link"])[..], &[path, path]].concat(),
        [&words(&["link", "--method"])[..], &[path, path]].concat(),
        vec!["emu".as_ref(), "--up".as_ref(), path, "--".as_ref(), "true".as_ref()],
    ] {
        let output = sounding(&arguments);
        let what = format!("{arguments:?}");
        assert_is_text(&what, &output.stdout);
        assert_is_text(&what, &output.stderr);
        let said = [output.stdout, output.stderr].concat();
        // A reader sees that the name has something in it.
        assert!(String::from_utf8_lossy(&said).contains("\\u001b"), "{what}: {said:?}");
    }
}

#[test]
fn a_program_that_holds_a_port_may_have_any_name() {
    let liar = Liar::new();
    // As much of it as the kernel keeps.
    let program = liar.folder.path().join("x\x1b[2J\nok  ke");
    let copied = Command::new("cp").arg("/bin/sleep").arg(&program).status();
    assert!(copied.unwrap().success());
    let tty = File::options().read(true).write(true).open(liar.device()).unwrap();
    let mut holder = Command::new(&program).arg("60").stdin(tty).spawn().unwrap();
    let output = sounding(&["doctor".as_ref(), "--ports".as_ref(), liar.folder.path().as_ref()]);
    let device = liar.device();
    let refused = sounding(&["record".as_ref(), device.as_ref(), "out".as_ref()]);
    holder.kill().unwrap();
    holder.wait().unwrap();
    assert_is_text("doctor", &output.stdout);
    assert!(String::from_utf8_lossy(&output.stdout).contains("held by x\\u001b[2J\\nok"));
    assert_is_text("record", &refused.stderr);
}

/// A plan may come from any source.
#[test]
fn names_in_a_plan_are_text_in_tables_and_json_says_the_same() {
    let folder = tempfile::tempdir().unwrap();
    let plan = folder.path().join("plan.toml");
    // Names of a plan's parts stand in its tables.
    let text = r#"
        duration = "1s"
        seeds = 1
        [[links]]
        name = "l"
        up = "5Mbit"
        down = "5Mbit"
        delay = "5ms"
        [[flows]]
        name = "a\u001B[2J\u009B31m\u202Eb"
        direction = "up"
        controller = "cubic"
    "#;
    fs::write(&plan, text).unwrap();
    let refused = sounding(&["sim".as_ref(), plan.as_os_str()]);
    assert!(!refused.status.success(), "control characters are in no file's name");
    assert_is_text("sim", &refused.stderr);
    // This one turns the direction of the text, and is no control character.
    fs::write(&plan, text.replace(r"\u001B[2J\u009B31m", "")).unwrap();
    for more in [&[][..], &["--json"]] {
        let more: Vec<&OsStr> = more.iter().map(OsStr::new).collect();
        let output = sounding(&[&["sim".as_ref(), plan.as_os_str()][..], &more].concat());
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        assert_is_text("sim", &output.stdout);
        assert_is_text("sim", &output.stderr);
        if more.is_empty() {
            continue;
        }
        let json: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
        assert!(json.to_string().contains("a\u{202e}b"), "{json}");
    }
}
