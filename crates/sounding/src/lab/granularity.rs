use std::process::ExitCode;
use std::time::Duration;

use miette::IntoDiagnostic;
use sounding_experiment::provenance;
use sounding_lab::granularity;

use super::Output;

/// Time between deliveries of a KPI that a simulated modem makes every 10 ms, and its age when a reader sees it
#[derive(clap::Args)]
pub(super) struct Args {
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

    #[command(flatten)]
    output: Output,
}

/// Runs the experiment.
pub(super) fn run(args: Args) -> miette::Result<ExitCode> {
    let begun = provenance::Begun::now();
    let progress = |row: &granularity::Row| eprintln!("{}: {} deliveries", row.way, row.deliveries);
    let program = std::env::current_exe().into_diagnostic()?;
    let Args { ways, duration, cpu_latency, output } = args;
    let plan = granularity::Plan { ways, duration, program, cpu_latency };
    let result = granularity::run(&plan, progress).into_diagnostic()?;
    let text = result.to_string();
    output.write(&text, &format!("{text}\n{}", begun.end()), &result)?;
    Ok(ExitCode::SUCCESS)
}
