//! Commands end and restore masks, although their output is not read.

use std::os::fd::OwnedFd;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use crate::{RECORD, Rig};

/// A pipe that is full, and has a reader that does not read.
fn full_pipe() -> (OwnedFd, OwnedFd) {
    let (end, full) = nix::unistd::pipe2(nix::fcntl::OFlag::O_CLOEXEC).unwrap();
    let set = |flags| nix::fcntl::fcntl(&full, nix::fcntl::FcntlArg::F_SETFL(flags)).unwrap();
    set(nix::fcntl::OFlag::O_NONBLOCK);
    while nix::unistd::write(&full, &[b'x'; 4096]).is_ok() {}
    set(nix::fcntl::OFlag::empty());
    (end, full)
}

/// However long its reader takes nothing, a verb that reads a modem ends by itself, or by `signal`,
/// and restores masks.
fn ends_with_a_reader_that_takes_nothing(arguments: &[&str], signal: Option<i32>) {
    let rig = Rig::new();
    let before = rig.masks();
    for (is_out, is_err) in [(true, false), (false, true), (true, true)] {
        if signal.is_none() && is_err {
            continue;
        }
        let (_unread, full) = full_pipe();
        let mut command = Command::new(assert_cmd::cargo::cargo_bin!("sounding"));
        command.args(arguments).current_dir(rig.folder.path()).stdin(Stdio::null());
        command.env("SOUNDING_RUN_DIR", rig.folder.path().join("run"));
        command.env("SOUNDING_BOARD_DIR", rig.folder.path().join("boards"));
        let _ = std::fs::remove_file(rig.folder.path().join("drive.qmdl"));
        let to = |is_full: bool| {
            if is_full { Stdio::from(full.try_clone().unwrap()) } else { Stdio::null() }
        };
        let mut child = command.stdout(to(is_out)).stderr(to(is_err)).spawn().unwrap();
        let begin = Instant::now();
        // A full standard error may stop it before it has set a mask.
        while rig.notes().is_empty() && begin.elapsed() < Duration::from_secs(2) {
            std::thread::sleep(Duration::from_millis(20));
        }
        assert!(is_err || signal.is_none() || !rig.notes().is_empty(), "it has set no mask");
        std::thread::sleep(Duration::from_millis(500));
        if let Some(signal) = signal {
            // SAFETY: the child has not been waited for, so the id is its own.
            assert_eq!(unsafe { libc::kill(child.id() as i32, signal) }, 0);
        }
        let begin = Instant::now();
        while child.try_wait().unwrap().is_none() {
            if begin.elapsed() > Duration::from_secs(20) {
                child.kill().unwrap();
                child.wait().unwrap();
                panic!("{arguments:?} does not end: output {is_out}, errors {is_err}");
            }
            std::thread::sleep(Duration::from_millis(20));
        }
        // An answer to a request that the program had repeated may still be underway, and be taken
        // for one to the test's.
        let (is_before, notes) = ((0..3).any(|_| rig.masks() == before), rig.notes());
        let case = format!("{arguments:?}: output {is_out}, errors {is_err}");
        assert!(is_before && notes.is_empty(), "{case}: {is_before}, to be put back: {notes:?}");
    }
}

#[test]
fn a_feed_whose_reader_does_not_read_ends_with_masks_as_it_found_them() {
    ends_with_a_reader_that_takes_nothing(&["link", "modem", "--delays", "--feed", "-"], None);
}

#[test]
fn rows_whose_reader_does_not_read_end_by_a_signal_with_masks_as_they_were_found() {
    for (signal, arguments) in [
        (libc::SIGTERM, &["link", "modem", "--bin", "10ms"][..]),
        (libc::SIGINT, &["kpi", "modem", "--kpi", "lte.pusch.tbs"]),
        (libc::SIGHUP, &RECORD),
        (libc::SIGTERM, &["board", "modem", "--name", "unread"]),
    ] {
        ends_with_a_reader_that_takes_nothing(arguments, Some(signal));
    }
}
