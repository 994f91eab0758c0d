//! The command: its algorithm, its user and its end.

use std::fs;
use std::io::{BufRead as _, BufReader};
use std::os::unix::process::CommandExt as _;
use std::process::{Child, Stdio};

use nix::sys::signal::{SigHandler, Signal, kill, signal};
use nix::unistd::Pid;
use serde_json::Value as Json;
use sounding_testdata::{STRANGER, steadily};

use crate::rig::{Rig, eventually, is_registered, skipped, stderr, stdout, transfer};

#[test]
fn help_teaches_with_examples() {
    let mut command = std::process::Command::new(assert_cmd::cargo::cargo_bin!("sounding"));
    let help = command.args(["background", "--help"]).output().unwrap();
    let help = stdout(&help);
    for text in
        ["sudo sounding background -- rsync", "TCP_CONGESTION", "Exit status", "as `nice` does it"]
    {
        assert!(help.contains(text), "{text} is not in:\n{help}");
    }
}

#[test]
fn a_command_of_root_sends_as_background_and_nothing_is_left() {
    if skipped() {
        return;
    }
    steadily(|| {
        let rig = Rig::start();
        let json = rig.path("result.json");
        let output = rig
            .sounding()
            .args(["background", "--json"])
            .arg(&json)
            .arg("--")
            .args(transfer(3_000_000))
            .output()
            .unwrap();
        assert!(output.status.success(), "{}", stderr(&output));
        let said = stdout(&output);
        let (name, user) = said.split_once(' ').unwrap();
        assert!(name.starts_with("bg_") && user == "0", "{said}");
        let result: Json = serde_json::from_slice(&fs::read(json).unwrap()).unwrap();
        assert_eq!(
            (&result["connections"], &result["by_delay"]),
            (&1.into(), &0.into()),
            "{result}"
        );
        assert!(!is_registered(name), "{name} is left behind");
        eventually("all to arrive", || rig.received() == 3_000_000);
    });
}

#[test]
fn without_time_stamps_it_goes_by_delay_and_says_so() {
    if skipped() {
        return;
    }
    steadily(|| {
        let rig = Rig::with(&[("net.ipv4.tcp_timestamps", "0")]);
        let output = rig
            .sounding()
            .args(["background", "--json", "-", "--"])
            .args(transfer(3_000_000))
            .output()
            .unwrap();
        let said = stderr(&output);
        assert!(output.status.success(), "{said}");
        assert!(said.contains("1 of 1 connections had no usable time stamps"), "{said}");
        let result = stdout(&output);
        let result: Json = serde_json::from_str(result.lines().last().unwrap()).unwrap();
        assert_eq!(result["by_delay"], 1, "{result}");
        eventually("all to arrive", || rig.received() == 3_000_000);
    });
}

#[test]
fn without_dashes_the_command_keeps_its_own_flags() {
    if skipped() {
        return;
    }
    let rig = Rig::start();
    let output = rig.sounding().args(["background", "sh", "-c", "exit 7"]).output().unwrap();
    assert_eq!(output.status.code(), Some(7), "{}", stderr(&output));
    let output = rig.sounding().args(["background", "sh", "-c", "kill -9 $$"]).output().unwrap();
    assert_eq!(output.status.code(), Some(137), "{}", stderr(&output));
    let output = rig.sounding().args(["background", "--", "no-such-program"]).output().unwrap();
    assert_eq!(output.status.code(), Some(1));
    assert!(stderr(&output).contains("no-such-program"), "{}", stderr(&output));
}

#[test]
fn by_sudo_a_command_is_its_callers() {
    if skipped() {
        return;
    }
    let rig = Rig::start();
    let mut command = rig.sounding();
    command.env("SUDO_UID", STRANGER.to_string()).env("SUDO_GID", STRANGER.to_string());
    // The interpreter of this machine may be in root's home.
    let script =
        "id -u; id -g; grep -E '^(Groups|CapEff|CapPrm)' /proc/self/status; cat /proc/self/cgroup";
    let output = command.args(["background", "--", "sh", "-c", script]).output().unwrap();
    let said = stdout(&output);
    let stranger = STRANGER.to_string();
    let lines: Vec<&str> = said.lines().collect();
    assert_eq!(lines[..2], [stranger.as_str(), stranger.as_str()], "{said}{}", stderr(&output));
    let holds_nothing =
        |line: &&str| line.trim() == "Groups:" || line.ends_with("\t0000000000000000");
    assert!(lines[2..5].iter().all(holds_nothing), "{said}");
    assert!(said.contains("/sounding-background-"), "{said}");
}

