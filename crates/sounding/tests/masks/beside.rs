//! A command that reads a modem beside a daemon leaves the daemon's mask, however it ends.

use std::process::{Child, Stdio};

use super::*;

/// A daemon that holds the modem, and what it says.
fn daemon(rig: &Rig) -> Running {
    let arguments = [
        "run",
        "--law",
        "none",
        "--board",
        "own",
        "--kpi",
        "lte.pusch.tbs",
        "--device",
        "modem",
        "--json",
    ];
    let daemon = rig.verb(&arguments);
    wait_for(rig, |said| said.contains(r#""logging""#));
    daemon
}

fn wait_for(rig: &Rig, is_so: impl Fn(&str) -> bool) {
    let begin = Instant::now();
    while !is_so(&rig.said()) {
        assert!(begin.elapsed() < PATIENCE, "{}", rig.said());
        std::thread::sleep(Duration::from_millis(20));
    }
}

fn kill(child: &mut Child) {
    child.kill().unwrap();
    child.wait().unwrap();
}

/// The mask that the modem has after this happened beside the daemon: a daemon that is killed puts
/// nothing back.
fn mask_after(happens: impl FnOnce(&Rig)) -> Masks {
    let rig = Rig::new();
    let mut daemon = daemon(&rig);
    happens(&rig);
    // Requests are answered within milliseconds.
    std::thread::sleep(Duration::from_millis(500));
    kill(&mut daemon);
    rig.masks()
}

/// A recorder beside the daemon that has records.
fn recorder(rig: &Rig) -> Running {
    let mut command = Command::new(assert_cmd::cargo::cargo_bin!("sounding"));
    command.args(RECORD).current_dir(rig.folder.path()).stdin(Stdio::null());
    command.env("SOUNDING_RUN_DIR", rig.folder.path().join("run"));
    command.stdout(Stdio::null()).stderr(Stdio::null());
    let recorder = Running(command.spawn().unwrap());
    let file = rig.folder.path().join("drive.qmdl");
    let begin = Instant::now();
    while std::fs::metadata(&file).map_or(0, |file| file.len()) < 30_000 {
        assert!(begin.elapsed() < PATIENCE, "nothing is recorded: {}", rig.said());
        std::thread::sleep(Duration::from_millis(20));
    }
    recorder
}

#[test]
fn a_reader_that_is_killed_leaves_the_mask_as_the_daemon_had_it() {
    let alone = mask_after(|_| {});
    // While it reads, the mask is another one: this is no test of a mask that never changes.
    let mut reader = None;
    let beside = mask_after(|rig| reader = Some(recorder(rig)));
    assert!(beside.logs != alone.logs, "the reader has asked for more");
    drop(reader);
    let killed = mask_after(|rig| {
        kill(&mut recorder(rig));
        wait_for(rig, |said| said.contains(r#""readers":0"#));
    });
    let restored = mask_after(|rig| {
        let mut recorder = recorder(rig);
        // SAFETY: the child has not been waited for, so the id is its own.
        assert_eq!(unsafe { libc::kill(recorder.id() as i32, libc::SIGINT) }, 0);
        assert!(recorder.wait().unwrap().success());
        wait_for(rig, |said| said.contains(r#""readers":0"#));
    });
    assert_eq!(killed.logs, alone.logs, "after a kill");
    assert_eq!(restored.logs, alone.logs, "after an interrupt");
}

#[test]
fn a_daemon_that_ends_beside_a_reader_puts_back_what_it_had_found() {
    let rig = Rig::new();
    let before = rig.masks();
    let mut daemon = daemon(&rig);
    let mut recorder = recorder(&rig);
    // SAFETY: the child has not been waited for, so the id is its own.
    assert_eq!(unsafe { libc::kill(daemon.id() as i32, libc::SIGINT) }, 0);
    assert!(daemon.wait().unwrap().success());
    assert!(recorder.wait().unwrap().success(), "the recording ends with the daemon");
    assert!(rig.masks() == before, "{}", rig.said());
    assert!(rig.notes().is_empty(), "nothing is to be put back: {:?}", rig.notes());
}
