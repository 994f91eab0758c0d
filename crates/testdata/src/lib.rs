//! Real captures, traces and reference results for tests. They belong to others and are never part
//! of this repository. Tests that need them run where they are present and report a skip where they
//! are not; with `SOUNDING_REQUIRE` a skip fails.

mod disk;
mod processes;
mod program;
mod rights;
mod skip;
mod steady;
mod unpacked;

pub use disk::on_small_disk;
pub use processes::{MARK, Running, processes_marked, processes_with};
pub use program::{copy_program, under_test, write_script};
pub use rights::{STRANGER, as_stranger, may_emulate};
pub use skip::{Need, skip};
pub use steady::steadily;
pub use unpacked::unpacked;

use std::io::Write;
use std::path::{Path, PathBuf};

/// The folder of shared data: `$SOUNDING_DATA`, or `shared/data` beside the repository.
fn root() -> PathBuf {
    std::env::var_os("SOUNDING_DATA").map_or_else(
        || Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared/data"),
        PathBuf::from,
    )
}

/// A file or folder of the shared data, or `None`, with a line on stderr that names what the caller
/// skips.
pub fn shared(path: &str) -> Option<PathBuf> {
    let found = root().join(path);
    if found.exists() {
        return Some(found);
    }
    skip(Need::Data, format_args!("shared data {} is absent", found.display()));
    None
}

/// A line on stderr that is seen: written to the file descriptor, because the test harness swallows
/// `eprintln!` of tests that pass.
pub fn say(line: &str) {
    let _ = writeln!(std::io::stderr(), "{line}");
}

/// Every file under a folder of the shared data, in name order; empty, with a reported skip, if the
/// data is absent.
pub fn shared_files(folder: &str) -> Vec<PathBuf> {
    let mut files = Vec::new();
    let mut folders: Vec<PathBuf> = shared(folder).into_iter().collect();
    while let Some(folder) = folders.pop() {
        let entries = std::fs::read_dir(&folder).into_iter().flatten().flatten();
        for entry in entries.map(|entry| entry.path()) {
            if entry.is_dir() { &mut folders } else { &mut files }.push(entry);
        }
    }
    files.sort();
    files
}
