use std::path::PathBuf;
use std::process::ExitCode;

use clap::Args;
use miette::{IntoDiagnostic, Result, WrapErr, miette};
use sounding_modem::{Behaviour, Place, Script, Simulation};

use super::{PortArgs, progress};
use crate::skipped::counted;
use crate::{input, signals};

/// A modem with the real protocol, on a pty or a socket
#[derive(Args, Debug)]
#[command(after_help = "\
Answers requests, keeps log masks, and sends the log records of a capture that the mask switches on, at the capture's pace. \
The first record is made when a reader has the port open and any record is on. Prints the source to read from. At its own \
pace it loses what is not read, as a modem does; at a higher speed it waits for its reader.

Examples:
  A modem at a name, and its reader in another terminal:
    sounding modem sim drive.mi2log --link /tmp/modem
    sudo sounding run --device /tmp/modem

  Faults:
    sounding modem sim --corrupt 1% --garbage 0.5% --stall 10s:300ms
    sounding modem sim --link /tmp/modem --reboot 5s --clock-unset 2s

  A buffer, and a reader that drains it every millisecond:
    sounding modem sim --vendor-router mine --buffer 64000
    sounding board vendor-router:mine")]
pub(crate) struct SimArgs {
    /// Capture whose log records it makes (.mi2log, .qmdl), or - for standard input; without one
    /// an uplink is generated
    capture: Option<PathBuf>,
    /// Speed as a multiple of the capture's speed
    #[arg(long, value_name = "N", default_value_t = 1.0)]
    speed: f64,
    #[command(flatten)]
    port: PortArgs,
    /// Seed of the generated records and of random events
    #[arg(long, value_name = "N", default_value_t = 1)]
    seed: u64,
}

/// An uplink of ten minutes.
#[cfg(feature = "lab")]
fn generated(seed: u64) -> Result<Vec<u8>> {
    const LASTS: std::time::Duration = std::time::Duration::from_secs(600);
    Ok(sounding_testbed::radio::RadioLink::generated(seed, LASTS).into_diagnostic()?.capture)
}

#[cfg(not(feature = "lab"))]
fn generated(_: u64) -> Result<Vec<u8>> {
    Err(miette!(
        "name a capture: this build of sounding generates none, which is part of the feature `lab`"
    ))
}

pub(crate) fn run(args: &SimArgs) -> Result<ExitCode> {
    if !(args.speed.is_finite() && args.speed > 0.0) {
        return Err(miette!("--speed is a number above 0"));
    }
    let place = args.port.place();
    if args.port.reboot.is_some() && place == Place::Pty(None) {
        return Err(miette!("--reboot needs --link: the tty of a pty has another name each time"));
    }
    let capture = match &args.capture {
        Some(path) => {
            let (capture, skipped) = input::capture(path)?;
            skipped.tell();
            capture
        }
        None => generated(args.seed)?,
    };
    let script = Script::of(&capture);
    drop(capture);
    if script.is_empty() {
        return Err(miette!("the capture has no log records: there is nothing to send"));
    }
    let duration = script.duration();
    let behaviour = Behaviour { speed: args.speed, ..args.port.behaviour(args.seed) };
    let mut simulation = Simulation::new(script, behaviour, place)
        .into_diagnostic()
        .wrap_err("the port cannot be made: is the name taken?")?;
    println!("{}", simulation.source());
    let stop = signals::stop_flag().into_diagnostic()?;
    let progress = progress(duration);
    progress.set_message("serving");
    let tally = simulation
        .run(&stop, |elapsed| progress.set_position(elapsed.as_millis() as u64))
        .into_diagnostic()?;
    progress.finish_and_clear();
    eprintln!(
        "sounding: {} sent, {} not asked for, {} lost without a reader; {} broken; {} answered, drained {}",
        counted(tally.sent, "record", "records"),
        tally.masked,
        tally.lost,
        counted(tally.broken, "frame", "frames"),
        counted(tally.answered, "request", "requests"),
        counted(tally.drained, "time", "times")
    );
    Ok(ExitCode::SUCCESS)
}
