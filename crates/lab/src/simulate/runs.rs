//! Every run of a plan, on several threads.

use std::io;
use std::ops::ControlFlow;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::mpsc;
use std::thread;
use std::time::Duration;

use super::{About, Files, Keep, Outcome, SimulateError, compare, simulate};
use crate::plan::Run;

/// Where a run's files go, which are there whole or not at all.
pub trait Place: Files + Send {
    /// All of them are complete.
    fn finish(self: Box<Self>) -> io::Result<()>;
}

/// The outcomes of those runs that were finished, in the order of the plan, and whether those are all.
#[derive(Debug)]
pub struct Finished {
    /// The outcomes.
    pub outcomes: Vec<Outcome>,
    /// Whether every run of the plan is among them.
    pub complete: bool,
}

/// Makes all runs on `jobs` threads. `open` gives the place for what is kept of a run; `progress` is told, from this
/// thread, how much virtual time has passed since it was told last; when `stop` rises, what is under way is given up.
///
/// The first run that fails ends all, and so does a file that cannot be written.
pub fn all(
    runs: &[Run],
    keep: &Keep,
    about: &About,
    jobs: usize,
    stop: &AtomicBool,
    open: &(dyn Fn(&Run) -> io::Result<Box<dyn Place>> + Sync),
    progress: &mut dyn FnMut(Duration),
) -> Result<Finished, (usize, SimulateError)> {
    let next = AtomicUsize::new(0);
    let failed = AtomicBool::new(false);
    let (sender, told) = mpsc::channel();
    let mut results: Vec<Option<Result<Outcome, SimulateError>>> = Vec::new();
    results.resize_with(runs.len(), || None);
    thread::scope(|scope| {
        for _ in 0..jobs.clamp(1, runs.len().max(1)) {
            let (sender, next, failed) = (sender.clone(), &next, &failed);
            scope.spawn(move || {
                while let Some((at, run)) = take(next, runs) {
                    let mut before = Duration::ZERO;
                    let mut go_on = |now: Duration| {
                        // Whoever listens has gone only if everything ends.
                        let _ = sender.send(Told::Passed(now - before));
                        before = now;
                        if stop.load(Ordering::Relaxed) || failed.load(Ordering::Relaxed) {
                            return ControlFlow::Break(());
                        }
                        ControlFlow::Continue(())
                    };
                    let result = one(run, keep, about, open, &mut go_on);
                    if result.is_err() {
                        failed.store(true, Ordering::Relaxed);
                    }
                    let _ = sender.send(Told::Done(at, Box::new(result)));
                    if stop.load(Ordering::Relaxed) || failed.load(Ordering::Relaxed) {
                        return;
                    }
                }
            });
        }
        drop(sender);
        for told in told {
            match told {
                Told::Passed(span) => progress(span),
                Told::Done(at, result) => results[at] = Some(*result),
            }
        }
    });
    let mut outcomes = Vec::new();
    for (at, result) in results.into_iter().enumerate() {
        match result {
            Some(Ok(outcome)) => outcomes.push(outcome),
            Some(Err(SimulateError::Stopped)) | None => {}
            Some(Err(error)) => return Err((at, error)),
        }
    }
    compare(&mut outcomes);
    Ok(Finished { complete: outcomes.len() == runs.len(), outcomes })
}

enum Told {
    Passed(Duration),
    Done(usize, Box<Result<Outcome, SimulateError>>),
}

fn take<'a>(next: &AtomicUsize, runs: &'a [Run]) -> Option<(usize, &'a Run)> {
    let at = next.fetch_add(1, Ordering::Relaxed);
    runs.get(at).map(|run| (at, run))
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
