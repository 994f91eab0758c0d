//! Passes over a capture, beside its KPIs: for the rows of its link, and for its radio's delays.

use std::fs::File;
use std::io::{Read as _, Seek as _};
use std::path::Path;
use std::time::Duration;

use sounding_diag::capture::{PROBE, recognise};
use sounding_estimate::Direction;
use sounding_link::{Arrival, Config, Delays, Line, Seen, Series, Sounder};
use sounding_units::ModemInstant;

use crate::delay::Delay;
use crate::error::Failure;
use crate::link::Link;

/// Length of a row of the link.
const BIN: Duration = Duration::from_millis(100);

/// A capture that is read from its begin. It holds one piece at a time.
struct Pass {
    file: File,
    piece: Vec<u8>,
    is_over: bool,
    sounder: Sounder,
}

impl Pass {
    fn open(path: &Path, sounder: Sounder) -> Result<Self, Failure> {
        let mut file = File::open(path)?;
        let mut piece = Vec::new();
        file.by_ref().take(PROBE as u64).read_to_end(&mut piece)?;
        let kind = recognise(&piece).map_err(|why| Failure::new(libc::EINVAL, why))?;
        file.rewind()?;
        Ok(Self { file, piece, is_over: false, sounder: sounder.reading(kind) })
    }

    /// Handles the next piece, at last the end.
    fn advance(&mut self, watch: impl FnMut(&Sounder, Seen<'_>)) -> Result<(), Failure> {
        self.piece.clear();
        self.file.by_ref().take(Delays::PIECE as u64).read_to_end(&mut self.piece)?;
        self.is_over = self.piece.is_empty();
        match self.is_over {
            true => self.sounder.handle_end(Arrival::AsStamped, watch),
            false => self.sounder.handle_bytes(Arrival::AsStamped, &self.piece, watch),
        }
        Ok(())
    }
}

/// The rows of the link in one direction.
pub(super) struct LinkRows {
    pass: Pass,
    series: Series,
    number: u64,
}

impl LinkRows {
    pub(super) fn open(path: &Path, way: Direction) -> Result<Self, Failure> {
        let sounder = Sounder::new(Config::new(way));
        let series = Series::new(BIN, &sounder);
        Ok(Self { pass: Pass::open(path, sounder)?, series, number: 0 })
    }

    /// The next row; `None` at the end.
    pub(super) fn next(&mut self) -> Result<Option<Link>, Failure> {
        let Self { pass, series, number } = self;
        loop {
            match series.poll() {
                Some(Line::Row(row)) => {
                    *number += 1;
                    return Ok(Link::of_row(*number, &row));
                }
                Some(Line::Jump(_)) => {}
                None if pass.is_over => return Ok(None),
                None => {
                    pass.advance(|sounder, seen| series.handle_seen(sounder, &seen))?;
                    if pass.is_over {
                        series.handle_end(&pass.sounder);
                    }
                }
            }
        }
    }
}

/// The delays that the radio made.
pub(super) struct DelayRows {
    pass: Pass,
    began: Option<ModemInstant>,
    number: u64,
}

impl DelayRows {
    pub(super) fn open(path: &Path) -> Result<Self, Failure> {
        let sounder = Sounder::new(Config::new(Direction::Uplink)).with_delays();
        Ok(Self { pass: Pass::open(path, sounder)?, began: None, number: 0 })
    }

    /// The next event; `None` at the end.
    pub(super) fn next(&mut self) -> Result<Option<Delay>, Failure> {
        let Self { pass, began, number } = self;
        loop {
            if let Some(event) = pass.sounder.poll_delay() {
                *number += 1;
                return Ok(Some(Delay::of_capture(*number, *began, &event)));
            }
            if pass.is_over {
                return Ok(None);
            }
            pass.advance(|_, seen| {
                if let Seen::Next(record) = seen {
                    began.get_or_insert(record.at);
                }
            })?;
        }
    }
}
