//! A set of traces like BISCAY's: the deliveries of a saturating flow of datagrams in a modelled
//! cell, separately in each direction, and the modem's records of it.
//!
//! BISCAY §5.3.1 and §A.4: 260 traces, half of them 4G and half 5G; of the 4G ones half static and
//! half mobile, of the 5G ones a fifth and four fifths; three in five on peak. The paper does not
//! give their duration.

mod real;
mod scenario;
mod statistics;

use std::io::{self, Write};
use std::ops::ControlFlow;
use std::path::PathBuf;
use std::sync::atomic::AtomicBool;
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use serde::{Deserialize, Serialize};
use sounding_trace::mahimahi;

pub use real::{BISCAY_MOBILE, BISCAY_STATIC, real};
pub use scenario::{Rat, Scenario};
pub use statistics::{Comparison, Figures, Statistics, comparison};

use crate::plan::Text;
use crate::simulate::{About, Files, Keep, Output, Place, SimulateError, simulate};
use sounding_host::jobs::{self, Job, Told};

/// The requested set.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct Order {
    /// Number of traces.
    pub traces: u32,
    /// Duration of each.
    pub duration: Duration,
    /// The seed of all of them.
    pub seed: u64,
}

/// A trace to be made.
#[derive(Clone, Debug)]
pub struct Entry {
    /// Name of the folder.
    pub name: String,
    /// Its kind.
    pub scenario: Scenario,
    /// Its plan.
    pub plan: String,
}

/// A trace, as in its folder's `trace.json`.
#[derive(Clone, Debug, Deserialize, Serialize)]
pub struct Made {
    /// Name of the folder.
    pub name: String,
    /// Its kind.
    #[serde(flatten)]
    pub scenario: Scenario,
    /// Throughput from the device, by the second.
    pub up: Statistics,
    /// Throughput to the device, by the second.
    pub down: Statistics,
    /// Digests of all events, one for each direction.
    pub digests: [String; 2],
    /// Version of this program.
    pub sounding: String,
    /// The commit it was built from.
    pub commit: String,
    /// Its plan: `sounding sim` repeats it.
    pub plan: String,
}

/// Name prefix of the trace of the plan's first flow, which fills the link; the others only
/// compete.
const FLOOD: &str = "0-";

/// The file in a folder with its description.
pub const ABOUT: &str = "trace.json";

