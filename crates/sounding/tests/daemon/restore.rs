//! Every change of the daemon is restored, even when it is killed.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;
use sounding_emu::{Config, Emulation};
use sounding_modem::Pty;
use sounding_sim::PathConfig;
use sounding_testbed::daemon::Daemon;
use sounding_testdata::steadily;
use sounding_trace::Steps;
use sounding_units::Rate;

use crate::rig::skipped;

const PROGRAM: &str = env!("CARGO_BIN_EXE_sounding");

const DEFAULT: &str = "/proc/sys/net/ipv4/tcp_congestion_control";

/// A default that a daemon without a note of the old default would not guess. It would guess cubic
/// if that is allowed, otherwise reno.
pub(crate) fn not_guessed() -> String {
    let path = "/proc/sys/net/ipv4/tcp_allowed_congestion_control";
    let allowed = std::fs::read_to_string(path).expect("readable");
    let allowed: Vec<&str> = allowed.split_whitespace().collect();
    let guess = if allowed.contains(&"cubic") { "cubic" } else { "reno" };
    let other = allowed.into_iter().find(|name| *name != guess && ["reno", "bbr"].contains(name));
    other.expect("reno and another").into()
}

/// A namespace's default algorithm and default route.
pub(crate) fn settings() -> (String, String) {
    let sysctl = std::fs::read_to_string(DEFAULT);
    let route = Command::new("ip").args(["route", "show", "default"]).output();
    let route = String::from_utf8(route.expect("ip runs").stdout).expect("text");
    (sysctl.expect("readable").trim().into(), route.trim().into())
}

/// Settings of a namespace before, during and after a daemon's run.
fn around(name: &str, end: impl Fn(Daemon) + Send + Sync) -> Option<[(String, String); 3]> {
    around_by(Path::new(PROGRAM), name, end)
}

/// The same for a daemon that another program starts by `exec`.
pub(crate) fn around_by(
    program: &Path,
    name: &str,
    end: impl Fn(Daemon) + Send + Sync,
) -> Option<[(String, String); 3]> {
    if skipped() {
        return None;
    }
    let wide = || PathConfig::new(Steps::constant(Rate::from_bits_per_sec(1_000_000)));
    let emulation = Emulation::start(Config::new(wide(), wide())).expect("an emulation");
    let folder = tempfile::tempdir().expect("a folder");
    let device = folder.path().join("modem");
    let _pty = Pty::create(Some(&device)).expect("a pty");
    let name = format!("{}_{name}", std::process::id() % 1_000_000);
    let states = emulation.near().enter(|| {
        let before = settings();
        let flags = ["--default", "--route", "default"];
        let daemon = Daemon::start(program, &device, &name, &flags).expect("ready");
        let during = settings();
        end(daemon);
        // The guard continues after a killed daemon, and nothing waits there for its end.
        for _ in 0..500 {
            if settings() == before {
                break;
            }
            std::thread::sleep(Duration::from_millis(10));
        }
        assert!(during.0 == name && during.1.contains(&format!("congctl {name}")), "{during:?}");
        [before, during, settings()]
    });
    Some(states.expect("the namespace is there"))
}

/// The defaults that daemons of one test have noted. Dropping it removes the files of a failed
/// test.
pub(crate) struct Kept {
    pub(crate) name: String,
}

impl Kept {
    pub(crate) fn files(&self) -> Vec<PathBuf> {
        let folder = sounding_host::runtime_folder().expect("root has one");
        let files = std::fs::read_dir(folder).into_iter().flatten().flatten();
        let is_of_this = |file: &PathBuf| {
            let name = file.file_name().unwrap_or_default().to_string_lossy();
            name.starts_with("default-") && name.contains(&self.name)
        };
        files.map(|file| file.path()).filter(is_of_this).collect()
    }
}

impl Drop for Kept {
    fn drop(&mut self) {
        for file in self.files() {
            let _ = std::fs::remove_file(file);
        }
    }
}

/// Kills a daemon together with its guard.
fn kill_both(daemon: Daemon) {
    let children = format!("/proc/{0}/task/{0}/children", daemon.id());
    let guards = std::fs::read_to_string(children).expect("it lives");
    let pids: Vec<i32> = guards.split_whitespace().map(|pid| pid.parse().expect("a pid")).collect();
    assert!(!pids.is_empty(), "a daemon has its guard");
    for pid in pids {
        kill(Pid::from_raw(pid), Signal::SIGKILL).expect("it lives");
    }
    drop(daemon.kill());
}

