//! Runs plans in virtual time: outcomes of flows, and files of runs.
//!
//! [`simulate`] makes one run, [`all`] makes every run of a plan on several threads. Results do not
//! depend on the number of threads, the build or the machine.

mod beside;
mod capture;
mod carriers;
mod gauge;
mod keep;
mod logs;
mod outcome;
mod radio;
mod runs;
mod table;
mod watch;

use std::ops::ControlFlow;
use std::time::Duration;

use sounding_export::table::TableError;
use sounding_kpi::Direction;
use sounding_sim::world::{Event, Observer};
use sounding_units::HostInstant;
use thiserror::Error;

pub(crate) use beside::compare;
pub use capture::capture;
pub use keep::{About, Files, Keep, Output};
pub use outcome::{Delays, FlowOutcome, FromOracle, Jain, Outcome, Pantheon, Tuned};
pub use runs::{Finished, Place, all};
pub use table::{json, parquet, table};

use gauge::Gauge;
use logs::Logs;
use watch::Watch;

use crate::observe::{Observation, Setup};
use crate::plan::{Actors, Run, Wrong, populate};

/// Interval at which a run checks whether it should stop.
const SLICE: Duration = Duration::from_millis(100);

/// Why a run has no outcome.
#[derive(Debug, Error)]
pub enum SimulateError {
    /// Something in the plan cannot be.
    #[error(transparent)]
    Plan(#[from] Wrong),
    /// A file cannot be written.
    #[error("run {run}: cannot write {file}: {source}")]
    Write {
        /// The run.
        run: usize,
        /// The file.
        file: String,
        /// Why.
        source: TableError,
    },
    /// It was stopped.
    #[error("stopped")]
    Stopped,
}

/// Makes one run and keeps the requested outputs in `files`; `go_on` receives its progress and
/// returns whether to continue.
///
/// # Errors
///
/// [`SimulateError::Plan`] if the plan is wrong; [`SimulateError::Write`] if an output cannot be
/// written; [`SimulateError::Stopped`] if `go_on` says so.
pub fn simulate(
    run: &Run,
    keep: &Keep,
    about: &About,
    files: &mut dyn Files,
    go_on: &mut dyn FnMut(Duration) -> ControlFlow<()>,
) -> Result<Outcome, SimulateError> {
    let plan = &run.plan;
    let actors = Actors::new(plan)?;
    let failed = |(file, source)| SimulateError::Write { run: run.number, file, source };
    let about = about.of(run);
    let logs = Logs::open(plan, &actors, keep, &about, files).map_err(failed)?;
    let radio = logs.wants_events();
    let dcis = radio && logs.wants_every_dci();
    let setup = Setup { radio, dcis, slots: logs.wants_use(), ..Setup::default() };
    let mut observation = Observation::without_flows(run, &actors, setup, logs)?;
    populate(&mut observation.world, run, &actors);
    let end = at(plan.duration);
    let mut watch = Watch::open(plan, &actors, keep, &about, files).map_err(failed)?;
    let mut gauge = Gauge::new(run, &actors)?;
    watch.measure_against(run, &actors)?;
    let mut measured = plan.warmup.is_zero();
    while observation.world.now() < end {
        let mut next = (observation.world.now() + SLICE).min(end);
        if !measured {
            next = next.min(at(plan.warmup));
        }
        observation.world.observe_until(next, &mut |now: HostInstant, event: &Event<'_>| {
            watch.handle_event(now, event);
            gauge.handle_event(now, event);
        });
        if !measured && next == at(plan.warmup) {
            observation.world.measure_afresh();
            measured = true;
        }
        watch.error().map_err(failed)?;
        observation.sink().error().map_err(failed)?;
        if go_on(next - HostInstant::default()).is_break() {
            return Err(SimulateError::Stopped);
        }
    }
    watch.finish(end).map_err(failed)?;
    let outcome = Outcome::of(run, &actors, &observation.world, gauge);
    observation.end().finish().map_err(failed)?;
    Ok(outcome)
}

fn at(span: Duration) -> HostInstant {
    HostInstant::default() + span
}

/// Name of a direction in tables.
fn way(direction: Direction) -> &'static str {
    match direction {
        Direction::Uplink => "up",
        Direction::Downlink => "down",
    }
}

#[cfg(test)]
mod measured;
#[cfg(test)]
mod tests;
