use std::path::PathBuf;
use std::process::ExitCode;
use std::time::Duration;

use miette::IntoDiagnostic;
use sounding_lab::mahimahi;

use super::Output;

/// Kernel CUBIC and BBR through the emulator against the same through mahimahi, over the same traces
#[derive(clap::Args)]
pub(super) struct Args {
    /// Repetitions of each row; the reference has three
    #[arg(long, value_name = "N", default_value_t = 3, value_parser = clap::value_parser!(u8).range(1..))]
    reps: u8,

    /// Only rows whose name contains this, as `vz-short`, `down` or `vz-short.down.cubic`
    #[arg(long, value_name = "TEXT")]
    traces: Option<String>,

    /// How long to look at each flow; the reference looked for 60s
    #[arg(long, value_name = "TIME", default_value = "60s", value_parser = humantime::parse_duration)]
    duration: Duration,

    /// Emulations at once; more than one disturb each other on a small machine
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = clap::value_parser!(u8).range(1..))]
    jobs: u8,

    /// Folder with mahimahi's traces and results
    #[arg(long, value_name = "DIR", env = "SOUNDING_DATA", default_value = "../shared/data")]
    data: PathBuf,

    #[command(flatten)]
    output: Output,
}

impl Args {
    pub(super) fn plan(self) -> (mahimahi::Plan, Output) {
        let Self { reps, traces, duration, jobs, data, output } = self;
        let (reps, jobs) = (reps.into(), jobs.into());
        (mahimahi::Plan { data, reps, filter: traces, window: duration, jobs }, output)
    }
}

/// Runs the experiment.
pub(super) fn run(args: Args) -> miette::Result<ExitCode> {
    let (plan, output) = args.plan();
    let comparison = mahimahi::run(&plan, |line| eprintln!("{line}")).into_diagnostic()?;
    output.write(&comparison.to_string(), &comparison.to_markdown(), &comparison)?;
    Ok(ExitCode::SUCCESS)
}
