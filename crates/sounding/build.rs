//! Writes the commit into the program, so that every result can say what made it. The Python
//! package has the same build script.

use std::process::Command;

/// The program's sources: a change elsewhere makes the same program.
const SOURCES: [&str; 6] =
    ["crates", "papers", "python", "Cargo.toml", "Cargo.lock", "rust-toolchain.toml"];

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
    let Some(root) = git(&["rev-parse", "--show-toplevel"]) else {
        println!("cargo::rustc-env=SOUNDING_COMMIT=unknown");
        return;
    };
    let sources = SOURCES.map(|path| format!("{root}/{path}"));
    for path in &sources {
        println!("cargo::rerun-if-changed={path}");
    }
    let commit = git(&["rev-parse", "--short=12", "HEAD"]).unwrap_or_else(|| "unknown".into());
    // With its locks it would write the index, which is watched: every build would make the next
    // one necessary.
    let mut status =
        vec!["--no-optional-locks", "status", "--porcelain", "--untracked-files=no", "--"];
    status.extend(sources.iter().map(String::as_str));
    let changed = git(&status);
    let mark = if changed.is_some_and(|text| !text.is_empty()) { "+" } else { "" };
    println!("cargo::rustc-env=SOUNDING_COMMIT={commit}{mark}");
}
