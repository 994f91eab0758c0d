//! Writes the commit into the program, so that every result can say what made it.

use std::process::Command;

/// The program's sources: a change elsewhere makes the same program.
const SOURCES: [&str; 5] = [
    "../../crates",
    "../../papers",
    "../../Cargo.toml",
    "../../Cargo.lock",
    "../../rust-toolchain.toml",
];

fn main() {
    let git = |args: &[&str]| {
        let output = Command::new("git").args(args).output().ok()?;
        output.status.success().then(|| String::from_utf8_lossy(&output.stdout).trim().to_string())
    };
    // A work tree beside the repository has its own; a path that is not there would have this crate
    // built every time.
    for name in ["HEAD", "logs/HEAD", "index"] {
        if let Some(path) = git(&["rev-parse", "--git-path", name]) {
            println!("cargo::rerun-if-changed={path}");
        }
    }
    for path in SOURCES {
        println!("cargo::rerun-if-changed={path}");
    }
    let commit = git(&["rev-parse", "--short=12", "HEAD"]).unwrap_or_else(|| "unknown".into());
    // With its locks it would write the index, which is watched: every build would make the next
    // one necessary.
    let status = ["--no-optional-locks", "status", "--porcelain", "--untracked-files=no", "--"];
    let changed = git(&[&status[..], &SOURCES[..]].concat());
    let mark = if changed.is_some_and(|text| !text.is_empty()) { "+" } else { "" };
    println!("cargo::rustc-env=SOUNDING_COMMIT={commit}{mark}");
}
