use std::process::ExitCode;

use miette::IntoDiagnostic;
use sounding_lab::validation;

use super::mahimahi;

/// mahimahi, the emulator and virtual time, each beside the next: CUBIC and BBR over the same recorded links
// Its group would have the name of the one that is flattened into it.
#[derive(clap::Args)]
#[group(skip)]
pub(super) struct Args {
    #[command(flatten)]
    rows: mahimahi::Args,
}

pub(super) fn run(args: Args) -> miette::Result<ExitCode> {
    let (plan, output) = args.rows.plan();
    let chain = validation::run(&plan, |line| eprintln!("{line}")).into_diagnostic()?;
    output.write(&chain.to_string(), &chain.to_markdown(), &chain)?;
    Ok(ExitCode::SUCCESS)
}
