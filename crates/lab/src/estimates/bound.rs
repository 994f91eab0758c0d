//! Whether the bound of an estimate, `Capacity` or `Floor`, is right: seeded runs of the modelled
//! cell, whose backlog is the truth.
//!
//! Every millisecond with a usable estimate is judged. A bound refers to an earlier time, because
//! the modem's reports have a lag, and to the 20 ms before it (see [`sounding_link::Bound`]). It is
//! compared with the truth at that time, which depends on the cell alone. The truth is `Capacity`
//! if in each of those 20 ms data waited that had entered at least a grant cycle before. For scale,
//! each is also compared with whether any data waited at that time.

pub(crate) mod experiment;
mod judge;
mod scenario;
mod source;

use std::collections::BTreeMap;
use std::fmt;
use std::ops::AddAssign;
use std::time::Duration;

use serde::Serialize;
use sounding_cell::config::{InvalidConfig, NetworkKind};
use sounding_experiment::provenance::{Begun, Provenance};
use sounding_host::jobs;
use sounding_units::Bytes;

pub use scenario::{Kind, Shape};

/// Every packet, in bytes of IP.
const PACKET: Bytes = Bytes::new(1_500);

/// The runs.
#[derive(Clone, Copy, Debug)]
pub struct Plan {
    /// The first seed.
    pub first: u64,
    /// How many.
    pub seeds: u64,
    /// Number of parallel runs.
    pub jobs: usize,
    /// How the network answers the device's requests and reports.
    pub network: NetworkKind,
    /// The device's periodicBSR-Timer.
    pub timer: Duration,
}

/// Results of some runs, in ticks of a millisecond.
#[derive(Clone, Copy, Debug, Default, Serialize)]
pub struct Counts {
    /// All that could have been judged.
    pub ticks: u64,
    /// By the true and the estimated bound, `Floor` before `Capacity`.
    pub labels: [[u64; 2]; 2],
    /// Wrong labels within 20 ms of a change of the truth itself. A queue that comes and goes as
    /// fast as a label looks back is reported late or early, and this cannot be avoided.
    pub near_change: u64,
    /// Labels within 20 ms of a change of the truth, as the whole run shows it: wrong, then right.
    pub near_one: [u64; 2],
    /// By whether data waited at that time, and the estimated bound.
    pub at_once: [[u64; 2]; 2],
    /// Sum of the lags of the estimated bounds.
    pub lag_ms: u64,
    /// Ticks of handovers, from the command to the end of the interruption.
    pub away: u64,
    /// Ticks in which the estimate was not usable.
    pub away_known: u64,
    /// And those in which it named the handover.
    pub away_named: u64,
}

impl Counts {
    /// Ticks in which the estimate was usable.
    pub fn judged(&self) -> u64 {
        self.labels.iter().flatten().sum()
    }

    /// The part of them in which the label was right; `None` without any.
    pub fn right(&self) -> Option<f64> {
        part(self.labels[0][0] + self.labels[1][1], self.judged())
    }

    /// The part of the wrong bounds with a change of the truth nearby.
    fn near_change(&self) -> Option<f64> {
        part(self.near_change, self.labels[0][1] + self.labels[1][0])
    }

    /// The part of the labels near a change of the truth that were right.
    pub fn right_near_one(&self) -> Option<f64> {
        part(self.near_one[1], self.near_one.iter().sum())
    }

    fn right_at_once(&self) -> Option<f64> {
        part(self.at_once[0][0] + self.at_once[1][1], self.judged())
    }
}

fn part(count: u64, of: u64) -> Option<f64> {
    (of > 0).then(|| count as f64 / of as f64)
}

impl AddAssign for Counts {
    fn add_assign(&mut self, other: Self) {
        for truth in 0..2 {
            for label in 0..2 {
                self.labels[truth][label] += other.labels[truth][label];
                self.at_once[truth][label] += other.at_once[truth][label];
            }
        }
        self.ticks += other.ticks;
        self.near_change += other.near_change;
        for right in 0..2 {
            self.near_one[right] += other.near_one[right];
        }
        self.lag_ms += other.lag_ms;
        self.away += other.away;
        self.away_known += other.away_known;
        self.away_named += other.away_named;
    }
}

