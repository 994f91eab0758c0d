//! The links of an experiment: public recordings, a set that `sounding lab dataset` made, or own
//! links.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use super::{RadioError, RadioLink};
use serde::Serialize;
use sounding_cell::modem::ClockConfig;
use sounding_experiment::catalogue::{self, TraceFileError};
use sounding_kpi::Direction;
use thiserror::Error;

/// The shortest run over one: the first 2.3 s are not measured.
pub const SHORTEST: Duration = Duration::from_secs(4);

/// One of the paper's four scenarios, as far as is known (BISCAY §5.3.1).
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Scenario {
    /// Moving; the hour of public recordings is unknown.
    Mobile,
    /// Standing, at any hour.
    Static,
    /// On the move, in busy hours.
    MobileOnPeak,
    /// On the move, at night.
    MobileOffPeak,
    /// Standing, in busy hours.
    StaticOnPeak,
    /// Standing, at night.
    StaticOffPeak,
    /// An own link.
    Own,
}

impl Scenario {
    /// Its name in tables.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Mobile => "mobile",
            Self::Static => "static",
            Self::MobileOnPeak => "mobile on-peak",
            Self::MobileOffPeak => "mobile off-peak",
            Self::StaticOnPeak => "static on-peak",
            Self::StaticOffPeak => "static off-peak",
            Self::Own => "own",
        }
    }

    /// Whether the device moved, where that is known.
    pub const fn mobility(self) -> &'static str {
        match self {
            Self::Mobile | Self::MobileOnPeak | Self::MobileOffPeak => "mobile",
            Self::Static | Self::StaticOnPeak | Self::StaticOffPeak => "static",
            Self::Own => self.name(),
        }
    }
}

/// A link that is not read yet.
#[derive(Clone, Debug)]
pub struct Entry {
    /// Its name.
    pub name: String,
    /// The scenario of its recording.
    pub scenario: Scenario,
    source: Source,
}

/// The data of a link.
#[derive(Clone, Debug)]
enum Source {
    /// Its capacity. A modelled modem reports exactly this.
    Offered(PathBuf),
    /// Its capacity, and the modem's log of the recording.
    Recorded { offered: PathBuf, modem: PathBuf, direction: Direction },
    /// The whole link, already read.
    Read(Arc<RadioLink>),
}

/// Reads a capture, packed or not, into the bytes of a modem: all of it, or an error.
pub type ReadCapture<'a> = dyn Fn(&Path) -> Result<Vec<u8>, String> + Sync + 'a;

/// Why there are no links.
#[derive(Debug, Error)]
pub enum LinksError {
    /// A file cannot be read.
    #[error("{path}: {error}")]
    Read {
        /// The path.
        path: String,
        /// Why.
        error: std::io::Error,
    },
    /// Others' recordings are not there.
    #[error(
        "{path}: {error}: recorded links are no part of this program; --data or SOUNDING_DATA names a folder that has \
         them, with such an index"
    )]
    Index {
        /// The expected place of their index.
        path: String,
        /// Why it cannot be read.
        error: std::io::Error,
    },
    /// A trace cannot be used.
    #[error(transparent)]
    Trace(#[from] TraceFileError),
    /// The file is not as expected.
    #[error("{path}: {error}")]
    Format {
        /// The path.
        path: String,
        /// The fault.
        error: String,
    },
    /// The log has no transfer in either direction.
    #[error("{path}: no link: {up}; {down}")]
    Idle {
        /// The path.
        path: String,
        /// Error of the uplink.
        up: RadioError,
        /// Error of the downlink.
        down: RadioError,
    },
    /// There are no links.
    #[error("{folder} has no link, or none whose name contains {filter:?}")]
    Nothing {
        /// The searched folder.
        folder: String,
        /// For what.
        filter: String,
    },
}

/// Public recordings of LTE and NR as packet-delivery files, from `traces/files.tsv`; the paper has
/// no 3G networks.
pub fn real(data: &Path) -> Result<Vec<Entry>, LinksError> {
    let read = |error| LinksError::Index {
        path: data.join("traces/files.tsv").display().to_string(),
        error,
    };
    let rows = catalogue::rows(data, ["file", "format", "rat", "mobility"]).map_err(read)?;
    let mut entries = Vec::new();
    for [file, format, network, mobility] in rows {
        if format != "mm" || !network.starts_with("LTE") {
            continue;
        }
        let scenario =
            if mobility.contains("static") { Scenario::Static } else { Scenario::Mobile };
        let name = file.rsplit('/').next().unwrap_or(&file).to_owned();
        let path = data.join("traces").join(&file);
        if path.is_file() {
            entries.push(Entry { name, scenario, source: Source::Offered(path) });
        }
    }
    Ok(entries)
}

