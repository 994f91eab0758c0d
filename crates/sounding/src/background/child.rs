//! The command: it is started, gets the signals that are meant for it, and is waited for.

use std::ffi::OsString;
use std::fs::File;
use std::io::{self, Write as _};
use std::os::fd::AsFd;
use std::os::unix::process::CommandExt;
use std::process::Command;
use std::time::Duration;

use nix::errno::Errno;
use nix::poll::{PollFd, PollFlags, PollTimeout, poll};
use nix::sys::signal::{SigSet, Signal, kill};
use nix::sys::signalfd::{SfdFlags, SignalFd};
use nix::sys::wait::{WaitPidFlag, WaitStatus, waitpid};
use nix::unistd::{Gid, Pid, Uid, setgid, setgroups, setuid};
use sounding_host::caller::Caller;

/// A terminal sends a signal to all of its foreground processes, so that the command has it already
/// (`SI_KERNEL`).
const BY_TERMINAL: i32 = 0x80;

/// Signals to this process, read one after the other.
pub(super) struct Signals(SignalFd);

impl Signals {
    /// From here on no signal of these interrupts this thread.
    pub(super) fn catch() -> io::Result<Self> {
        let mut mask = SigSet::empty();
        for signal in
            [Signal::SIGINT, Signal::SIGTERM, Signal::SIGHUP, Signal::SIGQUIT, Signal::SIGCHLD]
        {
            mask.add(signal);
        }
        mask.thread_block()?;
        Ok(Self(SignalFd::with_flags(&mask, SfdFlags::SFD_CLOEXEC | SfdFlags::SFD_NONBLOCK)?))
    }
}

/// A running command.
pub(super) struct Running {
    pid: Pid,
}

impl Running {
    /// Starts it in a cgroup, as a user.
    pub(super) fn start(
        words: &[OsString],
        procs: Option<&File>,
        user: Option<Caller>,
    ) -> io::Result<Self> {
        // Processes that the command leaves behind become children of this process. Their sockets
        // are the command's too.
        let _ = nix::sys::prctl::set_child_subreaper(true);
        let mut command = Command::new(&words[0]);
        command.args(&words[1..]);
        let (groups, home) = user.map_or((Vec::new(), None), Caller::known);
        match (&home, user) {
            (Some(home), _) => home.name_in(&mut command),
            // A user that the machine does not know has no files.
            (None, Some(_)) => drop(command.env("HOME", "/")),
            (None, None) => {}
        }
        let groups: Vec<Gid> = groups.into_iter().map(Gid::from_raw).collect();
        let procs = procs.map(File::try_clone).transpose()?;
        // SAFETY: system calls alone, which are async-signal-safe; nothing is allocated.
        unsafe {
            command.pre_exec(move || {
                SigSet::empty().thread_set_mask()?;
                if let Some(mut procs) = procs.as_ref() {
                    procs.write_all(b"0")?;
                }
                if let Some(user) = user {
                    setgroups(&groups)?;
                    setgid(Gid::from_raw(user.gid))?;
                    setuid(Uid::from_raw(user.uid))?;
                }
                Ok(())
            });
        }
        let child = command.spawn()?;
        Ok(Self { pid: Pid::from_raw(child.id() as i32) })
    }

    /// Waits for its end, and passes signals on. Calls `look` at least so often. Returns the exit
    /// code, as a shell has it.
    pub(super) fn wait(
        &self,
        signals: &Signals,
        every: Option<Duration>,
        mut look: impl FnMut(),
    ) -> io::Result<u8> {
        let timeout = every.map_or(PollTimeout::NONE, |every| {
            PollTimeout::try_from(every).unwrap_or(PollTimeout::MAX)
        });
        loop {
            look();
            if let Some(code) = self.reap()? {
                return Ok(code);
            }
            let mut fds = [PollFd::new(signals.0.as_fd(), PollFlags::POLLIN)];
            match poll(&mut fds, timeout) {
                Ok(_) | Err(Errno::EINTR) => {}
                Err(error) => return Err(error.into()),
            }
            while let Some(info) = signals.0.read_signal()? {
                let signal = Signal::try_from(info.ssi_signo as i32)?;
                if signal != Signal::SIGCHLD && info.ssi_code != BY_TERMINAL {
                    // One that has just ended needs no signal.
                    let _ = kill(self.pid, signal);
                }
            }
        }
    }

    /// Takes in who has ended. Returns the command's exit code, if it has.
    fn reap(&self) -> io::Result<Option<u8>> {
        let mut code = None;
        loop {
            match waitpid(None, Some(WaitPidFlag::WNOHANG)) {
                Ok(WaitStatus::Exited(pid, status)) if pid == self.pid => code = Some(status as u8),
                Ok(WaitStatus::Signaled(pid, signal, _)) if pid == self.pid => {
                    code = Some(128 + signal as i32 as u8);
                }
                Ok(WaitStatus::StillAlive) | Err(Errno::ECHILD) => return Ok(code),
                Ok(_) | Err(Errno::EINTR) => {}
                Err(error) => return Err(error.into()),
            }
        }
    }
}
