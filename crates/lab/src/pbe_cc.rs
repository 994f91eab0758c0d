//! PBE-CC's evaluation: the plans of `papers/pbe-cc` in virtual time, beside the paper's figures.

pub(crate) mod experiment;

use std::collections::BTreeMap;

use serde::Serialize;
use sounding_experiment::provenance::Provenance;
use sounding_experiment::simulate::{FlowOutcome, Outcome};

use crate::paper::{Ours, PaperItem, Report, paper_item};

/// An item.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Item {
    /// A walk.
    Fig16,
    /// A competitor.
    Fig18,
    /// Two connections of one device.
    Fig20,
}

impl Item {
    /// Its files in `papers/pbe-cc`.
    pub const fn files(self) -> PaperItem {
        match self {
            Self::Fig16 => paper_item!("pbe-cc", "fig16"),
            Self::Fig18 => paper_item!("pbe-cc", "fig18"),
            Self::Fig20 => paper_item!("pbe-cc", "fig20"),
        }
    }

    /// Its subject.
    pub const fn about(self) -> &'static str {
        match self {
            Self::Fig16 => {
                "a download on a walk to the edge of a cell and back, by PBE-CC and eight algorithms"
            }
            Self::Fig18 => {
                "a download beside a competitor that comes and goes, by PBE-CC and eight algorithms"
            }
            Self::Fig20 => "two downloads of one device, by PBE-CC and seven algorithms",
        }
    }
}

/// A flow under a controller, the mean over all seeds.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Row {
    /// The controller, and which of the flows where there are several.
    pub name: String,
    /// Runs that it is the mean of.
    pub runs: usize,
    /// IP bytes that arrived.
    pub mbit_per_sec: f64,
    /// One-way delays.
    pub mean_ms: f64,
    /// Half of them are below it.
    pub median_ms: f64,
    /// 95 % of them are below it.
    pub p95_ms: f64,
}

/// What the rows are made of: nothing beyond them.
#[derive(Clone, Debug, Serialize)]
pub struct Evidence {
    /// As numbers.
    pub figures: Vec<Row>,
}

impl std::fmt::Display for Evidence {
    fn fmt(&self, _: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        Ok(())
    }
}

/// Names of flows in the order of a plan.
const PLACES: [&str; 3] = ["first", "second", "third"];

/// The rows of a plan's runs, in the order of the plan.
pub fn rows(outcomes: &[Outcome]) -> Vec<Row> {
    let mut order: Vec<String> = Vec::new();
    let mut flows: BTreeMap<String, Vec<&FlowOutcome>> = BTreeMap::new();
    for outcome in outcomes {
        for flow in &outcome.flows {
            let place = PLACES.get(flow.flow).copied().unwrap_or("later");
            let name = match outcome.flows.len() {
                1 => flow.controller.clone(),
                _ => format!("{}, {place}", flow.controller),
            };
            if !flows.contains_key(&name) {
                order.push(name.clone());
            }
            flows.entry(name).or_default().push(flow);
        }
    }
    let row = |name: String| {
        let flows = &flows[&name];
        let mean = |value: &dyn Fn(&FlowOutcome) -> Option<f64>| {
            let known: Vec<f64> = flows.iter().filter_map(|flow| value(flow)).collect();
            known.iter().sum::<f64>() / known.len() as f64
        };
        Row {
            runs: flows.len(),
            mbit_per_sec: mean(&|flow| Some(flow.throughput_mbit_per_sec)),
            mean_ms: mean(&|flow| flow.one_way_ms.map(|delays| delays.mean)),
            median_ms: mean(&|flow| flow.one_way_ms.map(|delays| delays.p50)),
            p95_ms: mean(&|flow| flow.one_way_ms.map(|delays| delays.p95)),
            name,
        }
    };
    order.into_iter().map(row).collect()
}

/// The item's table beside the paper's figures.
pub fn report(
    item: Item,
    outcomes: &[Outcome],
    provenance: Provenance,
) -> Result<Report<Evidence>, toml::de::Error> {
    let expected = item.files().expected()?;
    let figures = rows(outcomes);
    let cells = |row: &Row| {
        let numbers = [row.mbit_per_sec, row.mean_ms, row.median_ms, row.p95_ms];
        // What no run measured is no number.
        let text = |number: f64| if number.is_nan() { "-".into() } else { format!("{number:.1}") };
        numbers.map(text).to_vec()
    };
    let table = figures.iter().map(|row| (row.name.clone(), cells(row)));
    let columns = ["Mbit/s", "mean ms", "median ms", "p95 ms"];
    let ours = Ours::new(columns, table);
    Ok(Report::new(item.about(), expected, ours, Evidence { figures }, provenance))
}
