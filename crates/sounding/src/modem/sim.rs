use std::path::PathBuf;
use std::process::ExitCode;
use std::str::FromStr;
use std::time::Duration;

use clap::{ArgGroup, Args};
use miette::{IntoDiagnostic, Result, WrapErr, miette};
use sounding_lab::radio::RadioLink;
use sounding_modem::{Behaviour, Mischief, Place, Script, Simulation};

use super::progress;
use crate::{input, signals};

/// A modem that speaks the real protocol, on a pty or a socket
#[derive(Args, Debug)]
#[command(
    group = ArgGroup::new("place"),
    after_help = "\
Answers requests, keeps log masks, and sends the log records of a capture that the mask asks for, at the capture's pace.
The first record is made when somebody has the port open and any record is on. Prints the source to read from. At its own
pace it loses what nobody takes, as a modem does; faster than that it waits for its reader.

Examples:
  sounding modem sim drive.mi2log --link /tmp/modem
  sudo sounding run --device /tmp/modem                          in another terminal
  sounding modem sim --corrupt 1% --garbage 0.5% --stall 10s:300ms
  sounding modem sim --link /tmp/modem --reboot 5s --clock-unset 2s
  sounding modem sim --vendor-router mine --buffer 64000         buffers until it is drained
  sounding board vendor-router:mine                              drains it every millisecond"
)]
pub(crate) struct SimArgs {
    /// Capture whose log records it makes (.mi2log, .qmdl), or - for standard input; without one an uplink is generated
    capture: Option<PathBuf>,
    /// Serve a pty, with a symbolic link of this name to its tty; without --link or another place, a pty without one
    #[arg(long, value_name = "PATH", group = "place")]
    link: Option<PathBuf>,
    /// Serve as an open diag-router on this abstract socket
    #[arg(long, value_name = "NAME", group = "place")]
    router: Option<String>,
    /// Serve as a phone vendor's diag-router on this abstract socket, which can be drained
    #[arg(long, value_name = "NAME", group = "place")]
    vendor_router: Option<String>,
    /// Serve on this port of the loopback interface; 0 takes a free one
    #[arg(long, value_name = "PORT", group = "place")]
    tcp: Option<u16>,
    /// How many times faster than the capture
    #[arg(long, value_name = "N", default_value_t = 1.0)]
    speed: f64,
    /// Records wait in the modem until there are so many bytes of them; 0 sends each at once
    #[arg(long, value_name = "BYTES", default_value_t = 0)]
    buffer: usize,
    /// Records wait in the modem no longer than this
    #[arg(long, value_name = "TIME", default_value = "1s", value_parser = humantime::parse_duration)]
    release: Duration,
    /// Log records, events and messages are all on from the start, as in a modem that somebody else has configured
    #[arg(long)]
    all_on: bool,
    /// The HDLC framing is switched off
    #[arg(long)]
    non_hdlc: bool,
    /// A broken copy comes before so many of the frames
    #[arg(long, value_name = "PERCENT", default_value = "0%")]
    corrupt: Percent,
    /// So many of the frames lose their end
    #[arg(long, value_name = "PERCENT", default_value = "0%")]
    truncate: Percent,
    /// Before so many of the frames come bytes that are nothing
    #[arg(long, value_name = "PERCENT", default_value = "0%")]
    garbage: Percent,
    /// Nothing leaves it from AT for SPAN, counted from the first record
    #[arg(long, value_name = "AT:SPAN")]
    stall: Option<Times>,
    /// It restarts so long after the first record: the port goes away for half a second, masks are forgotten
    #[arg(long, value_name = "AT", value_parser = humantime::parse_duration)]
    reboot: Option<Duration>,
    /// Its clock counts from 1980 for so long, until the network tells the time
    #[arg(long, value_name = "SPAN", value_parser = humantime::parse_duration)]
    clock_unset: Option<Duration>,
    /// Its clock is set forward AT by SPAN
    #[arg(long, value_name = "AT:SPAN")]
    clock_jump: Option<Times>,
    /// Seed of what is generated and of what happens by chance
    #[arg(long, value_name = "N", default_value_t = 1)]
    seed: u64,
}

/// A share, 0 to 1, written as `1%`.
#[derive(Clone, Copy, Debug)]
struct Percent(f64);

impl FromStr for Percent {
    type Err = String;

    fn from_str(text: &str) -> std::result::Result<Self, String> {
        let number = text.strip_suffix('%').ok_or("a share ends in %, as in 1%")?;
        match number.trim().parse() {
            Ok(percent) if (0.0..=100.0).contains(&percent) => Ok(Self(percent / 100.0)),
            _ => Err("a share is 0% to 100%".into()),
        }
    }
}

/// A time and a span, written as `10s:300ms`.
#[derive(Clone, Copy, Debug)]
struct Times(Duration, Duration);

impl FromStr for Times {
    type Err = String;

    fn from_str(text: &str) -> std::result::Result<Self, String> {
        let (at, span) =
            text.split_once(':').ok_or("two times with a colon between, as in 10s:300ms")?;
        let time = |text| humantime::parse_duration(text).map_err(|error| error.to_string());
        Ok(Self(time(at)?, time(span)?))
    }
}

/// How much is generated where no capture is given.
const GENERATED: Duration = Duration::from_secs(600);

pub(crate) fn run(args: &SimArgs) -> Result<ExitCode> {
    if !(args.speed.is_finite() && args.speed > 0.0) {
        return Err(miette!("--speed is a number above 0"));
    }
    let place = place(args);
    if args.reboot.is_some() && place == Place::Pty(None) {
        return Err(miette!("--reboot needs --link: the tty of a pty has another name each time"));
    }
    let capture = match &args.capture {
        Some(path) => input::capture(path)?,
        None => RadioLink::generated(args.seed, GENERATED).into_diagnostic()?.capture,
    };
    let script = Script::of(&capture);
    drop(capture);
    if script.is_empty() {
        return Err(miette!("the capture has no log records: there is nothing to send"));
    }
    let duration = script.duration();
    let mut simulation = Simulation::new(script, behaviour(args), place)
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
        "sounding: {} records sent, {} not asked for, {} lost while nobody read; {} frames broken; {} requests answered, \
         drained {} times",
        tally.sent, tally.masked, tally.lost, tally.broken, tally.answered, tally.drained
    );
    Ok(ExitCode::SUCCESS)
}

fn place(args: &SimArgs) -> Place {
    if let Some(name) = &args.router {
        Place::Router(name.clone())
    } else if let Some(name) = &args.vendor_router {
        Place::VendorRouter(name.clone())
    } else if let Some(port) = args.tcp {
        Place::Tcp(port)
    } else {
        Place::Pty(args.link.clone())
    }
}

fn behaviour(args: &SimArgs) -> Behaviour {
    let pair = |times: Option<Times>| times.map(|Times(at, span)| (at, span));
    Behaviour {
        speed: args.speed,
        high_water: args.buffer,
        release: args.release,
        all_on: args.all_on,
        unframed: args.non_hdlc,
        mischief: Mischief {
            corrupt: args.corrupt.0,
            truncate: args.truncate.0,
            garbage: args.garbage.0,
            stall: pair(args.stall),
            reboot: args.reboot,
            unset_until: args.clock_unset,
            jump: pair(args.clock_jump),
            seed: args.seed,
        },
    }
}
