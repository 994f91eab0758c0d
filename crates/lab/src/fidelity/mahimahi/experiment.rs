use std::path::PathBuf;
use std::time::Duration;

use crate::experiment::{Card, Experiment, Host, Needs, Outcome, report};
use crate::fidelity::mahimahi;

/// Kernel CUBIC and BBR through the emulator, compared with the same through mahimahi over the same
/// traces
#[derive(clap::Args)]
pub(crate) struct Flags {
    /// Repetitions of each row; the reference has three
    #[arg(long, value_name = "N", default_value_t = 3, value_parser = clap::value_parser!(u8).range(1..))]
    reps: u8,

    /// Only rows whose name contains this, as `vz-short`, `down` or `vz-short.down.cubic`
    #[arg(long, value_name = "TEXT")]
    traces: Option<String>,

    /// Measured time of each flow; the reference has 60s
    #[arg(long, value_name = "TIME", default_value = "60s", value_parser = humantime::parse_duration)]
    duration: Duration,

    /// Emulations at once; on a small machine several disturb each other
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = clap::value_parser!(u8).range(1..))]
    jobs: u8,

    /// Folder with mahimahi's traces and results
    #[arg(long, value_name = "DIR", env = "SOUNDING_DATA", default_value = "../shared/data")]
    data: PathBuf,
}

impl Flags {
    pub(crate) fn plan(self) -> mahimahi::Plan {
        let Self { reps, traces, duration, jobs, data } = self;
        let (reps, jobs) = (reps.into(), jobs.into());
        mahimahi::Plan { data, reps, filter: traces, window: duration, jobs }
    }
}

/// See the module.
pub(crate) struct MahimahiExperiment;

impl Experiment for MahimahiExperiment {
    type Flags = Flags;

    fn card(&self) -> Card {
        Card::new("mahimahi", "kernel CUBIC and BBR through the emulator, compared with mahimahi")
            .needs(Needs::Root)
            .lasts("40 min")
    }

    fn run(&self, flags: Flags, host: &dyn Host) -> miette::Result<Option<Outcome>> {
        let plan = flags.plan();
        let comparison = mahimahi::run(&plan, |line| report(host, line))?;
        Outcome::new(comparison.to_string(), comparison.to_markdown(), &comparison).map(Some)
    }
}
