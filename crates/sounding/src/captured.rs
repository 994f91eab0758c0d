//! A capture as the links that its network granted, and a report of what they do not show.

use std::fmt::Write as _;
use std::path::Path;
use std::time::Duration;

use miette::{Result, miette};
use sounding_kpi::Direction;
use sounding_link::{Account, Arrival, Captured, Config, Seen, Sounder};
use sounding_trace::{InvalidTrace, Trace};

use crate::input::Source;
use crate::link::records;
use crate::screen;
use crate::skipped::{Skipped, counted};

/// The link of one direction.
pub(crate) struct Link {
    pub(crate) direction: Direction,
    found: Result<(Trace, Account), InvalidTrace>,
}

/// Reads a capture once, for the links of these directions.
pub(crate) fn read<const COUNT: usize>(
    path: &Path,
    directions: [Direction; COUNT],
) -> Result<([Link; COUNT], Skipped)> {
    let mut source = Source::open(path)?;
    let mut sounder = Sounder::new(Config::new(Direction::Uplink))
        .beside(Config::new(Direction::Downlink))
        .reading(source.kind());
    let mut links = directions.map(Captured::new);
    let mut see = |sounder: &Sounder, seen: Seen<'_>| {
        links.iter_mut().for_each(|link| link.handle_seen(sounder, &seen));
    };
    while let Some(chunk) = source.next_chunk()? {
        sounder.handle_bytes(Arrival::AsStamped, chunk, &mut see);
    }
    sounder.handle_end(Arrival::AsStamped, &mut see);
    let counts = sounder.counts();
    let skipped = Skipped { records: records(&counts), ..source.skipped(counts.stream) };
    let links =
        links.map(|link| Link { direction: link.direction(), found: link.finish(&sounder) });
    Ok((links, skipped))
}

impl Link {
    /// The link, and a sentence about it.
    pub(crate) fn trace(self, path: &Path) -> Result<(Trace, String)> {
        let Self { direction, found } = self;
        let path = screen::path(path);
        match found {
            Ok((trace, account)) => {
                let sentence = sentence(direction, &trace, &account);
                Ok((trace, sentence))
            }
            Err(InvalidTrace::Empty | InvalidTrace::NoDuration) => Err(miette!(
                help = "`sounding link` prints what was granted, and which records are missing",
                "{path}: the {direction} was granted too little for a link"
            )),
            Err(error) => Err(miette!("{path}: the {direction} is no link: {error}")),
        }
    }
}

fn sentence(direction: Direction, trace: &Trace, account: &Account) -> String {
    let &Account { lasts, floor, gaps, silent, jumps } = account;
    let seconds = |span: Duration| format!("{:.1} s", span.as_secs_f64());
    let packets = trace.millis().len() as u64;
    let mut text = format!(
        "{direction} of {}: {}, {} on average",
        seconds(lasts),
        counted(packets, "packet of 1500 bytes", "packets of 1500 bytes"),
        trace.mean_rate()
    );
    // Writing into a string cannot fail.
    if floor > Duration::ZERO {
        let _ = write!(
            text,
            "; only a floor in {}, in which the device was granted all that it asked for",
            seconds(floor)
        );
    }
    if gaps > 0 {
        let _ = write!(
            text,
            "; {} of {}, in which the link carries nothing",
            counted(gaps, "gap without records", "gaps without records"),
            seconds(silent)
        );
    }
    if jumps > 0 {
        let _ = write!(text, "; the modem set its clock {}", counted(jumps, "time", "times"));
    }
    text
}
