use std::io;
use std::path::{Path, PathBuf};

use sounding_export::table::TableError;

/// Why a dataset cannot be made.
#[derive(Debug, thiserror::Error)]
pub enum FleetError {
    /// The captures cannot be listed.
    #[error("{path}: {source}")]
    Read {
        /// The folder or file.
        path: PathBuf,
        /// Why.
        source: io::Error,
    },
    /// The dataset cannot be written.
    #[error("{path}: {}", written(source))]
    Write {
        /// The file.
        path: PathBuf,
        /// Why.
        source: io::Error,
    },
    /// No file is a capture.
    #[error("{path}: none of its {files} files is a capture{first}")]
    NoCapture {
        /// The folder.
        path: PathBuf,
        /// The number of files.
        files: usize,
        /// The first of them with its fault.
        first: String,
    },
    /// A pattern cannot be read.
    #[error("{pattern}: {fault}")]
    Pattern {
        /// The pattern.
        pattern: String,
        /// What is wrong.
        fault: String,
    },
    /// The dataset was made in another way.
    #[error("{path}: its dataset was made with another {what}: {there}, and not {asked}")]
    Other {
        /// The folder.
        path: PathBuf,
        /// The difference.
        what: &'static str,
        /// What the dataset has.
        there: String,
        /// What was asked for.
        asked: String,
    },
    /// The folder has something else than a dataset.
    #[error("{path}: holds {name}, which is no part of a dataset")]
    Taken {
        /// The folder.
        path: PathBuf,
        /// Something in it.
        name: String,
    },
    /// Another process works on it.
    #[error("{0}: another process works on this dataset")]
    Busy(PathBuf),
    /// A file of the dataset is not what this program wrote.
    #[error("{path}, line {line}: {source}")]
    Damaged {
        /// The file.
        path: PathBuf,
        /// The line.
        line: usize,
        /// Why.
        source: serde_json::Error,
    },
    /// A fault of this program.
    #[error(transparent)]
    Table(TableError),
    /// It was asked to stop.
    #[error("interrupted")]
    Stopped,
}

/// The words for a full disk.
fn written(error: &io::Error) -> String {
    match error.kind() {
        io::ErrorKind::StorageFull => {
            "no space left; finished parts stay, and the same command goes on".into()
        }
        _ => error.to_string(),
    }
}

pub(crate) fn read(path: &Path) -> impl Fn(io::Error) -> FleetError + use<'_> {
    |source| FleetError::Read { path: path.into(), source }
}

pub(crate) fn write(path: &Path) -> impl Fn(io::Error) -> FleetError + use<'_> {
    |source| FleetError::Write { path: path.into(), source }
}

/// The error of a table in `path`.
pub(crate) fn table(path: &Path) -> impl Fn(TableError) -> FleetError + use<'_> {
    |error| match error {
        TableError::Io(source) => FleetError::Write { path: path.into(), source },
        other => FleetError::Table(other),
    }
}
