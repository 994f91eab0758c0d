//! Captures of a drive or a fleet as one dataset.

use std::path::PathBuf;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, Ordering};

use pyo3::exceptions::PyRuntimeError;
use pyo3::prelude::*;
use sounding_export::privacy::Privacy;
use sounding_fleet::{Captures, Choice, FleetError, Progress};

use crate::error;

/// A dataset at work.
#[pyclass(frozen, module = "sounding")]
pub(crate) struct Fleet {
    /// None once it is finished.
    inner: Mutex<Option<sounding_fleet::Fleet>>,
    root: PathBuf,
}

/// Finds captures, and plans their blocks in `out`.
#[pyfunction]
pub(crate) fn open_fleet(
    py: Python<'_>,
    pattern: String,
    out: PathBuf,
    redact: bool,
    codes: Vec<u16>,
    jobs: usize,
    told: Option<Py<PyAny>>,
) -> PyResult<Fleet> {
    let privacy = if redact { Privacy::Redact } else { Privacy::Expose };
    let choice = Choice::new(privacy, &codes);
    let captures = Captures::matching(&pattern).map_err(|e| failed(&e))?;
    let root = captures.root().to_path_buf();
    let inner = interruptible(py, told.as_ref(), |stop, told| {
        sounding_fleet::Fleet::open(captures, &out, choice, jobs, stop, told)
    })?;
    Ok(Fleet { inner: Mutex::new(Some(inner)), root })
}

/// Makes a block of a dataset in this process.
#[pyfunction]
pub(crate) fn make_block(py: Python<'_>, root: PathBuf, out: PathBuf, block: u32) -> PyResult<()> {
    interruptible(py, None, |stop, told| {
        let mut read = |bytes| told(Progress::Read(bytes, bytes));
        sounding_fleet::make_block(&root, &out, block, stop, &mut read)
    })
}

#[pymethods]
impl Fleet {
    /// The folder of all captures.
    #[getter]
    fn root(&self) -> PathBuf {
        self.root.clone()
    }

    /// The blocks that are not made yet.
    fn missing(&self) -> PyResult<Vec<u32>> {
        self.with(|fleet| Ok(fleet.missing()))
    }

    /// Makes them on threads.
    fn make(&self, py: Python<'_>, jobs: usize, told: Option<Py<PyAny>>) -> PyResult<()> {
        self.with(|fleet| {
            interruptible(py, told.as_ref(), |stop, told| fleet.make(jobs, stop, told))
        })
    }

    /// Writes what all parts have in common; the counts as JSON.
    fn finish(&self, py: Python<'_>) -> PyResult<String> {
        let taken = self.inner.lock().ok().and_then(|mut inner| inner.take());
        let fleet = taken.ok_or_else(ended)?;
        let summary = py.detach(|| fleet.finish()).map_err(|e| failed(&e))?;
        serde_json::to_string(&summary).map_err(|e| PyRuntimeError::new_err(e.to_string()))
    }
}

impl Fleet {
    fn with<T>(&self, act: impl FnOnce(&sounding_fleet::Fleet) -> PyResult<T>) -> PyResult<T> {
        // It is one thread's, so that nothing waits here with Python's lock in hand.
        let inner = self.inner.try_lock().map_err(|_| PyRuntimeError::new_err("is at work"))?;
        act(inner.as_ref().ok_or_else(ended)?)
    }
}

fn ended() -> PyErr {
    PyRuntimeError::new_err("the dataset is finished")
}

/// Does something without Python's lock. Ctrl-C, or an exception of `told`, stops it.
fn interruptible<T: Send>(
    py: Python<'_>,
    told: Option<&Py<PyAny>>,
    act: impl FnOnce(&AtomicBool, &mut dyn FnMut(Progress)) -> Result<T, FleetError> + Send,
) -> PyResult<T> {
    let stop = AtomicBool::new(false);
    let mut raised = None;
    let done = py.detach(|| {
        act(&stop, &mut |progress| {
            let called = Python::attach(|py| {
                let (step, done, of) = match progress {
                    Progress::Looked(done, of) => ("files", done, of),
                    Progress::Read(done, of) => ("bytes", done, of),
                };
                if let Some(told) = told {
                    told.call1(py, (step, done, of))?;
                }
                py.check_signals()
            });
            if let Err(error) = called {
                stop.store(true, Ordering::Relaxed);
                raised.get_or_insert(error);
            }
        })
    });
    match raised {
        Some(error) => Err(error),
        None => done.map_err(|e| failed(&e)),
    }
}

fn failed(error: &FleetError) -> PyErr {
    match error {
        FleetError::Read { path, source } => error::io(path, source),
        other => error::DatasetError::new_err(other.to_string()),
    }
}
