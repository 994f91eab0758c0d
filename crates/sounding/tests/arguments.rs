//! Arguments, variables and file names that are not UTF-8, and a machine that gives no threads: an
//! error, never a panic.

#![allow(clippy::unwrap_used, reason = "a test whose set-up fails has to fail")]

use std::ffi::{OsStr, OsString};
use std::fs;
use std::os::unix::ffi::OsStrExt as _;
use std::os::unix::fs::PermissionsExt as _;
use std::os::unix::process::CommandExt as _;
use std::path::Path;
use std::process::{Command, Output, Stdio};
use std::time::Duration;

use sounding_testbed::radio::RadioLink;
use sounding_testdata::{Need, STRANGER, copy_program, may_emulate, skip};

/// No text in UTF-8 has these bytes.
const WRONG: &[u8] = b"a\xff\xfe\xe2";

/// Verbs as a user writes them. In a folder with a capture, a plan and a trace.
const LINES: &[&str] = &[
    "run --device /dev/null --name other",
    "run --background --cgroup /nowhere",
    "run --peers --law cqic --interface nothing",
    "run --copa --device /dev/null",
    "background --json out.json -- true",
    "background --loaded=nothing -- true",
    "emu --up 1Mbit --up-log log -- true",
    "emu --up trace --queue 10p -- true",
    "emu --far true --up 1Mbit -- true",
    "emu plan.toml -- true",
    "demo --out page",
    "lab run emu-cells --help",
    "lab list",
    "sim plan.toml --out page",
    "modem sim nothing.qmdl --link port",
    "modem replay nothing.qmdl --link port",
    "record capture.qmdl drive.qmdl --for 1s",
    "board capture.qmdl --name modem",
    "link capture.qmdl --sniffer log --method cell --direction downlink",
    "link capture.qmdl --delays --packets file.pcap",
    "link capture.qmdl --cqi-rates rates --method cqi",
    "kpi capture.qmdl --kpi lte.pusch.tbs",
    "doctor --no-ports",
    "decode capture.qmdl --summary",
    "convert capture.qmdl drive.csv",
    "convert capture.qmdl drive.pcapng --no-redact",
];

const PLAN: &str = r#"
duration = "1s"
seeds = "1..4"
[cell]
carriers = [{}]
[[cell.devices]]
name = "phone"
[wire]
delay = "10ms"
[[flows]]
device = "phone"
direction = "up"
controller = "cubic"
"#;

/// A folder with files of good names and of wrong ones.
fn folder() -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    let place = |name: &[u8]| folder.path().join(OsStr::from_bytes(name));
    let capture = RadioLink::generated(5, Duration::from_secs(1)).unwrap().capture;
    for stem in [&b"capture"[..], WRONG] {
        let named = |end: &str| place(&[stem, end.as_bytes()].concat());
        fs::write(named(".qmdl"), &capture).unwrap();
        fs::write(named(".toml"), PLAN).unwrap();
    }
    fs::write(place(b"plan.toml"), PLAN).unwrap();
    fs::write(place(b"trace"), "10\n20\n").unwrap();
    folder
}

fn program(folder: &Path) -> Command {
    let mut command = Command::new(assert_cmd::cargo::cargo_bin!("sounding"));
    command.current_dir(folder).stdin(Stdio::null());
    command
}

/// Its end. One that would go on is killed: its panic would have come by then.
fn ended(command: Command, within: Duration) -> Output {
    let mut command = assert_cmd::Command::from_std(command);
    command.timeout(within).output().unwrap()
}

fn assert_no_panic(what: &dyn std::fmt::Debug, output: &Output) {
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(!said.contains("panicked"), "{what:?}: {said}");
    assert_ne!(output.status.code(), Some(101), "{what:?}: {said}");
}

/// The words of a line with a wrong one in place of one of them, whose ending stays.
fn with_wrong(line: &str, place: usize) -> Vec<OsString> {
    let mut words: Vec<OsString> = line.split(' ').map(Into::into).collect();
    let ending = line.split(' ').nth(place).unwrap().rfind('.');
    let ending = ending.map_or("", |at| &line.split(' ').nth(place).unwrap()[at..]);
    words[place] = OsStr::from_bytes(&[WRONG, ending.as_bytes()].concat()).into();
    words
}

