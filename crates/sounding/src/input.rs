//! Captures from files and standard input.

use std::fs::File;
use std::io::{self, Read};
use std::path::{Path, PathBuf};

use miette::Diagnostic;
use sounding_diag::capture::{self, CaptureError as NotACapture};
use thiserror::Error;

/// Captures are read whole. Larger ones than this are refused before the machine runs out of memory.
const LARGEST: u64 = 4 << 30;

/// Why a capture cannot be used.
#[derive(Debug, Error, Diagnostic)]
pub(crate) enum CaptureError {
    /// It cannot be read.
    #[error("{path}: {error}")]
    Read { path: PathBuf, error: io::Error },
    /// It is larger than what is read whole.
    #[error("{path}: larger than {} GiB", LARGEST >> 30)]
    #[diagnostic(help(
        "cut it first, e.g. with `split --bytes=1G`: a piece may begin and end anywhere"
    ))]
    Large { path: PathBuf },
    /// It is something else.
    #[error("{path}: {reason}")]
    #[diagnostic(help(
        "a capture is the byte stream of a Diag port: .mi2log of MobileInsight, .qmdl of QXDM, or `cat /dev/ttyUSB0`"
    ))]
    Other { path: PathBuf, reason: NotACapture },
}

/// Reads a whole capture; `-` is standard input. A file without one valid frame is refused.
pub(crate) fn capture(path: &Path) -> Result<Vec<u8>, CaptureError> {
    let fail = |error| CaptureError::Read { path: path.to_path_buf(), error };
    let source: Box<dyn Read> = if path == Path::new("-") {
        Box::new(io::stdin().lock())
    } else {
        Box::new(File::open(path).map_err(fail)?)
    };
    let mut bytes = Vec::new();
    source.take(LARGEST + 1).read_to_end(&mut bytes).map_err(fail)?;
    if bytes.len() as u64 > LARGEST {
        return Err(CaptureError::Large { path: path.to_path_buf() });
    }
    capture::recognise(&bytes)
        .map_err(|reason| CaptureError::Other { path: path.to_path_buf(), reason })?;
    Ok(bytes)
}
