//! Verbs that wait for the writer of a pipe end when the user says so.

use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use nix::sys::signal::{Signal, kill};
use nix::sys::stat::Mode;
use nix::unistd::{Pid, mkfifo};
use sounding_testdata::Running;

/// Until a program sleeps, and still does a moment later.
fn wait_until_it_waits(pid: u32) {
    let until = Instant::now() + Duration::from_secs(20);
    let mut asleep = 0;
    while asleep < 10 {
        assert!(Instant::now() < until, "it never waits");
        std::thread::sleep(Duration::from_millis(30));
        let status = std::fs::read_to_string(format!("/proc/{pid}/status")).unwrap();
        asleep = if status.contains("State:\tS") { asleep + 1 } else { 0 };
    }
}

#[test]
fn a_signal_ends_verbs_that_wait_for_the_writer_of_a_pipe() {
    let folder = tempfile::tempdir().unwrap();
    let place = |name: &str| folder.path().join(name).to_str().unwrap().to_owned();
    let fifo = place("fifo");
    mkfifo(Path::new(&fifo), Mode::S_IRWXU).unwrap();
    let (lines, tables, record) = (place("out.jsonl"), place("tables"), place("out.qmdl"));
    for arguments in [
        &["kpi", "--kpi", "lte.pusch.tbs", &fifo][..],
        &["link", &fifo],
        &["record", &fifo, &record],
        &["convert", &fifo, &lines],
        &["convert", "-", &lines],
        &["convert", &fifo, &tables, "--to", "parquet"],
    ] {
        let mut command = Command::new(assert_cmd::cargo::cargo_bin!("sounding"));
        // No program writes into its standard input or closes it.
        command.args(arguments).stdin(Stdio::piped()).stdout(Stdio::null()).stderr(Stdio::null());
        let mut running = Running(command.spawn().unwrap());
        wait_until_it_waits(running.id());
        kill(Pid::from_raw(running.id() as i32), Signal::SIGTERM).unwrap();
        let until = Instant::now() + Duration::from_secs(20);
        while running.try_wait().unwrap().is_none() {
            assert!(Instant::now() < until, "{arguments:?} still runs");
            std::thread::sleep(Duration::from_millis(10));
        }
        for name in [&lines, &tables] {
            assert!(!Path::new(name).exists(), "{arguments:?} leaves nothing in part");
        }
    }
}
