//! A long test: a link that varies, flows that start and end, a daemon that is killed
//! and started again. It checks for leaks and for alarms of the kernel.

mod crowd;
mod machine;
mod round;

use std::collections::BTreeMap;
use std::fmt;
use std::path::PathBuf;
use std::time::Duration;

use crate::KernelLog;
use crate::daemon::DaemonError;
use crate::flow::FlowError;
use crate::radio::RadioError;
use serde::Serialize;
use sounding_emu::{EnterError, StartError, StopError, monotonic_now};
use sounding_experiment::provenance::{Begun, Provenance};
use sounding_laws::Law;
use thiserror::Error;

/// How long it lasts, and what it runs.
#[derive(Clone, Debug)]
pub struct Plan {
    /// Its duration.
    pub duration: Duration,

    /// Mean time until a daemon is killed or ended.
    pub restart_every: Duration,

    /// Seed of links, flows and kills.
    pub seed: u64,

    /// The program that is run as daemon.
    pub program: PathBuf,
}

/// Duration of a round. A round has a separate link, emulation and modem, which must not exist
/// after it.
const ROUND: Duration = Duration::from_secs(120);

/// With this many downloads, some last long enough for a daemon to limit their window.
const ENOUGH: u32 = 20;

/// Kinds of flows without a law.
pub const CUBIC: &str = "cubic";
/// Downloads under CUBIC, which the device's receive window may limit.
pub const DOWNLOADS: &str = "downloads";
/// At a constant rate.
pub const DATAGRAMS: &str = "datagrams";

