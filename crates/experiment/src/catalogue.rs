//! Recorded links, and their index, `traces/files.tsv`.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use sounding_host::{MAX_TRACE, read_at_most};
use sounding_trace::{ParseTraceError, Trace, mahimahi};
use sounding_units::without_mark;
use thiserror::Error;

/// Why a recorded link cannot be used.
#[derive(Debug, Error)]
pub enum TraceFileError {
    /// It cannot be read.
    #[error("cannot read the trace {path}: {source}; traces come with the shared data, name its folder with --data or SOUNDING_DATA", path = path.display())]
    Read {
        /// The path.
        path: PathBuf,
        /// The system's error.
        source: io::Error,
    },
    /// It is not a valid index.
    #[error("{path} is not a mahimahi trace: {source}", path = path.display())]
    Format {
        /// The path.
        path: PathBuf,
        /// The fault.
        source: ParseTraceError,
    },
}

/// A file of mahimahi's packet deliveries.
///
/// # Errors
///
/// [`TraceFileError::Read`] if the file cannot be read or is too large; [`TraceFileError::Format`]
/// if it is no trace.
pub fn trace(path: &Path) -> Result<Trace, TraceFileError> {
    let bytes = read_at_most(path, MAX_TRACE)
        .map_err(|source| TraceFileError::Read { path: path.into(), source })?;
    mahimahi::parse(&bytes).map_err(|source| TraceFileError::Format { path: path.into(), source })
}

/// The cells of these columns of every line that has them all.
///
/// # Errors
///
/// The kernel's error, if the index cannot be read; another if it is no text or lacks a column.
pub fn rows<const N: usize>(data: &Path, columns: [&str; N]) -> io::Result<Vec<[String; N]>> {
    let text = fs::read(data.join("traces/files.tsv"))?;
    let text = str::from_utf8(without_mark(&text)).map_err(io::Error::other)?;
    let mut lines = text.lines();
    let names: Vec<&str> = lines.next().unwrap_or_default().split('\t').collect();
    let mut places = [0; N];
    for (place, column) in places.iter_mut().zip(columns) {
        *place = names
            .iter()
            .position(|name| *name == column)
            .ok_or_else(|| io::Error::other(format!("traces/files.tsv has no column {column}")))?;
    }
    let row = |line: &str| {
        let cells: Vec<&str> = line.split('\t').collect();
        let row: Option<Vec<String>> =
            places.iter().map(|&at| cells.get(at).map(|cell| (*cell).into())).collect();
        row?.try_into().ok()
    };
    Ok(lines.filter_map(row).collect())
}
