use std::path::PathBuf;
use std::process::ExitCode;

use clap::Args;
use miette::{IntoDiagnostic, Result, WrapErr, miette};
use sounding_host::monotonic_now;
use sounding_modem::{Pty, Replay, ReplaySchedule};

use super::progress;
use crate::skipped::counted;
use crate::{input, screen, signals};

/// Serves a capture on a pty, as the modem wrote it and at its pace
#[derive(Args, Debug)]
#[command(after_help = "\
Every byte of the capture is served, broken ones too, whatever mask the reader sets; for a modem that follows its \
mask see `sounding modem sim`. Prints the tty to open, and begins when a reader opens it. Bytes that are due without a reader \
are lost, as with a modem.

Examples:
  A capture at a name, and its reader in another terminal:
    sounding modem replay drive.mi2log --link /tmp/modem
    sudo sounding run --device /tmp/modem")]
pub(crate) struct ReplayArgs {
    /// Capture file (.qmdl, .qmdl2, .mi2log, .hdf, .dlf, also .gz or .zst), or - for standard
    /// input
    capture: PathBuf,
    /// Also make a symbolic link of this name to the tty
    #[arg(long, value_name = "PATH")]
    link: Option<PathBuf>,
    /// Speed as a multiple of the modem's speed
    #[arg(long, value_name = "N", default_value_t = 1.0)]
    speed: f64,
}

pub(crate) fn run(args: &ReplayArgs) -> Result<ExitCode> {
    if !(args.speed.is_finite() && args.speed > 0.0) {
        return Err(miette!("--speed is a number above 0"));
    }
    // The capture is served unchanged, including its damaged parts.
    let (capture, _) = input::capture(&args.capture)?;
    let schedule = ReplaySchedule::of(&capture);
    let duration = schedule.duration();
    let pty =
        Pty::create(args.link.as_deref()).into_diagnostic().wrap_err_with(|| match &args.link {
            Some(link) => format!("no pty, or no link at {}", screen::path(link)),
            None => "no pty".into(),
        })?;
    println!("{}", screen::path(args.link.as_deref().unwrap_or(pty.path())));
    let stop = signals::stop_flag().into_diagnostic()?;
    if schedule.shortened() > 0 {
        eprintln!(
            "sounding: {}: each is replayed as 1 s",
            counted(schedule.shortened(), "long pause or set clock", "long pauses or set clocks")
        );
    }
    if schedule.undated() > 0 {
        eprintln!(
            "sounding: {} or with one far from the others': each is replayed with what is before it",
            counted(schedule.undated(), "record without a time", "records without a time")
        );
    }
    let progress = progress(duration);
    let mut replay = Replay::new(&capture, schedule, pty, args.speed);
    progress.set_message("waiting for a reader to open the tty");
    if !replay.wait_for_reader(&stop) {
        return Ok(ExitCode::SUCCESS);
    }
    progress.set_message("replaying");
    let summary = replay
        .run(monotonic_now(), &stop, |at| progress.set_position(at.as_millis() as u64))
        .into_diagnostic()?;
    progress.finish_and_clear();
    eprintln!(
        "sounding: {} bytes served, {} lost without a reader, {} requests answered",
        summary.written, summary.lost, summary.answered
    );
    Ok(ExitCode::SUCCESS)
}
