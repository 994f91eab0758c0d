//! Our controllers in virtual time beside other implementations of the same in real time, over the
//! same recorded links.
//!
//! The others are programs that the user has built. They run unmodified through the emulator,
//! sender at the near end and receiver at the far end, and are measured by the packets that the
//! emulator saw.

pub(crate) mod experiment;
mod measure;
mod ours;
mod peer;
mod table;
mod theirs;

use std::path::{Path, PathBuf};
use std::time::Duration;

use serde::Serialize;
use sounding_experiment::catalogue;
use sounding_experiment::metrics::{nearest_rank, sorted};
use sounding_experiment::provenance::{Begun, Provenance};
use sounding_sim::PathConfig;
use sounding_trace::{Schedule, Steps};
use sounding_units::Rate;

use crate::experiment::Failed;

pub use measure::Side;
pub use peer::{PEERS, Peer};

/// One-way delay of either direction.
const DELAY: Duration = Duration::from_millis(20);
/// The return path is wide, because the comparison does not concern acknowledgements.
const BACK: Rate = Rate::from_bits_per_sec(100_000_000);
/// What may differ, as a share of theirs.
const THROUGHPUT_TOLERANCE: f64 = 0.10;
const P95_TOLERANCE: f64 = 0.20;

/// The links: a name, and the file whose opportunities the data gets, whichever direction it was
/// recorded in.
pub const LINKS: [(&str, &str); 3] = [
    ("vz-short.down", "Verizon-LTE-short.down"),
    ("tm-driving.down", "TMobile-LTE-driving.down"),
    ("att-driving.down", "ATT-LTE-driving.down"),
];

/// The command.
#[derive(Clone, Debug)]
pub struct Plan {
    /// Folder of the shared data: traces in `traces/mahimahi/traces`.
    pub data: PathBuf,
    /// Which implementations, and where their programs are.
    pub peers: Vec<(&'static Peer, PathBuf)>,
    /// Only links whose name contains this.
    pub filter: Option<String>,
    /// Repetitions of each row.
    pub reps: u64,
    /// How long each flow is measured, from its first data packet on.
    pub duration: Duration,
}

/// Theirs and ours over one link.
#[derive(Clone, Debug, Serialize)]
pub struct Row {
    /// The algorithm.
    pub peer: &'static str,
    /// The program of theirs that was run.
    pub program: &'static str,
    /// Name of ours in the registry.
    pub controller: &'static str,
    /// The link.
    pub link: &'static str,
    /// Theirs, one a repetition.
    pub theirs: Vec<Side>,
    /// Ours, begun when theirs began.
    pub ours: Vec<Side>,
    /// Load average over a minute when each repetition of theirs ended.
    pub load: Vec<f64>,
    /// Our median throughput against theirs, as a share of it: +0.01 is one percent more.
    pub throughput_difference: f64,
    /// The same of the 95th percentile of the one-way delay.
    pub p95_difference: f64,
    /// Both are within tolerance.
    pub agrees: bool,
}

/// All rows.
#[derive(Clone, Debug, Serialize)]
pub struct HeadToHead {
    /// Origin of the figures.
    pub provenance: Provenance,
    /// How long each flow was measured.
    pub duration_s: f64,
    /// One a peer and link.
    pub rows: Vec<Row>,
}

/// A link by its name.
struct Link {
    name: &'static str,
    schedule: Schedule,
}

impl Link {
    fn up(&self) -> PathConfig {
        PathConfig { delay: DELAY, ..PathConfig::new(self.schedule.clone()) }
    }

    fn down() -> PathConfig {
        PathConfig { delay: DELAY, ..PathConfig::new(Steps::constant(BACK)) }
    }
}

/// Runs every pair; `progress` is called for each repetition.
pub fn run(plan: &Plan, progress: impl Fn(&str)) -> Result<HeadToHead, Failed> {
    let begun = Begun::now();
    let links = links(plan)?;
    let mut rows = Vec::new();
    for &(peer, ref folder) in &plan.peers {
        for link in &links {
            rows.push(row(plan, peer, folder, link, &progress)?);
        }
    }
    let duration_s = plan.duration.as_secs_f64();
    Ok(HeadToHead { provenance: begun.end(), duration_s, rows })
}

fn links(plan: &Plan) -> Result<Vec<Link>, Failed> {
    let folder = plan.data.join("traces/mahimahi/traces");
    let wanted =
        |name: &str| plan.filter.as_ref().is_none_or(|filter| name.contains(filter.as_str()));
    let links: Result<Vec<Link>, Failed> = LINKS
        .into_iter()
        .filter(|(name, _)| wanted(name))
        .map(|(name, file)| {
            Ok(Link { name, schedule: catalogue::trace(&folder.join(file))?.into() })
        })
        .collect();
    match (links?, &plan.filter) {
        (links, Some(filter)) if links.is_empty() => {
            Err(format!("no link's name contains {filter:?}; they are vz-short.down, tm-driving.down and att-driving.down").into())
        }
        (links, _) => Ok(links),
    }
}

fn row(
    plan: &Plan,
    peer: &'static Peer,
    folder: &Path,
    link: &Link,
    progress: &impl Fn(&str),
) -> Result<Row, Failed> {
    let (mut theirs, mut ours, mut load) = (Vec::new(), Vec::new(), Vec::new());
    for rep in 0..plan.reps {
        let side = theirs::run(peer, folder, link, plan.duration)?;
        load.push(sounding_experiment::provenance::load());
        let twin = ours::run(peer.controller, link, side.started, plan.duration, rep);
        progress(&format!("{} over {}: theirs {side}, ours {twin}", peer.name, link.name));
        theirs.push(side);
        ours.push(twin);
    }
    let throughput_difference = difference(&theirs, &ours, |side| side.throughput_mbit_per_sec);
    let p95_difference = difference(&theirs, &ours, |side| side.one_way_ms.p95);
    Ok(Row {
        peer: peer.name,
        program: peer.program,
        controller: peer.controller,
        link: link.name,
        theirs,
        ours,
        load,
        throughput_difference,
        p95_difference,
        // A missing figure is not a number, and agrees with nothing.
        agrees: throughput_difference.abs() <= THROUGHPUT_TOLERANCE
            && p95_difference.abs() <= P95_TOLERANCE,
    })
}

fn difference(theirs: &[Side], ours: &[Side], of: fn(&Side) -> f64) -> f64 {
    median(ours, of) / median(theirs, of) - 1.0
}

fn median(sides: &[Side], of: fn(&Side) -> f64) -> f64 {
    let values = sorted(sides.iter().map(of));
    if values.is_empty() { f64::NAN } else { nearest_rank(&values, 0.5) }
}
