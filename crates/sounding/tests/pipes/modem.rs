//! A modem that is recorded into a pipe.

use std::fs::OpenOptions;
use std::io::{BufRead as _, BufReader, Read as _};
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use sounding_diag::capture::{Capture, Format};
use sounding_modem::Pty;
use sounding_testbed::radio::RadioLink;
use sounding_testdata::Running;

use crate::{Lines, PATIENCE, has_ended, program, records, uplink};

/// A modem that sends the records of a capture, in a folder of its own.
pub(crate) struct Modem {
    folder: tempfile::TempDir,
    capture: Vec<u8>,
    _process: Running,
}

impl Modem {
    pub(crate) fn of(capture: Vec<u8>, flags: &[&str]) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("capture.qmdl");
        std::fs::write(&file, &capture).unwrap();
        let mut command = program();
        command.args(["modem", "sim"]).arg(file).arg("--link").arg(folder.path().join("modem"));
        command.args(flags).stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::null());
        let mut process = Running(command.spawn().unwrap());
        let mut port = String::new();
        BufReader::new(process.stdout.take().unwrap()).read_line(&mut port).unwrap();
        Self { folder, capture, _process: process }
    }

    fn port(&self) -> PathBuf {
        self.folder.path().join("modem")
    }

    pub(crate) fn record(&self, flags: &[&str]) -> Command {
        let mut command = program();
        command.arg("record").arg(self.port()).arg("-").args(flags);
        command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
        command
    }
}

fn said(child: &mut Child) -> String {
    Lines::of(child.stderr.take().unwrap()).rest().join(" ")
}

#[test]
fn a_recording_into_a_pipe_is_what_the_modem_sent() {
    let modem = Modem::of(uplink(), &["--speed", "20"]);
    let expected = records(&modem.capture, Format::Hdlc);
    let mut recorder = modem.record(&[]).current_dir(&modem.folder).spawn().unwrap();
    let mut output = recorder.stdout.take().unwrap();
    let (mut bytes, until) = (Vec::new(), Instant::now() + PATIENCE);
    // Answers to the session's requests are in it too.
    let logs = |bytes: &[u8]| match Capture::new(bytes) {
        Ok(mut capture) => {
            while capture.poll_packet().is_some() {}
            capture.counts().logs
        }
        Err(_) => 0,
    };
    while logs(&bytes) < expected.len() as u64 {
        assert!(Instant::now() < until, "the recording does not go on");
        let mut chunk = [0; 4096];
        let count = output.read(&mut chunk).unwrap();
        assert!(count > 0, "{}", said(&mut recorder));
        bytes.extend_from_slice(&chunk[..count]);
    }
    assert!(records(&bytes, Format::Hdlc) == expected);
    // SAFETY: the child has not been waited for, so the id is its own.
    assert_eq!(unsafe { libc::kill(recorder.id() as i32, libc::SIGINT) }, 0);
    assert!(has_ended(&mut recorder, "the recorder"));
    let said = said(&mut recorder);
    for part in ["the modem's log mask is as it was", "to standard output"] {
        assert!(said.contains(part), "{part}: {said}");
    }
    assert!(!modem.folder.path().join("-").exists(), "a file named -");
}

#[test]
fn a_reader_that_goes_away_ends_the_recording_and_the_mask_goes_back() {
    // The second one gets no record, so that no write finds it out.
    for flags in [&[][..], &["--code", "0xB0C0"]] {
        let modem =
            Modem::of(RadioLink::generated(6, Duration::from_secs(60)).unwrap().capture, &[]);
        let mut recorder = modem.record(flags).spawn().unwrap();
        let mut output = recorder.stdout.take().unwrap();
        output.read_exact(&mut [0; 100]).unwrap();
        let lines = Lines::of(recorder.stderr.take().unwrap());
        lines.with("the modem logs");
        if !flags.is_empty() {
            // The answers to its requests are read.
            thread::sleep(Duration::from_millis(300));
        }
        drop(output);
        assert!(has_ended(&mut recorder, "the recorder"), "{flags:?}");
        let said = lines.rest().join(" ");
        assert!(said.contains("the modem's log mask is as it was"), "{flags:?}: {said}");
    }
}

#[test]
fn a_terminal_is_refused_before_the_port_is_opened() {
    let folder = tempfile::tempdir().unwrap();
    let name = folder.path().join("terminal");
    let _terminal = Pty::create(Some(&name)).unwrap();
    let output = OpenOptions::new().write(true).open(&name).unwrap();
    let mut command = program();
    command.args(["record", "/dev/no-such-port", "-"]).stdin(Stdio::null());
    let mut child = command.stdout(output).stderr(Stdio::piped()).spawn().unwrap();
    assert!(!has_ended(&mut child, "the recorder"));
    let said = said(&mut child);
    assert!(said.contains("standard output is a terminal"), "{said}");
    assert!(said.contains("convert - -"), "{said}");
}
