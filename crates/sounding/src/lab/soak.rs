use std::process::ExitCode;
use std::time::Duration;

use miette::IntoDiagnostic;
use sounding_lab::soak;

use super::Output;

/// Links, flows and daemons that come and go, and what they leave behind: fails on a leak, an alarm of the kernel, or a flow
/// that stands still
#[derive(clap::Args)]
pub(super) struct Args {
    /// How long to go on
    #[arg(long, value_name = "TIME", default_value = "1h", value_parser = humantime::parse_duration)]
    duration: Duration,

    /// How long a daemon lives until it is killed or ended, on average
    #[arg(long, value_name = "TIME", default_value = "2min", value_parser = humantime::parse_duration)]
    restart_every: Duration,

    /// Of links, flows and kills
    #[arg(long, value_name = "NUMBER", default_value_t = 1)]
    seed: u64,

    #[command(flatten)]
    output: Output,
}

pub(super) fn run(args: Args) -> miette::Result<ExitCode> {
    let Args { duration, restart_every, seed, output } = args;
    let program = std::env::current_exe().into_diagnostic()?;
    let plan = soak::Plan { duration, restart_every, seed, program };
    let summary = soak::run(&plan, |line| eprintln!("{line}")).into_diagnostic()?;
    let text = summary.to_string();
    let provenance = summary.provenance.as_ref().map(ToString::to_string).unwrap_or_default();
    output.write(&text, &format!("```\n{text}```\n\n{provenance}"), &summary)?;
    Ok(if summary.is_clean() { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}