/// A row of the result.
#[derive(Clone, Copy, Debug, Serialize)]
pub struct Row {
    /// The runs.
    #[serde(flatten)]
    pub kind: Kind,
    /// How many.
    pub runs: u64,
    /// Their results.
    #[serde(flatten)]
    pub counts: Counts,
}

/// Results of all runs.
#[derive(Clone, Debug, Serialize)]
pub struct Outcome {
    /// By kind.
    pub rows: Vec<Row>,
    /// All together.
    pub total: Counts,
    /// Seeds of the runs with the smallest part of right labels, the worst first, and that part.
    pub worst: Vec<(u64, f64)>,
    /// Origin of the figures.
    pub provenance: Provenance,
}

/// Runs the plan; `progress` is called for each run that has ended.
pub fn run(plan: &Plan, mut progress: impl FnMut(u64)) -> Result<Outcome, InvalidConfig> {
    let begun = Begun::now();
    let seeds: Vec<u64> = (plan.first..plan.first + plan.seeds).collect();
    let judged =
        |&seed: &u64| judge::run(&scenario::Scenario::of(seed, plan.network, plan.timer), seed);
    let mut done = 0;
    let told = |_: &u64, _: &Counts| {
        done += 1;
        progress(done);
    };
    let counts = jobs::each(&seeds, plan.jobs, judged, told)?;
    Ok(summary(&seeds.into_iter().zip(counts).collect(), begun.end()))
}

fn summary(found: &BTreeMap<u64, Counts>, provenance: Provenance) -> Outcome {
    const WORST: usize = 5;
    let mut rows: BTreeMap<Kind, Row> = BTreeMap::new();
    let mut total = Counts::default();
    for (&seed, &counts) in found {
        let kind = Kind::of(seed);
        let row = rows.entry(kind).or_insert(Row { kind, runs: 0, counts: Counts::default() });
        row.runs += 1;
        row.counts += counts;
        total += counts;
    }
    let right = found.iter().filter_map(|(&seed, counts)| Some((seed, counts.right()?)));
    let mut worst: Vec<_> = right.collect();
    worst.sort_by(|a, b| a.1.total_cmp(&b.1));
    worst.truncate(WORST);
    Outcome { rows: rows.into_values().collect(), total, worst, provenance }
}

impl fmt::Display for Outcome {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "                           truth: floor       truth: capacity")?;
        writeln!(
            f,
            "                  runs   floor  capacity    floor  capacity   right  at change  near one  at once  usable   lag  handover"
        )?;
        for row in &self.rows {
            let Kind { nr, up, shape } = row.kind;
            let rat = if nr { "NR" } else { "LTE" };
            let way = if up { "up" } else { "down" };
            write!(f, "{rat:<3} {way:<4} {shape:<9}{:>5}", row.runs)?;
            line(f, &row.counts)?;
        }
        let runs: u64 = self.rows.iter().map(|row| row.runs).sum();
        write!(f, "{:<18}{runs:>5}", "all")?;
        line(f, &self.total)?;
        let worst: Vec<String> = self
            .worst
            .iter()
            .map(|(seed, right)| format!("{seed} ({:.1} %)", right * 100.0))
            .collect();
        writeln!(f, "least right by seed: {}", worst.join(", "))
    }
}

fn line(f: &mut fmt::Formatter<'_>, counts: &Counts) -> fmt::Result {
    let percent = |part: Option<f64>| {
        part.map_or_else(|| "-".to_owned(), |part| format!("{:.2} %", part * 100.0))
    };
    let [[served, early], [late, capacity]] = counts.labels;
    writeln!(
        f,
        "{served:>8}{early:>10}{late:>9}{capacity:>10}{:>9}{:>11}{:>10}{:>9}{:>8}{:>6}{:>10}",
        percent(counts.right()),
        percent(counts.near_change()),
        percent(counts.right_near_one()),
        percent(counts.right_at_once()),
        percent(part(counts.judged(), counts.ticks)),
        counts
            .lag_ms
            .checked_div(counts.judged())
            .map_or_else(|| "-".to_owned(), |ms| format!("{ms} ms")),
        percent(part(counts.away_named, counts.away)),
    )
}
