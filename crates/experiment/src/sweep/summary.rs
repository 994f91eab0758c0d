//! Many runs in few rows: for each kind of run the middle of each figure, and how sure it is.
//!
//! If files are swept, a value is a file's mean over seeds, and a row has the median over files
//! with a bootstrap interval. Otherwise a value is a seed's result, and a row has the mean with
//! Student's interval. Several seeds over one file are not several files: counted as such, they
//! would make any figure look certain.

use std::fmt::Write as _;

use serde::Serialize;

use crate::columns::aligned;
use crate::inference::{Estimate, Paired, mean, median, paired};
use crate::plan::names_files;
use crate::simulate::{FlowOutcome, Outcome};

/// A figure of a flow that rows show.
#[derive(Clone, Copy, Debug)]
pub struct Figure {
    /// Its name in JSON.
    pub name: &'static str,
    /// The head of its column.
    pub head: &'static str,
    /// Digits behind the point.
    pub digits: usize,
    /// Reads it from the outcome of a flow.
    pub of: fn(&FlowOutcome) -> Option<f64>,
}

/// The figures of a row, in order.
pub const FIGURES: [Figure; 8] = [
    Figure {
        name: "throughput_mbit_per_sec",
        head: "Mbit/s",
        digits: 2,
        of: |flow| Some(flow.throughput_mbit_per_sec),
    },
    Figure {
        name: "utilisation_percent",
        head: "used %",
        digits: 1,
        of: |flow| flow.utilisation.map(|used| 100.0 * used),
    },
    Figure {
        name: "queueing_mean_ms",
        head: "queue mean ms",
        digits: 1,
        of: |flow| flow.queueing_ms.map(|delays| delays.mean),
    },
    Figure {
        name: "queueing_p95_ms",
        head: "queue p95 ms",
        digits: 1,
        of: |flow| flow.queueing_ms.map(|delays| delays.p95),
    },
    Figure {
        name: "one_way_p95_ms",
        head: "one-way p95 ms",
        digits: 1,
        of: |flow| flow.one_way_ms.map(|delays| delays.p95),
    },
    Figure {
        name: "oracle_throughput_percent",
        head: "of oracle %",
        digits: 1,
        of: |flow| flow.oracle.map(|oracle| 100.0 * oracle.throughput_share),
    },
    Figure {
        name: "oracle_queueing_p95_ms",
        head: "p95 over oracle",
        digits: 1,
        of: |flow| flow.oracle.map(|oracle| oracle.queueing_p95_ms),
    },
    Figure { name: "loss_percent", head: "loss %", digits: 2, of: |flow| Some(100.0 * flow.loss) },
];

/// How a row's figures are computed from its values.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Over {
    /// Median over files.
    Files,
    /// Mean over seeds.
    Seeds,
}

/// One kind of run.
#[derive(Clone, Debug, Serialize)]
pub struct Row {
    /// The common values of its runs: the swept ones except files.
    pub values: Vec<(String, String)>,
    /// The flow's name in the plan.
    pub flow: String,
    /// The controller.
    pub controller: String,
    /// In the order of [`FIGURES`].
    pub figures: Vec<Option<Estimate>>,
    /// The values of each file or seed, by its name: for pairs.
    #[serde(skip)]
    pub units: Vec<(String, Vec<Option<f64>>)>,
}

/// Runs in rows.
#[derive(Clone, Debug, Serialize)]
pub struct Summary {
    /// Whether figures are over files or seeds.
    pub over: Over,
    /// The rows, in the order of the plan.
    pub rows: Vec<Row>,
}

