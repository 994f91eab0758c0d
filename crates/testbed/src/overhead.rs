//! The cost of reading a modem: its output with Gandalf's log mask and with all records on (Gandalf
//! §4.2.2, Figure 13), and the CPU time of the process that reads it (Figure 14).
//!
//! A simulated modem sends the records of real captures. They are read through the same session and
//! port as a real modem's. A capture holds only the records that its recorder requested, so "all
//! records" means all of these.

mod crowd;
mod daemons;
mod masks;
mod readers;

use std::io;
use std::path::{Path, PathBuf};
use std::thread::{self, JoinHandle};
use std::time::Duration;

use serde::Serialize;
use sounding_modem::{OpenError, SourceError};
use sounding_units::Rate;
use thiserror::Error;

use crate::follower::FollowerError;

pub use crowd::Came;
pub use daemons::{Beside, DaemonRow};
pub use masks::{Mask, MaskRow, TABLE_8};
pub use readers::{CpuRow, Port, Reads};

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

/// All figures.
#[derive(Clone, Debug, Serialize)]
pub struct Overhead {
    /// Data for each mask.
    pub masks: Vec<MaskRow>,
    /// CPU time for each way to read.
    pub cpu: Vec<CpuRow>,
    /// The daemon's cost, by who looks at it.
    pub daemons: Vec<DaemonRow>,
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
    /// A client of the daemon has no answer.
    #[error("a client of the daemon: {0}")]
    Watcher(#[source] io::Error),
    /// The daemon's feed is not read.
    #[error("a reader of the daemon's feed: {0}")]
    Feed(#[source] sounding_feed::FeedError),
    /// The modem began to send and did not finish.
    #[error("the simulated modem stopped after {0:?}: is this machine overloaded?")]
    Stuck(Duration),
}

/// Measures all figures. `progress` receives each result.
pub fn run(plan: &Plan, progress: impl Fn(&str)) -> Result<Overhead, OverheadError> {
    let captures = load(&plan.captures)?;
    let masks = masks::run(&captures, &progress)?;
    let cpu = readers::run(plan, &captures, &progress)?;
    let daemons = daemons::run(plan, &captures, &progress)?;
    Ok(Overhead { masks, cpu, daemons })
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

/// A thread beside the measurement.
fn begin<T: Send + 'static>(
    name: &str,
    does: impl FnOnce() -> T + Send + 'static,
) -> Result<JoinHandle<T>, OverheadError> {
    let thread = thread::Builder::new().name(name.into()).spawn(does);
    thread.map_err(OverheadError::Watcher)
}
