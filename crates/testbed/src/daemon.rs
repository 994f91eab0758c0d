//! `sounding run` as a separate process, as it runs on a device.

use std::io::{self, BufRead, BufReader};
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::mpsc;
use std::thread::JoinHandle;
use std::time::Duration;

use nix::sys::prctl::set_pdeathsig;
use nix::sys::signal::Signal;
use serde_json::Value as Json;
use sounding_emu::Netns;
use sounding_laws::RadioController;
use thiserror::Error;

/// A running daemon, and its output so far.
#[derive(Debug)]
pub struct Daemon {
    child: Child,
    events: Option<JoinHandle<Vec<Json>>>,
}

/// Why the daemon does not run.
#[derive(Debug, Error)]
pub enum DaemonError {
    /// The program does not start.
    #[error("{path}: {error}")]
    Spawn {
        /// The program.
        path: PathBuf,
        /// The system's error.
        error: io::Error,
    },
    /// It ended before it was ready; its message is on standard error.
    #[error("the daemon ended before it was ready: see its message above")]
    NotReady,
}

/// The flags for this law and this fallback.
pub fn law_flags(listener: RadioController) -> [&'static str; 4] {
    ["--law", listener.law.name(), "--fallback", listener.fallback.name()]
}

impl Daemon {
    /// Starts `program run` on a device, under a separate name in the kernel, and waits until it is
    /// ready. It ends with the thread that started it.
    pub fn start(
        program: &Path,
        device: &Path,
        name: &str,
        flags: &[&str],
    ) -> Result<Self, DaemonError> {
        Self::launch(program, on_device(program, device, name, flags))
    }

    /// The same in a network namespace.
    pub fn start_in(
        netns: &Netns,
        program: &Path,
        device: &Path,
        name: &str,
        flags: &[&str],
    ) -> Result<Self, DaemonError> {
        let mut command = on_device(program, device, name, flags);
        netns.bring_in(&mut command);
        Self::launch(program, command)
    }

    /// Starts `program run --peers` in a network namespace, like a server without a modem, and
    /// waits until it is ready. It ends with the thread that started it.
    pub fn serve_in(
        netns: &Netns,
        program: &Path,
        name: &str,
        flags: &[&str],
    ) -> Result<Self, DaemonError> {
        let mut command = Command::new(program);
        command.args(["run", "--json", "--name", name, "--peers"]).args(flags);
        netns.bring_in(&mut command);
        Self::launch(program, command)
    }

    fn launch(program: &Path, mut command: Command) -> Result<Self, DaemonError> {
        let fail = |error| DaemonError::Spawn { path: program.to_path_buf(), error };
        command.stdin(Stdio::null()).stdout(Stdio::piped());
        // If the experiment is killed, its daemon ends too and restores what it changed.
        // SAFETY: prctl is async-signal-safe and touches nothing but the child.
        unsafe { command.pre_exec(|| Ok(set_pdeathsig(Signal::SIGTERM)?)) };
        let mut child = command.spawn().map_err(fail)?;
        let stdout = child.stdout.take().expect("it was asked for");
        let (ready, is_ready) = mpsc::channel();
        let events = std::thread::Builder::new().name("events".into()).spawn(move || {
            let mut events = Vec::new();
            for line in BufReader::new(stdout).lines().map_while(Result::ok) {
                let Ok(event) = serde_json::from_str::<Json>(&line) else { continue };
                if event["event"] == "ready" {
                    let _ = ready.send(());
                }
                events.push(event);
            }
            events
        });
        let events = match events {
            Ok(events) => events,
            Err(error) => {
                // SAFETY: the child has not been waited for, so the id is its own.
                unsafe { libc::kill(child.id() as i32, libc::SIGINT) };
                let _ = child.wait();
                return Err(fail(error));
            }
        };
        if is_ready.recv().is_err() {
            let _ = child.wait();
            return Err(DaemonError::NotReady);
        }
        Ok(Self { child, events: Some(events) })
    }

    /// Its process id.
    pub fn id(&self) -> u32 {
        self.child.id()
    }

    /// Ends it like Ctrl-C; returns all its output, as JSON.
    pub fn stop(mut self) -> Vec<Json> {
        self.end(libc::SIGINT)
    }

    /// Kills it without a chance to clean up; returns all its output, as JSON.
    pub fn kill(mut self) -> Vec<Json> {
        self.end(libc::SIGKILL)
    }

    fn end(&mut self, signal: i32) -> Vec<Json> {
        let Some(events) = self.events.take() else { return Vec::new() };
        // SAFETY: the child has not been waited for, so the id is its own.
        unsafe { libc::kill(self.child.id() as i32, signal) };
        let patience = Duration::from_secs(5);
        if !wait_for(&mut self.child, patience) {
            let _ = self.child.kill();
            let _ = self.child.wait();
        }
        events.join().unwrap_or_default()
    }
}

impl Drop for Daemon {
    fn drop(&mut self) {
        self.end(libc::SIGINT);
    }
}

fn on_device(program: &Path, device: &Path, name: &str, flags: &[&str]) -> Command {
    let mut command = Command::new(program);
    command.args(["run", "--json", "--name", name, "--device"]).arg(device).args(flags);
    command
}

fn wait_for(child: &mut Child, patience: Duration) -> bool {
    const STEP: Duration = Duration::from_millis(10);
    for _ in 0..patience.as_millis() / STEP.as_millis() {
        match child.try_wait() {
            Ok(None) => std::thread::sleep(STEP),
            Ok(Some(_)) | Err(_) => return true,
        }
    }
    false
}
