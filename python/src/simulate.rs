//! Plans in virtual time.

use std::path::PathBuf;
use std::time::Duration;

use pyo3::exceptions::{PyFileExistsError, PyOSError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::PyType;
use sounding_baselines::Registry;
use sounding_experiment::plan::{PlanError, Text};
use sounding_experiment::results::ResultsError;
use sounding_experiment::simulate::{Keep, json};
use sounding_experiment::study::{Study, StudyError};

use crate::controller::{self, PythonController, Trouble};
use crate::error;

/// Makes every run of a plan, and returns the results as JSON.
#[pyfunction]
#[allow(clippy::too_many_arguments, reason = "the package gives them names")]
pub(crate) fn simulate(
    py: Python<'_>,
    plan: PathBuf,
    base: Py<PyType>,
    controllers: Vec<(String, Py<PyType>)>,
    sets: Vec<String>,
    out: Option<PathBuf>,
    series: Option<f64>,
    keep: Vec<String>,
    jobs: usize,
) -> PyResult<String> {
    let trouble = Trouble::default();
    let mut registry = Registry::default();
    for (name, class) in controllers {
        let needs = controller::needs(class.bind(py), base.bind(py))?;
        let (base, trouble) = (base.clone_ref(py), trouble.clone());
        let make = move |start: &sounding_cc::Start| -> Box<dyn sounding_cc::Controller> {
            let trouble = trouble.clone();
            Box::new(Python::attach(|py| PythonController::new(py, &class, &base, start, trouble)))
        };
        let added = registry.add_needing(name, needs, make);
        added.map_err(|error| PyValueError::new_err(error.to_string()))?;
    }
    let mut text = Text::read(&plan).map_err(|error| refused(&error))?.with_controllers(registry);
    sets.iter().try_for_each(|set| text.set(set)).map_err(|error| refused(&error))?;
    let study = Study::new(text).map_err(|error| refused(&error))?;
    let mut kept = Keep { series: series.map(width).transpose()?, ..Keep::default() };
    keep.iter().try_for_each(|what| add(&mut kept, what))?;
    let finished = py.detach(|| {
        // Ctrl-C and similar signals are handled by the calling thread.
        let mut passed = |_| {
            #[expect(
                clippy::redundant_closure_for_method_calls,
                reason = "the method is not general enough over the lifetime"
            )]
            let signals = Python::attach(|py| py.check_signals());
            if let Err(error) = signals {
                trouble.raise(error);
            }
        };
        study.run_on(jobs, &kept, out.as_deref(), trouble.stop(), &mut passed)
    });
    if let Some(raised) = trouble.take() {
        return Err(raised);
    }
    let finished = finished.map_err(|error| failed(&error))?;
    json(study.about(), &finished).map_err(PyErr::from)
}

fn refused(error: &PlanError) -> PyErr {
    error::PlanError::new_err(error.to_string())
}

fn failed(error: &StudyError) -> PyErr {
    match error {
        StudyError::Plan(error) => refused(error),
        StudyError::Results(ResultsError::Taken { .. }) => {
            PyFileExistsError::new_err(error.to_string())
        }
        StudyError::Results(_) => PyOSError::new_err(error.to_string()),
        StudyError::Run(_) => error::SoundingError::new_err(error.to_string()),
    }
}

/// As the flags of `sounding sim`.
fn add(kept: &mut Keep, what: &str) -> PyResult<()> {
    match what {
        "packets" => kept.packets = true,
        "captures" => kept.captures = true,
        "traces" => kept.traces = true,
        "truth" => kept.truth = true,
        "sniffer" => kept.sniffer = true,
        other => {
            let known = "packets, captures, traces, truth and sniffer";
            let text = format!("keep is some of {known}, not {other:?}");
            return Err(PyValueError::new_err(text));
        }
    }
    Ok(())
}

fn width(seconds: f64) -> PyResult<Duration> {
    match Duration::try_from_secs_f64(seconds) {
        Ok(span) if span >= Duration::from_millis(1) => Ok(span),
        _ => Err(PyValueError::new_err(format!("series is at least 0.001 s, not {seconds}"))),
    }
}
