//! Where CPU time goes.

use std::fs;
use std::path::{Path, PathBuf};
use std::time::Duration;

/// The kernel's accounts cannot be read.
#[derive(Debug, thiserror::Error)]
#[error("{path}: {what}")]
pub struct ReadError {
    path: String,
    what: String,
}

/// Accounts at one moment.
#[derive(Clone, Copy, Debug)]
pub(super) struct Snapshot {
    pub(super) process: Duration,
    pub(super) softirq: Duration,
    pub(super) machine: Duration,
}

impl Snapshot {
    pub(super) fn take() -> Result<Self, ReadError> {
        Ok(Self { process: usage(libc::RUSAGE_SELF), softirq: softirq()?, machine: machine()? })
    }
}

/// CPU time of the calling thread.
pub(super) fn this_thread() -> Duration {
    usage(libc::RUSAGE_THREAD)
}

fn usage(who: i32) -> Duration {
    // SAFETY: all zeroes is a value of this structure of integers.
    let mut usage: libc::rusage = unsafe { std::mem::zeroed() };
    // SAFETY: the kernel writes into `usage`, and both values of `who` are defined.
    unsafe { libc::getrusage(who, &mut usage) };
    let time = |at: libc::timeval| {
        Duration::from_secs(at.tv_sec as u64) + Duration::from_micros(at.tv_usec as u64)
    };
    time(usage.ru_utime) + time(usage.ru_stime)
}

/// Time of the kernel's softirq threads. What softirqs take from a running thread is counted as that thread's.
fn softirq() -> Result<Duration, ReadError> {
    let mut total = Duration::ZERO;
    for thread in softirq_threads() {
        let path = thread.join("schedstat");
        let text = read(&path)?;
        let nanos = text.split_whitespace().next().and_then(|field| field.parse().ok());
        total += Duration::from_nanos(nanos.ok_or_else(|| odd(&path, &text))?);
    }
    Ok(total)
}

fn softirq_threads() -> Vec<PathBuf> {
    let processes = fs::read_dir("/proc").into_iter().flatten().flatten().map(|entry| entry.path());
    let named = |path: &PathBuf| {
        fs::read_to_string(path.join("comm")).is_ok_and(|comm| comm.starts_with("ksoftirqd/"))
    };
    processes.filter(named).collect()
}

/// Time that the machine was not idle.
fn machine() -> Result<Duration, ReadError> {
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
    // user nice system idle iowait irq softirq steal (proc_stat(5))
    let [user, nice, system, _, _, irq, softirq, ..] = fields[..] else {
        return Err(odd(path, text.lines().next().unwrap_or_default()));
    };
    // SAFETY: a plain question.
    let ticks = unsafe { libc::sysconf(libc::_SC_CLK_TCK) }.max(1) as u64;
    Ok(Duration::from_micros((user + nice + system + irq + softirq) * 1_000_000 / ticks))
}

/// Load average over the last minute.
pub(super) fn load() -> Result<f64, ReadError> {
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
