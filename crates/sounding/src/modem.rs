mod port;
mod replay;
mod sim;

use std::process::ExitCode;
use std::time::Duration;

use clap::{Args, Subcommand};
use miette::Result;

use crate::progress::{self, ProgressBar};
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
    let length = Some(duration.as_millis() as u64);
    progress::line("{msg} {bar:40} {percent}% {eta} left", length)
}