#[test]
fn an_argument_that_is_not_utf8_is_taken_or_refused_in_every_place() {
    let folder = folder();
    for line in LINES {
        for place in 0..line.split(' ').count() {
            let words = with_wrong(line, place);
            let mut command = program(folder.path());
            command.args(&words);
            assert_no_panic(&words, &ended(command, Duration::from_secs(10)));
        }
    }
}

#[test]
fn a_variable_that_is_not_utf8_is_passed_over_or_refused() {
    const NAMES: [&str; 12] = [
        "COLUMNS",
        "HOME",
        "LANG",
        "NO_COLOR",
        "PATH",
        "SOUNDING_BOARD_DIR",
        "SOUNDING_DATA",
        "SOUNDING_LOG",
        "SOUNDING_RUN_DIR",
        "SUDO_GID",
        "SUDO_UID",
        "TERM",
    ];
    let folder = folder();
    for line in ["decode capture.qmdl", "board capture.qmdl", "emu --up 1Mbit -- true", "lab list"]
    {
        for name in NAMES {
            let mut command = program(folder.path());
            command.args(line.split(' ')).env(name, OsStr::from_bytes(WRONG));
            assert_no_panic(&(line, name), &ended(command, Duration::from_secs(10)));
        }
    }
}

/// No machine has so much memory for the stack of a thread: none can be made.
const NO_THREADS: (&str, &str) = ("RUST_MIN_STACK", "140737488355328");

#[test]
fn where_no_thread_can_be_made_runs_in_virtual_time_need_none() {
    let folder = folder();
    let run = |more: &[(&str, &str)]| {
        let mut command = program(folder.path());
        command.args(["sim", "plan.toml"]).envs(more.iter().copied());
        let output = ended(command, Duration::from_secs(60));
        assert_no_panic(&more, &output);
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        output.stdout
    };
    assert_eq!(run(&[]), run(&[NO_THREADS]));
}

#[test]
fn where_no_thread_can_be_made_every_verb_works_or_says_so() {
    let folder = folder();
    for line in LINES.iter().chain(&[
        "run --peers --json",
        "emu plan.toml",
        "demo --duration 1s --out page",
        "lab run emu-cells",
        "lab run bpf-cost",
        "lab run granularity",
        "lab run overhead",
        "lab run soak --duration 3s",
        "link tcp:127.0.0.1:9 --sniffer udp:127.0.0.1:9 --method cell --direction downlink",
    ]) {
        let mut command = program(folder.path());
        command.args(line.split(' ')).env(NO_THREADS.0, NO_THREADS.1);
        assert_no_panic(line, &ended(command, Duration::from_secs(5)));
    }
    if may_emulate() {
        let mut command = program(folder.path());
        command.args(["emu", "--up", "1Mbit", "--", "true"]).env(NO_THREADS.0, NO_THREADS.1);
        let output = ended(command, Duration::from_secs(10));
        let said = String::from_utf8_lossy(&output.stderr);
        assert!(
            output.status.code() == Some(1) && said.contains("temporarily unavailable"),
            "{said}"
        );
    }
}

#[test]
fn a_user_at_the_limit_of_its_processes_gets_an_error_or_a_result() {
    if !nix::unistd::geteuid().is_root() {
        skip(Need::Root, "root is needed, to act as another user");
        return;
    }
    let folder = folder();
    fs::set_permissions(folder.path(), fs::Permissions::from_mode(0o777)).unwrap();
    let own = folder.path().join("sounding");
    copy_program(assert_cmd::cargo::cargo_bin!("sounding"), &own);
    for line in LINES {
        let mut command = Command::new(&own);
        command.args(line.split(' ')).current_dir(folder.path()).stdin(Stdio::null());
        // SAFETY: these calls are async-signal-safe and touch nothing but the child.
        unsafe {
            command.pre_exec(|| {
                nix::unistd::setgroups(&[])?;
                nix::unistd::setgid(STRANGER.into())?;
                nix::unistd::setuid(STRANGER.into())?;
                // Itself.
                let most = nix::sys::resource::Resource::RLIMIT_NPROC;
                Ok(nix::sys::resource::setrlimit(most, 1, 1)?)
            });
        }
        assert_no_panic(line, &ended(command, Duration::from_secs(10)));
    }
}
