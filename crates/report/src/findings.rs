//! A run's files in a folder, and its figures.
//!
//! [`Findings::read`] reads what `--out` keeps: `result.json`, `flows.parquet` and, for each run,
//! `series.parquet` and `events.parquet`; and `groups.json`, if the user adds it to group
//! scenarios. [`page`] makes a [`Page`](crate::Page) of one or several such folders.

mod bins;
mod fairness;
mod over_time;
mod page;
mod pool;
mod read;
mod summary;

use std::path::PathBuf;

use thiserror::Error;

pub use page::{Options, page};
pub use read::{Findings, GROUPS};

/// Why there is no report of a folder.
#[derive(Debug, Error)]
pub enum ReadError {
    /// A file is missing that every result has.
    #[error(
        "{} has no {name}: a report is made of what `sounding sim PLAN --out DIR` leaves in DIR", folder.display()
    )]
    Missing {
        /// The folder.
        folder: PathBuf,
        /// The missing file.
        name: &'static str,
    },
    /// A file has another content than expected.
    #[error("{} is not what `sounding sim --out` writes: {why}", path.display())]
    Wrong {
        /// The file.
        path: PathBuf,
        /// The reason.
        why: String,
    },
    /// The folder has no data to draw.
    #[error("{} has no flow with a controller in it", folder.display())]
    Empty {
        /// The folder.
        folder: PathBuf,
    },
}

/// A flow of a run, or the sum of all its flows with one name.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Flow {
    /// In which of the folders.
    pub(crate) folder: usize,
    pub(crate) run: i64,
    pub(crate) seed: i64,
    /// The values of the swept parameters, except the controller.
    pub(crate) scenario: String,
    /// The group of the scenario; the scenario itself without groups.
    pub(crate) group: String,
    /// Number within the run.
    pub(crate) number: i64,
    pub(crate) device: String,
    pub(crate) direction: String,
    /// Its name in the figures.
    pub(crate) name: String,
    pub(crate) figures: Figures,
}

/// The figures of a flow that a report shows; a value that a file lacks is unknown.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct Figures {
    pub(crate) throughput: Option<f64>,
    pub(crate) utilisation: Option<f64>,
    pub(crate) delay_mean: Option<f64>,
    pub(crate) delay_p95: Option<f64>,
    pub(crate) delay_p99: Option<f64>,
    pub(crate) queue_p95: Option<f64>,
    pub(crate) loss: Option<f64>,
    /// Throughput over the oracle's.
    pub(crate) oracle_share: Option<f64>,
    /// The 95th percentile of the queueing delay minus the oracle's.
    pub(crate) oracle_queue_p95: Option<f64>,
    pub(crate) jain_mean: Option<f64>,
    pub(crate) jain_least: Option<f64>,
    pub(crate) convergence: Option<f64>,
    pub(crate) stalled: Option<f64>,
    pub(crate) longest_gap: Option<f64>,
    pub(crate) completion_p50: Option<f64>,
    pub(crate) completion_p99: Option<f64>,
    pub(crate) completion_p999: Option<f64>,
}

#[cfg(test)]
mod tests;
