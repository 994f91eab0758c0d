//! The chain of comparisons behind a figure of virtual time: mahimahi with the emulator, and the
//! emulator with virtual time, over the same recorded links, with CUBIC and BBR.
//!
//! ```text
//! mahimahi ◀── agrees ──▶ emulator ◀── agrees ──▶ virtual time
//!  its link                simulated link          simulated link
//!  this kernel's TCP       this kernel's TCP       simulated TCP
//! ```
//!
//! Socket buffers never limit a flow, in all three. Only [`mahimahi`] compares the effect of
//! buffers.

pub(crate) mod experiment;
mod page;
mod virtual_time;

use std::time::Duration;

use serde::Serialize;
use sounding_experiment::provenance::{Begun, Provenance};

pub use virtual_time::VirtualFlow;

use crate::experiment::Failed;
use crate::fidelity::mahimahi::{self, Buffers, Figures, Plan, Reference, Task, Verdict};

/// One-way delay of the reference.
const DELAY: Duration = Duration::from_millis(20);

/// A shift of a few milliseconds changes which part of the trace a burst meets. So each start time
/// of the kernel's flows is also simulated with these offsets, minus their mean.
const STARTS: [Duration; 5] = [
    Duration::from_millis(0),
    Duration::from_millis(4),
    Duration::from_millis(8),
    Duration::from_millis(12),
    Duration::from_millis(16),
];
const MEAN_START: Duration = Duration::from_millis(8);

/// A repetition that started this much later than the first met another part of the trace.
const ANOTHER_STRETCH_MS: u64 = 500;

/// All rows of the chain.
#[derive(Clone, Debug, Serialize)]
pub struct Chain {
    /// Origin of the figures.
    pub provenance: Provenance,
    /// The window, in seconds; the reference's is 60.
    pub window_s: f64,
    /// Emulations that ran at once.
    pub jobs: usize,
    /// One row for each trace, direction and congestion control.
    pub links: Vec<Link>,
}

/// One trace, direction and congestion control.
#[derive(Clone, Debug, Serialize)]
pub struct Link {
    /// As `vz-short.down.cubic`.
    pub name: String,
    /// mahimahi's repetitions.
    pub mahimahi: Vec<Figures>,
    /// The emulator's.
    pub emulator: Vec<Figures>,
    /// In virtual time.
    pub virtual_time: Vec<Figures>,
    /// The emulator against mahimahi.
    pub emulated: Verdict,
    /// Virtual time against the emulator.
    pub simulated: Verdict,
}

/// Runs the chain; calls `progress` after each repetition.
pub fn run(plan: &Plan, progress: impl Fn(&str)) -> Result<Chain, Failed> {
    let begun = Begun::now();
    let reference = reference(plan)?;
    let tasks = mahimahi::tasks(plan, &reference)?;
    let emulated = mahimahi::measure(&tasks, plan, Buffers::Large, &progress)?;
    let mut links = Vec::new();
    for (task, emulator) in tasks.iter().zip(emulated) {
        let virtual_time = simulate(task, &emulator, plan.window);
        progress(&format!("{}: {} runs in virtual time", task.name, virtual_time.len()));
        links.push(Link::new(
            &task.name,
            reference.row(&task.name).to_vec(),
            emulator,
            virtual_time,
        ));
    }
    let window_s = plan.window.as_secs_f64();
    Ok(Chain { provenance: begun.end(), window_s, jobs: plan.jobs, links })
}

/// mahimahi's results with large buffers. For BBR results with other buffers count too, because no
/// buffer limits its window.
fn reference(plan: &Plan) -> Result<Reference, Failed> {
    let read = |name: &str| Reference::read(&plan.data.join("reference").join(name));
    let mut reference = read("mahimahi_big_sndbuf.json")?;
    let quiet = read("mahimahi_quiet_machine.json")?;
    reference = reference.and(quiet.only(|name| name.ends_with(".bbr")));
    Ok(reference.map(of_one_stretch))
}

fn of_one_stretch(mut repetitions: Vec<Figures>) -> Vec<Figures> {
    let first = repetitions.iter().map(|figures| figures.start_ms).min().unwrap_or(0);
    repetitions.retain(|figures| figures.start_ms < first + ANOTHER_STRETCH_MS);
    repetitions
}

fn simulate(task: &Task, emulator: &[Figures], window: Duration) -> Vec<Figures> {
    let starts = emulator.iter().flat_map(|figures| {
        STARTS.map(|later| Duration::from_millis(figures.start_ms) + later - MEAN_START)
    });
    let flow = |(seed, start)| VirtualFlow {
        up: &task.up,
        down: &task.down,
        direction: task.direction,
        delay: DELAY,
        controller: task.congestion,
        start,
        window,
        seed,
    };
    (0..).zip(starts).filter_map(|numbered| flow(numbered).run()).collect()
}

impl Link {
    fn new(
        name: &str,
        mahimahi: Vec<Figures>,
        emulator: Vec<Figures>,
        virtual_time: Vec<Figures>,
    ) -> Self {
        let emulated = Verdict::of(&mahimahi, &emulator);
        let simulated = Verdict::of(&emulator, &virtual_time);
        Self { name: name.into(), mahimahi, emulator, virtual_time, emulated, simulated }
    }
}
