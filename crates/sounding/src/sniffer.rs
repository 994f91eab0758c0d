//! Logs of a cell's sniffer that accompany a capture.

use std::io::Read as _;
use std::path::PathBuf;

use miette::Diagnostic;
use sounding_kpi::Direction;
use sounding_modem::SnifferSource;
use sounding_trace::dci::{self, Heard, Reader};
use sounding_units::{HostInstant, ModemInstant};
use thiserror::Error;

use crate::input::Incoming;
use crate::screen;
use crate::skipped::counted;

/// Maximum size of a log, because the whole log is kept in memory.
const LARGEST: u64 = 1 << 30;

/// Why a log cannot be used.
#[derive(Debug, Error, Diagnostic)]
pub(crate) enum SnifferError {
    /// It cannot be read.
    #[error("{path}: {error}")]
    Read { path: PathBuf, error: std::io::Error },
    /// It is larger than [`LARGEST`].
    #[error("{path}: larger than {} GiB", LARGEST >> 30)]
    #[diagnostic(help("cut it first, to the time of the capture"))]
    Large { path: PathBuf },
    /// It is not a log.
    #[error("{0}: a capture is read beside a log, which has what was sent at its time")]
    Live(SnifferSource),
    /// It has no readable line.
    #[error("{path}: {error}")]
    Bad { path: PathBuf, error: dci::BadLine },
}

/// The messages of all logs, in order of time; the number of unreadable lines goes to standard
/// error.
///
/// The n-th file belongs to the device's n-th carrier, except NR-Scope's, which name their carrier.
/// Sniffers write the time of day, as modems do after a network has sent it.
pub(crate) fn read(
    sniffers: &[SnifferSource],
    direction: Direction,
) -> Result<Vec<(HostInstant, Heard)>, SnifferError> {
    let mut all = Vec::new();
    for (cell, sniffer) in (0..).zip(sniffers) {
        let SnifferSource::Log { log, path } = sniffer else {
            return Err(SnifferError::Live(sniffer.clone()));
        };
        let fail = |error| SnifferError::Read { path: path.clone(), error };
        let file = Incoming::open(path).map_err(fail)?;
        let mut bytes = Vec::new();
        // Only a regular file has a length.
        file.take(LARGEST + 1).read_to_end(&mut bytes).map_err(fail)?;
        if bytes.len() as u64 > LARGEST {
            return Err(SnifferError::Large { path: path.clone() });
        }
        let mut reader = Reader::new(log.format(direction), cell, &bytes);
        let (mut bad, before) = (None, all.len());
        for line in &mut reader {
            match line {
                Ok(heard) => all.push((host_time(&heard), heard)),
                Err(error) => bad = bad.or(Some(error)),
            }
        }
        if let Some(error) = bad {
            let count = reader.counts().bad;
            if all.len() == before {
                return Err(SnifferError::Bad { path: path.clone(), error });
            }
            let lines = counted(count, "line", "lines");
            eprintln!("sounding: {}: {lines} left out; {error}", screen::path(path));
        }
    }
    all.sort_by_key(|(at, _)| *at);
    Ok(all)
}

/// The time of day, on the clock of a file's records.
fn host_time(heard: &Heard) -> HostInstant {
    let (Heard::Nothing(moment) | Heard::Dci(dci::Dci { moment, .. })) = heard;
    let unix = u64::try_from(moment.time.as_nanos()).unwrap_or(u64::MAX);
    HostInstant::from_nanos(unix.saturating_sub(ModemInstant::default().unix_nanos()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_sniffers_time_of_day_is_the_records_time() {
        let at = ModemInstant::from_diag(69_413_845_523_963_414);
        let time = std::time::Duration::from_nanos(at.unix_nanos());
        let heard = Heard::Nothing(dci::Moment { time, ..dci::Moment::default() });
        assert_eq!(host_time(&heard).as_nanos(), at.as_nanos());
    }
}
