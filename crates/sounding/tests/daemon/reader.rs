//! A reader of the daemon's events, fast or slow, does not change what the daemon does.

use std::io::{BufRead, BufReader, Read as _};
use std::process::{Command, Stdio};
use std::sync::atomic::AtomicBool;
use std::time::Duration;

use serde_json::Value as Json;
use sounding_host::monotonic_now;
use sounding_modem::{Pty, Replay, ReplaySchedule};
use sounding_testbed::radio::RadioLink;

use crate::rig::skipped;

#[test]
fn a_reader_that_stops_reading_does_not_stop_the_daemon() {
    if skipped() {
        return;
    }
    let link = RadioLink::generated(5, Duration::from_secs(4)).expect("a link");
    let pty = Pty::create(None).expect("a pty");
    let mut daemon = Command::new(env!("CARGO_BIN_EXE_sounding"))
        .args(["run", "--json", "--name", &format!("{}_rd", std::process::id() % 1_000_000)])
        .arg("--device")
        .arg(pty.path())
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .spawn()
        .expect("the daemon starts");
    let stdout = daemon.stdout.take().expect("it was asked for");
    // A page holds some twenty events: the pipe is full a fifth of a second later.
    let size = nix::fcntl::fcntl(&stdout, nix::fcntl::FcntlArg::F_SETPIPE_SZ(4096));
    assert_eq!(size, Ok(4096));
    let mut stdout = BufReader::with_capacity(256, stdout);
    let mut line = String::new();
    while !line.contains("ready") {
        line.clear();
        assert!(stdout.read_line(&mut line).expect("it speaks") > 0, "it ended early");
    }
    let begin = monotonic_now();
    let mut replay = Replay::new(&link.capture, ReplaySchedule::of(&link.capture), pty, 1.0);
    replay.run(begin, &AtomicBool::new(false), |_| {}).expect("the pty stays");
    let end = monotonic_now();

    // SAFETY: the child has not been waited for, so the id is its own.
    unsafe { libc::kill(daemon.id() as i32, libc::SIGINT) };
    let mut rest = String::new();
    stdout.read_to_string(&mut rest).expect("text");
    daemon.wait().expect("it ends");
    let events: Vec<Json> = rest.lines().filter_map(|l| serde_json::from_str(l).ok()).collect();
    let without_a_reader = events.iter().filter(|event| {
        let at = event["at_ns"].as_u64().unwrap_or_default();
        event["event"] == "estimate" && at > begin.as_nanos() && at < end.as_nanos()
    });
    // Four seconds of an estimate every 10 ms; a daemon that waits for its reader gets to about
    // twenty.
    let count = without_a_reader.count();
    assert!(count > 100, "{count}");
    let done = events.iter().find(|event| event["event"] == "done").expect("it says goodbye");
    assert_eq!(done["events_dropped"], 0);
}
