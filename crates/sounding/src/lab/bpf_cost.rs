use std::process::ExitCode;
use std::time::Duration;

use sounding_experiment::provenance;
use sounding_lab::bpf_cost;

use super::Output;

/// What our laws cost in CPU time, beside the kernel's own BBR and CUBIC
#[derive(clap::Args)]
pub(super) struct Args {
    /// Runs of each algorithm
    #[arg(long, value_name = "N", default_value_t = 10, value_parser = clap::value_parser!(u32).range(1..))]
    reps: u32,

    /// How long each run sends
    #[arg(long, value_name = "TIME", default_value = "3s", value_parser = humantime::parse_duration)]
    duration: Duration,

    #[command(flatten)]
    output: Output,
}

/// Runs the experiment.
pub(super) fn run(args: Args) -> miette::Result<ExitCode> {
    let plan =
        bpf_cost::Plan { repetitions: args.reps, span: args.duration, ..bpf_cost::Plan::default() };
    let begun = provenance::Begun::now();
    let progress = |_: &bpf_cost::Run| eprint!(".");
    let report = bpf_cost::measure(&plan, progress).map_err(|error| miette::miette!("{error}"))?;
    eprintln!();
    let text = report.to_string();
    args.output.write(&text, &format!("```\n{text}```\n\n{}", begun.end()), &report)?;
    Ok(ExitCode::SUCCESS)
}
