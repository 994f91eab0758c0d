//! The links that flows are sent over: public recordings, or a set that `sounding lab dataset` made.

use std::fs;
use std::path::{Path, PathBuf};
use std::time::Duration;

use serde::Serialize;
use sounding_cell::modem::ClockConfig;
use sounding_kpi::Direction;
use thiserror::Error;

use crate::catalogue::{self, TraceFileError};
use crate::radio::RadioLink;

/// One of the paper's four scenarios, as far as is known (BISCAY §5.3.1).
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Scenario {
    /// On the move; of public recordings nobody knows at what hour.
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
}

impl Scenario {
    /// What tables call it.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Mobile => "mobile",
            Self::Static => "static",
            Self::MobileOnPeak => "mobile on-peak",
            Self::MobileOffPeak => "mobile off-peak",
            Self::StaticOnPeak => "static on-peak",
            Self::StaticOffPeak => "static off-peak",
        }
    }

    /// Whether the device moved.
    pub const fn is_mobile(self) -> bool {
        matches!(self, Self::Mobile | Self::MobileOnPeak | Self::MobileOffPeak)
    }
}

/// A link that is not read yet.
#[derive(Clone, Debug)]
pub struct Entry {
    /// Its name.
    pub name: String,
    /// How it was recorded.
    pub scenario: Scenario,
    path: PathBuf,
    modem: ModemLog,
}

/// What tells of a link.
#[derive(Clone, Debug)]
enum ModemLog {
    /// A modelled modem that is granted just what the link offers.
    Modelled,
    /// What the modem wrote while the link was recorded.
    Recorded { path: PathBuf, direction: Direction },
}

/// How a capture becomes the bytes of a modem, packed or not: the whole of it, or what is wrong with it.
pub type ReadCapture<'a> = dyn Fn(&Path) -> Result<Vec<u8>, String> + Sync + 'a;

/// Why there are no links.
#[derive(Debug, Error)]
pub enum LinksError {
    /// A file cannot be read.
    #[error("{path}: {error}")]
    Read {
        /// Which.
        path: String,
        /// Why.
        error: std::io::Error,
    },
    /// A trace cannot be used.
    #[error(transparent)]
    Trace(#[from] TraceFileError),
    /// It is there, and not what it should be.
    #[error("{path}: {error}")]
    Format {
        /// Which.
        path: String,
        /// What is wrong.
        error: String,
    },
    /// There is nothing.
    #[error("{folder} has no link, or none whose name contains {filter:?}")]
    Nothing {
        /// Where was looked.
        folder: String,
        /// For what.
        filter: String,
    },
}

/// Public recordings of LTE and NR as packet-delivery files, as `traces/files.tsv` lists them; 3G is none of the paper's
/// networks.
pub fn real(data: &Path) -> Result<Vec<Entry>, LinksError> {
    let read = |error| LinksError::Read {
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
        entries.push(Entry { name, scenario, path, modem: ModemLog::Modelled });
    }
    entries.retain(|entry| entry.path.is_file());
    Ok(entries)
}

/// Both ways of each trace of a set, with the modem's logs of them.
pub fn dataset(folder: &Path) -> Result<Vec<Entry>, LinksError> {
    #[derive(serde::Deserialize)]
    struct Manifest {
        traces: Vec<crate::dataset::Made>,
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
                path: file("trace"),
                modem: ModemLog::Recorded { path: file("qmdl.zst"), direction },
            });
        }
    }
    Ok(entries)
}

/// Those whose name contains `filter`, and at most so many, evenly over the list.
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
    /// The link, and what its modem wrote for so long.
    pub fn open(&self, span: Duration, read: &ReadCapture<'_>) -> Result<RadioLink, LinksError> {
        let offered = catalogue::trace(&self.path)?;
        let ModemLog::Recorded { path, direction } = &self.modem else {
            return Ok(RadioLink::of_trace(&self.name, offered, span));
        };
        let capture = read(path)
            .map_err(|error| LinksError::Format { path: path.display().to_string(), error })?;
        Ok(RadioLink {
            name: self.name.clone(),
            direction: *direction,
            offered,
            capture,
            // A set's modems are modelled, and their clocks without faults.
            begin: ClockConfig::default().begins,
            duration: span,
        })
    }
}