/// An error that ended the test.
#[derive(Debug, Error)]
pub enum SoakError {
    /// The kernel's log cannot be read.
    #[error("/dev/kmsg: {0}: watching the kernel's log takes root")]
    Log(#[source] std::io::Error),
    /// A link could not be made.
    #[error(transparent)]
    Radio(#[from] RadioError),
    /// The emulated link does not start.
    #[error(transparent)]
    Start(#[from] StartError),
    /// The emulated link broke.
    #[error(transparent)]
    Stop(#[from] StopError),
    /// A namespace could not be entered.
    #[error(transparent)]
    Enter(#[from] EnterError),
    /// There is no pty for the modem.
    #[error("no pty for the modem: {0}")]
    Pty(#[source] std::io::Error),
    /// The modem has no thread.
    #[error("a thread for the modem: {0}")]
    Thread(#[source] std::io::Error),
    /// The daemon does not start.
    #[error(transparent)]
    Daemon(#[from] DaemonError),
    /// A flow broke.
    #[error(transparent)]
    Flow(#[from] FlowError),
}

/// The result.
#[derive(Clone, Debug, Default, Serialize)]
pub struct Summary {
    /// Duration of the test.
    pub lasted_s: f64,
    /// The number of links, each with an emulation, a modem and daemons.
    pub rounds: u32,
    /// Flows by kind: each law by its name, [`CUBIC`], [`DOWNLOADS`] (limited by the receiver),
    /// and [`DATAGRAMS`].
    pub flows: BTreeMap<&'static str, u32>,
    /// Downloads whose sender waited for the receiver's window for more than a tenth of the time.
    pub held: u32,
    /// Megabytes that TCP flows delivered.
    pub megabytes: f64,
    /// Daemons that were started.
    pub daemons: u32,
    /// Daemons that were killed while flows ran.
    pub killed: u32,
    /// Changes of state that daemons reported.
    pub transitions: u64,
    /// Heartbeats that were late: the machine was busy.
    pub late_heartbeats: u64,
    /// The largest resident set of a daemon, in KiB.
    pub daemon_rss_kib: u64,
    /// The most by which a daemon's resident set grew after its first five seconds, in KiB.
    pub daemon_growth_kib: u64,
    /// The longest time until the kernel had freed all programs, maps and links of a round.
    pub freed_within_s: f64,
    /// The faults, as text: leaks, alarms of the kernel, stalled flows, settings that were not
    /// restored.
    pub faults: Vec<String>,
    /// The machine, the commit and the load.
    pub provenance: Option<Provenance>,
}

impl Summary {
    /// Whether there were no faults.
    pub fn is_clean(&self) -> bool {
        self.faults.is_empty()
    }

    /// Number of flows of a kind.
    fn flows_of(&self, kind: &str) -> u32 {
        self.flows.get(kind).copied().unwrap_or_default()
    }
}

/// Runs for the plan's duration; calls `tell` for every round.
pub fn run(plan: &Plan, mut tell: impl FnMut(&str)) -> Result<Summary, SoakError> {
    let begun = Begun::now();
    let began = monotonic_now();
    let mut log = KernelLog::watch().map_err(SoakError::Log)?;
    let lacking = sounding_bpf::downlink_preflight().into_iter().find(|check| !check.ok);
    if let Some(check) = &lacking {
        tell(&format!("uplinks only: {}", check.detail));
    }
    let mut summary = Summary::default();
    let mut held = None;
    while monotonic_now() - began < plan.duration {
        let left = plan.duration - (monotonic_now() - began);
        let seed = plan.seed.wrapping_add(u64::from(summary.rounds));
        let faults = summary.faults.len();
        round::run(plan, seed, lacking.is_none(), left.min(ROUND), &mut summary)?;
        summary.rounds += 1;
        summary.faults.extend(log.alarms());
        // The first round opens descriptors that stay open, such as that of the random numbers.
        let now = machine::Held::now();
        let before = *held.get_or_insert(now);
        summary.faults.extend(now.more_than(before));
        tell(&format!(
            "round {}: {} flows so far, {} daemons, {} killed; {} faults",
            summary.rounds,
            summary.flows.values().sum::<u32>(),
            summary.daemons,
            summary.killed,
            summary.faults.len() - faults
        ));
    }
    let downloads = summary.flows_of(DOWNLOADS);
    if downloads >= ENOUGH && summary.held == 0 {
        summary.faults.push(format!("none of {downloads} downloads was held"));
    }
    summary.lasted_s = (monotonic_now() - began).as_secs_f64();
    summary.provenance = Some(begun.end());
    Ok(summary)
}

impl fmt::Display for Summary {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let [cubic, downloads, datagrams] =
            [CUBIC, DOWNLOADS, DATAGRAMS].map(|kind| self.flows_of(kind));
        let laws = Law::ALL.iter().map(|law| format!("{} of {law}, ", self.flows_of(law.name())));
        writeln!(f, "lasted              {:.0} s, {} rounds", self.lasted_s, self.rounds)?;
        writeln!(
            f,
            "flows               {}{cubic} of cubic, {downloads} downloads ({} held), {datagrams} of UDP",
            laws.collect::<String>(),
            self.held
        )?;
        writeln!(f, "carried by TCP      {:.1} MB", self.megabytes)?;
        writeln!(f, "daemons             {}, {} of them killed", self.daemons, self.killed)?;
        writeln!(f, "changes of state    {}", self.transitions)?;
        writeln!(f, "late heartbeats     {}", self.late_heartbeats)?;
        writeln!(
            f,
            "daemon's memory     {} KiB at most, grew by {} KiB at most",
            self.daemon_rss_kib, self.daemon_growth_kib
        )?;
        writeln!(f, "BPF objects freed   within {:.1} s", self.freed_within_s)?;
        writeln!(f, "faults              {}", self.faults.len())?;
        self.faults.iter().try_for_each(|fault| writeln!(f, "  {fault}"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_summary_with_a_fault_is_not_clean_and_shows_it() {
        assert!(Summary::default().is_clean());
        let faults = vec!["a map was left behind".to_owned()];
        let summary = Summary { faults, ..Summary::default() };
        assert!(!summary.is_clean());
        assert!(summary.to_string().ends_with("faults              1\n  a map was left behind\n"));
    }

    #[test]
    fn a_summary_counts_the_flows_of_each_law_by_its_name() {
        let flows = Law::ALL.iter().map(|law| law.name()).chain([CUBIC, DATAGRAMS]);
        let flows = flows.zip(1..).collect();
        let shown = Summary { flows, ..Summary::default() }.to_string();
        for (law, count) in Law::ALL.iter().zip(1..) {
            assert!(shown.contains(&format!("{count} of {law}, ")), "{shown}");
        }
        assert!(shown.contains("0 downloads"), "{shown}");
    }
}
