//! One load: the emulator with the probe behind it, and its logs.

use std::fs;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError};
use std::time::{Duration, Instant};

use serde_json::Value as Json;

use super::inside::{BROWSER, Role};
use super::replay::Log;
use super::server::{self, Loaded};
use super::{DELAY, Lateness};
use crate::experiment::Failed;

/// A load that takes longer has failed. Chosen: the slowest trace needs some ten seconds.
const LONGEST: Duration = Duration::from_secs(120);

/// How often the emulator is looked at meanwhile.
const LOOK_EVERY: Duration = Duration::from_millis(100);

/// After the report, for the server's connections to close over the link.
const CLOSING: Duration = Duration::from_millis(500);

/// A load that has ended.
pub(super) struct Load {
    pub(super) loaded: Loaded,
    pub(super) up: Log,
    pub(super) down: Log,
    pub(super) lateness: Lateness,
}

/// The first error that a machine without a browser should get.
pub(super) fn find_browser() -> Result<(), Failed> {
    let paths = std::env::var_os("PATH").unwrap_or_default();
    match std::env::split_paths(&paths).any(|folder| folder.join(BROWSER).is_file()) {
        true => Ok(()),
        false => Err(format!("no {BROWSER} on the PATH: install it, on Debian with apt").into()),
    }
}

/// Runs the emulator until the page has reported. `None` if it was interrupted.
pub(super) fn emulate(
    program: &Path,
    links: [&Path; 2],
    port: u16,
    wait: Duration,
    reported: &Receiver<Loaded>,
    stop: &AtomicBool,
) -> Result<Option<Load>, Failed> {
    let folder = tempfile::tempdir()?;
    let role = Role { port, wait, profile: folder.path().join("profile") };
    let [up, down, result] =
        ["up.log", "down.log", "result.json"].map(|name| folder.path().join(name));
    let mut emulator = Command::new(program)
        .args(["emu", &format!("--delay={}ms", DELAY.as_millis())])
        .args(["--up".as_ref(), links[0], "--down".as_ref(), links[1]])
        .args(["--up-log".as_ref(), up.as_path(), "--down-log".as_ref(), down.as_path()])
        .args(["--json".as_ref(), result.as_path(), "--".as_ref(), program])
        .args(["lab", "run", "page", "--inside", &role.to_string()])
        // The folder is root's, so the browser and the logs are too, also under sudo.
        .env_remove("SUDO_UID")
        .env_remove("SUDO_GID")
        .stdin(Stdio::piped())
        .stdout(Stdio::null())
        .stderr(Stdio::piped())
        .spawn()?;
    let loaded = wait_for(&mut emulator, reported, stop, Instant::now() + wait + LONGEST);
    if loaded.is_some() {
        std::thread::sleep(server::LOOK_EVERY + CLOSING);
    }
    // This ends the probe's standard input, and so the browser.
    drop(emulator.stdin.take());
    let output = emulator.wait_with_output()?;
    if stop.load(Ordering::Relaxed) {
        return Ok(None);
    }
    let Some(loaded) = loaded else {
        let said = String::from_utf8_lossy(&output.stderr);
        return Err(Failed::at("the page did not report its load", said.trim()));
    };
    let read = |path: &Path| Log::parse(&fs::read_to_string(path)?);
    let lateness = lateness(&serde_json::from_slice(&fs::read(&result)?)?)?;
    Ok(Some(Load { loaded, up: read(&up)?, down: read(&down)?, lateness }))
}

/// The page's report; `None` if there will be none.
fn wait_for(
    emulator: &mut Child,
    reported: &Receiver<Loaded>,
    stop: &AtomicBool,
    until: Instant,
) -> Option<Loaded> {
    while Instant::now() < until && !stop.load(Ordering::Relaxed) {
        match reported.recv_timeout(LOOK_EVERY) {
            Ok(loaded) => return Some(loaded),
            Err(RecvTimeoutError::Disconnected) => return None,
            Err(RecvTimeoutError::Timeout) => {}
        }
        if !matches!(emulator.try_wait(), Ok(None)) {
            return None;
        }
    }
    None
}

/// The downlink's, of the emulator's result.
fn lateness(result: &Json) -> Result<Lateness, Failed> {
    let of = |name: &str| {
        let value = result["down"]["lateness_us"][name].as_f64();
        value.ok_or_else(|| Failed::from("the emulator's result has no lateness"))
    };
    Ok(Lateness { p50_us: of("p50")?, p99_us: of("p99")?, max_us: of("max")? })
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn the_lateness_is_that_of_the_downlink() {
        let way =
            |p50: f64| json!({ "lateness_us": { "p50": p50, "p95": 3.0, "p99": 5.0, "max": 8.0 } });
        let read = lateness(&json!({ "up": way(1.0), "down": way(2.0) })).expect("a result");
        assert_eq!(read, Lateness { p50_us: 2.0, p99_us: 5.0, max_us: 8.0 });
        lateness(&json!({})).expect_err("no result");
    }
}
