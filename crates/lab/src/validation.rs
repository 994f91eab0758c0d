//! The chain that a figure of virtual time hangs on: mahimahi, the emulator and virtual time, each beside the next over
//! the same recorded links, with CUBIC and BBR.
//!
//! ```text
//! mahimahi ◀── agrees ──▶ emulator ◀── agrees ──▶ virtual time
//!  its link                our link                our link
//!  this kernel's TCP       this kernel's TCP       our controllers
//! ```
//!
//! Sockets hold as much as a flow sends, in all three: [`mahimahi`] alone compares the effect of buffers.

pub(crate) mod experiment;
mod page;
mod virtual_time;

use std::time::Duration;

use serde::Serialize;
use sounding_experiment::provenance::{Begun, Provenance};

pub use virtual_time::VirtualFlow;

use crate::mahimahi::{self, Buffers, Figures, Plan, Reference, RunError, Task, Verdict};

/// One-way delay of the reference.
const DELAY: Duration = Duration::from_millis(20);

/// A few milliseconds decide which stretch of the link a burst meets, for the kernel's flows as for ours: each start of
/// the kernel's is tried with these added, less their mean.
const STARTS: [Duration; 5] = [
    Duration::from_millis(0),
    Duration::from_millis(4),
    Duration::from_millis(8),
    Duration::from_millis(12),
    Duration::from_millis(16),
];
const MEAN_START: Duration = Duration::from_millis(8);

/// A repetition that began so much later than the first met another stretch of the link.
const ANOTHER_STRETCH_MS: u64 = 500;

/// All rows of the chain.
#[derive(Clone, Debug, Serialize)]
pub struct Chain {
    /// Where the figures come from.
    pub provenance: Provenance,
    /// The window, in seconds; the reference's is 60.
    pub window_s: f64,
    /// Emulations that ran at once.
    pub jobs: usize,
    /// One row a trace, direction and congestion control.
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

/// Runs the chain; `progress` is called for each repetition that ended.
pub fn run(plan: &Plan, progress: impl Fn(&str)) -> Result<Chain, RunError> {
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

/// mahimahi's results with large buffers; for BBR, whose window no buffer limits, with others too.
fn reference(plan: &Plan) -> Result<Reference, RunError> {
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
