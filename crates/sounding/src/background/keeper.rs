//! A second process that keeps the algorithm in the kernel as long as a process of the command lives, and removes the cgroup
//! after it. So nothing is left behind if this program is killed, and the command's connections stay background.

use std::fs;
use std::io::{self, Read as _};
use std::os::fd::AsRawFd;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, Command, Stdio};
use std::thread::sleep;
use std::time::{Duration, Instant};

use clap::Args;
use miette::IntoDiagnostic;
use nix::fcntl::{FcntlArg, FdFlag, fcntl};
use nix::sys::signal::{SigHandler, SigSet, Signal, signal};
use sounding_bpf::Background;

use super::cgroup::{Transient, is_populated};

/// The hidden verb under which this program is its own keeper.
pub(crate) const VERB: &str = "background-keep";

/// Until the cgroup of a process that has ended is empty, the kernel needs some milliseconds.
const PATIENCE: Duration = Duration::from_secs(2);
/// How often a keeper looks whether the last process has ended.
const LOOK: Duration = Duration::from_millis(100);

/// The keeper, from outside.
pub(super) struct Keeper {
    child: Child,
    pipe: Option<ChildStdin>,
}

impl Keeper {
    /// Starts it in a separate session. It inherits what keeps the algorithm in the kernel.
    pub(super) fn start(loaded: &Background, cgroup: &Transient) -> io::Result<Self> {
        let mut command = Command::new("/proc/self/exe");
        command.arg0("sounding").arg(VERB).arg(cgroup.path());
        if let Some(map) = loaded.outlasting() {
            command.arg("--name").arg(loaded.name()).arg("--map").arg(map.to_string());
        }
        // A reader may wait until the command's output is closed.
        command.stdin(Stdio::piped()).stdout(Stdio::null()).stderr(Stdio::null());
        command.current_dir("/");
        let kept: Vec<i32> = loaded.keeps().iter().map(AsRawFd::as_raw_fd).collect();
        // SAFETY: setsid, sigprocmask and fcntl are async-signal-safe. The descriptors are open in the child too.
        unsafe {
            command.pre_exec(move || {
                SigSet::empty().thread_set_mask()?;
                nix::unistd::setsid()?;
                for fd in &kept {
                    let fd = std::os::fd::BorrowedFd::borrow_raw(*fd);
                    fcntl(fd, FcntlArg::F_SETFD(FdFlag::empty()))?;
                }
                Ok(())
            });
        }
        let mut child = command.spawn()?;
        let pipe = child.stdin.take();
        Ok(Self { child, pipe })
    }

    /// The command has ended. Waits until the keeper has removed the cgroup, unless a process that the command started
    /// goes on.
    pub(super) fn end(mut self, cgroup: &Transient) {
        drop(self.pipe.take());
        let until = Instant::now() + PATIENCE;
        while Instant::now() < until {
            if matches!(self.child.try_wait(), Ok(Some(_)) | Err(_)) {
                return;
            }
            sleep(Duration::from_millis(5));
        }
        if cgroup.is_populated() {
            eprintln!(
                "sounding: processes of the command go on, and their connections stay background"
            );
        }
    }
}

/// Messages to the keeper.
#[derive(Args)]
pub(crate) struct Keep {
    cgroup: PathBuf,
    #[arg(long, requires = "map")]
    name: Option<String>,
    #[arg(long)]
    map: Option<u32>,
}

/// The keeper.
pub(crate) fn main(keep: &Keep) -> miette::Result<()> {
    for ignored in [Signal::SIGINT, Signal::SIGTERM, Signal::SIGHUP, Signal::SIGQUIT] {
        // SAFETY: ignoring a signal installs no handler.
        unsafe { signal(ignored, SigHandler::SigIgn) }.into_diagnostic()?;
    }
    nix::sys::prctl::set_name(c"sounding").into_diagnostic()?;
    // It ends when the other end is closed, however that comes.
    let _ = io::stdin().read_to_end(&mut Vec::new());
    let begun = Instant::now();
    while is_populated(&keep.cgroup) {
        let is_new = begun.elapsed() < PATIENCE;
        sleep(if is_new { Duration::from_millis(5) } else { LOOK });
    }
    remove(&keep.cgroup).into_diagnostic()?;
    if let (Some(name), Some(map)) = (&keep.name, keep.map) {
        sounding_bpf::unregister(name, map).into_diagnostic()?;
    }
    Ok(())
}

/// Removes a cgroup and those that the command made below it.
fn remove(cgroup: &Path) -> io::Result<()> {
    for entry in fs::read_dir(cgroup).into_iter().flatten().flatten() {
        if entry.file_type().is_ok_and(|kind| kind.is_dir()) {
            remove(&entry.path())?;
        }
    }
    match fs::remove_dir(cgroup) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error),
        _ => Ok(()),
    }
}
