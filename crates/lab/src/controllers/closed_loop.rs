//! Controllers on modelled cells whose grants depend on what is sent (a closed loop), compared with
//! the capacity of the same cell.
//!
//! A seed determines a cell. First a saturating flow measures the cell's capacity. Then a flow that
//! never queues measures the delay of an empty cell. Then each contender runs, with only the cell's
//! modem as input.

pub mod advice;
mod aim;
mod contender;
pub(crate) mod experiment;
mod late;
mod run;
mod scenario;

use std::collections::BTreeMap;
use std::fmt;

use serde::Serialize;
use sounding_cell::config::InvalidConfig;
use sounding_experiment::metrics;
use sounding_experiment::provenance::{Begun, Provenance};
use sounding_host::jobs;

pub use aim::Miss;
pub use contender::Contender;
pub use late::Late;
pub use run::Score;
pub use scenario::{Case, Kind};

use crate::table::Table;
use run::Truth;

/// Contenders, cells and repetitions.
#[derive(Clone, Debug)]
pub struct Plan {
    /// The senders.
    pub contenders: Vec<Contender>,
    /// The situations.
    pub cases: Vec<Case>,
    /// Over which kinds of cells.
    pub kinds: Vec<Kind>,
    /// The first seed.
    pub first: u64,
    /// Number of seeds.
    pub seeds: u64,
    /// Number of parallel runs.
    pub jobs: usize,
}

/// One contender in one case over one kind of cells.
#[derive(Clone, Debug, Serialize)]
pub struct Row {
    /// The situation.
    pub case: Case,
    /// Where.
    #[serde(flatten)]
    pub kind: Kind,
    /// The contender.
    pub contender: String,
    /// By seed.
    pub scores: Vec<Score>,
}

/// The results of a plan.
#[derive(Clone, Debug, Serialize)]
pub struct Outcome {
    /// The first seed.
    pub first: u64,
    /// By case, kind of cell and contender.
    pub rows: Vec<Row>,
    /// Missed targets of `sounding`, and the reasons.
    pub misses: Vec<Miss>,
    /// Origin of the figures.
    pub provenance: Provenance,
}

/// Runs the plan; `progress` receives the number of finished cells and of all cells.
pub fn run(plan: &Plan, mut progress: impl FnMut(usize, usize)) -> Result<Outcome, InvalidConfig> {
    let begun = Begun::now();
    let mut cells = Vec::new();
    for &case in &plan.cases {
        for &kind in &plan.kinds {
            cells.extend((plan.first..plan.first + plan.seeds).map(|seed| (case, kind, seed)));
        }
    }
    let mut done = 0;
    let told = |_: &_, _: &_| {
        done += 1;
        progress(done, cells.len());
    };
    let scores = jobs::each(&cells, plan.jobs, |&cell| one(plan, cell), told)?;
    let found: BTreeMap<_, _> = cells.iter().copied().zip(scores).collect();
    let mut rows = Vec::new();
    for &case in &plan.cases {
        for &kind in &plan.kinds {
            for (at, contender) in plan.contenders.iter().enumerate() {
                let seeds = plan.first..plan.first + plan.seeds;
                let scores = seeds.filter_map(|seed| Some(found.get(&(case, kind, seed))?[at]));
                let scores = scores.collect();
                rows.push(Row { case, kind, contender: contender.to_string(), scores });
            }
        }
    }
    let misses = aim::misses(&rows);
    Ok(Outcome { first: plan.first, rows, misses, provenance: begun.end() })
}

/// All contenders over one cell.
fn one(plan: &Plan, (case, kind, seed): (Case, Kind, u64)) -> Result<Vec<Score>, InvalidConfig> {
    let truth = Truth::of(kind, case, seed)?;
    plan.contenders.iter().map(|contender| run::judge(&truth, case, contender)).collect()
}

impl Row {
    /// A quantile of what scores have, by nearest rank.
    pub fn quantile(&self, quantile: f64, of: impl Fn(&Score) -> Option<f64>) -> Option<f64> {
        let values: Vec<f64> = self.scores.iter().filter_map(of).collect();
        metrics::quantile(&values, quantile)
    }
}

impl fmt::Display for Outcome {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut table = Table::new()
            .left_within([("case", 13), ("cell", 9), ("", 18)])
            .right_within([("share", 8), ("least", 8), ("p95 ms", 9), ("over ms", 9), ("most", 9)])
            .right_within([("queue", 8), ("after", 8), ("RTTs", 8), ("most", 8), ("Jain", 8)])
            .right_within([("least", 8)]);
        for row in &self.rows {
            let percent = |value: Option<f64>| match value {
                Some(value) => format!("{:.1}%", value * 100.0),
                None => "-".into(),
            };
            let plain = |value: Option<f64>, digits: usize| match value {
                Some(value) => format!("{value:.digits$}"),
                None => "-".into(),
            };
            table.row([
                row.case.to_string(),
                row.kind.to_string(),
                row.contender.to_string(),
                percent(row.quantile(0.5, |score| Some(score.share))),
                percent(row.quantile(0.0, |score| Some(score.share))),
                plain(row.quantile(0.5, |score| Some(score.p95_ms)), 1),
                plain(row.quantile(0.5, |score| Some(score.over_ms())), 1),
                plain(row.quantile(1.0, |score| Some(score.over_ms())), 1),
                plain(row.quantile(0.5, |score| Some(score.queueing_p95_ms)), 1),
                plain(row.quantile(0.5, |score| Some(score.after_p95_ms)), 1),
                plain(row.quantile(0.5, |score| score.round_trips), 1),
                plain(row.quantile(1.0, |score| score.round_trips), 1),
                plain(row.quantile(0.5, |score| score.jain), 3),
                plain(row.quantile(0.0, |score| score.least), 2),
            ]);
        }
        f.write_str(&table.text())?;
        self.misses.iter().try_for_each(|miss| writeln!(f, "{miss}"))
    }
}
