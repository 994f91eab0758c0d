//! PBE-CC's evaluation: the plans of `papers/pbe-cc` in virtual time, beside the paper's figures.

mod cells;
mod drawn;
pub(crate) mod experiment;
mod fig11;
mod fig21;
mod fig6;
mod place;
mod rig;
mod robust;
mod table1;

use std::collections::BTreeMap;

use serde::Serialize;
use sounding_experiment::metrics;
use sounding_experiment::provenance::Provenance;
use sounding_experiment::simulate::{FlowOutcome, Outcome};

use crate::paper::{Ours, PaperItem, Report, Rows, paper_item};

/// An item.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Item {
    /// A second carrier that comes and goes.
    Fig2,
    /// The users of a busy cell.
    Fig7,
    /// A walk.
    Fig16,
    /// A competitor.
    Fig18,
    /// Two connections of one device.
    Fig20,
    /// 40 places.
    Table1,
    /// Overheads and delays by load.
    Fig6,
    /// The users of base stations.
    Fig11,
    /// Three phones.
    Fig21,
    /// Beyond the paper.
    Robust,
}

impl Item {
    /// Its files in `papers/pbe-cc`, and its subject.
    pub const fn files(self) -> PaperItem {
        let table1 = paper_item!("pbe-cc", "table1");
        match self {
            // Figs. 2 and 7 have no plan; they are of the cell itself.
            Self::Fig2 => table1
                .called("pbe-cc/fig2", "fig2")
                .about("when a second carrier comes and goes")
                .lasts("2 s"),
            Self::Fig7 => table1
                .called("pbe-cc/fig7", "fig7")
                .about("the users of a busy cell, and those that have data")
                .lasts("2 s"),
            Self::Fig16 => paper_item!("pbe-cc", "fig16")
                .about("a download on a walk to the edge of a cell and back, by PBE-CC and eight algorithms")
                .lasts("2 min"),
            Self::Fig18 => paper_item!("pbe-cc", "fig18")
                .about("a download beside a competitor that comes and goes, by PBE-CC and eight algorithms")
                .lasts("2 min"),
            Self::Fig20 => paper_item!("pbe-cc", "fig20")
                .about("two downloads of one device, by PBE-CC and seven algorithms")
                .lasts("2 min"),
            Self::Table1 => table1
                .about("a download at 40 places, by PBE-CC and eight algorithms")
                .lasts("3 min"),
            Self::Fig6 => paper_item!("pbe-cc", "fig6")
                .about("overheads, lost blocks and delays of a cell by load")
                .lasts("1 min"),
            Self::Fig11 => paper_item!("pbe-cc", "fig11")
                .about("users of two base stations and their physical rates")
                .lasts("1 min"),
            Self::Fig21 => paper_item!("pbe-cc", "fig21")
                .about("how three phones of PBE-CC, BBR and CUBIC share a primary carrier")
                .lasts("1 min"),
            Self::Robust => paper_item!("pbe-cc", "robust")
                .about("PBE-CC with a bad sniffer, a dead modem, narrow wires and liars")
                .lasts("10 min"),
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

/// See [`Rows`].
pub type Evidence = Rows<Row>;

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
            metrics::mean(flows.iter().filter_map(|flow| value(flow)))
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
        // A value that no run measured is no number.
        let text = |number: f64| if number.is_nan() { "-".into() } else { format!("{number:.1}") };
        numbers.map(text).to_vec()
    };
    let table = figures.iter().map(|row| (row.name.clone(), cells(row)));
    let columns = ["Mbit/s", "mean ms", "median ms", "p95 ms"];
    let ours = Ours::new(columns, table);
    Ok(Report::new(item.files().about, expected, ours, Evidence { figures }, provenance))
}

#[cfg(test)]
mod tests {
    use std::path::PathBuf;

    use sounding_experiment::plan::Text;
    use sounding_experiment::simulate::Keep;
    use sounding_experiment::study::Study;

    use super::*;

    /// The item with few seconds and one seed.
    fn short(item: Item, controllers: &str) -> Vec<Row> {
        let files = item.files();
        let (plan, sweep) = files.plan.split_once(".controller\" = ").unwrap();
        assert!(sweep.starts_with('['), "controllers come last");
        let plan = format!("{plan}.controller\" = {controllers}\n");
        let mut text = Text::new(files.experiment, plan, PathBuf::new());
        for set in ["seeds=1", "duration=\"10s\""] {
            text.set(set).unwrap();
        }
        rows(&Study::new(text).unwrap().run(&Keep::default(), None).unwrap().outcomes)
    }

    #[test]
    fn pbe_cc_beside_a_competitor_has_half_of_bbrs_delay_for_four_fifths_of_its_rate() {
        let rows = short(Item::Fig18, "[\"pbe-cc\", \"bbr\"]");
        let [pbe, bbr] = &rows[..] else { panic!("two rows: {rows:?}") };
        assert!(pbe.mbit_per_sec > 0.8 * bbr.mbit_per_sec, "{rows:?}");
        assert!(pbe.p95_ms < 0.5 * bbr.p95_ms, "{rows:?}");
    }

    #[test]
    fn two_connections_of_one_device_share_alike() {
        let rows = short(Item::Fig20, "[\"pbe-cc\"]");
        let [first, second] = &rows[..] else { panic!("two rows: {rows:?}") };
        assert_eq!(
            (first.name.as_str(), second.name.as_str()),
            ("pbe-cc, first", "pbe-cc, second")
        );
        let ratio = first.mbit_per_sec / second.mbit_per_sec;
        assert!((0.9..1.1).contains(&ratio), "{rows:?}");
    }
}
