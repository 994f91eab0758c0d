//! `sounding emu` as a user meets it. Parts that need root report a skip without it.

#![allow(clippy::unwrap_used, reason = "a test whose set-up fails has to fail")]

use std::io::{BufRead, BufReader};
use std::process::{Command, Output, Stdio};
use std::time::{Duration, Instant};

use sounding_testdata::{STRANGER, may_emulate};

/// As root itself runs it, without sudo.
fn sounding() -> Command {
    let mut command = Command::new(assert_cmd::cargo::cargo_bin!("sounding"));
    command.env_remove("SUDO_UID").env_remove("SUDO_GID");
    command
}

/// As a user runs it by sudo that no machine knows.
fn by_sudo(arguments: &[&str]) -> Command {
    let mut command = sounding();
    command.env("SUDO_UID", STRANGER.to_string()).env("SUDO_GID", STRANGER.to_string());
    command.env("HOME", "/root").arg("emu").args(arguments);
    command
}

fn emu(arguments: &[&str]) -> Output {
    sounding().arg("emu").args(arguments).output().unwrap()
}

fn stderr(output: &Output) -> String {
    // miette breaks lines where it likes.
    String::from_utf8_lossy(&output.stderr).split_whitespace().collect::<Vec<_>>().join(" ")
}

#[test]
fn help_teaches_with_examples() {
    let help = String::from_utf8(emu(&["--help"]).stdout).unwrap();
    for text in ["sudo sounding emu", "STEPS", "SOUNDING_FAR", "Exit status"] {
        assert!(help.contains(text), "{text} is not in:\n{help}");
    }
}

#[test]
fn help_says_what_can_be_reached() {
    let help = String::from_utf8(emu(&["--help"]).stdout).unwrap();
    let help = help.split_whitespace().collect::<Vec<_>>().join(" ");
    for text in [
        "over IPv4 all that this machine reaches",
        "With --isolated, with --far and with a plan COMMAND reaches only the other end of the link",
    ] {
        assert!(help.contains(text), "{text} is not in:\n{help}");
    }
}

#[test]
fn a_link_that_is_nothing_is_refused_with_examples_of_what_is() {
    let output = emu(&["--up", "fast", "--", "true"]);
    let error = stderr(&output);
    assert!(!output.status.success());
    assert!(
        error.contains("--up") && error.contains("\"fast\"") && error.contains("12Mbit"),
        "{error}"
    );
}

#[test]
fn a_trace_with_a_fault_is_refused_with_its_line() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("trace");
    std::fs::write(&path, "1\n5\n4\n").unwrap();
    let output = emu(&["--down", path.to_str().unwrap(), "--", "true"]);
    assert!(stderr(&output).contains("line 3: 4 ms is before the 5 ms"), "{}", stderr(&output));
}

#[test]
fn without_the_rights_it_says_which() {
    if !may_emulate() {
        return;
    }
    // Root in name only: no capability is left.
    let output = Command::new("setpriv")
        .args(["--bounding-set=-all", "--inh-caps=-all", "--reuid=65534", "--clear-groups"])
        .arg(assert_cmd::cargo::cargo_bin!("sounding"))
        .args(["emu", "--", "true"])
        .output()
        .unwrap();
    assert_eq!(output.status.code(), Some(1));
    assert!(stderr(&output).contains("CAP_SYS_ADMIN"), "{}", stderr(&output));
}

#[test]
fn the_exit_status_is_that_of_the_command() {
    if !may_emulate() {
        return;
    }
    assert_eq!(emu(&["--", "sh", "-c", "exit 42"]).status.code(), Some(42));
    assert_eq!(emu(&["--", "sh", "-c", "kill -9 $$"]).status.code(), Some(137));
}

