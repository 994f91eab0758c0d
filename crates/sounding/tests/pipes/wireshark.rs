//! A modem's messages live in Wireshark, by its form without windows.

use std::process::{Command, Stdio};
use std::time::Duration;

use sounding_testdata::{Need, Running, skip};

use crate::modem::Modem;
use crate::{Lines, has_ended, messages, program};

/// A command that has begun, and alone has the ends of its pipes.
fn begun(mut command: Command) -> Running {
    Running(command.spawn().unwrap())
}

#[test]
fn a_modem_s_messages_are_in_wireshark_while_it_is_recorded() {
    if Command::new("tshark").arg("--version").output().is_err() {
        skip(Need::Tools, "tshark is absent: scripts/setup test installs it");
        return;
    }
    let modem = Modem::of(messages(Duration::from_secs(60)), &[]);
    let mut recorder = Running(modem.record(&[]).spawn().unwrap());
    let mut convert = program();
    convert.args(["convert", "-", "-", "--to", "pcapng", "--no-redact"]);
    convert.stdin(recorder.stdout.take().unwrap()).stdout(Stdio::piped()).stderr(Stdio::null());
    let mut convert = begun(convert);
    let mut shark = Command::new("tshark");
    shark.args(["-i", "-", "-l", "-T", "fields", "-e", "frame.protocols", "-e", "_ws.col.Info"]);
    shark.stdin(convert.stdout.take().unwrap()).stdout(Stdio::piped()).stderr(Stdio::null());
    // It keeps what it has captured in a file.
    let folder = tempfile::tempdir().unwrap();
    shark.env("TMPDIR", folder.path());
    let mut shark = begun(shark);
    let shown = Lines::of(shark.stdout.take().unwrap());
    let line = shown.with("lte_rrc");
    assert!(line.split('\t').nth(1).is_some_and(|message| !message.is_empty()), "{line}");
    assert!(recorder.try_wait().unwrap().is_none(), "the modem is still recorded");

    // Its window is closed.
    let said = Lines::of(recorder.stderr.take().unwrap());
    // SAFETY: the child has not been waited for, so the id is its own.
    assert_eq!(unsafe { libc::kill(shark.id() as i32, libc::SIGTERM) }, 0);
    has_ended(&mut shark, "tshark");
    assert!(has_ended(&mut convert, "the conversion"));
    assert!(has_ended(&mut recorder, "the recording"));
    said.with("the modem's log mask is as it was");
}
