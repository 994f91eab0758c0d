//! Ours beside the truth and beside cake-autorate, seed by seed.

use sounding_experiment::metrics::quantile;

use super::case::{CASES, Rat};
use super::ran::Ran;
use super::rule::Rule;
use crate::table::Table;

/// A rule beside another one, over the seeds of a cell that both have.
struct Beside {
    /// Throughput over the other's.
    shares: Vec<f64>,
    /// 95th percentile of probes minus the other's, ms.
    over_ms: Vec<f64>,
    /// The same as a part of the other's.
    over: Vec<f64>,
}

impl Beside {
    fn of(runs: &[&Ran], rule: Rule, other: Rule) -> Self {
        let mut found = Self { shares: Vec::new(), over_ms: Vec::new(), over: Vec::new() };
        for own in runs.iter().filter(|ran| ran.rule == rule) {
            let cell = |ran: &Ran| (ran.case.clone(), ran.rat, ran.seed);
            let same = |ran: &&&Ran| ran.rule == other && cell(ran) == cell(own);
            let Some(other) = runs.iter().find(same) else { continue };
            if other.figures.up_mbit_per_sec > 0.0 {
                found.shares.push(own.figures.up_mbit_per_sec / other.figures.up_mbit_per_sec);
            }
            if let Some((own, other)) = own.figures.probe.zip(other.figures.probe) {
                found.over_ms.push(own.p95_ms - other.p95_ms);
                found.over.push(own.p95_ms / other.p95_ms);
            }
        }
        found
    }
}

fn cell(values: &[f64], part: f64, digits: usize) -> String {
    quantile(values, part).map_or("-".into(), |value| format!("{value:.digits$}"))
}

/// Medians over the seeds, and the least share.
pub(super) fn verdict(runs: &[Ran]) -> Table {
    let mut table = Table::new().left(["case", "radio"]).right([
        "× truth-50",
        "least",
        "p95 over, ms",
        "× autorate",
        "p95 ×",
        "× autorate-tuned",
        "p95 ×",
        "seeds",
    ]);
    let mut row = |case: &str, radio: &str, of: &[&Ran]| {
        let seeds = of.iter().filter(|ran| ran.rule == Rule::Ours).count();
        if seeds == 0 {
            return;
        }
        let [truth, plain, tuned] = [Rule::Truth50, Rule::Autorate, Rule::AutorateTuned]
            .map(|other| Beside::of(of, Rule::Ours, other));
        table.row([
            case.into(),
            radio.into(),
            cell(&truth.shares, 0.5, 2),
            cell(&truth.shares, 0.0, 2),
            cell(&truth.over_ms, 0.5, 0),
            cell(&plain.shares, 0.5, 2),
            cell(&plain.over, 0.5, 2),
            cell(&tuned.shares, 0.5, 2),
            cell(&tuned.over, 0.5, 2),
            seeds.to_string(),
        ]);
    };
    for case in &CASES {
        for rat in Rat::ALL {
            let of = runs.iter().filter(|ran| ran.case == case.name && ran.rat == rat);
            row(case.name, rat.name(), &of.collect::<Vec<_>>());
        }
    }
    let moves = |ran: &&Ran| CASES.iter().any(|case| case.name == ran.case && case.is_mobile());
    row("all that move", "both", &runs.iter().filter(moves).collect::<Vec<_>>());
    table
}
