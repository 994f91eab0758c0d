//! A process's resources, and a network namespace's settings.

use std::fs;
use std::process::Command;

use sounding_bpf::{CLAIMS, pins_of};
use sounding_host::tool;

/// Resources of this process.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Held {
    descriptors: usize,
    threads: usize,
}

impl Held {
    pub(super) fn now() -> Self {
        let count = |folder: &str| fs::read_dir(folder).map_or(0, Iterator::count);
        Self { descriptors: count("/proc/self/fd"), threads: count("/proc/self/task") }
    }

    /// Describes resources whose count has grown.
    pub(super) fn more_than(self, before: Self) -> Option<String> {
        let more = self.descriptors > before.descriptors || self.threads > before.threads;
        more.then(|| format!("left open: {self:?} after a round, {before:?} after the first"))
    }
}

/// The settings of the machine and of its namespace that a daemon changes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Settings {
    default: String,
    routes: String,
    /// Whether it pins objects.
    pins: bool,
}

impl Settings {
    /// State of the calling thread's namespace, and of a daemon of this name.
    pub(super) fn now(name: &str) -> Self {
        let default = fs::read_to_string("/proc/sys/net/ipv4/tcp_congestion_control");
        let routes = Command::new(tool("ip")).args(["route", "show"]).output();
        Self {
            default: default.unwrap_or_default().trim().into(),
            pins: pins_of(name).exists(),
            routes: routes.map_or_else(
                |error| error.to_string(),
                |output| String::from_utf8_lossy(&output.stdout).trim().into(),
            ),
        }
    }
}

/// Whether there are claims of downlinks by this process.
pub(super) fn claims_downlinks(pid: u32) -> bool {
    let claims = fs::read_dir(CLAIMS).into_iter().flatten().flatten();
    let own = format!("{pid}-");
    claims.into_iter().any(|claim| claim.file_name().as_encoded_bytes().starts_with(own.as_bytes()))
}

/// The resident set of a process in KiB; `None` if there is no such process.
pub(super) fn resident_kib(pid: u32) -> Option<u64> {
    let status = fs::read_to_string(format!("/proc/{pid}/status")).ok()?;
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:"))?;
    line.trim().strip_suffix("kB")?.trim().parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn this_process_has_memory_and_one_that_is_not_there_has_none() {
        assert!(resident_kib(std::process::id()) > Some(100));
        assert_eq!(resident_kib(u32::MAX), None);
    }

    #[test]
    fn only_more_than_before_is_reported() {
        let before = Held { descriptors: 10, threads: 2 };
        assert_eq!(before.more_than(before), None);
        assert_eq!(Held { descriptors: 9, ..before }.more_than(before), None);
        assert!(Held { threads: 3, ..before }.more_than(before).is_some());
    }
}
