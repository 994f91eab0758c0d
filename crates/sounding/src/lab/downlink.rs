use std::process::ExitCode;
use std::time::Duration;

use miette::IntoDiagnostic;
use sounding_lab::downlink::{self, Channel, Plan, Row};

use super::Output;

/// A download over a modelled cell: as it is, with its receive window held by the device, and with a sender that obeys the
/// device's TCP option
#[derive(clap::Args)]
pub(super) struct Args {
    /// How long each flow sends; the first fifth is not measured
    #[arg(long, value_name = "TIME", default_value = "20s", value_parser = humantime::parse_duration)]
    duration: Duration,

    /// What the radio does: never changes, or fades as people walk by
    #[arg(long, value_name = "LIST", value_delimiter = ',', default_value = "still,fading")]
    channels: Vec<Channel>,

    /// Seeds of the cell, counted from 1
    #[arg(long, value_name = "N", default_value_t = 3, value_parser = clap::value_parser!(u32).range(1..))]
    seeds: u32,

    #[command(flatten)]
    output: Output,
}

/// A flow has found its rate before it is measured.
const SHORTEST: Duration = Duration::from_secs(5);

pub(super) fn run(args: Args) -> miette::Result<ExitCode> {
    if args.duration < SHORTEST {
        return Err(miette::miette!("--duration is at least {SHORTEST:?}"));
    }
    let program = std::env::current_exe().into_diagnostic()?;
    let Args { duration, channels, seeds, output } = args;
    let plan = Plan { duration, channels, seeds, program };
    let progress = |row: &Row| {
        eprintln!(
            "{}, {:?}, seed {}: {:.2} Mbit/s",
            row.channel.name(),
            row.way,
            row.seed,
            row.throughput_mbit_per_sec
        );
    };
    let result = downlink::run(&plan, progress).into_diagnostic()?;
    let text = result.to_string();
    output.write(&text, &format!("```\n{text}```\n\n{}", result.provenance), &result)?;
    Ok(ExitCode::SUCCESS)
}