/// The state that a daemon leaves when it starts right after another was killed by `kill`, and the
/// state before: a default that this program would not guess. Both have the same name, or the
/// second has a different one.
fn after_another(
    name: &str,
    is_renamed: bool,
    kill: impl Fn(Daemon) + Send + Sync,
) -> Option<[(String, String); 2]> {
    if skipped() {
        return None;
    }
    let wide = || PathConfig::new(Steps::constant(Rate::from_bits_per_sec(1_000_000)));
    let emulation = Emulation::start(Config::new(wide(), wide())).expect("an emulation");
    let name = format!("{}_{name}", std::process::id() % 1_000_000);
    let kept = Kept { name: name.clone() };
    let second_name = if is_renamed { format!("{name}2") } else { name.clone() };
    let states = emulation.near().enter(|| {
        std::fs::write(DEFAULT, not_guessed()).expect("it is allowed here");
        let before = settings();
        let start = |name: &str| {
            let pty = Pty::create(None).expect("a pty");
            let flags = ["--default", "--route", "default"];
            let daemon = Daemon::start(Path::new(PROGRAM), pty.path(), name, &flags);
            (daemon.expect("ready"), pty)
        };
        let (first, _first_port) = start(&name);
        kill(first);
        let (second, _second_port) = start(&second_name);
        let (name, during) = (second_name, settings());
        assert!(during.0 == name && during.1.contains(&format!("congctl {name}")), "{during:?}");
        second.stop();
        [before, settings()]
    });
    assert_eq!(kept.files(), Vec::<PathBuf>::new(), "files are left");
    Some(states.expect("the namespace is there"))
}

/// The state after two daemons. The second took over the default from the first and outlived it.
fn one_over_another(
    name: &str,
    end: impl Fn(Daemon) + Send + Sync,
) -> Option<[(String, String); 2]> {
    if skipped() {
        return None;
    }
    let wide = || PathConfig::new(Steps::constant(Rate::from_bits_per_sec(1_000_000)));
    let emulation = Emulation::start(Config::new(wide(), wide())).expect("an emulation");
    let name = format!("{}_{name}", std::process::id() % 1_000_000);
    let kept = Kept { name: name.clone() };
    let states = emulation.near().enter(|| {
        std::fs::write(DEFAULT, not_guessed()).expect("it is allowed here");
        let before = settings();
        let start = |name: &str| {
            let pty = Pty::create(None).expect("a pty");
            let daemon = Daemon::start(Path::new(PROGRAM), pty.path(), name, &["--default"]);
            (daemon.expect("ready"), pty)
        };
        let (first, _first_port) = start(&name);
        let second_name = format!("{name}2");
        let (second, _second_port) = start(&second_name);
        end(first);
        assert_eq!(settings().0, second_name, "the first does not change the second's setting");
        second.stop();
        [before, settings()]
    });
    assert_eq!(kept.files(), Vec::<PathBuf>::new(), "files are left");
    Some(states.expect("the namespace is there"))
}

#[test]
fn a_daemon_that_outlives_an_earlier_one_restores_the_state_before_both() {
    steadily(|| {
        let end = |daemon: Daemon| drop(daemon.stop());
        let Some([before, after]) = one_over_another("ovr", end) else { return };
        assert_eq!(before, after);
    });
}

#[test]
fn a_daemon_that_outlives_one_killed_with_its_guard_removes_its_note() {
    steadily(|| {
        let Some([before, after]) = one_over_another("ovk", kill_both) else { return };
        assert_eq!(before, after);
    });
}

#[test]
fn a_daemon_started_right_after_a_killed_one_restores_the_state_before_both() {
    steadily(|| {
        let after = after_another("next", false, |daemon| drop(daemon.kill()));
        let Some([before, after]) = after else { return };
        assert_eq!(before, after);
    });
}

#[test]
fn the_next_daemon_restores_what_one_killed_with_its_guard_changed() {
    steadily(|| {
        let Some([before, after]) = after_another("orph", false, kill_both) else { return };
        assert_eq!(before, after);
    });
}

#[test]
fn a_daemon_of_another_name_restores_what_one_killed_with_its_guard_changed() {
    steadily(|| {
        let Some([before, after]) = after_another("orpn", true, kill_both) else { return };
        assert_eq!(before, after);
    });
}

#[test]
fn a_daemon_that_ends_restores_sysctl_and_route() {
    steadily(|| {
        let Some([before, during, after]) = around("ends", |daemon| drop(daemon.stop())) else {
            return;
        };
        assert_ne!(before, during);
        assert_eq!(before, after);
    });
}

#[test]
fn a_daemon_that_is_killed_restores_sysctl_and_route() {
    steadily(|| {
        let Some([before, during, after]) = around("kill", |daemon| drop(daemon.kill())) else {
            return;
        };
        assert_ne!(before, during);
        assert_eq!(before, after);
    });
}