/// Both ways of each trace of a set, with the modem's logs of them.
pub fn dataset(folder: &Path) -> Result<Vec<Entry>, LinksError> {
    #[derive(serde::Deserialize)]
    struct Manifest {
        traces: Vec<sounding_experiment::dataset::Made>,
    }
    let path = folder.join("manifest.json");
    let name = || path.display().to_string();
    let text =
        fs::read_to_string(&path).map_err(|error| LinksError::Read { path: name(), error })?;
    let manifest: Manifest = serde_json::from_str(&text)
        .map_err(|error| LinksError::Format { path: name(), error: error.to_string() })?;
    let mut entries = Vec::new();
    for made in manifest.traces {
        let scenario = match (made.scenario.mobile, made.scenario.on_peak) {
            (true, true) => Scenario::MobileOnPeak,
            (true, false) => Scenario::MobileOffPeak,
            (false, true) => Scenario::StaticOnPeak,
            (false, false) => Scenario::StaticOffPeak,
        };
        for (way, direction) in [("up", Direction::Uplink), ("down", Direction::Downlink)] {
            let file = |ending: &str| folder.join(&made.name).join(format!("{way}.{ending}"));
            entries.push(Entry {
                name: format!("{}.{way}", made.name),
                scenario,
                source: Source::Recorded {
                    offered: file("trace"),
                    modem: file("qmdl.zst"),
                    direction,
                },
            });
        }
    }
    Ok(entries)
}

/// A user's own packet-delivery trace.
pub fn own_trace(path: &Path) -> Result<Entry, LinksError> {
    catalogue::trace(path)?;
    let source = Source::Offered(path.into());
    Ok(Entry { name: file_name(path), scenario: Scenario::Own, source })
}

/// A direction with less than a tenth of the other's rate carried acknowledgements, and its link is
/// unknown. Chosen.
const MIN_PART: u64 = 10;

/// The links in a user's own modem log, each direction with enough grants, and each twice: with the
/// modem's records, and with a modelled modem that reports the link's rate. Grants are averaged
/// over 100 ms for the link, but the records have single blocks. A log of a sender that did not
/// keep the link full shows bursts and pauses that the link does not have.
pub fn own_capture(path: &Path, capture: &[u8]) -> Result<Vec<Entry>, LinksError> {
    let name = file_name(path);
    let link = |way: &str, direction| {
        RadioLink::of_capture(&format!("{name}.{way}"), capture.to_vec(), direction).and_then(
            |link| match link.duration {
                span if span < SHORTEST => Err(RadioError::Idle { direction, shortest: SHORTEST }),
                _ => Ok(link),
            },
        )
    };
    let mut links = match (link("up", Direction::Uplink), link("down", Direction::Downlink)) {
        (Err(up), Err(down)) => {
            return Err(LinksError::Idle { path: path.display().to_string(), up, down });
        }
        (up, down) => up.into_iter().chain(down).collect::<Vec<_>>(),
    };
    let rate = |link: &RadioLink| {
        link.capacity(Duration::ZERO, link.duration).per(link.duration).bytes_per_sec()
    };
    let fastest = links.iter().map(rate).max().unwrap_or_default();
    links.retain(|link| rate(link) * MIN_PART >= fastest);
    let both = links.into_iter().flat_map(|link| {
        let modelled = format!("{}, modelled modem", link.name);
        [RadioLink::of_trace(&modelled, link.offered.clone(), link.duration), link]
    });
    let entry = |link: RadioLink| Entry {
        name: link.name.clone(),
        scenario: Scenario::Own,
        source: Source::Read(Arc::new(link)),
    };
    Ok(both.map(entry).collect())
}

fn file_name(path: &Path) -> String {
    path.file_name().map_or_else(|| path.display().to_string(), |n| n.to_string_lossy().into())
}

/// The links whose name contains `filter`, limited to a number, evenly spread over the list.
pub fn chosen(
    mut entries: Vec<Entry>,
    folder: &Path,
    filter: Option<&str>,
    most: Option<usize>,
) -> Result<Vec<Entry>, LinksError> {
    let filter = filter.unwrap_or_default();
    entries.retain(|entry| entry.name.contains(filter));
    if let Some(most) = most.filter(|most| (1..entries.len()).contains(most)) {
        let count = entries.len();
        entries = (0..most).map(|at| entries[at * count / most].clone()).collect();
    }
    if entries.is_empty() {
        let folder = folder.display().to_string();
        return Err(LinksError::Nothing { folder, filter: filter.into() });
    }
    Ok(entries)
}

impl Entry {
    /// The link, and what its modem wrote for this long at most.
    pub fn open(&self, span: Duration, read: &ReadCapture<'_>) -> Result<RadioLink, LinksError> {
        let (offered, modem, direction) = match &self.source {
            Source::Offered(path) => {
                return Ok(RadioLink::of_trace(&self.name, catalogue::trace(path)?, span));
            }
            Source::Read(link) => return Ok(RadioLink::clone(link)),
            Source::Recorded { offered, modem, direction } => (offered, modem, *direction),
        };
        let capture = read(modem)
            .map_err(|error| LinksError::Format { path: modem.display().to_string(), error })?;
        Ok(RadioLink {
            name: self.name.clone(),
            direction,
            offered: catalogue::trace(offered)?,
            capture,
            // A set's modems are modelled, and their clocks without faults.
            begin: ClockConfig::default().begins,
            duration: span,
        })
    }
}
