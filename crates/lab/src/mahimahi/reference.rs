use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::time::Duration;

use super::Figures;

/// mahimahi's own results: for each row, one set of figures a repetition.
#[derive(Clone, Debug)]
pub struct Reference {
    rows: BTreeMap<String, Vec<Figures>>,
}

/// Why the reference cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum ReferenceError {
    /// It cannot be read.
    #[error("cannot read mahimahi's results from {path}: {source}; they come with the shared data, name its folder with --data or SOUNDING_DATA", path = path.display())]
    Read {
        /// Where it should be.
        path: PathBuf,
        /// What the system said.
        source: std::io::Error,
    },
    /// It is not what it should be.
    #[error("{path} is not a table of mahimahi's results: {source}", path = path.display())]
    Parse {
        /// Where it is.
        path: PathBuf,
        /// What is wrong.
        source: serde_json::Error,
    },
    /// It lacks a row.
    #[error("mahimahi's results lack the row {name}")]
    NoRow {
        /// Its name.
        name: String,
    },
}

impl Reference {
    /// Reads a table of results.
    pub fn read(path: &Path) -> Result<Self, ReferenceError> {
        let text = std::fs::read_to_string(path)
            .map_err(|source| ReferenceError::Read { path: path.into(), source })?;
        let rows = serde_json::from_str(&text)
            .map_err(|source| ReferenceError::Parse { path: path.into(), source })?;
        Ok(Self { rows })
    }

    /// The repetitions of a row; none if there is no such row.
    pub fn row(&self, name: &str) -> &[Figures] {
        self.rows.get(name).map_or(&[], Vec::as_slice)
    }

    /// When the first data packet of a row arrived at the link, on average.
    pub fn start(&self, name: &str) -> Result<Duration, ReferenceError> {
        let row = self.row(name);
        let total: u64 = row.iter().map(|figures| figures.start_ms).sum();
        let mean = total.checked_div(row.len() as u64);
        mean.map(Duration::from_millis).ok_or_else(|| ReferenceError::NoRow { name: name.into() })
    }
}
