//! Logs of a cell's sniffer that accompany a capture.

use std::fs::File;
use std::io::Read as _;
use std::path::PathBuf;
use std::str::FromStr;

use miette::Diagnostic;
use sounding_kpi::Direction;
use sounding_trace::dci::{self, Format, Heard, Reader};
use sounding_units::{HostInstant, ModemInstant};
use thiserror::Error;

use crate::screen;
use crate::skipped::counted;

/// Maximum size of a log, because the whole log is kept in memory.
const LARGEST: u64 = 1 << 30;

/// A file and its format.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct SnifferFile {
    kind: Kind,
    path: PathBuf,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    DciLog,
    Falcon,
    NrScope,
}

/// An argument without a valid format.
#[derive(Debug, Error, PartialEq, Eq)]
#[error("{0:?}: a log is dcilog:FILE (NG-Scope), falcon:FILE or nr-scope:FILE")]
pub(crate) struct UnknownSniffer(String);

impl FromStr for SnifferFile {
    type Err = UnknownSniffer;

    fn from_str(text: &str) -> Result<Self, UnknownSniffer> {
        let unknown = || UnknownSniffer(text.into());
        let (kind, path) = text.split_once(':').ok_or_else(unknown)?;
        let kind = match kind {
            "dcilog" => Kind::DciLog,
            "falcon" => Kind::Falcon,
            "nr-scope" => Kind::NrScope,
            _ => return Err(unknown()),
        };
        Ok(Self { kind, path: path.into() })
    }
}

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
    /// It has no readable line.
    #[error("{path}: {error}")]
    Bad { path: PathBuf, error: dci::BadLine },
}

/// The messages of all logs, in order of time; the number of unreadable lines goes to standard error.
///
/// The n-th file belongs to the device's n-th carrier, except NR-Scope's, which name their carrier. Sniffers write the time of day, as
/// modems do after a network has sent it.
pub(crate) fn read(
    files: &[SnifferFile],
    direction: Direction,
) -> Result<Vec<(HostInstant, Heard)>, SnifferError> {
    let mut all = Vec::new();
    for (cell, SnifferFile { kind, path }) in (0..).zip(files) {
        let fail = |error| SnifferError::Read { path: path.clone(), error };
        let file = File::open(path).map_err(fail)?;
        let mut bytes = Vec::new();
        // Only a regular file has a length.
        file.take(LARGEST + 1).read_to_end(&mut bytes).map_err(fail)?;
        if bytes.len() as u64 > LARGEST {
            return Err(SnifferError::Large { path: path.clone() });
        }
        let format = match kind {
            Kind::DciLog => Format::DciLog(direction),
            Kind::Falcon => Format::Falcon,
            Kind::NrScope => Format::NrScope,
        };
        let mut reader = Reader::new(format, cell, &bytes);
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
    fn a_log_is_named_with_its_format() {
        let file = SnifferFile::from_str("dcilog:a/b:c.dciLog").expect("a log");
        assert_eq!(file, SnifferFile { kind: Kind::DciLog, path: "a/b:c.dciLog".into() });
        for text in ["a.dciLog", "pcap:a", ""] {
            assert_eq!(SnifferFile::from_str(text), Err(UnknownSniffer(text.into())));
        }
    }

    #[test]
    fn a_sniffers_time_of_day_is_the_records_time() {
        let at = ModemInstant::from_diag(69_413_845_523_963_414);
        let time = std::time::Duration::from_nanos(at.unix_nanos());
        let heard = Heard::Nothing(dci::Moment { time, ..dci::Moment::default() });
        assert_eq!(host_time(&heard).as_nanos(), at.as_nanos());
    }
}