/// A command that says when it is there, and then sleeps.
fn sleeping(rig: &Rig, seconds: u32) -> Child {
    let script = format!("echo ready; exec sleep {seconds}");
    let mut command = rig.sounding();
    command
        .args(["background", "--", "sh", "-c", &script])
        .stdout(Stdio::piped())
        .stderr(Stdio::piped());
    // A shell without job control has what it runs in the background ignore this signal, these
    // tests too. SAFETY: the call is one of those that are safe between fork and exec.
    unsafe {
        command.pre_exec(|| {
            signal(Signal::SIGINT, SigHandler::SigDfl)?;
            Ok(())
        });
    }
    let mut child = command.spawn().unwrap();
    BufReader::new(child.stdout.take().unwrap()).read_line(&mut String::new()).unwrap();
    child
}

#[test]
fn a_signal_ends_the_command_and_restores_the_machine() {
    if skipped() {
        return;
    }
    for (signal, code) in [(Signal::SIGINT, 130), (Signal::SIGTERM, 143)] {
        let rig = Rig::start();
        let child = sleeping(&rig, 1000);
        let name = format!("bg_{}", child.id());
        assert!(is_registered(&name), "the check below would prove nothing");
        kill(Pid::from_raw(child.id() as i32), signal).unwrap();
        let output = child.wait_with_output().unwrap();
        assert_eq!(output.status.code(), Some(code), "{}", stderr(&output));
        assert!(!is_registered(&name));
    }
}

#[test]
fn without_rights_it_says_what_is_missing_and_how_to_do_without() {
    if skipped() {
        return;
    }
    let rig = Rig::start();
    let output = rig.sounding_of_stranger().args(["background", "--", "true"]).output().unwrap();
    let said = stderr(&output);
    assert_eq!(output.status.code(), Some(1), "{said}");
    for text in ["CAP_BPF", "sudo sounding run --background", "choose `background` for a socket"] {
        assert!(said.contains(text), "{text} is not in: {said}");
    }
    let output =
        rig.sounding_of_stranger().args(["background", "--loaded=nothing", "--", "true"]).output();
    let output = output.unwrap();
    assert!(stderr(&output).contains("no congestion control `nothing`"), "{}", stderr(&output));
}

#[test]
fn a_user_without_rights_sends_as_background_where_it_is_loaded() {
    if skipped() {
        return;
    }
    steadily(|| {
        let rig = Rig::start();
        let name = format!("bl_{}", std::process::id());
        let mut daemon = rig
            .sounding()
            .args(["run", "--background", "--json", "--name", &name])
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let mut events = BufReader::new(daemon.stdout.take().unwrap());
        let mut line = String::new();
        events.read_line(&mut line).unwrap();
        assert!(line.contains("\"ready\""), "{line}");
        let json = rig.path("result.json");
        let big = rig.path("big");
        fs::write(&big, vec![0; 3_000_000]).unwrap();
        // bash sends without an interpreter that may be in root's home; ss says by which algorithm.
        let script =
            "exec 3<>/dev/tcp/$FAR/$PORT; sleep 0.2; cat big >&3; ss -tin dst $FAR; exit 3";
        let output = rig
            .sounding_of_stranger()
            .args(["background", &format!("--loaded={name}"), "--json"])
            .arg(&json)
            .args(["--", "bash", "-c", script])
            .output()
            .unwrap();
        assert_eq!(output.status.code(), Some(3), "{}", stderr(&output));
        let said = stdout(&output);
        assert!(said.contains(&name), "{said} {}", stderr(&output));
        let result: Json = serde_json::from_slice(&fs::read(json).unwrap()).unwrap();
        assert_eq!(
            (&result["form"], &result["connections"]),
            (&"sockets".into(), &1.into()),
            "{result}"
        );
        kill(Pid::from_raw(daemon.id() as i32), Signal::SIGINT).unwrap();
        line.clear();
        events.read_line(&mut line).unwrap();
        assert!(daemon.wait().unwrap().success());
        let ended: Json = serde_json::from_str(&line).unwrap();
        assert_eq!(ended["connections"], 1, "{ended}");
        assert!(!is_registered(&name));
    });
}
