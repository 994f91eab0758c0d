//! The router's matrix in virtual time: cases and rules over hundreds of seeds.
//!
//! The rates of a rule are compared with those of CAKE that is given the same cell's capacity 50 ms
//! late.

pub(crate) mod experiment;
mod run;
mod scene;

use std::fmt;
use std::ops::Range;
use std::time::Duration;

use serde::Serialize;
use sounding_baselines::by_name;
use sounding_cell::config::InvalidConfig;
use sounding_experiment::jobs;
use sounding_experiment::metrics::quantile;
use sounding_experiment::provenance::{Begun, Provenance};
use sounding_kpi::Direction;
use sounding_shape::Limits;
use sounding_sim::Port;
use sounding_sim::world::Flow;

pub use crate::controllers::closed_loop::Kind;
use crate::table::Table;
pub use run::{Rule, Score};
use run::{Side, Truth, limits};
pub use scene::Case;
use scene::Scene;

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
    /// Number of parallel runs.
    pub jobs: usize,
}

/// Seeds for the limits of all shapers; none of them is judged.
const OTHERS: Range<u64> = 9_001..9_004;

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
/// [`InvalidConfig`] if a setting of a cell is outside its range.
pub fn run(plan: &Plan, mut progress: impl FnMut(usize, usize)) -> Result<Outcome, InvalidConfig> {
    let begun = Begun::now();
    let rules: Vec<Rule> = std::iter::once(REFERENCE).chain(plan.rules.iter().copied()).collect();
    let all = plan.cases.len() * plan.kinds.len() * plan.seeds.clone().count();
    let mut done = 0;
    let mut rows = Vec::new();
    for &case in &plan.cases {
        for &kind in &plan.kinds {
            let limits = sides(kind, case)?;
            let seeds: Vec<u64> = plan.seeds.clone().collect();
            let told = |_: &_, _: &_| {
                done += 1;
                progress(done, all);
            };
            let one = |seed: &u64| one(&Scene::of(kind, case, *seed), &limits, &rules);
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

fn sides(kind: Kind, case: Case) -> Result<Vec<(Direction, Limits)>, InvalidConfig> {
    let directions = Scene::of(kind, case, OTHERS.start).directions();
    let of = |direction| Ok((direction, limits((kind, case), direction, OTHERS)?));
    directions.into_iter().map(of).collect()
}

/// All rules over one cell.
fn one(
    scene: &Scene,
    limits: &[(Direction, Limits)],
    rules: &[Rule],
) -> Result<Vec<Score>, InvalidConfig> {
    let side = |&(direction, limits): &(Direction, Limits)| {
        Ok(Side { direction, truth: Truth::of(scene, direction)?, limits })
    };
    let sides = limits.iter().map(side).collect::<Result<Vec<_>, InvalidConfig>>()?;
    let cubic = by_name("cubic").unwrap_or_else(|| unreachable!("it is in the registry"));
    let bulk = |port: Port| Flow::bulk(port, cubic);
    rules.iter().map(|&rule| run::run(scene, &sides, rule, bulk)).collect()
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
        ]);
        for row in &self.rows {
            let of = |value: Option<f64>, digits: usize| match value {
                Some(value) => format!("{value:.digits$}"),
                None => "-".into(),
            };
            let median = |of: &dyn Fn(&Score) -> f64| {
                quantile(&row.scores.iter().map(of).collect::<Vec<_>>(), 0.5)
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
            ]);
        }
        write!(f, "{table}")
    }
}
