//! `sounding emu` as the shell of people who know mahimahi. Parts that need root report a skip
//! without it.

#![allow(clippy::unwrap_used, reason = "a test whose set-up fails has to fail")]

mod first_minute;
mod graphs;
mod machine;
mod mahimahi;
mod manual;
mod nesting;
mod world;

use std::process::{Command, Output, Stdio};

use sounding_testdata::STRANGER;

fn program() -> &'static str {
    assert_cmd::cargo::cargo_bin!("sounding").to_str().unwrap()
}

/// As root itself runs it, without sudo.
fn emu(arguments: &[&str]) -> Command {
    let mut command = Command::new(program());
    command.env_remove("SUDO_UID").env_remove("SUDO_GID").stdin(Stdio::null());
    command.env_remove("MAHIMAHI_BASE").env_remove("SOUNDING_FAR");
    // Programs that every user may run, and none of a folder of root's.
    command.env("PATH", "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin");
    command.arg("emu").args(arguments);
    command
}

/// As a user runs it by sudo that no machine knows.
fn by_sudo(arguments: &[&str]) -> Command {
    let mut command = emu(arguments);
    command.env("SUDO_UID", STRANGER.to_string()).env("SUDO_GID", STRANGER.to_string());
    command.env("HOME", "/root");
    command
}

/// A folder that the user of sudo may write to.
fn shared_folder() -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    let mode = std::os::unix::fs::PermissionsExt::from_mode(0o777);
    std::fs::set_permissions(folder.path(), mode).unwrap();
    folder
}

fn stderr(output: &Output) -> String {
    // miette breaks lines where it likes.
    String::from_utf8_lossy(&output.stderr).split_whitespace().collect::<Vec<_>>().join(" ")
}

fn stdout(output: &Output) -> String {
    String::from_utf8_lossy(&output.stdout).into_owned()
}
