use std::path::PathBuf;
use std::process::ExitCode;
use std::time::Duration;

use miette::IntoDiagnostic;
use sounding_lab::cell;

use super::Output;

/// The modelled cell beside the papers that measured real ones, and beside real captures and logs; needs no rights
#[derive(clap::Args)]
pub(super) struct Args {
    /// How many seeds
    #[arg(long, value_name = "N", default_value_t = 5, value_parser = clap::value_parser!(u32).range(1..))]
    seeds: u32,

    /// The first of them
    #[arg(long, value_name = "NUMBER", default_value_t = 1)]
    seed: u64,

    /// How long each run lasts, in the model's time
    #[arg(long, value_name = "TIME", default_value = "60s", value_parser = humantime::parse_duration)]
    duration: Duration,

    /// Folder with captures and logs
    #[arg(long, value_name = "DIR", env = "SOUNDING_DATA", default_value = "../shared/data")]
    data: PathBuf,

    #[command(flatten)]
    output: Output,
}

/// Rates and errors are looked at by the second: of fewer there is no median.
const SHORTEST: Duration = Duration::from_secs(10);

/// Runs the experiment.
pub(super) fn run(args: Args) -> miette::Result<ExitCode> {
    if args.duration < SHORTEST {
        return Err(miette::miette!("--duration is at least {SHORTEST:?}"));
    }
    let plan = cell::Plan {
        data: args.data.exists().then_some(args.data),
        seed: args.seed,
        seeds: args.seeds,
        span: args.duration,
    };
    let result = cell::run(&plan, |line| eprintln!("{line}")).into_diagnostic()?;
    args.output.write(&result.to_string(), &result.to_markdown(), &result)?;
    Ok(ExitCode::SUCCESS)
}
