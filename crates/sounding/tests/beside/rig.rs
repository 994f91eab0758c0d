//! A simulated modem, a daemon without rights that holds it, and commands beside it.

use std::collections::BTreeMap;
use std::fs;
use std::io::{BufRead as _, BufReader};
use std::path::PathBuf;
use std::process::{Child, Command, Output, Stdio};
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::{Duration, Instant};

use serde_json::Value as Json;
use sounding_diag::LogCode;
use sounding_diag::capture::{Capture, Located};
use sounding_diag::packet::Packet;
use sounding_testbed::radio::RadioLink;
use sounding_testdata::Running;

/// Time limit of a step. On an idle machine every step takes less than a second.
const PATIENCE: Duration = Duration::from_secs(60);

/// The modem's records last so long.
pub(crate) const LASTS: Duration = Duration::from_secs(90);

/// The only KPI of the daemon's board, and the record that it is in.
pub(crate) const KPI: &str = "lte.mac.ul.grant";
pub(crate) const OWN: LogCode = LogCode::new(0xB064);

pub(crate) struct Rig {
    pub(crate) folder: tempfile::TempDir,
    /// Bytes of each code in the modem's records.
    pub(crate) sizes: BTreeMap<LogCode, u64>,
    daemon: Option<Running>,
    events: Arc<Mutex<Vec<Json>>>,
    _modem: Running,
}

impl Rig {
    /// A daemon with these flags besides.
    pub(crate) fn new(flags: impl FnOnce(&BTreeMap<LogCode, u64>) -> Vec<String>) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let capture = RadioLink::generated(7, LASTS).unwrap().capture;
        fs::write(folder.path().join("capture.qmdl"), &capture).unwrap();
        let mut sizes = BTreeMap::new();
        for (code, bytes) in logs(&capture) {
            *sizes.entry(code).or_default() += bytes;
        }
        let more = flags(&sizes);
        let mut modem = program(&folder)
            .args(["modem", "sim", "capture.qmdl", "--link", "modem"])
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        let mut line = String::new();
        BufReader::new(modem.stdout.take().unwrap()).read_line(&mut line).unwrap();
        let events = Arc::default();
        let mut rig = Self { folder, sizes, daemon: None, events, _modem: Running(modem) };
        let mut daemon = program(&rig.folder)
            .args(["run", "--json", "--law", "none", "--device", "modem"])
            .args(["--board", "own", "--kpi", KPI])
            .args(more)
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        let lines = BufReader::new(daemon.stdout.take().unwrap()).lines();
        let into = Arc::clone(&rig.events);
        thread::spawn(move || {
            for line in lines.map_while(Result::ok) {
                into.lock().unwrap().push(serde_json::from_str(&line).unwrap());
            }
        });
        rig.daemon = Some(Running(daemon));
        rig.wait_for("the log mask", |event| event["event"] == "logging");
        rig
    }

    pub(crate) fn plain() -> Self {
        Self::new(|_| Vec::new())
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    /// The socket of the daemon.
    pub(crate) fn socket(&self) -> PathBuf {
        let mut files = fs::read_dir(self.path("run")).unwrap().map(|file| file.unwrap().path());
        let is_it = |path: &PathBuf| path.to_string_lossy().contains("/records-");
        files.find(is_it).unwrap()
    }

    /// A command beside the daemon.
    pub(crate) fn command(&self, arguments: &[&str]) -> Command {
        let mut command = program(&self.folder);
        command.args(arguments).stdout(Stdio::piped()).stderr(Stdio::piped());
        command
    }

    /// Runs a command until it has printed so many lines, and interrupts it.
    pub(crate) fn run_for(&self, arguments: &[&str], lines: usize) -> Output {
        let mut child = self.command(arguments).spawn().unwrap();
        let mut out = BufReader::new(child.stdout.take().unwrap());
        let mut text = String::new();
        for _ in 0..lines {
            if out.read_line(&mut text).unwrap() == 0 {
                break;
            }
        }
        interrupt(&child);
        thread::spawn(move || std::io::copy(&mut out, &mut std::io::sink()));
        let mut output = child.wait_with_output().unwrap();
        output.stdout = text.into_bytes();
        output
    }

    pub(crate) fn events(&self) -> Vec<Json> {
        self.events.lock().unwrap().clone()
    }

    pub(crate) fn wait_for(&self, what: &str, is_so: impl Fn(&Json) -> bool) -> Json {
        let begin = Instant::now();
        loop {
            if let Some(event) = self.events().iter().find(|event| is_so(event)) {
                return event.clone();
            }
            assert!(begin.elapsed() < PATIENCE, "{what} does not come: {:?}", self.events());
            thread::sleep(Duration::from_millis(10));
        }
    }

    /// Waits until the daemon has so many readers.
    pub(crate) fn wait_for_readers(&self, count: u64) {
        let begin = Instant::now();
        let last = || {
            let events = self.events();
            events.iter().rev().find(|event| event["event"] == "beside").cloned()
        };
        while last().and_then(|event| event["readers"].as_u64()).unwrap_or(0) != count {
            assert!(begin.elapsed() < PATIENCE, "{count} readers: {:?}", last());
            thread::sleep(Duration::from_millis(10));
        }
    }

    /// Ends the daemon in good order; all its events.
    pub(crate) fn stop(&mut self) -> Vec<Json> {
        let mut daemon = self.daemon.take().unwrap();
        interrupt(&daemon);
        assert!(daemon.wait().unwrap().success());
        self.wait_for("the end", |event| event["event"] == "done");
        self.events()
    }
}

pub(crate) fn interrupt(child: &Child) {
    // SAFETY: the child has not been waited for, so the id is its own.
    assert_eq!(unsafe { libc::kill(child.id().cast_signed(), libc::SIGINT) }, 0);
}

fn program(folder: &tempfile::TempDir) -> Command {
    let mut command = Command::new(assert_cmd::cargo::cargo_bin!("sounding"));
    command.current_dir(folder.path()).stdin(Stdio::null());
    command.env("SOUNDING_RUN_DIR", folder.path().join("run"));
    command.env("SOUNDING_BOARD_DIR", folder.path().join("boards"));
    command
}

/// The codes of a capture's records, with their sizes.
pub(crate) fn logs(bytes: &[u8]) -> Vec<(LogCode, u64)> {
    let mut capture = Capture::new(bytes).unwrap();
    let mut found = Vec::new();
    while let Some(packet) = capture.poll_packet() {
        if let Ok(Located { packet: Packet::Log(log), .. }) = packet {
            found.push((log.code, log.body.len() as u64));
        }
    }
    found
}

pub(crate) fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}
