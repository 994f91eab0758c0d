//! The receiver at the server, and the sender at the device. Both end with this process, whatever happens.

use std::fs::File;
use std::io::{self, Read};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::{Mutex, OnceLock, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use sounding_emu::{Emulation, Netns};

use super::{CallConfig, CallError};

/// The receiver listens within this.
const READY: Duration = Duration::from_secs(20);
/// After the sender the receiver ends within this.
const GRACE: Duration = Duration::from_secs(10);

/// Checks that node is there, and fetches the packages that the sender's lock file names, once.
///
/// # Errors
///
/// Why there can be no call here.
pub fn may_call(caller: &Path) -> Result<(), String> {
    static PREPARED: OnceLock<Mutex<()>> = OnceLock::new();
    let turn = PREPARED.get_or_init(Mutex::default);
    let _turn = turn.lock().unwrap_or_else(PoisonError::into_inner);
    finish(Command::new("node").arg("--version"))?;
    let changed = |name: &str| std::fs::metadata(caller.join(name))?.modified();
    let installed = changed("node_modules/.package-lock.json");
    if let (Ok(installed), Ok(locked)) = (installed, changed("package-lock.json"))
        && installed >= locked
    {
        return Ok(());
    }
    finish(Command::new("npm").args(["ci", "--no-audit", "--no-fund"]).current_dir(caller))
}

fn finish(command: &mut Command) -> Result<(), String> {
    let named = command.get_program().to_string_lossy().into_owned();
    let output = command.output().map_err(|error| format!("{named}: {error}"))?;
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    output.status.success().then_some(()).ok_or_else(|| format!("{named} failed: {said}"))
}

/// A process whose namespace of processes ends with it.
#[derive(Debug)]
struct Process {
    program: PathBuf,
    child: Child,
}

impl Process {
    fn start(
        netns: &Netns,
        program: &Path,
        set: impl FnOnce(&mut Command),
    ) -> Result<Self, CallError> {
        let mut command = netns.command(program);
        command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::piped());
        set(&mut command);
        let program = program.to_owned();
        match command.spawn() {
            Ok(child) => Ok(Self { program, child }),
            Err(source) => Err(CallError::Program { program, source }),
        }
    }

    fn failed(&self, said: impl Into<String>) -> CallError {
        CallError::Failed { program: self.program.clone(), said: said.into() }
    }

    /// Waits for it to end well.
    fn finish(&mut self, until: Instant) -> Result<(), CallError> {
        let status = loop {
            match self.child.try_wait()? {
                Some(status) => break status,
                None if Instant::now() > until => return Err(self.failed("it does not end")),
                None => thread::sleep(Duration::from_millis(20)),
            }
        };
        if status.success() {
            return Ok(());
        }
        let mut said = String::new();
        if let Some(stderr) = &mut self.child.stderr {
            // More does not help; no process holds the other end any more.
            stderr.take(16 << 10).read_to_string(&mut said)?;
        }
        Err(self.failed(format!("it ended with {status}: {}", said.trim())))
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// Both programs.
#[derive(Debug)]
pub(super) struct Programs {
    // The sender ends first.
    caller: Process,
    peer: Process,
    folder: PathBuf,
}

impl Programs {
    /// Starts both. The thread that calls this must live as long as they do.
    pub(super) fn start(
        emulation: &Emulation,
        config: &CallConfig,
        folder: &Path,
    ) -> Result<Self, CallError> {
        let place = |name: &str| folder.join(name);
        let at_most = config.length + READY + GRACE + GRACE;
        let mut peer = Process::start(emulation.far(), &config.peer, |command| {
            command.arg("--socket").arg(place("peer")).arg("--log").arg(place("log"));
            command.args(["--corrections", config.corrected.name()]);
            command.args(["--at-most", &at_most.as_secs().to_string()]);
        })?;
        let until = Instant::now() + READY;
        while !place("peer").exists() {
            if peer.child.try_wait()?.is_some() || Instant::now() > until {
                peer.finish(Instant::now())?;
                return Err(peer.failed("it does not listen"));
            }
            thread::sleep(Duration::from_millis(10));
        }
        let said = File::create(place("said"))?;
        let address = emulation.far_address().to_string();
        let caller = Process::start(emulation.near(), Path::new("node"), |command| {
            command.arg("call.js").current_dir(&config.caller).stdout(said);
            command.arg("--socket").arg(place("peer")).args(["--address", &address]);
            command.args(["--seconds", &config.length.as_secs_f64().to_string()]);
            if let Some(kbit) = config.most_kbit {
                command.args(["--max-kbit", &kbit.to_string()]);
            }
        })?;
        Ok(Self { caller, peer, folder: folder.to_owned() })
    }

    /// The receiver's socket.
    pub(super) fn socket(&self) -> PathBuf {
        self.folder.join("peer")
    }

    /// What the sender wrote, when both have ended.
    pub(super) fn wait(&mut self, at_most: Duration) -> Result<String, CallError> {
        self.caller.finish(Instant::now() + at_most)?;
        self.peer.finish(Instant::now() + GRACE)?;
        std::fs::read_to_string(self.folder.join("said")).map_err(|error: io::Error| error.into())
    }
}
