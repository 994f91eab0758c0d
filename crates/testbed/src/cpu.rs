//! Accounting of CPU time, and where a thread runs.

use std::fs;
use std::path::Path;
use std::time::{Duration, Instant};

use nix::sched::{CpuSet, sched_getaffinity, sched_setaffinity};
use nix::unistd::Pid;

/// The kernel's accounting cannot be read.
#[derive(Debug, thiserror::Error)]
#[error("{path}: {what}")]
pub struct ReadError {
    path: String,
    what: String,
}

/// The processors' work since a moment: all that a flow makes this machine do, whichever task is
/// charged. The kernel charges a softirq to the interrupted task: the other end's thread, or the
/// idle task.
#[derive(Clone, Copy, Debug)]
pub struct Busy {
    since: Instant,
    idle: Idle,
}

impl Busy {
    /// From now on.
    pub fn begin() -> Result<Self, ReadError> {
        Ok(Self { since: Instant::now(), idle: idle()? })
    }

    /// Time since then, and how much of all processors' time in it was not idle.
    pub fn end(&self) -> Result<(Duration, Duration), ReadError> {
        let (took, idle) = (self.since.elapsed(), idle()?);
        let idled = idle.total.saturating_sub(self.idle.total);
        Ok((took, (took * idle.processors).saturating_sub(idled)))
    }
}

/// Idle time since the machine was started.
#[derive(Clone, Copy, Debug)]
struct Idle {
    total: Duration,
    processors: u32,
}

/// CPU time of the calling thread.
pub fn this_thread() -> Duration {
    // SAFETY: all zeroes is a value of this structure of integers.
    let mut usage: libc::rusage = unsafe { std::mem::zeroed() };
    // SAFETY: the kernel writes into `usage`.
    unsafe { libc::getrusage(libc::RUSAGE_THREAD, &mut usage) };
    let time = |at: libc::timeval| {
        Duration::from_secs(at.tv_sec as u64) + Duration::from_micros(at.tv_usec as u64)
    };
    time(usage.ru_utime) + time(usage.ru_stime)
}

/// Keeps this thread, and processes that it starts, on one processor, where there is such a one.
pub(crate) fn stay_on(processor: usize) {
    let mut set = CpuSet::new();
    if set.set(processor).is_ok() {
        let _ = sched_setaffinity(Pid::from_raw(0), &set);
    }
}

/// The last of the processors that this thread may run on.
pub(crate) fn last_processor() -> Option<usize> {
    let set = sched_getaffinity(Pid::from_raw(0)).ok()?;
    (0..CpuSet::count()).rev().find(|processor| set.is_set(*processor).unwrap_or(false))
}

fn idle() -> Result<Idle, ReadError> {
    let path = Path::new("/proc/stat");
    let text = read(path)?;
    let fields: Vec<u64> = text
        .lines()
        .next()
        .unwrap_or_default()
        .split_whitespace()
        .skip(1)
        .filter_map(|field| field.parse().ok())
        .collect();
    // user nice system idle iowait irq softirq steal (proc_stat(5)). Time that the host steals is
    // not work here. The others are counted by ticks, which a timer-paced flow runs in step
    // with.
    let [_, _, _, idle, iowait, _, _, steal, ..] = fields[..] else {
        return Err(odd(path, text.lines().next().unwrap_or_default()));
    };
    let is_one = |line: &&str| line.starts_with("cpu") && !line.starts_with("cpu ");
    // SAFETY: a plain question.
    let ticks = unsafe { libc::sysconf(libc::_SC_CLK_TCK) }.max(1) as u64;
    Ok(Idle {
        total: Duration::from_micros((idle + iowait + steal) * 1_000_000 / ticks),
        processors: text.lines().filter(is_one).count() as u32,
    })
}

/// Load average over the last minute.
pub fn load() -> Result<f64, ReadError> {
    let path = Path::new("/proc/loadavg");
    let text = read(path)?;
    let first = text.split_whitespace().next().and_then(|field| field.parse().ok());
    first.ok_or_else(|| odd(path, &text))
}

fn read(path: &Path) -> Result<String, ReadError> {
    fs::read_to_string(path)
        .map_err(|error| ReadError { path: path.display().to_string(), what: error.to_string() })
}

fn odd(path: &Path, text: &str) -> ReadError {
    ReadError { path: path.display().to_string(), what: format!("unexpected {:?}", text.trim()) }
}
