use std::process::ExitCode;
use std::time::Duration;

use miette::IntoDiagnostic;
use sounding_lab::emu_cells;

use super::Output;

/// How punctual modelled cells are in real time, and for how much CPU time
#[derive(clap::Args)]
pub(super) struct Args {
    /// How long to run each cell
    #[arg(long, value_name = "TIME", default_value = "8s", value_parser = humantime::parse_duration)]
    duration: Duration,

    /// Percent of a core for punctuality
    #[arg(long, value_name = "PERCENT", default_value_t = 10, value_parser = clap::value_parser!(u8).range(1..=100))]
    punctuality: u8,

    #[command(flatten)]
    output: Output,
}

/// Runs the experiment.
pub(super) fn run(args: Args) -> miette::Result<ExitCode> {
    let program = std::env::current_exe().into_diagnostic()?;
    let plan =
        emu_cells::Plan { duration: args.duration, overhead_percent: args.punctuality, program };
    let progress = |row: &emu_cells::Row| {
        eprintln!("{}: {:.1} Mbit/s", row.cell, row.throughput_mbit_per_sec);
    };
    let result = emu_cells::run(&plan, progress).into_diagnostic()?;
    args.output.write(&result.to_string(), &result.to_markdown(), &result)?;
    Ok(ExitCode::SUCCESS)
}
