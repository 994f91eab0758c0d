//! Runs all runs of a plan into a folder, on every processor or on several machines. A sweep
//! survives interruptions.
//!
//! A finished run is a file in the folder, which appears complete by a rename. A killed sweep
//! leaves the runs that it had finished, and the same command continues with the rest. The result
//! does not depend on the number of restarts or threads, or on which process made which run.
//!
//! ```text
//! DIR/sweep.json        what is swept: another plan, commit or set of files is refused
//! DIR/lock              held while somebody works here
//! DIR/runs/0001.json    the outcome of a run
//! DIR/run-0001/         what is kept of it besides
//! ```

mod folder;
mod part;
pub mod summary;

use std::io;
use std::ops::ControlFlow;
use std::sync::atomic::AtomicBool;
use std::time::Duration;

pub use folder::{Folder, SweepError};
pub use part::Part;

use crate::plan::Run;
use crate::simulate::{About, Finished, Keep, Outcome, Place, compare, simulate};
use sounding_host::jobs::{self, Job, Told};

/// Progress of a sweep.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Progress {
    /// This much virtual time has passed in all runs together.
    Passed(Duration),
    /// A run is finished.
    Finished,
}

/// Makes the unfinished runs in `part` on `jobs` threads, and puts each in `folder`. `open` gives
/// the place for a run's outputs besides its outcome. `progress` is called on this thread. When
/// `stop` rises, running ones are cancelled. The first run that fails ends all.
///
/// # Errors
///
/// [`SweepError::Run`] with the first run that fails; [`SweepError::Write`] if its outcome cannot
/// be written.
#[expect(clippy::too_many_arguments, reason = "the same as for runs that are not kept")]
pub fn sweep(
    folder: &Folder,
    runs: &[Run],
    part: Part,
    keep: &Keep,
    about: &About,
    jobs: usize,
    stop: &AtomicBool,
    open: &(dyn Fn(&Run) -> io::Result<Box<dyn Place>> + Sync),
    progress: &mut dyn FnMut(Progress),
) -> Result<(), SweepError> {
    let missing: Vec<&Run> =
        runs.iter().filter(|run| part.has(run) && !folder.is_finished(run)).collect();
    let work = |run: &&Run, job: &Job<'_, Duration, (), SweepError>| {
        let mut before = Duration::ZERO;
        let mut go_on = |now: Duration| {
            job.say(now - before);
            before = now;
            if job.is_over() { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
        };
        match one(folder, run, keep, about, open, &mut go_on) {
            Err(error) if error.is_stopped() => Ok(None),
            result => result.map(Some),
        }
    };
    let told = |message: Told<'_, &Run, Duration, ()>| match message {
        Told::Said(span) => progress(Progress::Passed(span)),
        Told::Done(..) => progress(Progress::Finished),
    };
    jobs::until(&missing, jobs, stop, work, told).map(drop).map_err(|(_, error)| error)
}

fn one(
    folder: &Folder,
    run: &Run,
    keep: &Keep,
    about: &About,
    open: &(dyn Fn(&Run) -> io::Result<Box<dyn Place>> + Sync),
    go_on: &mut dyn FnMut(Duration) -> ControlFlow<()>,
) -> Result<(), SweepError> {
    let run_error = |source| SweepError::Run { run: run.number, source };
    let outcome = if keep.is_anything() {
        let write = |source| SweepError::Write { file: format!("run {}", run.number), source };
        let mut place = open(run).map_err(write)?;
        let outcome = simulate(run, keep, about, &mut *place, go_on).map_err(run_error)?;
        place.finish().map_err(write)?;
        outcome
    } else {
        simulate(run, keep, about, &mut (), go_on).map_err(run_error)?
    };
    folder.store(&outcome)
}

/// The finished runs, in the order of the plan, with each flow's distance to the oracle; complete
/// if none is missing.
///
/// # Errors
///
/// [`SweepError::Write`] if an outcome cannot be read.
pub fn collect(folder: &Folder, runs: &[Run]) -> Result<Finished, SweepError> {
    let mut outcomes: Vec<Outcome> = Vec::new();
    for run in runs.iter().filter(|run| folder.is_finished(run)) {
        outcomes.push(folder.load(run)?);
    }
    compare(&mut outcomes);
    Ok(Finished { complete: outcomes.len() == runs.len(), outcomes })
}

#[cfg(test)]
mod tests;
