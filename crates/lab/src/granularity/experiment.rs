use std::time::Duration;

use miette::IntoDiagnostic;
use sounding_experiment::provenance;

use crate::experiment::{Experiment, Host, Needs, Outcome, program, report};
use crate::granularity;

/// Time between deliveries of a KPI that a simulated modem makes every 10 ms, and its age when a reader sees it
#[derive(clap::Args)]
pub(crate) struct Flags {
    /// How records leave the modem
    #[arg(
        long,
        value_name = "WAY,…",
        value_delimiter = ',',
        default_values = granularity::Way::ALL.map(|(_, name)| name)
    )]
    ways: Vec<granularity::Way>,

    /// How long to measure each way
    #[arg(long, value_name = "TIME", default_value = "20s", value_parser = humantime::parse_duration)]
    duration: Duration,

    /// What `sounding board` is told of how long a processor may take to wake, as 0us
    #[arg(long, value_name = "TIME", value_parser = humantime::parse_duration)]
    cpu_latency: Option<Duration>,
}

/// See the module.
pub(crate) struct GranularityExperiment;

impl Experiment for GranularityExperiment {
    type Flags = Flags;

    fn name(&self) -> &'static str {
        "granularity"
    }

    fn about(&self) -> &'static str {
        "time between deliveries of a KPI and its age at a reader"
    }

    fn needs(&self) -> Needs {
        Needs::RootWith("--cpu-latency")
    }

    fn duration(&self) -> Option<&'static str> {
        Some("2 min")
    }

    fn run(&self, flags: Flags, host: &dyn Host) -> miette::Result<Option<Outcome>> {
        let begun = provenance::Begun::now();
        let progress = |row: &granularity::Row| {
            report(host, format_args!("{}: {} deliveries", row.way, row.deliveries));
        };
        let program = program()?;
        let Flags { ways, duration, cpu_latency } = flags;
        let plan = granularity::Plan { ways, duration, program, cpu_latency };
        let result = granularity::run(&plan, progress).into_diagnostic()?;
        Outcome::of_markdown(result.to_string(), &begun.end(), &result).map(Some)
    }
}
