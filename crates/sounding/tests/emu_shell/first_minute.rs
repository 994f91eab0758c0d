//! The first minute: ping, names, a shell, a file of the wrong kind.

use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use sounding_modem::Pty;
use sounding_testdata::{copy_program, may_emulate};

use crate::{by_sudo, emu, shared_folder, stderr, stdout};

/// Gives a file the capability CAP_NET_RAW, as the ping of many distributions has it.
fn allow_raw_sockets(path: &Path) {
    // Version 2, effective; bit 13 is permitted (linux/capability.h).
    let value = "0100000200200000000000000000000000000000";
    let script = "import os, sys; os.setxattr(sys.argv[1], 'security.capability', bytes.fromhex(sys.argv[2]))";
    let done = Command::new("python3").args(["-c", script]).arg(path).arg(value).status().unwrap();
    assert!(done.success());
}

#[test]
fn a_program_with_the_capability_of_ping_runs_and_gains_nothing() {
    if !may_emulate() {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    std::fs::set_permissions(folder.path(), std::os::unix::fs::PermissionsExt::from_mode(0o755))
        .unwrap();
    let ping = folder.path().join("ping");
    copy_program(Path::new("/bin/cat"), &ping);
    allow_raw_sockets(&ping);
    let output = by_sudo(&["--", ping.to_str().unwrap(), "/proc/self/status"]).output().unwrap();
    assert!(output.status.success(), "{}", stderr(&output));
    let said = stdout(&output);
    for field in ["CapInh", "CapPrm", "CapEff", "CapAmb"] {
        assert!(said.contains(&format!("{field}:\t0000000000000000\n")), "{said}");
    }
    assert!(said.contains("NoNewPrivs:\t1\n"), "{said}");
}

/// Looks a name up that no file has, and says what became of it.
const LOOK_UP: &str = "\
import socket
try:
    print(socket.getaddrinfo('a.name.example', 80))
except socket.gaierror as error:
    print('no name', error.errno)
";

#[test]
fn where_no_name_server_answers_a_name_is_not_even_asked_for() {
    if !may_emulate() {
        return;
    }
    // `far` alone would be another mode of the command, and a plan is another kind of network.
    let plan = concat!(env!("CARGO_MANIFEST_DIR"), "/../../examples/plans/biscay.toml");
    let plan = [plan, "--set", "seeds=1", "--set", "sweep={}", "--set", "duration=20s"];
    for mode in [&["--far", "sleep 1000"][..], &plan] {
        let folder = shared_folder();
        let result = folder.path().join("result.json");
        let json = format!("--json={}", result.display());
        let command = [json.as_str(), "--", "python3", "-c", LOOK_UP];
        let output = by_sudo(&[mode, &command].concat()).output().unwrap();
        assert!(stdout(&output).starts_with("no name"), "{} {}", stdout(&output), stderr(&output));
        let result: serde_json::Value =
            serde_json::from_slice(&std::fs::read(&result).unwrap()).unwrap();
        // Questions to the machine's servers went up the link, and nothing answered them.
        assert_eq!(result["up"]["arrived_packets"], 0, "{result}");
    }
}

#[test]
fn without_a_command_there_is_a_shell_with_a_mark_in_its_prompt() {
    if !may_emulate() {
        return;
    }
    let mut terminal = Pty::create(None).unwrap();
    let end = || std::fs::File::options().read(true).write(true).open(terminal.path()).unwrap();
    let mut shell = emu(&[]);
    shell.env("SHELL", "/bin/bash").env("PS1", "forgotten").env("HOME", "/nonexistent");
    let ends = (end(), end(), end());
    let mut shell = shell.stdin(ends.0).stdout(ends.1).stderr(ends.2).spawn().unwrap();
    let mut said = String::new();
    let until = Instant::now() + Duration::from_secs(60);
    let mut asked = false;
    while shell.try_wait().unwrap().is_none() {
        let mut bytes = [0; 4096];
        let count = terminal.read(&mut bytes).unwrap_or(0);
        said.push_str(&String::from_utf8_lossy(&bytes[..count]));
        if said.contains("[link] ") && !asked {
            asked = true;
            terminal.write(b"exit 7\n", Duration::from_secs(1)).unwrap();
        }
        assert!(Instant::now() < until, "{said}");
        std::thread::sleep(Duration::from_millis(10));
    }
    assert_eq!(shell.wait().unwrap().code(), Some(7), "{said}");
}

#[test]
fn the_shell_of_a_user_whom_no_machine_knows_is_sh() {
    if !may_emulate() {
        return;
    }
    let mut shell = by_sudo(&[]);
    shell.env("SHELL", "/bin/no-such-shell").stdin(Stdio::piped());
    let mut child = shell.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    let script = b"echo shell $0 at $SOUNDING_LINK; exit 5\n";
    std::io::Write::write_all(&mut child.stdin.take().unwrap(), script).unwrap();
    let output = child.wait_with_output().unwrap();
    assert_eq!(output.status.code(), Some(5), "{}", stderr(&output));
    assert_eq!(stdout(&output), "shell /bin/sh at [link]\n");
}

#[test]
fn a_capture_in_place_of_a_trace_is_refused_without_its_bytes() {
    let folder = tempfile::tempdir().unwrap();
    let capture = folder.path().join("drive.mi2log");
    // A record as MobileInsight frames it: a packet of the log, with HDLC's check and end.
    let mut bytes = Vec::new();
    let payload =
        [0x10, 0, 16, 0, 16, 0, 0x64, 0xB0, 1, 2, 3, 4, 5, 6, 7, 8, 0x1B, 0x5B, 0x32, 0x4A];
    sounding_diag::hdlc::encode(&payload, &mut bytes);
    std::fs::write(&capture, bytes.repeat(4)).unwrap();
    let output = emu(&["--up", capture.to_str().unwrap(), "--", "true"]).output().unwrap();
    let error = stderr(&output);
    assert_eq!(output.status.code(), Some(1), "{error}");
    assert!(error.contains("--capture") && error.contains("drive.mi2log"), "{error}");
    assert!(!error.contains("u001b") && !error.contains("\\0"), "{error}");
    let zeros = folder.path().join("zeros");
    std::fs::write(&zeros, [0; 64]).unwrap();
    let output = emu(&["--down", zeros.to_str().unwrap(), "--", "true"]).output().unwrap();
    assert!(stderr(&output).contains("is no text, not a trace"), "{}", stderr(&output));
}

#[test]
fn options_of_a_command_are_refused_where_a_plan_runs_its_flows() {
    let plan = concat!(env!("CARGO_MANIFEST_DIR"), "/../../examples/plans/biscay.toml");
    for option in [&["--as-root"][..], &["--far", "true"]] {
        let output = emu(&[&[plan], option].concat()).output().unwrap();
        assert_eq!(output.status.code(), Some(2), "{}", stderr(&output));
        assert!(stderr(&output).contains("is for a command"), "{}", stderr(&output));
    }
}

#[test]
fn a_standard_error_that_takes_nothing_costs_no_exit_code() {
    if !may_emulate() {
        return;
    }
    let full = std::fs::File::options().write(true).open("/dev/full").unwrap();
    let status = emu(&["--", "sh", "-c", "exit 5"]).stderr(full).status().unwrap();
    assert_eq!(status.code(), Some(5));
}
