//! `make demo SOUNDING=FILE`: which program it runs, and its errors. The program is a script; a
//! test of `documented` runs the demo itself.

#![allow(clippy::unwrap_used, reason = "a test whose set-up fails has to fail")]

use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

const ROOT: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../..");

/// A demo of one line.
const PROGRAM: &str = "#!/bin/sh\n[ \"$1\" = demo ] || exit 2\necho \"ran: $*\"\n";

/// A program without `demo`.
const OTHER: &str = "#!/bin/sh\nexit 2\n";

fn file(folder: &Path, name: &str, text: &str, mode: u32) -> PathBuf {
    let path = folder.join(name);
    fs::write(&path, text).unwrap();
    fs::set_permissions(&path, fs::Permissions::from_mode(mode)).unwrap();
    path
}

/// `make demo` with a `sudo` that asks for no password. Nothing can be installed or built.
fn demo(folder: &Path) -> Command {
    file(folder, "sudo", "#!/bin/sh\nexec \"$@\"\n", 0o755);
    file(folder, "apt-get", "#!/bin/sh\nexit 1\n", 0o755);
    file(
        folder,
        "cargo",
        "#!/bin/sh\n[ $1 = --version ] || { echo a build >&2; exit 1; }\n",
        0o755,
    );
    let mut command = Command::new("make");
    let path = std::env::var("PATH").unwrap();
    command.args(["--no-print-directory", "demo"]).current_dir(ROOT);
    command.env("PATH", format!("{}:{path}", folder.display())).env_remove("SOUNDING");
    for of_another_make in ["MAKEFLAGS", "MFLAGS", "MAKELEVEL"] {
        command.env_remove(of_another_make);
    }
    command
}

fn with(program: &Path, folder: &Path) -> Output {
    demo(folder).arg(format!("SOUNDING={}", program.display())).output().unwrap()
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

#[test]
fn a_given_program_runs_without_a_build_after_all_steps_are_named() {
    let folder = tempfile::tempdir().unwrap();
    let program = file(folder.path(), "own program", PROGRAM, 0o755);
    let by_environment = demo(folder.path()).env("SOUNDING", &program).output().unwrap();
    for output in [with(&program, folder.path()), by_environment] {
        let said = text(&output.stderr);
        assert!(output.status.success(), "{said}");
        assert_eq!(text(&output.stdout), "ran: demo\n");
        let steps: Vec<&str> = said.lines().collect();
        let [none, run] = steps[..] else { panic!("two steps: {said}") };
        assert!(none.contains("build: none") && run.contains("run: "), "{said}");
    }
}

#[test]
fn a_program_that_cannot_be_the_demo_is_refused_in_one_line_with_a_remedy() {
    let folder = tempfile::tempdir().unwrap();
    let plain = file(folder.path(), "plain", PROGRAM, 0o644);
    let other = file(folder.path(), "soundingd", OTHER, 0o755);
    let absent = folder.path().join("absent");
    let cases = [
        (absent.as_path(), "is no file"),
        (folder.path(), "is no file"),
        (&plain, "is not executable"),
        (&other, "has no verb `demo`"),
    ];
    for (program, reason) in cases {
        let output = with(program, folder.path());
        assert!(!output.status.success(), "{reason}");
        assert_eq!(text(&output.stdout), "", "{reason}: nothing ran");
        let said = text(&output.stderr);
        let lines: Vec<&str> = said.lines().filter(|line| !line.starts_with("make: ***")).collect();
        let [line] = lines[..] else { panic!("one line: {said}") };
        let is_named = line.contains(&format!("SOUNDING={} {reason}", program.display()));
        assert!(is_named && line.contains("`make demo` builds one"), "{line}");
    }
}

#[test]
fn without_a_program_the_steps_are_named_before_a_build_begins() {
    let folder = tempfile::tempdir().unwrap();
    let output = demo(folder.path()).env("CARGO_TARGET_DIR", folder.path()).output().unwrap();
    let said = text(&output.stderr);
    assert!(!output.status.success() && output.stdout.is_empty(), "the build fails: {said}");
    let at = |part: &str| said.find(part).unwrap_or_else(|| panic!("{part}: {said}"));
    assert!(at("setup: ") < at("build: ") && at("build: ") < at("run: "), "{said}");
    assert!(at("run: ") < at("a build"), "{said}");
}
