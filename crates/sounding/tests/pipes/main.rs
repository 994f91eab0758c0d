//! Commands in a live pipe: each record is passed on before the next is there, and the end of one
//! command ends the others in good order.

#![allow(clippy::unwrap_used, reason = "a test whose set-up fails has to fail")]

mod kinds;
mod modem;
mod streams;
mod wireshark;

use std::io::{BufRead as _, BufReader, Read};
use std::process::{Child, Command, Stdio};
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::thread;
use std::time::{Duration, Instant};

use sounding_diag::capture::{Capture, Format, Located};
use sounding_diag::packet::Packet;
use sounding_diag::record::{Form, compose};
use sounding_diag::{LogCode, LogRecord};
use sounding_testbed::radio::RadioLink;
use sounding_units::ModemInstant;

/// Nothing here takes a second on an idle machine; a loaded one gets this.
const PATIENCE: Duration = Duration::from_secs(60);

fn program() -> Command {
    Command::new(assert_cmd::cargo::cargo_bin!("sounding"))
}

/// The lines of an output, as they come.
struct Lines(Receiver<String>);

impl Lines {
    fn of(output: impl Read + Send + 'static) -> Self {
        let (sender, lines) = channel();
        thread::spawn(move || {
            for line in BufReader::new(output).lines().map_while(Result::ok) {
                if sender.send(line).is_err() {
                    return;
                }
            }
        });
        Self(lines)
    }

    /// The next line; `None` at the end.
    fn next(&self, what: &str) -> Option<String> {
        match self.0.recv_timeout(PATIENCE) {
            Ok(line) => Some(line),
            Err(RecvTimeoutError::Disconnected) => None,
            Err(RecvTimeoutError::Timeout) => panic!("{what} does not come"),
        }
    }

    /// The first line with this text in it.
    fn with(&self, text: &str) -> String {
        loop {
            let line = self.next(text).unwrap_or_else(|| panic!("the output ends without {text}"));
            if line.contains(text) {
                return line;
            }
        }
    }

    /// All lines up to the end.
    fn rest(&self) -> Vec<String> {
        std::iter::from_fn(|| self.next("the end")).collect()
    }
}

/// A command with a pipe on each of its three ends.
fn piped(arguments: &[&str]) -> Child {
    let mut command = program();
    command.args(arguments).stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    command.spawn().unwrap()
}

fn has_ended(child: &mut Child, what: &str) -> bool {
    let until = Instant::now() + PATIENCE;
    while child.try_wait().unwrap().is_none() {
        assert!(Instant::now() < until, "{what} does not end");
        thread::sleep(Duration::from_millis(10));
    }
    child.wait().unwrap().success()
}

/// Each record of a capture as one stretch of bytes in this format, with its time and code.
fn records(capture: &[u8], format: Format) -> Vec<(u64, u16, Vec<u8>)> {
    let mut capture = Capture::new(capture).unwrap();
    let mut records = Vec::new();
    while let Some(found) = capture.poll_packet() {
        let Ok(Located { packet: Packet::Log(record), .. }) = found else { continue };
        let LogRecord { at, code, .. } = record;
        let mut bytes = Vec::new();
        format.emit(&Packet::Log(record), &mut bytes).unwrap();
        records.push((at.as_nanos() / 1_000_000, code.number(), bytes));
    }
    assert!(records.len() > 20);
    records
}

/// A capture of RRC messages, a twentieth of a second apart.
fn messages(lasts: Duration) -> Vec<u8> {
    // A paging of PCCH, which has this number in version 13 of the record. It names a device.
    let message = [0x40, 0x08, 0x41, 0x11, 0x11, 0x11, 0x10];
    let form = Form::new().number("pdu", 4).bytes("message", message);
    let code = LogCode::new(0xB0C0);
    let (mut body, mut capture) = (Vec::new(), Vec::new());
    compose(code, 13, &form, &mut body).unwrap();
    for number in 0..lasts.as_millis() as u64 / 50 {
        let stamp = (1_100_000_000_000 + 40 * number) << 16;
        let at = ModemInstant::from_diag(stamp);
        let record = LogRecord { code, at, stamp, radio: None, body: &body };
        Format::Hdlc.emit(&Packet::Log(record), &mut capture).unwrap();
    }
    capture
}

fn uplink() -> Vec<u8> {
    RadioLink::generated(5, Duration::from_secs(4)).unwrap().capture
}
