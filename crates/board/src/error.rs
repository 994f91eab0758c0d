use std::io;
use std::path::PathBuf;

use sounding_kpi::board::NotABoard;
use thiserror::Error;

/// Why a board cannot be made.
#[derive(Debug, Error)]
pub enum PublishError {
    /// Another process has it.
    #[error("{path}: another process publishes this board")]
    Taken {
        /// The lock it holds.
        path: PathBuf,
    },
    /// The file with the lock's name would not keep other writers out, or would let another user do
    /// so.
    #[error("{path}: {why}: remove it, or give the board another name")]
    NotALock {
        /// The lock.
        path: PathBuf,
        /// The fault.
        why: String,
    },
    /// The system would not make it.
    #[error("{path}: {error}")]
    Io {
        /// The file.
        path: PathBuf,
        /// The system's error.
        error: io::Error,
    },
    /// It would be too large.
    #[error(transparent)]
    Layout(#[from] NotABoard),
}
