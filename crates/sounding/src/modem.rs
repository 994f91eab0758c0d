mod port;
mod replay;
mod sim;

use std::io::IsTerminal;
use std::process::ExitCode;
use std::time::Duration;

use clap::{Args, Subcommand};
use indicatif::{ProgressBar, ProgressStyle};
use miette::Result;

pub(crate) use port::PortArgs;

/// A simulated modem
#[derive(Args, Debug)]
pub(crate) struct Modem {
    #[command(subcommand)]
    verb: Verb,
}

#[derive(Subcommand, Debug)]
enum Verb {
    Sim(Box<sim::SimArgs>),
    Replay(replay::ReplayArgs),
}

pub(crate) fn run(args: &Modem) -> Result<ExitCode> {
    match &args.verb {
        Verb::Sim(args) => sim::run(args),
        Verb::Replay(args) => replay::run(args),
    }
}

/// A bar on standard error, where that is a terminal.
fn progress(duration: Duration) -> ProgressBar {
    if !std::io::stderr().is_terminal() {
        return ProgressBar::hidden();
    }
    let style = ProgressStyle::with_template("{msg} {bar:40} {percent}% {eta} left");
    ProgressBar::new(duration.as_millis() as u64)
        .with_style(style.unwrap_or_else(|_| ProgressStyle::default_bar()))
}