#[test]
fn the_far_end_answers_at_its_variable_and_everything_is_counted_as_json() {
    if !may_emulate() {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let (result, far) = (folder.path().join("result.json"), folder.path().join("far"));
    let json = format!("--json={}", result.display());
    let at_far = format!("echo $SOUNDING_FAR >{}", far.display());
    // No program listens there, so the far end's kernel refuses: one packet up, one down.
    let at_near = "echo >/dev/tcp/$MAHIMAHI_BASE/9";
    let links = ["--up", "10Mbit", "--down", "0s 5Mbit, 1s 9Mbit", "--delay", "5ms"];
    let output = sounding()
        .arg("emu")
        .args(links)
        .args(["--far", &at_far, &json, "--", "bash", "-c", at_near])
        .output()
        .unwrap();
    assert_eq!(output.status.code(), Some(1), "{}", stderr(&output));
    assert_eq!(std::fs::read_to_string(far).unwrap(), "100.64.0.2\n");
    let result: serde_json::Value =
        serde_json::from_slice(&std::fs::read(&result).unwrap()).unwrap();
    let delivered = |way: &str| result[way]["delivered_packets"].as_u64().unwrap();
    assert_eq!((delivered("up"), delivered("down")), (1, 1), "{result}");
}

#[test]
fn the_far_end_is_all_that_can_be_reached_beside_files() {
    if !may_emulate() {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let socket = folder.path().join("socket");
    // This machine: at a port of its loopback and at a socket with a path.
    let port = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let port = port.local_addr().unwrap().port();
    let _listens = std::os::unix::net::UnixListener::bind(&socket).unwrap();
    // bash gives no reason; the elapsed time shows that there was no answer. 192.0.2.1 is
    // unassigned (RFC 5737).
    let script = format!(
        "tried() {{ timeout 2 bash -c \"echo >/dev/tcp/$1\" 2>/dev/null; echo \"$1 $?\"; }}\n\
         for i in $(seq 100); do bash -c 'echo >/dev/tcp/$SOUNDING_FAR/8000' 2>/dev/null && break; sleep 0.1; done\n\
         tried $SOUNDING_FAR/8000; tried 127.0.0.1/{port}; tried 192.0.2.1/80\n\
         timeout 2 python3 -c 'import socket, sys; socket.socket(socket.AF_UNIX).connect(sys.argv[1])' {}; echo socket $?",
        socket.display()
    );
    let output = emu(&["--far", "exec python3 -m http.server 8000", "--", "bash", "-c", &script]);
    let said = String::from_utf8_lossy(&output.stdout);
    let port = format!("127.0.0.1/{port} 1");
    let lines: Vec<&str> = said.lines().collect();
    let wanted = ["100.64.0.2/8000 0", port.as_str(), "192.0.2.1/80 124", "socket 0"];
    assert_eq!(lines, wanted, "{}", stderr(&output));
}

/// Refused, with the reason, by a program whose output this is.
fn is_refused(output: &Output) {
    let error = stderr(output);
    assert_eq!(output.status.code(), Some(1), "{error}");
    assert!(error.contains("already behind an emulated link (its device is radio0)"), "{error}");
    assert!(error.contains("put both links into one plan"), "{error}");
}

#[test]
fn another_far_end_inside_an_emulation_is_refused_and_says_why() {
    if !may_emulate() {
        return;
    }
    let program = assert_cmd::cargo::cargo_bin!("sounding").to_str().unwrap();
    let alone = [program, "emu", "--isolated", "--", "true"];
    is_refused(&emu(&[&["--delay", "50ms", "--"], &alone[..]].concat()));
    // It needs no environment, because sudo leaves none.
    is_refused(&emu(&[&["--", "env", "--ignore-environment"], &alone[..]].concat()));
    // Not at the far end either, and with a plan in neither place.
    let plan = concat!(env!("CARGO_MANIFEST_DIR"), "/../../examples/plans/biscay.toml");
    let at_far = format!("{program} emu {plan}; echo $? >&2; exit 1");
    let output = emu(&["--far", &at_far, "--", "true"]);
    is_refused(&output);
    let one = ["--set", "seeds=1", "--set", "sweep={}", "--set", "duration=20s"];
    is_refused(&emu(&[&[plan], &one[..], &["--"], &alone].concat()));
    is_refused(&emu(&[&["--", program, "emu", plan][..], &one].concat()));
}

#[test]
fn whatever_else_makes_an_emulated_link_is_refused_inside_one_too() {
    if !may_emulate() {
        return;
    }
    let program = assert_cmd::cargo::cargo_bin!("sounding").to_str().unwrap();
    let folder = tempfile::tempdir().unwrap();
    let report = folder.path().join("report");
    let out = format!("--out={}", report.display());
    is_refused(&emu(&["--", program, "demo", "--generated", "--duration=1s", &out]));
    assert!(!report.exists(), "it had begun");
    is_refused(&emu(&["--", program, "lab", "run", "emu-cells"]));
    is_refused(&emu(&["--", program, "lab", "run", "agreement", "--duration=2s"]));
}

#[test]
fn a_trace_played_once_ends_the_command() {
    if !may_emulate() {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("trace");
    std::fs::write(&path, "1\n200\n").unwrap();
    let output = emu(&["--once", "--up", path.to_str().unwrap(), "--", "sleep", "1000"]);
    assert!(output.status.success(), "{}", stderr(&output));
}

#[test]
fn an_interrupt_ends_everything_and_still_reports() {
    if !may_emulate() {
        return;
    }
    let mut child = sounding()
        .args(["emu", "--", "sh", "-c", "echo ready; exec sleep 1000"])
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    BufReader::new(child.stdout.take().unwrap()).read_line(&mut String::new()).unwrap();
    let pid = nix::unistd::Pid::from_raw(child.id() as i32);
    // To the program alone: it has to end a command that got no signal.
    nix::sys::signal::kill(pid, nix::sys::signal::Signal::SIGINT).unwrap();
    let until = Instant::now() + Duration::from_secs(60);
    while child.try_wait().unwrap().is_none() {
        assert!(Instant::now() < until, "it goes on");
        std::thread::sleep(Duration::from_millis(20));
    }
    let output = child.wait_with_output().unwrap();
    assert_eq!(output.status.code(), Some(130));
    assert!(stderr(&output).contains("delivered"), "{}", stderr(&output));
}

/// A command's ids, groups, capabilities, and the capabilities that it could still gain.
const WHO: &str = "id -u; id -g; grep -E '^(Groups|CapInh|CapPrm|CapEff|CapBnd|CapAmb|NoNewPrivs)' /proc/self/status";

fn fields(said: &str) -> Vec<Vec<&str>> {
    said.lines().map(|line| line.split_whitespace().collect()).collect()
}

#[test]
fn a_command_runs_as_the_user_who_called_sudo_and_gains_nothing() {
    if !may_emulate() {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    std::fs::set_permissions(folder.path(), std::os::unix::fs::PermissionsExt::from_mode(0o777))
        .unwrap();
    let far = folder.path().join("far");
    let at_far = format!("({WHO}) >{}", far.display());
    let output = by_sudo(&["--far", &at_far, "--", "sh", "-c", WHO]).output().unwrap();
    assert!(output.status.success(), "{}", stderr(&output));
    let stranger = STRANGER.to_string();
    let none = "0000000000000000";
    for said in [String::from_utf8(output.stdout).unwrap(), std::fs::read_to_string(far).unwrap()] {
        let expected: Vec<Vec<&str>> = vec![
            vec![&stranger],
            vec![&stranger],
            vec!["Groups:"],
            vec!["CapInh:", none],
            vec!["CapPrm:", none],
            vec!["CapEff:", none],
            // Needed to start ping, and nothing gives it to a program.
            vec!["CapBnd:", "0000000000002000"],
            vec!["CapAmb:", none],
            vec!["NoNewPrivs:", "1"],
        ];
        assert_eq!(fields(&said), expected, "{said}");
    }
}

#[test]
fn a_command_stays_root_by_option_or_without_sudo_and_the_error_says_so() {
    if !may_emulate() {
        return;
    }
    let asked = by_sudo(&["--as-root", "--", "id", "-u"]).output().unwrap();
    let plain = emu(&["--", "id", "-u"]);
    for output in [&asked, &plain] {
        assert_eq!(String::from_utf8_lossy(&output.stdout), "0\n", "{}", stderr(output));
    }
    assert!(!stderr(&asked).contains("runs as root"), "{}", stderr(&asked));
    assert!(stderr(&plain).contains("the command runs as root"), "{}", stderr(&plain));
}

#[test]
fn what_sudo_says_of_its_caller_is_a_user_or_nothing_runs() {
    if !may_emulate() {
        return;
    }
    for (uid, gid) in [("root", "0"), ("4294967295", "1"), ("", "1"), ("7", "-1")] {
        let mut command = sounding();
        command.env("SUDO_UID", uid).env("SUDO_GID", gid).args(["emu", "--", "echo", "ran"]);
        let output = command.output().unwrap();
        assert_eq!(output.status.code(), Some(1), "{uid} {gid}");
        assert!(
            output.stdout.is_empty() && stderr(&output).contains("SUDO_"),
            "{}",
            stderr(&output)
        );
    }
}

#[test]
fn a_command_without_rights_may_ping_and_serve_any_port() {
    if !may_emulate() {
        return;
    }
    // The settings that an ICMP socket without root and a server on a low port need.
    let script = "cd /proc/sys/net/ipv4; cat ping_group_range ip_unprivileged_port_start";
    let output = by_sudo(&["--", "sh", "-c", script]).output().unwrap();
    let said = String::from_utf8_lossy(&output.stdout).into_owned();
    assert_eq!(said, "0\t2147483647\n0\n", "{}", stderr(&output));
}

/// A process that becomes another user is not killed with its parent by itself.
#[test]
fn a_command_of_another_user_ends_with_the_emulation_however_that_ends() {
    if !may_emulate() {
        return;
    }
    let mut child = by_sudo(&["--", "sh", "-c", "echo ready; exec sleep 4242"])
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    BufReader::new(child.stdout.take().unwrap()).read_line(&mut String::new()).unwrap();
    let theirs = || -> usize {
        let processes = std::fs::read_dir("/proc").unwrap().flatten();
        let is_theirs = |path: &std::path::Path| {
            let line = std::fs::read(path.join("cmdline")).unwrap_or_default();
            line == b"sleep\x004242\0"
        };
        processes.filter(|process| is_theirs(&process.path())).count()
    };
    // The shell becomes the other program some time after its line.
    let until = Instant::now() + Duration::from_secs(20);
    while theirs() == 0 && Instant::now() < until {
        std::thread::sleep(Duration::from_millis(10));
    }
    assert_eq!(theirs(), 1, "the check below would prove nothing");
    child.kill().unwrap();
    child.wait().unwrap();
    let until = Instant::now() + Duration::from_secs(20);
    while theirs() > 0 {
        assert!(Instant::now() < until, "it goes on");
        std::thread::sleep(Duration::from_millis(20));
    }
}
