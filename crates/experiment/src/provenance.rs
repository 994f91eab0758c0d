//! The provenance of a figure: the command, the commit, the machine and its load.

use std::fmt;
use std::fs;
use std::sync::OnceLock;

use serde::Serialize;

/// The commit of the program.
static COMMIT: OnceLock<&'static str> = OnceLock::new();

/// Says which commit this program was built from, once, at its start. The program knows that: a
/// library that knew it would be compiled again with each commit, and all that stands on it.
pub fn made_from(commit: &'static str) {
    let _ = COMMIT.set(commit);
}

/// The commit this program was built from; `unknown` if it did not say.
pub(crate) fn commit() -> String {
    COMMIT.get().copied().unwrap_or("unknown").into()
}

/// Origin of figures.
#[derive(Clone, Debug, Serialize)]
pub struct Provenance {
    /// The command line that made them.
    pub command: String,
    /// The commit this program was built from, with `+` if there were changes; `unknown` outside a
    /// repository.
    pub commit: String,
    /// CPU, cores, memory and kernel.
    pub machine: String,
    /// Load average over a minute when it began.
    pub load_before: f64,
    /// Load average over a minute when it ended.
    pub load_after: f64,
    /// CPU time that the hypervisor gave to others meanwhile, in percent; 0 without a hypervisor.
    pub stolen_percent: f64,
}

/// Collects provenance from the beginning of an experiment on.
#[derive(Debug)]
pub struct Begun {
    load: f64,
    cpu: CpuTimes,
}

#[derive(Clone, Copy, Debug, Default)]
struct CpuTimes {
    total: u64,
    stolen: u64,
}

impl Begun {
    /// An experiment begins.
    pub fn now() -> Self {
        Self { load: load(), cpu: cpu_times() }
    }

    /// It ends.
    pub fn end(&self) -> Provenance {
        let now = cpu_times();
        let total = now.total.saturating_sub(self.cpu.total).max(1);
        let stolen = now.stolen.saturating_sub(self.cpu.stolen);
        Provenance {
            command: command(),
            commit: commit(),
            machine: machine(),
            load_before: self.load,
            load_after: load(),
            stolen_percent: 100.0 * stolen as f64 / total as f64,
        }
    }
}

impl Provenance {
    /// Name and value of each part, for a page.
    pub fn pairs(&self) -> Vec<(String, String)> {
        let load = format!(
            "{:.2} before, {:.2} after (average over a minute); {:.1} % of CPU time stolen",
            self.load_before, self.load_after, self.stolen_percent
        );
        [
            ("command", self.command.clone()),
            ("commit", self.commit.clone()),
            ("machine", self.machine.clone()),
            ("load", load),
        ]
        .map(|(name, value)| (name.to_string(), value))
        .to_vec()
    }
}

impl fmt::Display for Provenance {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "* Command: `{}`", self.command)?;
        writeln!(f, "* Commit: {}", self.commit)?;
        writeln!(f, "* Machine: {}", self.machine)?;
        writeln!(
            f,
            "* Load average over a minute: {:.2} before, {:.2} after; {:.1} % of CPU time stolen",
            self.load_before, self.load_after, self.stolen_percent
        )
    }
}

fn command() -> String {
    let mut words = std::env::args_os().map(|word| word.to_string_lossy().into_owned());
    // The program's folder does not matter for the figures.
    let program = words.next().unwrap_or_default();
    let program = program.rsplit('/').next().unwrap_or_default().to_owned();
    std::iter::once(program).chain(words).collect::<Vec<_>>().join(" ")
}

fn machine() -> String {
    let read = |path| fs::read_to_string(path).unwrap_or_default();
    let field = |text: &str, name: &str| {
        let line = text.lines().find(|line| line.starts_with(name));
        line.and_then(|line| Some(line.split_once(':')?.1.trim().to_owned()))
    };
    let cpu = field(&read("/proc/cpuinfo"), "model name").unwrap_or_else(|| "unknown CPU".into());
    let cores = std::thread::available_parallelism().map_or(0, usize::from);
    let memory: u64 = field(&read("/proc/meminfo"), "MemTotal")
        .and_then(|text| text.split(' ').next()?.parse().ok())
        .unwrap_or(0);
    let kernel = read("/proc/sys/kernel/osrelease");
    format!("{cpu}, {cores} cores, {} GiB, Linux {}", memory >> 20, kernel.trim())
}

/// Load average over a minute.
pub fn load() -> f64 {
    let text = fs::read_to_string("/proc/loadavg").unwrap_or_default();
    text.split(' ').next().and_then(|word| word.parse().ok()).unwrap_or(0.0)
}

fn cpu_times() -> CpuTimes {
    let text = fs::read_to_string("/proc/stat").unwrap_or_default();
    let times: Vec<u64> = text
        .lines()
        .next()
        .map(|line| line.split_whitespace().skip(1).filter_map(|word| word.parse().ok()).collect())
        .unwrap_or_default();
    // user nice system idle iowait irq softirq steal; what follows is counted among them already
    // (proc_stat(5)).
    CpuTimes { total: times.iter().take(8).sum(), stolen: times.get(7).copied().unwrap_or(0) }
}
