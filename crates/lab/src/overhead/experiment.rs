use std::fs;
use std::path::PathBuf;
use std::time::Duration;

use miette::IntoDiagnostic;
use sounding_experiment::provenance;
use sounding_units::Rate;

use crate::experiment::{Experiment, Host, Outcome, program, report};
use crate::overhead;

/// A modem's output by log mask, and the CPU time of the process that reads it
#[derive(clap::Args)]
pub(crate) struct Flags {
    /// Captures of mixed records; without any, the LTE captures of the shared data
    #[arg(long, value_name = "FILE,…", value_delimiter = ',')]
    captures: Vec<PathBuf>,

    /// Rate of the diagnostic data while CPU time is measured
    #[arg(long, value_name = "RATE", default_value = "5Mbit")]
    rate: Rate,

    /// Duration of the measurement of CPU time, for each way to read
    #[arg(long, value_name = "TIME", default_value = "20s", value_parser = humantime::parse_duration)]
    duration: Duration,

    /// Folder with captures
    #[arg(long, value_name = "DIR", env = "SOUNDING_DATA", default_value = "../shared/data")]
    data: PathBuf,
}

/// LTE captures of mixed records, in the shared data.
const MIXED: &str = "captures/lgs96__mobileinsight_core";

/// Shortest measurement, because the kernel's part of CPU time has a resolution of a hundredth of a second.
const SHORTEST: Duration = Duration::from_secs(1);

/// See the module.
pub(crate) struct OverheadExperiment;

impl Experiment for OverheadExperiment {
    type Flags = Flags;

    fn name(&self) -> &'static str {
        "overhead"
    }

    fn about(&self) -> &'static str {
        "what a modem sends by log mask, and CPU time of its reader"
    }

    fn duration(&self) -> Option<&'static str> {
        Some("4 min")
    }

    fn run(&self, flags: Flags, host: &dyn Host) -> miette::Result<Option<Outcome>> {
        if flags.duration < SHORTEST {
            return Err(miette::miette!("--duration is at least {SHORTEST:?}"));
        }
        let mut captures = flags.captures;
        if captures.is_empty() {
            let folder = fs::read_dir(flags.data.join(MIXED)).into_iter().flatten().flatten();
            captures.extend(folder.map(|entry| entry.path()));
            captures.sort();
        }
        let program = program()?;
        let plan = overhead::Plan { captures, rate: flags.rate, duration: flags.duration, program };
        let begun = provenance::Begun::now();
        let result = overhead::run(&plan, |line| report(host, line)).into_diagnostic()?;
        Outcome::of_markdown(result.to_string(), &begun.end(), &result).map(Some)
    }
}
