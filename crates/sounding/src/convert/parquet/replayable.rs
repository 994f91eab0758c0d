//! An input that is read twice.

use std::fs::File;
use std::io::{self, Seek, SeekFrom};
use std::path::{Path, PathBuf};

use crate::input::{CaptureError, Incoming, Source};

/// Something that can be read from its beginning more than once.
pub(super) enum Replayable {
    File(PathBuf),
    /// A temporary copy of data from a pipe.
    Spooled(PathBuf, File),
}

impl Replayable {
    /// Opens a file directly. Any other input is first copied to a file without a name.
    pub(super) fn new(path: &Path) -> Result<Self, CaptureError> {
        let fail = |error| CaptureError::Read { path: path.to_path_buf(), error };
        if path != Path::new("-") && path.metadata().is_ok_and(|about| about.is_file()) {
            return Ok(Self::File(path.to_path_buf()));
        }
        let mut stream = Incoming::of(path)?;
        let mut spool = tempfile::tempfile().map_err(fail)?;
        io::copy(&mut stream, &mut spool).map_err(fail)?;
        Ok(Self::Spooled(path.to_path_buf(), spool))
    }

    /// From the beginning.
    pub(super) fn open(&self) -> Result<Source, CaptureError> {
        match self {
            Self::File(path) => Source::open(path),
            Self::Spooled(path, spool) => {
                let fail = |error| CaptureError::Read { path: path.clone(), error };
                let mut again = spool.try_clone().map_err(fail)?;
                again.seek(SeekFrom::Start(0)).map_err(fail)?;
                let size = again.metadata().map_err(fail)?.len();
                Source::begin(path, Box::new(again), Some(size))
            }
        }
    }
}
