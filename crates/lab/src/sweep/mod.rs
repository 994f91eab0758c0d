//! All runs of a plan into a folder, on every processor or on several machines, whatever happens on the way.
//!
//! A run that is finished is a file in the folder, which appears whole by being renamed; what a killed sweep leaves behind
//! is the runs it had finished. The same command goes on with the rest. Nothing in the result depends on how often that
//! was, on how many threads or on who made which run.
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
use std::sync::Mutex;
use std::sync::PoisonError;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::mpsc;
use std::thread;
use std::time::Duration;

pub use folder::{Folder, SweepError};
pub use part::Part;

use crate::plan::Run;
use crate::simulate::{About, Finished, Keep, Outcome, Place, compare, simulate};

/// What a sweep tells while it works.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Progress {
    /// So much virtual time has passed in all runs together.
    Passed(Duration),
    /// A run is finished.
    Finished,
}

/// Makes those of `runs` in `part` that are not finished, on `jobs` threads, and puts each in `folder`. `open` gives the place
/// for what is kept of a run besides its outcome; `progress` is told from this thread; when `stop` rises, what is under way
/// is given up. The first run that fails ends all.
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
    let next = AtomicUsize::new(0);
    let failed = Mutex::new(None);
    let over = AtomicBool::new(false);
    let is_over = || stop.load(Ordering::Relaxed) || over.load(Ordering::Relaxed);
    let (sender, told) = mpsc::channel();
    thread::scope(|scope| {
        for _ in 0..jobs.clamp(1, missing.len().max(1)) {
            let (sender, next, failed, over, missing) =
                (sender.clone(), &next, &failed, &over, &missing);
            scope.spawn(move || {
                while let Some(run) = missing.get(next.fetch_add(1, Ordering::Relaxed)) {
                    let mut before = Duration::ZERO;
                    let mut go_on = |now: Duration| {
                        // Whoever listens has gone only if everything ends.
                        let _ = sender.send(Progress::Passed(now - before));
                        before = now;
                        if is_over() { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
                    };
                    let made = one(folder, run, keep, about, open, &mut go_on);
                    match made {
                        Ok(()) => {
                            let _ = sender.send(Progress::Finished);
                        }
                        Err(error) => {
                            over.store(true, Ordering::Relaxed);
                            let mut failed = failed.lock().unwrap_or_else(PoisonError::into_inner);
                            // What was only given up does not hide why.
                            if failed.as_ref().is_none_or(SweepError::is_stopped) {
                                *failed = Some(error);
                            }
                        }
                    }
                    if is_over() {
                        return;
                    }
                }
            });
        }
        drop(sender);
        told.into_iter().for_each(&mut *progress);
    });
    match failed.into_inner().unwrap_or_else(PoisonError::into_inner) {
        Some(error) if !error.is_stopped() => Err(error),
        _ => Ok(()),
    }
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

/// What is finished, in the order of the plan, with each flow's distance to the oracle; complete where nothing lacks.
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
