//! The receiver and the sender of a call, each in its namespace. Both end with this process,
//! whatever happens.

use std::fs::File;
use std::io::{self, Read};
use std::net::Ipv4Addr;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use sounding_emu::Netns;

use super::CallError;

/// The receiver listens within this.
const READY: Duration = Duration::from_secs(20);
/// After the sender the receiver ends within this.
const GRACE: Duration = Duration::from_secs(10);

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

/// Both ends of a call: where they run, and what they are.
#[derive(Debug)]
pub(super) struct Ends<'a> {
    pub(super) receiver: &'a Netns,
    pub(super) program: &'a Path,
    /// Before its socket and its log.
    pub(super) words: Vec<String>,
    pub(super) sender: &'a Netns,
    /// The folder of the sender.
    pub(super) caller: &'a Path,
    /// The receiver's.
    pub(super) address: Ipv4Addr,
    /// Beside these.
    pub(super) flags: Vec<String>,
    pub(super) length: Duration,
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
    pub(super) fn start(ends: &Ends<'_>, folder: &Path) -> Result<Self, CallError> {
        let place = |name: &str| folder.join(name);
        let at_most = ends.length + READY + GRACE + GRACE;
        let mut peer = Process::start(ends.receiver, ends.program, |command| {
            command.args(&ends.words);
            command.arg("--socket").arg(place("peer")).arg("--log").arg(place("log"));
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
        let caller = Process::start(ends.sender, Path::new("node"), |command| {
            command.arg("call.js").current_dir(ends.caller).stdout(said);
            command.arg("--socket").arg(place("peer"));
            command.args(["--address", &ends.address.to_string()]);
            command.args(["--seconds", &ends.length.as_secs_f64().to_string()]);
            command.args(&ends.flags);
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
