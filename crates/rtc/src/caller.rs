//! The ends of a call in `call/`: libwebrtc with Node, whose packages are fetched once.

use std::path::Path;
use std::process::Command;
use std::sync::{Mutex, PoisonError};

/// Checks that Node is there, and fetches the packages that the lock file in this folder names, if
/// they are not there.
///
/// # Errors
///
/// Why there can be no call here.
pub fn prepare(folder: &Path) -> Result<(), String> {
    static TURN: Mutex<()> = Mutex::new(());
    let _turn = TURN.lock().unwrap_or_else(PoisonError::into_inner);
    finish(Command::new("node").arg("--version"))?;
    let changed = |name: &str| std::fs::metadata(folder.join(name))?.modified();
    let installed = changed("node_modules/.package-lock.json");
    if let (Ok(installed), Ok(locked)) = (installed, changed("package-lock.json"))
        && installed >= locked
    {
        return Ok(());
    }
    finish(Command::new("npm").args(["ci", "--no-audit", "--no-fund"]).current_dir(folder))
}

fn finish(command: &mut Command) -> Result<(), String> {
    let named = command.get_program().to_string_lossy().into_owned();
    let output = command.output().map_err(|error| format!("{named}: {error}"))?;
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    output.status.success().then_some(()).ok_or_else(|| format!("{named} failed: {said}"))
}
