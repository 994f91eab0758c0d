use std::fs;
use std::path::PathBuf;
use std::process::ExitCode;
use std::time::Duration;

use miette::IntoDiagnostic;
use sounding_experiment::provenance;
use sounding_lab::overhead;
use sounding_units::Rate;

use super::Output;

/// What a modem sends by log mask, and the CPU time of the process that reads it
#[derive(clap::Args)]
pub(super) struct Args {
    /// Captures of mixed records; without any, the LTE captures of the shared data
    #[arg(long, value_name = "FILE,…", value_delimiter = ',')]
    captures: Vec<PathBuf>,

    /// How fast diagnostic data comes while CPU time is measured
    #[arg(long, value_name = "RATE", default_value = "5Mbit")]
    rate: Rate,

    /// How long to measure CPU time, each way
    #[arg(long, value_name = "TIME", default_value = "20s", value_parser = humantime::parse_duration)]
    duration: Duration,

    /// Folder with captures
    #[arg(long, value_name = "DIR", env = "SOUNDING_DATA", default_value = "../shared/data")]
    data: PathBuf,

    #[command(flatten)]
    output: Output,
}

/// LTE captures of mixed records, in the shared data.
const MIXED: &str = "captures/lgs96__mobileinsight_core";

/// The kernel's part of CPU time is as exact as a hundredth of a second.
const SHORTEST: Duration = Duration::from_secs(1);

/// Runs the experiment.
pub(super) fn run(args: Args) -> miette::Result<ExitCode> {
    if args.duration < SHORTEST {
        return Err(miette::miette!("--duration is at least {SHORTEST:?}"));
    }
    let mut captures = args.captures;
    if captures.is_empty() {
        let folder = fs::read_dir(args.data.join(MIXED)).into_iter().flatten().flatten();
        captures.extend(folder.map(|entry| entry.path()));
        captures.sort();
    }
    let program = std::env::current_exe().into_diagnostic()?;
    let plan = overhead::Plan { captures, rate: args.rate, duration: args.duration, program };
    let begun = provenance::Begun::now();
    let result = overhead::run(&plan, |line| eprintln!("{line}")).into_diagnostic()?;
    let text = result.to_string();
    args.output.write(&text, &format!("{text}\n{}", begun.end()), &result)?;
    Ok(ExitCode::SUCCESS)
}
