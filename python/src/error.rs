//! What can go wrong, as Python exceptions.

use std::io;
use std::path::Path;

use pyo3::create_exception;
use pyo3::exceptions::{PyException, PyFileNotFoundError, PyOSError, PyPermissionError};
use pyo3::prelude::*;
use sounding_diag::capture::{self, Damage};
use sounding_diag::record::RecordError;
use sounding_modem::OpenError;

create_exception!(sounding, SoundingError, PyException, "What sounding cannot do.");
create_exception!(sounding, CaptureError, SoundingError, "The file is no Diag capture.");
create_exception!(sounding, PlanError, SoundingError, "The plan cannot be run; says where in it.");
create_exception!(sounding, DatasetError, SoundingError, "Captures cannot become one dataset.");
create_exception!(
    sounding,
    CorruptError,
    SoundingError,
    "Bytes of a stream are no frame, or a frame is no packet. `offset` says where in the stream."
);
create_exception!(
    sounding,
    UnreadError,
    SoundingError,
    "A record that cannot be read. `offset` says where its frame is, `code` what it logs."
);

pub(crate) fn capture(path: &Path, error: &capture::CaptureError) -> PyErr {
    CaptureError::new_err(format!("{}: {error}", path.display()))
}

/// An error of the system, with the file it is about, as Python's own `open` gives it.
pub(crate) fn io(path: &Path, error: &io::Error) -> PyErr {
    let (code, path) = (error.raw_os_error(), path.display().to_string());
    match code {
        Some(code) => PyOSError::new_err((code, words(error), path)),
        None => PyOSError::new_err(format!("{path}: {error}")),
    }
}

/// The system's message, without the number that Python adds itself.
fn words(error: &io::Error) -> String {
    let text = error.to_string();
    text.split(" (os error").next().unwrap_or_default().to_owned()
}

pub(crate) fn port(error: &OpenError) -> PyErr {
    let text = error.to_string();
    match error {
        OpenError::Missing { .. } => PyFileNotFoundError::new_err(text),
        OpenError::Denied { .. } => PyPermissionError::new_err(text),
        _ => PyOSError::new_err(text),
    }
}

pub(crate) fn damage(py: Python<'_>, damage: &Damage) -> PyErr {
    let error = CorruptError::new_err(damage.to_string());
    with(py, error, &[("offset", damage.offset())])
}

pub(crate) fn unread(py: Python<'_>, offset: u64, code: u16, error: &RecordError) -> PyErr {
    let text = format!("record at offset {offset}: {error}");
    with(py, UnreadError::new_err(text), &[("offset", offset), ("code", u64::from(code))])
}

fn with(py: Python<'_>, error: PyErr, attributes: &[(&str, u64)]) -> PyErr {
    for (name, number) in attributes {
        if let Err(failed) = error.value(py).setattr(*name, number) {
            return failed;
        }
    }
    error
}
