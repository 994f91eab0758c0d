//! The cost of following a modem: its output with Gandalf's log mask and with everything on (Gandalf §4.2.2, Figure
//! 13), and the CPU time of the process that reads it (Figure 14).
//!
//! Real captures are made again by a simulated modem and read through the session and the port that a real one has. A
//! capture holds what its recorder asked for, so "everything" is everything of that.

mod cpu;
pub(crate) mod experiment;
mod masks;

use std::fmt;
use std::io;
use std::path::{Path, PathBuf};
use std::time::Duration;

use serde::Serialize;
use sounding_modem::{OpenError, SourceError};
use sounding_testbed::follower::FollowerError;
use sounding_units::Rate;
use thiserror::Error;

pub use cpu::{CpuRow, Port, Reads};
pub use masks::{Mask, MaskRow};

use crate::table::Table;

/// What is measured.
#[derive(Clone, Debug)]
pub struct Plan {
    /// Captures of mixed records.
    pub captures: Vec<PathBuf>,
    /// How fast diagnostic data comes while CPU time is measured.
    pub rate: Rate,
    /// For how long, each way.
    pub duration: Duration,
    /// The program that reads the modem: `sounding`.
    pub program: PathBuf,
}

/// Both figures.
#[derive(Clone, Debug, Serialize)]
pub struct Overhead {
    /// Data for each mask.
    pub masks: Vec<MaskRow>,
    /// CPU time for each way to read.
    pub cpu: Vec<CpuRow>,
}

/// Why there is no result.
#[derive(Debug, Error)]
pub enum OverheadError {
    /// There is nothing to replay.
    #[error("no captures of log records: name some with --captures, or set SOUNDING_DATA")]
    NoCaptures,
    /// One cannot be read.
    #[error("{path}: {error}")]
    Capture {
        /// The file.
        path: PathBuf,
        /// What the system said.
        error: io::Error,
    },
    /// The modem has no port.
    #[error("the simulated modem: {0}")]
    Modem(#[source] io::Error),
    /// Its port has no name.
    #[error(transparent)]
    Source(#[from] SourceError),
    /// Its port does not open.
    #[error(transparent)]
    Open(#[from] OpenError),
    /// Its port broke.
    #[error("reading the simulated modem: {0}")]
    Read(#[source] io::Error),
    /// The modem is not read.
    #[error(transparent)]
    Follower(#[from] FollowerError),
    /// There is no folder for what the reader writes.
    #[error("a folder for the board and the recording: {0}")]
    Folder(#[source] io::Error),
    /// The modem began and did not come to its end.
    #[error("the simulated modem stopped after {0:?}: is this machine overloaded?")]
    Stuck(Duration),
}

/// Measures both. `progress` receives each result.
pub fn run(plan: &Plan, progress: impl Fn(&str)) -> Result<Overhead, OverheadError> {
    let captures = load(&plan.captures)?;
    let masks = masks::run(&captures, &progress)?;
    let cpu = cpu::run(plan, &captures, &progress)?;
    Ok(Overhead { masks, cpu })
}

/// Captures with at least one log record.
fn load(paths: &[PathBuf]) -> Result<Vec<Vec<u8>>, OverheadError> {
    let read = |path: &Path| {
        std::fs::read(path).map_err(|error| OverheadError::Capture { path: path.into(), error })
    };
    let mut captures = Vec::new();
    for path in paths {
        let bytes = read(path)?;
        if !sounding_modem::Script::of(&bytes).is_empty() {
            captures.push(bytes);
        }
    }
    if captures.is_empty() { Err(OverheadError::NoCaptures) } else { Ok(captures) }
}

impl fmt::Display for Overhead {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut masks = Table::new().left(["log mask"]).right([
            "codes in it",
            "records",
            "kbit/s",
            "of everything",
        ]);
        for row in &self.masks {
            masks.row([
                row.mask.to_string(),
                row.codes.to_string(),
                row.records.to_string(),
                format!("{:.0}", row.kbit_per_sec),
                format!("{:.1} %", row.share_percent),
            ]);
        }
        let mut cpu = Table::new()
            .left(["reads", "from"])
            .right(["Mbit/s", "records/s", "CPU of one core", "in the kernel"])
            .right(["wake-ups/s", "us a wake-up"]);
        for row in &self.cpu {
            cpu.row([
                row.reads.to_string(),
                row.port.to_string(),
                format!("{:.2}", row.mbit_per_sec),
                format!("{:.0}", row.records_per_sec),
                format!("{:.2} %", row.cpu_percent),
                format!("{:.2} %", row.system_percent),
                format!("{:.0}", row.wakes_per_sec),
                format!("{:.1}", row.cpu_percent * 1e4 / row.wakes_per_sec.max(1.0)),
            ]);
        }
        write!(f, "{masks}\n{cpu}")
    }
}
