//! The radio's own delays as a live modem reports them, for the receiver of a call.

use std::io::{self, ErrorKind, Write};
use std::os::unix::net::UnixStream;
use std::path::Path;
use std::time::Duration;

use miette::{Result, miette};
use sounding_diag::LogCode;
use sounding_kpi::Direction;
use sounding_link::{Arrival, Config, DelayUpdate, Sounder};
use sounding_modem::{Bytes, Source};
use sounding_rtc::line::Line;

use super::Stopped;
use super::live::{self, Reader};
use crate::cli_types::UntoldMask;
#[cfg(feature = "kernel")]
use crate::corrected::Corrected;
use crate::doctor;
use crate::patient::Patient;
use crate::screen;

/// A receiver that takes nothing for so long is gone: lines that wait would be of no use.
const PATIENCE: Duration = Duration::from_millis(500);

/// Reads a live modem until an interrupt or until the receiver is gone. `-` is standard output.
pub(super) fn feed(source: &Source, untold: UntoldMask, receiver: &Path) -> Result<(), Stopped> {
    let out = if receiver == Path::new("-") {
        Patient::stdout(Some(PATIENCE)).map_err(Stopped::Output)?
    } else {
        let place = |error: io::Error| {
            Stopped::Input(miette!(
                help = "start the receiver first: sounding-rtc-peer --socket PATH",
                "no receiver at {}: {error}",
                screen::path(receiver)
            ))
        };
        let stream = UnixStream::connect(receiver).map_err(place)?;
        stream.set_nonblocking(true).map_err(place)?;
        Patient::socket(stream, PATIENCE)
    };
    match (Feed::new(Direction::Uplink, Lines(out))).read(source, untold) {
        // The call is over.
        Err(Stopped::Output(error))
            if matches!(error.kind(), ErrorKind::BrokenPipe | ErrorKind::ConnectionReset) =>
        {
            Ok(())
        }
        Err(Stopped::Output(error)) if receiver != Path::new("-") => {
            Err(Stopped::Input(miette!("{}: {error}", screen::path(receiver))))
        }
        ended => ended,
    }
}

/// Reads a live modem until an interrupt, and corrects meanwhile when packets of media come at a
/// network device.
#[cfg(feature = "kernel")]
pub(super) fn correct(source: &Source, untold: UntoldMask, device: &str) -> Result<(), Stopped> {
    let corrected = Corrected::load(device).map_err(Stopped::Input)?;
    let mut feed = Feed::new(Direction::Downlink, corrected);
    let ended = feed.read(source, untold);
    eprintln!("{}", feed.into.account());
    ended
}

/// This build has no programs for the kernel.
#[cfg(not(feature = "kernel"))]
pub(super) fn correct(_: &Source, _: UntoldMask, _: &str) -> Result<(), Stopped> {
    Err(Stopped::Input(miette!(
        help = "install `sounding`, which has it",
        "--arrivals takes a program in the kernel, and this build, soundingd, has none"
    )))
}

/// A reader of a modem's news.
trait Reports {
    /// See [`Reader::ends_by_rights`].
    fn ends_by_rights(&self) -> bool {
        false
    }

    fn handle(&mut self, update: &DelayUpdate) -> Result<(), Stopped>;
}

/// Lines of JSON.
struct Lines(Patient);

impl Reports for Lines {
    fn handle(&mut self, update: &DelayUpdate) -> Result<(), Stopped> {
        let written = self.0.write_all(Line::of(update).as_bytes()).and_then(|()| self.0.flush());
        written.map_err(Stopped::Output)
    }
}

#[cfg(feature = "kernel")]
impl Reports for Corrected {
    fn ends_by_rights(&self) -> bool {
        self.ends_by_rights()
    }

    fn handle(&mut self, update: &DelayUpdate) -> Result<(), Stopped> {
        self.handle_update(update).map_err(Stopped::Input)
    }
}

struct Feed<I> {
    direction: Direction,
    sounder: Sounder,
    into: I,
}

impl<I: Reports> Feed<I> {
    fn new(direction: Direction, into: I) -> Self {
        let sounder = Sounder::new(Config::new(direction)).with_delays();
        Self { direction, sounder, into }
    }

    fn read(&mut self, source: &Source, untold: UntoldMask) -> Result<(), Stopped> {
        // At low rates records of the downlink alone are further apart than a modem is silent.
        let own = sounding_kpi::codes(self.direction);
        let also: &[LogCode] = match self.direction {
            Direction::Uplink => &[],
            Direction::Downlink => sounding_kpi::codes(Direction::Uplink),
        };
        let codes = own.iter().chain(also.iter().filter(|code| !own.contains(code)));
        let codes = codes.chain(sounding_kpi::rlc_codes());
        let lost = live::read(source, untold, codes.copied(), self)?;
        doctor::tell_lost(source, lost);
        Ok(())
    }
}

impl<I: Reports> Reader for Feed<I> {
    fn begin(&mut self) -> Result<(), Stopped> {
        Ok(())
    }

    fn ends_by_rights(&self) -> bool {
        self.into.ends_by_rights()
    }

    fn handle(&mut self, read: Option<Bytes<'_>>) -> Result<(), Stopped> {
        let Some(Bytes { now, framing, bytes, mut session }) = read else { return Ok(()) };
        let Self { sounder, into, .. } = self;
        sounder.handle_read(framing, Arrival::At(now), bytes, |_, seen| {
            seen.packet().iter().for_each(|packet| session.handle(packet));
        });
        sounder.poll_delays().map_or(Ok(()), |update| into.handle(&update))
    }
}
