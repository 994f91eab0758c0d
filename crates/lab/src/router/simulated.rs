//! The router's matrix in virtual time: cases and rules over hundreds of seeds.
//!
//! The rates of a rule are compared with those of CAKE that is given the same cell's capacity 50 ms
//! late.

pub(crate) mod experiment;
mod flows;
mod run;

use std::fmt;
use std::ops::Range;
use std::time::Duration;

use serde::Serialize;
use sounding_experiment::metrics::quantile;
use sounding_experiment::provenance::{Begun, Provenance};
use sounding_host::jobs;
use sounding_kpi::Direction;
use sounding_shape::Limits;

pub use super::case::Case;
use super::case::Rat;
use super::truth::Truth;
pub use crate::controllers::closed_loop::Kind;
use crate::experiment::Failed;
use crate::table::Table;
use run::Side;
pub use run::{Rule, Score};

/// Rules, situations and repetitions.
#[derive(Clone, Debug)]
pub struct Plan {
    /// What sets the shaper.
    pub rules: Vec<Rule>,
    /// The situations.
    pub cases: Vec<Case>,
    /// Over which kinds of cells.
    pub kinds: Vec<Kind>,
    /// The seeds.
    pub seeds: Range<u64>,
    /// How long there is load.
    pub lasts: Duration,
    /// Number of parallel runs.
    pub jobs: usize,
}

/// A case over one kind of cell.
#[derive(Clone, Copy, Debug)]
struct Place {
    case: Case,
    kind: Kind,
    lasts: Duration,
}

/// The rule that all are compared with.
const REFERENCE: Rule = Rule::Truth(Duration::from_millis(50));

/// A rule in one situation over one kind of cell.
#[derive(Clone, Debug, Serialize)]
pub struct Row {
    /// The situation.
    pub case: Case,
    /// Where.
    #[serde(flatten)]
    pub kind: Kind,
    /// The rule.
    pub rule: String,
    /// By seed: throughput over the reference's.
    pub shares: Vec<f64>,
    /// By seed: the probe's 95th percentile minus the reference's, ms.
    pub over_ms: Vec<f64>,
    /// By seed.
    pub scores: Vec<Score>,
}

impl Row {
    /// Part of the runs whose share is at least this.
    pub fn part_above(&self, share: f64) -> f64 {
        let above = self.shares.iter().filter(|found| **found >= share).count();
        above as f64 / self.shares.len().max(1) as f64
    }
}

/// The results of a plan.
#[derive(Clone, Debug, Serialize)]
pub struct Outcome {
    /// By case, kind of cell and rule; the reference first.
    pub rows: Vec<Row>,
    /// Origin of the figures.
    pub provenance: Provenance,
}

/// Runs the plan; `progress` receives the number of finished cells and of all cells.
///
/// # Errors
///
/// [`Failed`] if a case is no plan.
pub fn run(plan: &Plan, mut progress: impl FnMut(usize, usize)) -> Result<Outcome, Failed> {
    let begun = Begun::now();
    let rules: Vec<Rule> = std::iter::once(REFERENCE).chain(plan.rules.iter().copied()).collect();
    let all = plan.cases.len() * plan.kinds.len() * plan.seeds.clone().count();
    let mut done = 0;
    let mut rows = Vec::new();
    for &case in &plan.cases {
        for &kind in &plan.kinds {
            let place = Place { case, kind, lasts: plan.lasts };
            let limits = place.limits()?;
            let seeds: Vec<u64> = plan.seeds.clone().collect();
            let told = |_: &_, _: &_| {
                done += 1;
                progress(done, all);
            };
            let one = |seed: &u64| place.one(*seed, &limits, &rules);
            let found = jobs::each(&seeds, plan.jobs, one, told)?;
            rows.extend(rules.iter().enumerate().map(|(at, rule)| {
                let pairs = || found.iter().map(|scores| (&scores[at], &scores[0]));
                let share = |(own, of): (&Score, &Score)| own.mbit_per_sec / of.mbit_per_sec;
                let over = |(own, of): (&Score, &Score)| own.probe_ms[1] - of.probe_ms[1];
                Row {
                    case,
                    kind,
                    rule: rule.to_string(),
                    shares: pairs().map(share).collect(),
                    over_ms: pairs().map(over).collect(),
                    scores: pairs().map(|(own, _)| own.clone()).collect(),
                }
            }));
        }
    }
    Ok(Outcome { rows, provenance: begun.end() })
}

impl Kind {
    const fn rat(self) -> Rat {
        if self.nr { Rat::Nr } else { Rat::Lte }
    }
}

impl Place {
    /// The directions that have data, and the limits of their shapers.
    fn limits(&self) -> Result<Vec<(Direction, Limits)>, Failed> {
        let own = self.kind.port();
        let ways = match self.case.load.ways() {
            [_] => vec![own.direction],
            _ => vec![own.direction, own.reverse().direction],
        };
        let of = |way| Ok((way, Truth::limits((self.case, self.kind.rat()), self.lasts, way)?));
        ways.into_iter().map(of).collect()
    }

    /// All rules over one cell.
    fn one(
        self,
        seed: u64,
        limits: &[(Direction, Limits)],
        rules: &[Rule],
    ) -> Result<Vec<Score>, Failed> {
        let side = |&(direction, limits): &(Direction, Limits)| {
            let truth = Truth::of((self.case, self.kind.rat()), self.lasts, seed, direction)?;
            Ok(Side { direction, truth, limits })
        };
        let sides = limits.iter().map(side).collect::<Result<Vec<_>, Failed>>()?;
        rules.iter().map(|&rule| run::run(self, seed, &sides, rule)).collect()
    }
}

impl fmt::Display for Outcome {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut table = Table::new().left(["case", "cell", "rule"]).right([
            "Mbit/s",
            "share",
            "least",
            "above 0.75",
            "p50 ms",
            "p95 ms",
            "p99 ms",
            "over ms",
            "risen ms",
            "back ms",
        ]);
        for row in &self.rows {
            let of = |value: Option<f64>, digits: usize| match value {
                Some(value) => format!("{value:.digits$}"),
                None => "-".into(),
            };
            let median = |of: &dyn Fn(&Score) -> f64| {
                quantile(&row.scores.iter().map(of).collect::<Vec<_>>(), 0.5)
            };
            let known = |of: &dyn Fn(&Score) -> Option<f64>| {
                quantile(&row.scores.iter().filter_map(of).collect::<Vec<_>>(), 0.5)
            };
            table.row([
                row.case.to_string(),
                row.kind.to_string(),
                row.rule.clone(),
                of(median(&|score| score.mbit_per_sec), 2),
                of(quantile(&row.shares, 0.5), 3),
                of(quantile(&row.shares, 0.0), 3),
                format!("{:.0} %", row.part_above(0.75) * 100.0),
                of(median(&|score| score.probe_ms[0]), 1),
                of(median(&|score| score.probe_ms[1]), 1),
                of(median(&|score| score.probe_ms[2]), 1),
                of(quantile(&row.over_ms, 0.5), 1),
                of(known(&|score| score.risen_ms), 0),
                of(known(&|score| score.back_ms), 0),
            ]);
        }
        write!(f, "{table}")
    }
}