/// Why a trace could not be made.
#[derive(Debug, thiserror::Error)]
pub enum DatasetError {
    /// The run itself.
    #[error("{name}: {source}")]
    Run {
        /// Name of the trace.
        name: String,
        /// Why.
        source: SimulateError,
    },
    /// Something of it cannot be written.
    #[error("{name}: {source}")]
    Write {
        /// Name of the trace.
        name: String,
        /// Why.
        source: io::Error,
    },
    /// Its plan is invalid: an error of this program.
    #[error("{0}")]
    Plan(#[from] crate::plan::PlanError),
}

/// All traces of an order. A longer order begins with the traces of a shorter one.
pub fn entries(order: &Order) -> Vec<Entry> {
    (0..order.traces).map(|number| scenario::entry(order, number)).collect()
}

/// Makes a trace: its plan, both directions as packet-delivery files of mahimahi, both Diag logs,
/// and its statistics.
///
/// # Errors
///
/// [`DatasetError`] if the plan is wrong, a run fails or is stopped, nothing came through, or a
/// file cannot be written.
pub fn make(
    entry: &Entry,
    files: &mut dyn Files,
    go_on: &mut dyn FnMut(Duration) -> ControlFlow<()>,
) -> Result<Made, DatasetError> {
    let write = |source: io::Error| DatasetError::Write { name: entry.name.clone(), source };
    let text = Text::new(&entry.name, &entry.plan, PathBuf::new());
    let about = About::new(&text);
    let keep = Keep { captures: true, traces: true, ..Keep::default() };
    let mut results = Vec::new();
    for (run, way) in text.runs()?.iter().zip(["up", "down"]) {
        let mut both = Both { files, way, kept: Kept::default() };
        let outcome = simulate(run, &keep, &about, &mut both, go_on);
        let kept = both.kept;
        let outcome =
            outcome.map_err(|source| DatasetError::Run { name: entry.name.clone(), source })?;
        let bytes = kept.0.lock().unwrap_or_else(PoisonError::into_inner).clone();
        let trace = mahimahi::parse(&bytes).map_err(|error| {
            write(io::Error::other(format!("nothing came through {way}: {error}")))
        })?;
        results.push((Statistics::of(&trace, run.plan.duration), outcome.digest));
    }
    let [(up, first), (down, second)] = <[_; 2]>::try_from(results)
        .map_err(|_| write(io::Error::other("its plan is not of one run each way")))?;
    let made = Made {
        name: entry.name.clone(),
        scenario: entry.scenario,
        up,
        down,
        digests: [first, second],
        sounding: about.sounding,
        commit: about.commit,
        plan: entry.plan.clone(),
    };
    let mut store = |name: &str, bytes: &[u8]| {
        let mut out = files.create(name)?;
        out.write_all(bytes)?;
        out.flush()
    };
    store("plan.toml", entry.plan.as_bytes()).map_err(write)?;
    let json = serde_json::to_vec_pretty(&made).map_err(|error| write(error.into()))?;
    store(ABOUT, &json).map_err(write)?;
    Ok(made)
}

/// Makes all these on `jobs` threads; `finished` is called on this thread for each.
///
/// # Errors
///
/// The first [`DatasetError`] of [`make`]; the others then end early. Stopped ones are left out.
pub fn make_all(
    entries: &[Entry],
    jobs: usize,
    stop: &AtomicBool,
    open: &(dyn Fn(&Entry) -> io::Result<Box<dyn Place>> + Sync),
    finished: &mut dyn FnMut(&Made),
) -> Result<Vec<Made>, DatasetError> {
    let work = |entry: &Entry, job: &Job<'_, (), Made, DatasetError>| {
        let write = |source| DatasetError::Write { name: entry.name.clone(), source };
        let mut place = open(entry).map_err(write)?;
        let mut go_on = |_: Duration| {
            if job.is_over() { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
        };
        let made = match make(entry, &mut *place, &mut go_on) {
            Err(DatasetError::Run { source: SimulateError::Stopped, .. }) => return Ok(None),
            made => made?,
        };
        place.finish().map_err(write)?;
        Ok(Some(made))
    };
    let told = |message: Told<'_, Entry, (), Made>| {
        if let Told::Done(_, made) = message {
            finished(made);
        }
    };
    let made = jobs::until(entries, jobs, stop, work, told).map_err(|(_, error)| error)?;
    Ok(made.into_iter().flatten().collect())
}

/// The files of both directions; the trace is also kept for the statistics.
struct Both<'a> {
    files: &'a mut dyn Files,
    way: &'static str,
    kept: Kept,
}

/// The written files.
#[derive(Clone, Debug, Default)]
struct Kept(std::sync::Arc<Mutex<Vec<u8>>>);

struct Copied {
    out: Output,
    kept: Kept,
}

impl Files for Both<'_> {
    fn create(&mut self, name: &str) -> io::Result<Output> {
        let end = name.rsplit('.').next().unwrap_or(name);
        if end == "trace" && !name.starts_with(FLOOD) {
            return Ok(Box::new(io::sink()));
        }
        let out = self.files.create(&format!("{}.{end}", self.way))?;
        if end != "trace" {
            return Ok(out);
        }
        Ok(Box::new(Copied { out, kept: self.kept.clone() }))
    }
}

impl Write for Copied {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let count = self.out.write(bytes)?;
        let mut kept = self.kept.0.lock().unwrap_or_else(PoisonError::into_inner);
        kept.extend_from_slice(&bytes[..count]);
        Ok(count)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.out.flush()
    }
}

#[cfg(test)]
mod tests;
