use std::process::ExitCode;
use std::time::Duration;

use miette::IntoDiagnostic;
use sounding_lab::emu_ceiling;
use sounding_units::Rate;

use super::Output;

/// How many packets the emulator moves, how punctually, and for how much CPU time
#[derive(clap::Args)]
pub(super) struct Args {
    /// Rates of the link
    #[arg(
        long,
        value_name = "RATE,…",
        value_delimiter = ',',
        default_value = "12Mbit,100Mbit,500Mbit,1000Mbit,1200Mbit,1500Mbit"
    )]
    rates: Vec<Rate>,

    /// Delay each way
    #[arg(long, value_name = "TIME", default_value = "20ms", value_parser = humantime::parse_duration)]
    delay: Duration,

    /// How long to send at each rate
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
    let plan = emu_ceiling::Plan {
        rates: args.rates,
        delay: args.delay,
        duration: args.duration,
        overhead_percent: args.punctuality,
    };
    let progress = |row: &emu_ceiling::Row| {
        eprintln!("{:.0} Mbit/s: {:.1} % delivered", row.rate_mbit, row.delivered_percent);
    };
    let result = emu_ceiling::run(&plan, progress).into_diagnostic()?;
    args.output.write(&result.to_string(), &result.to_markdown(), &result)?;
    Ok(ExitCode::SUCCESS)
}
