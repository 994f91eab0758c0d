use std::process::ExitCode;

use miette::IntoDiagnostic;
use sounding_lab::bound;

use super::Output;
use crate::sim::processors;

/// How often an estimate is right that says whether the radio or the sender sets the limit, in modelled cells
#[derive(clap::Args)]
pub(super) struct Args {
    /// Runs, each with a cell, a load and a flow of its own
    #[arg(long, value_name = "N", default_value_t = 1000, value_parser = clap::value_parser!(u64).range(1..=1_000_000))]
    seeds: u64,

    /// The first run's seed; the others follow
    #[arg(long, value_name = "SEED", default_value_t = 0, value_parser = clap::value_parser!(u64).range(..=1 << 40))]
    first: u64,

    /// Runs at once; as many as this machine has processors unless stated
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u8).range(1..))]
    jobs: Option<u8>,

    #[command(flatten)]
    output: Output,
}

/// Runs the experiment.
pub(super) fn run(args: Args) -> miette::Result<ExitCode> {
    let plan = bound::Plan {
        first: args.first,
        seeds: args.seeds,
        jobs: args.jobs.map_or_else(processors, usize::from),
    };
    let step = (plan.seeds / 20).max(1);
    let progress = |done: u64| {
        if done.is_multiple_of(step) {
            eprintln!("{done} of {} runs", plan.seeds);
        }
    };
    let outcome = bound::run(&plan, progress).into_diagnostic()?;
    let text = outcome.to_string();
    let page = format!("```\n{text}```\n\n{}", outcome.provenance);
    args.output.write(&text, &page, &outcome)?;
    Ok(ExitCode::SUCCESS)
}
