//! Outcomes as JSON, as Parquet and as a table for people.

use std::collections::BTreeMap;
use std::io::{self, Write};

use serde::Serialize;
use sounding_export::figures::{Cell, Figures, Kind};
use sounding_export::table::TableError;
use sounding_sim::world::Report;

use super::outcome::{Delays, FlowOutcome, Outcome};
use super::{About, Finished};
use crate::columns::aligned;

/// Everything that is known of a plan's runs.
#[derive(Serialize)]
struct Document<'a> {
    #[serde(flatten)]
    about: &'a About,
    /// Whether every run of the plan is here.
    complete: bool,
    runs: &'a [Outcome],
}

/// Everything as JSON.
///
/// # Errors
///
/// serde_json's, if an outcome cannot be JSON. Each one that a run makes can.
pub fn json(about: &About, finished: &Finished) -> io::Result<String> {
    let Finished { outcomes, complete } = finished;
    let document = Document { about, complete: *complete, runs: outcomes };
    Ok(serde_json::to_string_pretty(&document)? + "\n")
}

/// A row for each flow of each run; swept keys have columns.
///
/// # Errors
///
/// [`TableError::Io`] if the output cannot be written; [`TableError::Parquet`] if the writer
/// refuses a column.
pub fn parquet(
    about: &About,
    finished: &Finished,
    out: impl Write + Send,
) -> Result<(), TableError> {
    let outcomes = &finished.outcomes;
    let swept: Vec<String> = outcomes
        .first()
        .map(|outcome| outcome.values.iter().map(|(key, _)| key.clone()).collect())
        .unwrap_or_default();
    let mut columns = vec![("run", Kind::Int), ("seed", Kind::Int)];
    columns.extend(swept.iter().map(|key| (key.as_str(), Kind::Text)));
    let words = ["name", "device", "direction", "traffic", "controller"];
    columns.push(("flow", Kind::Int));
    columns.extend(words.map(|word| (word, Kind::Text)));
    let rates = ["throughput_mbit_per_sec", "goodput_mbit_per_sec", "utilisation", "loss"];
    columns.extend(rates.map(|rate| (rate, Kind::Real)));
    let delays: Vec<String> = ["one_way", "queueing", "rtt", "completion"]
        .iter()
        .flat_map(|what| QUANTILES.map(|quantile| format!("{what}_{quantile}_ms")))
        .collect();
    columns.extend(delays.iter().map(|name| (name.as_str(), Kind::Real)));
    let counts = ["completed", "sent", "arrived", "dropped", "retransmitted", "timeouts"];
    columns.extend(counts.map(|count| (count, Kind::Int)));
    columns.push(("digest", Kind::Text));
    columns.extend(MEASURES.map(|measure| (measure, Kind::Real)));
    let about = about.pairs();
    let about: Vec<_> = about.iter().map(|(name, value)| (name.as_str(), value.as_str())).collect();
    let mut figures = Figures::new(out, &columns, &about)?;
    for outcome in outcomes {
        for flow in &outcome.flows {
            figures.push(row(outcome, flow))?;
        }
    }
    figures.finish()
}

/// Later columns of the table come after earlier ones.
const MEASURES: [&str; 14] = [
    "capacity_mbit_per_sec",
    "pantheon_throughput_mbit_per_sec",
    "pantheon_delay_p95_ms",
    "pantheon_loss",
    "power_mbit_per_sec_per_sec",
    "completion_p999_ms",
    "convergence_ms",
    "stalled_ms",
    "longest_gap_ms",
    "jain_whole",
    "jain_mean",
    "jain_least",
    "oracle_throughput_share",
    "oracle_queueing_p95_ms",
];

fn measures(flow: &FlowOutcome) -> [Option<f64>; MEASURES.len()] {
    [
        flow.capacity_mbit_per_sec,
        flow.pantheon.throughput_mbit_per_sec,
        flow.pantheon.delay_p95_ms,
        Some(flow.pantheon.loss),
        flow.power_mbit_per_sec_per_sec,
        flow.completion_p999_ms,
        flow.convergence_ms,
        flow.stalled_ms,
        flow.longest_gap_ms,
        flow.jain.map(|jain| jain.whole),
        flow.jain.and_then(|jain| jain.mean),
        flow.jain.and_then(|jain| jain.least),
        flow.oracle.map(|oracle| oracle.throughput_share),
        flow.oracle.map(|oracle| oracle.queueing_p95_ms),
    ]
}

const QUANTILES: [&str; 5] = ["mean", "p50", "p95", "p99", "max"];

