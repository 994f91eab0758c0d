//! Programs that a test makes and runs.
//!
//! A separate process writes each. A process that another test of this one starts meanwhile
//! inherits this one's open files until it ends or becomes another program. A program that
//! somewhere is open for writing cannot run: "Text file busy".

use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// The program under test: `SOUNDING_PROGRAM` names another than the one that was built with the
/// tests.
pub fn under_test(built: &Path) -> PathBuf {
    std::env::var_os("SOUNDING_PROGRAM").map_or_else(|| built.to_owned(), PathBuf::from)
}

/// Copies a program to where another user may run it.
///
/// # Panics
///
/// If `cp` fails.
pub fn copy_program(from: &Path, to: &Path) {
    let copied = Command::new("cp").arg("--").args([from, to]).status();
    assert!(copied.is_ok_and(|status| status.success()), "{} to {}", from.display(), to.display());
}

/// Writes a script that every user may run.
///
/// # Panics
///
/// If it cannot be written.
pub fn write_script(path: &Path, text: &str) {
    let writer = Command::new("sh")
        .args(["-c", "cat >\"$1\" && chmod 755 \"$1\"", "sh"])
        .arg(path)
        .stdin(Stdio::piped())
        .spawn();
    let written = writer.and_then(|mut writer| {
        let wrote =
            writer.stdin.take().map_or(Ok(()), |mut input| input.write_all(text.as_bytes()));
        writer.wait().and_then(|status| wrote.map(|()| status.success()))
    });
    assert!(matches!(written, Ok(true)), "{}: {written:?}", path.display());
}
