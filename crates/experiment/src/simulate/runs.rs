//! Every run of a plan, on several threads.

use std::io;
use std::ops::ControlFlow;
use std::sync::atomic::AtomicBool;
use std::time::Duration;

use super::{About, Files, Keep, Outcome, SimulateError, compare, simulate};
use crate::plan::Run;
use sounding_host::jobs::{self, Job, Told};

/// The place of a run's files, which appear completely or not at all.
pub trait Place: Files + Send {
    /// All of them are complete.
    ///
    /// # Errors
    ///
    /// The kernel's error, if the files cannot get their names.
    fn finish(self: Box<Self>) -> io::Result<()>;
}

/// The outcomes of the finished runs, in the order of the plan.
#[derive(Debug)]
pub struct Finished {
    /// The outcomes.
    pub outcomes: Vec<Outcome>,
    /// Whether every run of the plan is among them.
    pub complete: bool,
}

/// Makes all runs on `jobs` threads. `open` gives the place for a run's outputs. `progress` is
/// called on this thread with the virtual time that has passed since its last call. When `stop`
/// rises, running ones are cancelled.
///
/// The first run that fails ends all, and so does a file that cannot be written.
///
/// # Errors
///
/// The first [`SimulateError`] of a run, with the run's index: a wrong plan, or a file that cannot
/// be written.
pub fn all(
    runs: &[Run],
    keep: &Keep,
    about: &About,
    jobs: usize,
    stop: &AtomicBool,
    open: &(dyn Fn(&Run) -> io::Result<Box<dyn Place>> + Sync),
    progress: &mut dyn FnMut(Duration),
) -> Result<Finished, (usize, SimulateError)> {
    let work = |run: &Run, job: &Job<'_, Duration, Outcome, SimulateError>| {
        let mut before = Duration::ZERO;
        let mut go_on = |now: Duration| {
            job.say(now - before);
            before = now;
            if job.is_over() { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
        };
        match one(run, keep, about, open, &mut go_on) {
            Err(SimulateError::Stopped) => Ok(None),
            result => result.map(Some),
        }
    };
    let told = |message: Told<'_, Run, Duration, Outcome>| {
        if let Told::Said(span) = message {
            progress(span);
        }
    };
    let outcomes = jobs::until(runs, jobs, stop, work, told)?;
    let mut outcomes: Vec<Outcome> = outcomes.into_iter().flatten().collect();
    compare(&mut outcomes);
    Ok(Finished { complete: outcomes.len() == runs.len(), outcomes })
}

fn one(
    run: &Run,
    keep: &Keep,
    about: &About,
    open: &(dyn Fn(&Run) -> io::Result<Box<dyn Place>> + Sync),
    go_on: &mut dyn FnMut(Duration) -> ControlFlow<()>,
) -> Result<Outcome, SimulateError> {
    let folder = |source: io::Error| SimulateError::Write {
        run: run.number,
        file: "its folder".into(),
        source: source.into(),
    };
    if !keep.is_anything() {
        return simulate(run, keep, about, &mut (), go_on);
    }
    let mut place = open(run).map_err(folder)?;
    let outcome = simulate(run, keep, about, &mut *place, go_on)?;
    place.finish().map_err(folder)?;
    Ok(outcome)
}