fn row(outcome: &Outcome, flow: &FlowOutcome) -> Vec<Option<Cell>> {
    let mut row = vec![Some((outcome.run as u64).into()), Some(outcome.seed.into())];
    row.extend(outcome.values.iter().map(|(_, value)| Some(value.as_str().into())));
    row.push(Some((flow.flow as u64).into()));
    let words = [&flow.name, &flow.device, &flow.direction, &flow.traffic, &flow.controller];
    row.extend(words.map(|word| Some(word.as_str().into())));
    let rates = [
        Some(flow.throughput_mbit_per_sec),
        flow.goodput_mbit_per_sec,
        flow.utilisation,
        Some(flow.loss),
    ];
    row.extend(rates.map(|rate| rate.map(Cell::from)));
    for delays in [flow.one_way_ms, flow.queueing_ms, flow.rtt_ms, flow.completion_ms] {
        let all = delays.map(|Delays { mean, p50, p95, p99, max }| [mean, p50, p95, p99, max]);
        let known = |at: usize| all.map(|all| all[at]).filter(|figure| figure.is_finite());
        row.extend((0..QUANTILES.len()).map(|at| known(at).map(Cell::from)));
    }
    let counts = [flow.sent, flow.arrived, flow.dropped, flow.retransmitted, flow.timeouts];
    row.push(Some(flow.completed.into()));
    row.extend(counts.map(|count| count.map(Cell::from)));
    row.push(Some(outcome.digest.as_str().into()));
    row.extend(measures(flow).map(|measure| measure.map(Cell::from)));
    row
}

/// A row for each entry of the plan's flows and each combination of swept values: the sum of its
/// flows' throughput, the delays of all their packets, and the mean over seeds.
pub fn table(finished: &Finished) -> String {
    let mut rows: BTreeMap<(usize, usize), Merged> = BTreeMap::new();
    let mut combinations: Vec<&[(String, String)]> = Vec::new();
    for outcome in &finished.outcomes {
        let known = combinations.iter().position(|values| *values == outcome.values);
        let combination = known.unwrap_or_else(|| {
            combinations.push(&outcome.values);
            combinations.len() - 1
        });
        for flow in &outcome.flows {
            let row = rows.entry((combination, flow.plan)).or_insert_with(|| Merged::new(flow));
            row.add(outcome.run, flow);
        }
    }
    let mut header: Vec<String> = combinations
        .first()
        .into_iter()
        .flat_map(|values| values.iter())
        .map(|(key, _)| key.clone())
        .collect();
    header.extend(HEADER.map(str::to_owned));
    let mut lines = vec![header];
    for ((combination, _), merged) in &rows {
        let values = combinations[*combination].iter().map(|(_, value)| value.clone());
        lines.push(values.chain(merged.cells()).collect());
    }
    let words = lines[0].len() - HEADER.len() + WORDS;
    aligned(&lines, words)
}

const HEADER: [&str; 13] = [
    "flow",
    "controller",
    "flows",
    "Mbit/s",
    "used %",
    "one-way mean",
    "p50",
    "p95",
    "p99 ms",
    "queue mean",
    "p95",
    "p99 ms",
    "loss %",
];

/// Columns of words before those of numbers, in addition to the swept keys.
const WORDS: usize = 2;

struct Merged {
    name: String,
    controller: String,
    runs: Vec<usize>,
    flows: usize,
    mbit: f64,
    utilisation: Option<f64>,
    report: Report,
}

impl Merged {
    fn new(flow: &FlowOutcome) -> Self {
        let controller = if flow.controller.is_empty() { "-" } else { &flow.controller };
        Self {
            name: flow.name.clone(),
            controller: controller.into(),
            runs: Vec::new(),
            flows: 0,
            mbit: 0.0,
            utilisation: flow.utilisation.map(|_| 0.0),
            report: Report::default(),
        }
    }

    fn add(&mut self, run: usize, flow: &FlowOutcome) {
        if self.runs.last() != Some(&run) {
            self.runs.push(run);
        }
        self.flows += 1;
        self.mbit += flow.throughput_mbit_per_sec;
        self.utilisation = self.utilisation.zip(flow.utilisation).map(|(sum, one)| sum + one);
        self.report.one_way.add(&flow.report.one_way);
        self.report.queueing.add(&flow.report.queueing);
        self.report.arrived += flow.report.arrived;
        self.report.dropped += flow.report.dropped;
    }

    fn cells(&self) -> impl Iterator<Item = String> {
        let runs = self.runs.len().max(1) as f64;
        let mut cells = vec![
            self.name.clone(),
            self.controller.clone(),
            (self.flows / self.runs.len().max(1)).to_string(),
            format!("{:.2}", self.mbit / runs),
            self.utilisation.map_or("-".into(), |sum| format!("{:.1}", 100.0 * sum / runs)),
        ];
        let (one_way, queue) =
            (Delays::of(&self.report.one_way), Delays::of(&self.report.queueing));
        let ms = |delays: Option<Delays>, of: fn(&Delays) -> f64| {
            delays.as_ref().map_or("-".into(), |delays| format!("{:.1}", of(delays)))
        };
        cells.push(ms(one_way, |delays| delays.mean));
        cells.push(ms(one_way, |delays| delays.p50));
        cells.push(ms(one_way, |delays| delays.p95));
        cells.push(ms(one_way, |delays| delays.p99));
        cells.push(ms(queue, |delays| delays.mean));
        cells.push(ms(queue, |delays| delays.p95));
        cells.push(ms(queue, |delays| delays.p99));
        cells.push(format!("{:.2}", 100.0 * self.report.loss()));
        cells.into_iter()
    }
}
