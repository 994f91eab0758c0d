//! The cost of reading a modem: its output with Gandalf's log mask and with all records on (Gandalf §4.2.2, Figure
//! 13), and the CPU time of the process that reads it (Figure 14).
//!
//! A simulated modem sends the records of real captures. They are read through the same session and port as a real modem's. A
//! capture holds only the records that its recorder requested, so "all records" means all of these.

mod cpu;
pub(crate) mod experiment;
pub(crate) mod masks;

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

/// The measured quantity.
#[derive(Clone, Debug)]
pub struct Plan {
    /// Captures of mixed records.
    pub captures: Vec<PathBuf>,
    /// Rate of the diagnostic data while CPU time is measured.
    pub rate: Rate,
    /// Duration of the measurement, for each way to read.
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
    /// No capture was found.
    #[error("no captures of log records: name some with --captures, or set SOUNDING_DATA")]
    NoCaptures,
    /// A capture cannot be read.
    #[error("{path}: {error}")]
    Capture {
        /// The file.
        path: PathBuf,
        /// The system's error.
        error: io::Error,
    },
    /// The modem has no port.
    #[error("the simulated modem: {0}")]
    Modem(#[source] io::Error),
    /// The modem has no thread.
    #[error("a thread for the simulated modem: {0}")]
    Thread(#[source] io::Error),
    /// Its port has no name.
    #[error(transparent)]
    Source(#[from] SourceError),
    /// Its port does not open.
    #[error(transparent)]
    Open(#[from] OpenError),
    /// Reading its port failed.
    #[error("reading the simulated modem: {0}")]
    Read(#[source] io::Error),
    /// The reader of the modem does not start.
    #[error(transparent)]
    Follower(#[from] FollowerError),
    /// There is no folder for the reader's output.
    #[error("a folder for the board and the recording: {0}")]
    Folder(#[source] io::Error),
    /// The modem began to send and did not finish.
    #[error("the simulated modem stopped after {0:?}: is this machine overloaded?")]
    Stuck(Duration),
}

/// Measures both figures. `progress` receives each result.
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
