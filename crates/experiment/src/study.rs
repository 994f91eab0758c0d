//! From a plan's text to its results: what `sounding sim` does, for programs with their own
//! controllers.
//!
//! ```no_run
//! use std::path::Path;
//!
//! use sounding_baselines::{Registry, Reno};
//! use sounding_experiment::plan::Text;
//! use sounding_experiment::simulate::{Keep, table};
//! use sounding_experiment::study::Study;
//!
//! let mut controllers = Registry::default();
//! controllers.add("mine", |start| Box::new(Reno::new(start)))?;
//! let plan = Text::read(Path::new("plan.toml"))?.with_controllers(controllers);
//! let finished = Study::new(plan)?.run(&Keep::default(), Some(Path::new("results")))?;
//! print!("{}", table(&finished));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

use std::io;
use std::path::Path;
use std::sync::atomic::AtomicBool;
use std::time::Duration;

use thiserror::Error;

use crate::plan::{PlanError, Run, Text, network};
use crate::results::{Results, ResultsError};
use crate::simulate::{self, About, Finished, Keep, Place, SimulateError};

/// A plan that can be run.
#[derive(Debug)]
pub struct Study {
    text: Text,
    runs: Vec<Run>,
    about: About,
}

/// Why a study has no results.
#[derive(Debug, Error)]
pub enum StudyError {
    /// The plan cannot be run; the error has the place in its text.
    #[error(transparent)]
    Plan(#[from] PlanError),
    /// A run failed.
    #[error(transparent)]
    Run(SimulateError),
    /// The results have no place.
    #[error(transparent)]
    Results(#[from] ResultsError),
}

impl Study {
    /// Reads a plan whole: every run of it has a network and controllers.
    ///
    /// # Errors
    ///
    /// [`PlanError`] with its place in the text, if a key, value or trace of any run is wrong.
    pub fn new(text: Text) -> Result<Self, PlanError> {
        let runs = text.runs()?;
        for run in &runs {
            network::<()>(&run.plan, &run.folder, run.seed)
                .map_err(|wrong| text.locate(run, wrong))?;
        }
        let about = About::new(&text);
        Ok(Self { text, runs, about })
    }

    /// The runs.
    pub fn runs(&self) -> &[Run] {
        &self.runs
    }

    /// The origin of the results.
    pub fn about(&self) -> &About {
        &self.about
    }

    /// Makes all runs on as many threads as there are processors; the results go to `out`, a new
    /// folder.
    ///
    /// # Errors
    ///
    /// [`StudyError`] if a run fails, or `out` has results or cannot be written.
    pub fn run(&self, keep: &Keep, out: Option<&Path>) -> Result<Finished, StudyError> {
        let jobs = std::thread::available_parallelism().map_or(1, usize::from);
        self.run_on(jobs, keep, out, &AtomicBool::new(false), &mut |_| {})
    }

    /// The same on `jobs` threads; `progress` is called with the virtual time that has passed since
    /// its last call. When `stop` rises, running ones are cancelled, and finished ones are
    /// stored.
    ///
    /// # Errors
    ///
    /// As [`run`](Self::run).
    pub fn run_on(
        &self,
        jobs: usize,
        keep: &Keep,
        out: Option<&Path>,
        stop: &AtomicBool,
        progress: &mut dyn FnMut(Duration),
    ) -> Result<Finished, StudyError> {
        let keep = if out.is_some() { keep.with_sniffer_of(&self.runs) } else { *keep };
        let kept = self.runs.iter().filter(|_| keep.is_anything()).map(|run| run.number);
        let results = out.map(|out| Results::create(out, kept)).transpose()?;
        let open = |run: &Run| -> io::Result<Box<dyn Place>> {
            let nowhere = || io::Error::other("no folder for results");
            results.as_ref().ok_or_else(nowhere)?.place(run.number)
        };
        let finished = simulate::all(&self.runs, &keep, &self.about, jobs, stop, &open, progress);
        let finished = finished.map_err(|(at, error)| self.failed(&self.runs[at], error))?;
        if let Some(results) = &results {
            results.store(&self.about, &finished)?;
        }
        Ok(finished)
    }

    fn failed(&self, run: &Run, error: SimulateError) -> StudyError {
        match error {
            SimulateError::Plan(wrong) => self.text.locate(run, wrong).into(),
            error => StudyError::Run(error),
        }
    }
}