impl Summary {
    /// Puts outcomes in rows.
    pub fn of<'a>(outcomes: impl IntoIterator<Item = &'a Outcome>) -> Self {
        let mut kinds: Vec<(Row, usize, Vec<Unit>)> = Vec::new();
        let mut over = Over::Seeds;
        for outcome in outcomes {
            let (files, values): (Vec<_>, Vec<_>) =
                outcome.values.iter().cloned().partition(|(key, _)| names_files(key));
            let unit = match &files[..] {
                [] => outcome.seed.to_string(),
                files => {
                    over = Over::Files;
                    let names: Vec<&str> = files.iter().map(|(_, name)| name.as_str()).collect();
                    names.join(" ")
                }
            };
            for flow in &outcome.flows {
                let known = kinds
                    .iter()
                    .position(|(row, plan, _)| *plan == flow.plan && row.values == values);
                let at = known.unwrap_or_else(|| {
                    let controller =
                        if flow.controller.is_empty() { "-" } else { &flow.controller }.into();
                    let (name, values) = (flow.name.clone(), values.clone());
                    let (figures, units) = (Vec::new(), Vec::new());
                    let row = Row { values, flow: name, controller, figures, units };
                    kinds.push((row, flow.plan, Vec::new()));
                    kinds.len() - 1
                });
                let units = &mut kinds[at].2;
                // Runs over one file are consecutive, except for keys that change faster.
                let known = units.iter().rposition(|known| known.name == unit);
                let place = known.unwrap_or_else(|| {
                    units.push(Unit::new(unit.clone()));
                    units.len() - 1
                });
                units[place].add(flow);
            }
        }
        let rows = kinds.into_iter().map(|(mut row, _, units)| {
            row.units = units.into_iter().map(Unit::means).collect();
            row.figures = (0..FIGURES.len())
                .map(|figure| {
                    let values: Vec<f64> =
                        row.units.iter().filter_map(|(_, figures)| figures[figure]).collect();
                    match over {
                        Over::Files => median(&values),
                        Over::Seeds => mean(&values),
                    }
                })
                .collect();
            row
        });
        Self { over, rows: rows.collect() }
    }

    /// The table for people.
    pub fn table(&self) -> String {
        let mut header: Vec<String> = self
            .rows
            .first()
            .into_iter()
            .flat_map(|row| row.values.iter().map(|(key, _)| key.clone()))
            .collect();
        header.extend(["flow".into(), "controller".into()]);
        let words = header.len();
        header.extend(FIGURES.map(|figure| figure.head.to_owned()));
        let rows = self.rows.iter().map(|row| {
            let mut cells: Vec<String> =
                row.values.iter().map(|(_, value)| value.clone()).collect();
            cells.extend([row.flow.clone(), row.controller.clone()]);
            cells.extend(row.cells());
            cells
        });
        let lines: Vec<Vec<String>> = std::iter::once(header).chain(rows).collect();
        let mut text = aligned(&lines, words);
        let what = match self.over {
            Over::Files => "median over files, each the mean over its seeds",
            Over::Seeds => "mean over seeds",
        };
        // Writing into a string cannot fail.
        let _ = writeln!(text, "{what}; in brackets the 95 % interval");
        text
    }
}

impl Row {
    /// Its figures as words.
    pub fn cells(&self) -> impl Iterator<Item = String> {
        self.figures
            .iter()
            .zip(FIGURES)
            .map(|(estimate, figure)| shown(estimate.as_ref(), figure.digits))
    }

    /// Pairs with another row, by file or seed.
    pub fn paired(&self, other: &Self, figure: usize) -> Option<Paired> {
        let pairs: Vec<(f64, f64)> = self
            .units
            .iter()
            .filter_map(|(name, figures)| {
                let (_, theirs) = other.units.iter().find(|(known, _)| known == name)?;
                figures[figure].zip(theirs[figure])
            })
            .collect();
        paired(&pairs)
    }
}

/// A figure with its interval.
pub fn shown(estimate: Option<&Estimate>, digits: usize) -> String {
    let Some(Estimate { value, low, high, .. }) = estimate else { return "-".into() };
    match low.zip(*high) {
        Some((low, high)) => format!("{value:.digits$} [{low:.digits$} {high:.digits$}]"),
        None => format!("{value:.digits$}"),
    }
}

/// The measurements of one file, or of one seed.
struct Unit {
    name: String,
    sums: [(f64, usize); FIGURES.len()],
}

impl Unit {
    fn new(name: String) -> Self {
        Self { name, sums: [(0.0, 0); FIGURES.len()] }
    }

    fn add(&mut self, flow: &FlowOutcome) {
        for ((sum, count), figure) in self.sums.iter_mut().zip(FIGURES) {
            if let Some(value) = (figure.of)(flow) {
                (*sum, *count) = (*sum + value, *count + 1);
            }
        }
    }

    fn means(self) -> (String, Vec<Option<f64>>) {
        let mean = |(sum, count)| (count > 0).then(|| sum / count as f64);
        (self.name, self.sums.map(mean).into())
    }
}
