use std::process::ExitCode;
use std::time::Duration;

use miette::IntoDiagnostic;
use sounding_lab::agreement;

use super::Output;

/// This kernel's controllers in real time beside ours in virtual time, over the same modelled cells
#[derive(clap::Args)]
pub(super) struct Args {
    /// How long each flow sends; the first fifth is not measured
    #[arg(long, value_name = "TIME", default_value = "20s", value_parser = humantime::parse_duration)]
    duration: Duration,

    /// Seeds of each cell, counted from 1
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = clap::value_parser!(u32).range(1..))]
    seeds: u32,

    #[command(flatten)]
    output: Output,
}

/// Runs the experiment.
pub(super) fn run(args: Args) -> miette::Result<ExitCode> {
    let program = std::env::current_exe().into_diagnostic()?;
    let plan = agreement::Plan { duration: args.duration, seeds: args.seeds, program };
    let progress = |row: &agreement::Row| {
        eprintln!("{}, seed {}, {}, {}", row.cell, row.seed, row.way, row.controller);
    };
    let result = agreement::run(&plan, progress).into_diagnostic()?;
    args.output.write(&result.to_string(), &result.to_markdown(), &result)?;
    Ok(ExitCode::SUCCESS)
}
