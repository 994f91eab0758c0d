//! The radio's own delays as a live modem reports them, for the receiver of a call.

use std::io::{self, ErrorKind, Write};
use std::os::unix::net::UnixStream;
use std::path::Path;
use std::time::Duration;

use miette::{Result, miette};
use sounding_host::monotonic_now;
use sounding_kpi::Direction;
use sounding_link::{Arrival, Config, Seen, Sounder};
use sounding_modem::{Framing, Live, Source};
use sounding_rtc::Notices;
use sounding_rtc::line::Line;

use super::Stopped;
use super::live::{self, Reader};
use crate::screen;

/// A receiver that takes nothing for so long is gone: lines that wait would be of no use.
const PATIENCE: Duration = Duration::from_millis(500);

/// Reads a live modem until an interrupt or until the receiver is gone. `-` is standard output.
pub(super) fn feed(source: &Source, receiver: &Path) -> Result<(), Stopped> {
    let out: Box<dyn Write> = if receiver == Path::new("-") {
        Box::new(io::stdout())
    } else {
        let place = |error: io::Error| {
            Stopped::Input(miette!(
                help = "start the receiver first: sounding-rtc-peer --socket PATH",
                "no receiver at {}: {error}",
                screen::path(receiver)
            ))
        };
        let stream = UnixStream::connect(receiver).map_err(place)?;
        stream.set_write_timeout(Some(PATIENCE)).map_err(place)?;
        Box::new(stream)
    };
    let sounder = Sounder::new(Config::new(Direction::Uplink)).with_delays();
    let mut feed = Feed { sounder, notices: Notices::default(), out, lines: String::new() };
    match live::read(source, sounding_kpi::codes(Direction::Uplink).iter().copied(), &mut feed) {
        // The call is over.
        Err(Stopped::Output(error))
            if matches!(error.kind(), ErrorKind::BrokenPipe | ErrorKind::ConnectionReset) =>
        {
            Ok(())
        }
        ended => ended,
    }
}

struct Feed {
    sounder: Sounder,
    notices: Notices,
    out: Box<dyn Write>,
    lines: String,
}

impl Reader for Feed {
    fn begin(&mut self) -> Result<(), Stopped> {
        Ok(())
    }

    fn handle(&mut self, live: &mut Live, bytes: Option<&[u8]>) -> Result<(), Stopped> {
        let Some(bytes) = bytes else { return Ok(()) };
        let now = monotonic_now();
        let framing = live.framing();
        let watch = |_: &Sounder, seen: Seen<'_>| match &seen {
            Seen::Record(record) => live.handle_log(now, record),
            Seen::Other { command, body } => live.handle_other(now, *command, body),
            Seen::Next(_) | Seen::Kpi(_) => {}
        };
        match framing {
            Framing::Hdlc => self.sounder.handle_bytes(Arrival::At(now), bytes, watch),
            Framing::Packet => self.sounder.handle_payload(Arrival::At(now), bytes, watch),
        }
        self.lines.clear();
        while let Some(notice) = self.notices.poll(&mut self.sounder) {
            self.lines.push_str(&Line::from(notice).text());
        }
        if self.lines.is_empty() {
            return Ok(());
        }
        let written = self.out.write_all(self.lines.as_bytes()).and_then(|()| self.out.flush());
        written.map_err(Stopped::Output)
    }
}
