//! A process that reads a modem, as on a device: `sounding board` or `sounding record`.

use std::ffi::OsStr;
use std::fs;
use std::io::{self, Read};
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use nix::time::{clock_getcpuclockid, clock_gettime};
use nix::unistd::Pid;
use serde::Serialize;
use thiserror::Error;

/// The process, which ends when this is dropped.
#[derive(Debug)]
pub struct Follower(Child);

/// Why the modem is not followed.
#[derive(Debug, Error)]
pub enum FollowerError {
    /// The program does not start.
    #[error("{path}: {error}")]
    Spawn {
        /// The program.
        path: PathBuf,
        /// The system's error.
        error: io::Error,
    },
    /// It ended early.
    #[error("the process that reads the modem ended by itself: {said}")]
    Ended {
        /// Its last output.
        said: String,
    },
    /// Its CPU time or memory cannot be read.
    #[error("CPU time and memory of the process that reads the modem: {0}")]
    Cost(#[source] io::Error),
}

/// CPU time and wake-ups of a process so far.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
pub struct Cost {
    /// CPU time of all of its threads.
    pub cpu: Duration,
    /// The kernel's part of it, to a hundredth of a second.
    pub system: Duration,
    /// Times that a thread of it waited and was woken.
    pub wakes: u64,
}

/// Memory of a process.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Resident {
    /// All that is in memory, the program's file too.
    pub bytes: u64,
    /// The part that no file is behind.
    pub anonymous_bytes: u64,
}

impl Follower {
    /// Starts `program` with these arguments. Its boards and sockets are in `boards`.
    pub fn start<A: AsRef<OsStr>>(
        program: &Path,
        arguments: impl IntoIterator<Item = A>,
        boards: &Path,
    ) -> Result<Self, FollowerError> {
        let mut command = Command::new(program);
        command
            .args(arguments)
            .env("SOUNDING_BOARD_DIR", boards)
            .env("SOUNDING_RUN_DIR", boards)
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::piped());
        // SAFETY: prctl is async-signal-safe and touches nothing but the child.
        unsafe {
            command.pre_exec(|| {
                Ok(nix::sys::prctl::set_pdeathsig(nix::sys::signal::Signal::SIGTERM)?)
            });
        }
        let spawned = command.spawn();
        spawned
            .map(Self)
            .map_err(|error| FollowerError::Spawn { path: program.to_path_buf(), error })
    }

    /// An error once it has ended.
    pub fn check(&mut self) -> Result<(), FollowerError> {
        if !matches!(self.0.try_wait(), Ok(Some(_))) {
            return Ok(());
        }
        let mut said = String::new();
        let _ = self.0.stderr.take().map(|mut stderr| stderr.read_to_string(&mut said));
        let last = said.trim().lines().next_back().unwrap_or("without a word").to_owned();
        Err(FollowerError::Ended { said: last })
    }

    /// Its cost so far.
    pub fn cost(&self) -> Result<Cost, FollowerError> {
        let pid = self.0.id();
        let cost = || -> io::Result<Cost> {
            let clock = clock_getcpuclockid(Pid::from_raw(pid as i32))?;
            let cpu = clock_gettime(clock)?.into();
            let (mut ticks, mut wakes) = (0, 0);
            for task in fs::read_dir(format!("/proc/{pid}/task"))? {
                let task = task?.path();
                ticks += system_ticks(&fs::read_to_string(task.join("stat"))?).unwrap_or(0);
                wakes += voluntary(&fs::read_to_string(task.join("status"))?).unwrap_or(0);
            }
            // SAFETY: a plain question.
            let per_sec = unsafe { libc::sysconf(libc::_SC_CLK_TCK) }.max(1) as u64;
            Ok(Cost { cpu, system: Duration::from_micros(ticks * 1_000_000 / per_sec), wakes })
        };
        cost().map_err(FollowerError::Cost)
    }

    /// Its memory now.
    pub fn resident(&self) -> Result<Resident, FollowerError> {
        let status = fs::read_to_string(format!("/proc/{}/status", self.0.id()));
        let status = status.map_err(FollowerError::Cost)?;
        let of = |key| kibibytes(&status, key).unwrap_or_default() * 1024;
        Ok(Resident { bytes: of("VmRSS:"), anonymous_bytes: of("RssAnon:") })
    }
}

impl Cost {
    /// The cost since an earlier time.
    pub fn since(&self, earlier: &Self) -> Self {
        Self {
            cpu: self.cpu.saturating_sub(earlier.cpu),
            system: self.system.saturating_sub(earlier.system),
            wakes: self.wakes.saturating_sub(earlier.wakes),
        }
    }
}

/// `stime` of a line of /proc/PID/stat: the 15th field. The second field is a name in brackets,
/// which may contain any characters (proc_pid_stat(5)).
fn system_ticks(stat: &str) -> Option<u64> {
    stat.rsplit_once(") ")?.1.split(' ').nth(12)?.parse().ok()
}

/// `voluntary_ctxt_switches` of /proc/PID/status.
fn voluntary(status: &str) -> Option<u64> {
    let line = status.lines().find_map(|line| line.strip_prefix("voluntary_ctxt_switches:"));
    line?.trim().parse().ok()
}

/// A size in /proc/PID/status.
fn kibibytes(status: &str, key: &str) -> Option<u64> {
    let line = status.lines().find_map(|line| line.strip_prefix(key));
    line?.trim().strip_suffix("kB")?.trim().parse().ok()
}

impl Drop for Follower {
    fn drop(&mut self) {
        // SAFETY: the child has not been waited for, so the id is its own.
        unsafe { libc::kill(self.0.id() as i32, libc::SIGINT) };
        // It takes the modem a moment to take its masks back.
        let patience = Duration::from_millis(10);
        for _ in 0..300 {
            match self.0.try_wait() {
                Ok(None) => std::thread::sleep(patience),
                Ok(Some(_)) | Err(_) => return,
            }
        }
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_the_kernel_says_of_a_process_is_read() {
        let stat = "12 (a ) b) S 1 1 1 0 -1 4194304 9 0 0 0 31 7 0 0 20 0 1 0 5 0 0";
        assert_eq!(system_ticks(stat), Some(7));
        let status = "Name:\tx\nvoluntary_ctxt_switches:\t41\nnonvoluntary_ctxt_switches:\t2\n";
        assert_eq!(voluntary(status), Some(41));
        let status = "VmRSS:\t   13900 kB\nRssAnon:\t    2800 kB\n";
        assert_eq!(kibibytes(status, "RssAnon:"), Some(2800));
    }

    #[test]
    fn a_follower_that_ends_says_why() {
        let arguments = ["-c", "echo no such modem >&2"];
        let mut follower =
            Follower::start(Path::new("/bin/sh"), arguments, Path::new("/")).expect("a shell");
        let said = loop {
            match follower.check() {
                Ok(()) => std::thread::sleep(Duration::from_millis(5)),
                Err(error) => break error.to_string(),
            }
        };
        assert!(said.ends_with("no such modem"), "{said}");
        let missing = Follower::start(Path::new("/no/such/program"), ["x"], Path::new("/"));
        assert!(matches!(missing, Err(FollowerError::Spawn { .. })));
    }
}
