//! What another user of the machine attacks: a program with file capabilities, its guard, a
//! router's name, the unit that it is shipped with. Needs root, to act as another user; elsewhere
//! it reports a skip.

#![allow(clippy::unwrap_used, reason = "a test whose set-up fails has to fail")]

mod files;
mod guard;
mod raised;
mod readers;
mod router;
mod unit;

use std::fs::{self, Permissions};
use std::os::unix::fs::PermissionsExt as _;
use std::os::unix::process::CommandExt as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use std::time::Duration;

use sounding_emu::Netns;
use sounding_testdata::{Need, copy_program, skip};

/// A user that no machine has.
const STRANGER: u32 = 4_242_421;

/// Whether this process may not act as another user, which is reported.
fn skipped() -> bool {
    let is_root = nix::unistd::geteuid().is_root();
    if !is_root {
        skip(Need::Root, "root is needed, to act as another user");
    }
    !is_root
}

/// A folder that every user may look into, with a copy of the program that they may run.
struct Copy {
    folder: tempfile::TempDir,
}

impl Copy {
    fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        fs::set_permissions(folder.path(), Permissions::from_mode(0o755)).unwrap();
        let copy = Self { folder };
        copy_program(assert_cmd::cargo::cargo_bin!("sounding"), &copy.program());
        copy.set_mode(0o755);
        copy
    }

    fn program(&self) -> PathBuf {
        self.folder.path().join("sounding")
    }

    fn set_mode(&self, mode: u32) {
        fs::set_permissions(self.program(), Permissions::from_mode(mode)).unwrap();
    }

    /// A folder of the stranger's own in it.
    fn strangers(&self) -> PathBuf {
        let folder = self.folder.path().join("strangers");
        if !folder.exists() {
            fs::create_dir(&folder).unwrap();
            std::os::unix::fs::chown(&folder, Some(STRANGER), Some(STRANGER)).unwrap();
        }
        folder
    }

    /// The program as the stranger runs it.
    fn as_stranger(&self, netns: &Netns, arguments: &[&str]) -> Command {
        let mut command = as_root(&self.program(), netns, arguments);
        command.current_dir(self.strangers());
        // After it has entered the namespace, which the user might not.
        // SAFETY: these calls are async-signal-safe and touch nothing but the child.
        unsafe {
            command.pre_exec(|| {
                nix::unistd::setgroups(&[])?;
                nix::unistd::setgid(STRANGER.into())?;
                Ok(nix::unistd::setuid(STRANGER.into())?)
            });
        }
        command
    }
}

/// A program in a network namespace.
fn as_root(program: &Path, netns: &Netns, arguments: &[&str]) -> Command {
    let mut command = Command::new(program);
    command.args(arguments).stdin(std::process::Stdio::null());
    netns.bring_in(&mut command);
    command
}

/// How it ended with this standard input; it is killed if it does not end.
fn ended(command: Command, told: &str) -> Output {
    let mut command = assert_cmd::Command::from_std(command);
    command.timeout(Duration::from_secs(30)).write_stdin(told).output().unwrap()
}

fn said(output: &Output) -> String {
    let [out, err] = [&output.stdout, &output.stderr].map(|bytes| String::from_utf8_lossy(bytes));
    format!("{out}{err}")
}

/// The default algorithm of a namespace.
fn default_of(netns: &Netns) -> String {
    let path = "/proc/sys/net/ipv4/tcp_congestion_control";
    netns.enter(|| fs::read_to_string(path)).unwrap().unwrap().trim().into()
}
