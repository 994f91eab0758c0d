//! The items of the evaluation, as tables beside the paper's figures.

use std::collections::BTreeMap;
use std::fmt;

use serde::{Deserialize, Serialize};

use super::links::Scenario;
use super::{Crossing, Figures, Plan};
use crate::metrics::nearest_rank;
use crate::provenance::Provenance;

/// An item.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Item {
    /// What BISCAY gains on each algorithm.
    Table1,
    /// How often the link is sampled.
    Fig6,
    /// All algorithms by scenario.
    Fig8,
    /// Two and three flows.
    Table2,
    /// Fairness over short windows.
    Fig9,
    /// The bottleneck moves to the wire.
    Fig10,
}

impl Item {
    /// Its plan, as `papers/biscay` has it.
    pub const fn plan(self) -> &'static str {
        match self {
            Self::Table1 => include_str!("../../../../papers/biscay/table1.toml"),
            Self::Fig6 => include_str!("../../../../papers/biscay/fig6.toml"),
            Self::Fig8 => include_str!("../../../../papers/biscay/fig8.toml"),
            Self::Table2 => include_str!("../../../../papers/biscay/table2.toml"),
            Self::Fig9 => include_str!("../../../../papers/biscay/fig9.toml"),
            Self::Fig10 => include_str!("../../../../papers/biscay/fig10.toml"),
        }
    }

    const fn name(self) -> &'static str {
        match self {
            Self::Table1 => "table1",
            Self::Fig6 => "fig6",
            Self::Fig8 => "fig8",
            Self::Table2 => "table2",
            Self::Fig9 => "fig9",
            Self::Fig10 => "fig10",
        }
    }
}

const EXPECTED: &str = include_str!("../../../../papers/biscay/expected.toml");

/// What the paper has of an item, and why ours is different.
#[derive(Clone, Debug, Default, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub struct Expected {
    /// Where, and what its figures are.
    pub section: String,
    /// By row.
    pub rows: BTreeMap<String, String>,
    /// Why ours differ.
    #[serde(default)]
    pub why: Vec<String>,
}

/// An item as a table.
#[derive(Clone, Debug, Serialize)]
pub struct Report {
    /// What it is about.
    pub about: String,
    /// What the paper has.
    pub expected: Expected,
    /// Names of the columns after the row's and the paper's.
    pub columns: Vec<String>,
    /// Rows: their names, and what we have.
    pub rows: Vec<(String, Vec<String>)>,
    /// What the rows were made of.
    pub figures: Vec<Figures>,
    /// The same of an item about a wire.
    pub crossings: Vec<Crossing>,
    /// Where the figures come from.
    pub provenance: Provenance,
}

impl Report {
    /// The table of an item.
    pub fn new(
        item: Item,
        plan: &Plan,
        figures: Vec<Figures>,
        crossings: Vec<Crossing>,
        provenance: Provenance,
    ) -> Result<Self, toml::de::Error> {
        let mut all: BTreeMap<String, Expected> = toml::from_str(EXPECTED)?;
        let (columns, rows) = match item {
            Item::Table1 => gains(&figures, plan),
            Item::Fig6 => sampling(&figures),
            Item::Fig8 => scenarios(&figures, plan),
            Item::Table2 => several(&figures),
            Item::Fig9 => fairness(&figures, plan),
            Item::Fig10 => wire(&crossings),
        };
        Ok(Self {
            about: plan.about.clone(),
            expected: all.remove(item.name()).unwrap_or_default(),
            columns: columns.into_iter().map(str::to_owned).collect(),
            rows,
            figures,
            crossings,
            provenance,
        })
    }
}

type Rows = (Vec<&'static str>, Vec<(String, Vec<String>)>);

fn mean<'a>(figures: impl Iterator<Item = &'a Figures>, of: impl Fn(&Figures) -> f64) -> f64 {
    let values: Vec<f64> = figures.map(of).collect();
    values.iter().sum::<f64>() / values.len().max(1) as f64
}

fn gains(figures: &[Figures], plan: &Plan) -> Rows {
    let of = |name: &str, value: fn(&Figures) -> f64| {
        mean(figures.iter().filter(|figures| figures.controller == name), value)
    };
    let against = |ours: &str, theirs: &str| {
        let saved =
            |value: fn(&Figures) -> f64| 100.0 * (1.0 - of(ours, value) / of(theirs, value));
        let throughput: fn(&Figures) -> f64 = |figures| figures.throughput_mbit_per_sec;
        format!(
            "{:.2} ×, {:.1} %, {:.1} %",
            of(ours, throughput) / of(theirs, throughput),
            saved(|figures| figures.mean_ms),
            saved(|figures| figures.p95_ms),
        )
    };
    let others = plan.controllers.iter().filter(|name| *name != "biscay" && *name != "oracle");
    let rows = others.map(|name| {
        let ours = if name == "sounding" { "-".into() } else { against("sounding", name) };
        (name.clone(), vec![against("biscay", name), ours])
    });
    (vec!["biscay", "sounding"], rows.collect())
}

fn sampling(figures: &[Figures]) -> Rows {
    let mut rows: BTreeMap<(String, u64), Vec<&Figures>> = BTreeMap::new();
    for one in figures {
        let every = one.every_ms.map_or(0, |every| every as u64);
        rows.entry((one.controller.clone(), every)).or_default().push(one);
    }
    let rows = rows.into_iter().map(|((controller, every), those)| {
        let name = match every {
            0 => controller,
            every => format!("{controller} {every} ms"),
        };
        let of = |value: fn(&Figures) -> f64| mean(those.iter().copied(), value);
        let cells = vec![
            format!("{:.2}", of(|figures| figures.throughput_mbit_per_sec)),
            format!("{:.0}", of(|figures| figures.mean_ms)),
            format!("{:.0}", of(|figures| figures.p95_ms)),
        ];
        (name, cells)
    });
    (vec!["Mbit/s", "mean ms", "p95 ms"], rows.collect())
}

fn scenarios(figures: &[Figures], plan: &Plan) -> Rows {
    let mut kinds: Vec<Scenario> = figures.iter().map(|figures| figures.scenario).collect();
    kinds.sort_unstable();
    kinds.dedup();
    let mut rows = Vec::new();
    for kind in kinds {
        for name in &plan.controllers {
            let those =
                figures.iter().filter(|one| one.scenario == kind && one.controller == *name);
            let those: Vec<&Figures> = those.collect();
            let spread = |value: fn(&Figures) -> f64, digits: usize| {
                let mut values: Vec<f64> = those.iter().map(|one| value(one)).collect();
                values.sort_by(f64::total_cmp);
                if values.is_empty() {
                    return "-".to_owned();
                }
                let at = |quantile| nearest_rank(&values, quantile);
                format!("{:.digits$} ({:.digits$}-{:.digits$})", at(0.5), at(0.25), at(0.75))
            };
            let cells = vec![
                spread(|one| one.throughput_mbit_per_sec, 1),
                spread(|one| one.utilisation * 100.0, 0),
                spread(|one| one.mean_ms, 0),
                spread(|one| one.p95_ms, 0),
            ];
            rows.push((format!("{} {name}", kind.name()), cells));
        }
    }
    (vec!["Mbit/s (quartiles)", "used %", "mean ms", "p95 ms"], rows)
}

fn several(figures: &[Figures]) -> Rows {
    let mut rows: BTreeMap<(usize, bool, String), Vec<&Figures>> = BTreeMap::new();
    for one in figures {
        let key = (one.flows, !one.scenario.is_mobile(), one.controller.clone());
        rows.entry(key).or_default().push(one);
    }
    let rows = rows.into_iter().map(|((flows, still, controller), those)| {
        let of = |value: fn(&Figures) -> f64| mean(those.iter().copied(), value);
        let mobility = if still { "static" } else { "mobile" };
        let each = of(|one| one.throughput_mbit_per_sec) / flows as f64;
        let cells = vec![
            format!("{each:.2}"),
            format!("{:.1}", of(|one| one.mean_ms)),
            format!("{:.1}", of(|one| one.p95_ms)),
            format!("{:.3}", of(|one| one.jain_short)),
        ];
        (format!("{flows} {mobility} {controller}"), cells)
    });
    (vec!["Mbit/s each", "mean ms", "p95 ms", "Jain 500 ms"], rows.collect())
}

fn fairness(figures: &[Figures], plan: &Plan) -> Rows {
    let rows = plan.controllers.iter().map(|name| {
        let of = |value: fn(&Figures) -> f64| {
            mean(figures.iter().filter(|one| one.controller == *name), value)
        };
        let cells = [of(|one| one.jain), of(|one| one.jain_short), of(|one| one.jain_short_p10)];
        (name.clone(), cells.map(|index| format!("{index:.3}")).to_vec())
    });
    (vec!["over the run", "500 ms, mean", "500 ms, lowest tenth"], rows.collect())
}

fn wire(crossings: &[Crossing]) -> Rows {
    let rows = crossings.iter().map(|one| {
        let ms = |value: Option<f64>| match value {
            Some(ms) => format!("{ms:.0}"),
            None => "never".into(),
        };
        let cells = vec![
            ms(one.found_ms),
            one.found_ms.map_or_else(|| "-".into(), |_| ms(one.back_ms)),
            one.changes.to_string(),
            format!("{:.0}", one.used * 100.0),
            format!("{:.0}", one.queueing_p95_ms),
        ];
        let over = if one.cell { "cell" } else { "given link" };
        (format!("{} {:.0} Mbit/s, {over}", one.controller, one.wire_mbit_per_sec), cells)
    });
    (vec!["found ms", "back ms", "changes", "used %", "p95 ms"], rows.collect())
}

impl fmt::Display for Report {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "{}\npaper: {}\n", self.about, self.expected.section)?;
        writeln!(f, "| | paper | {} |", self.columns.join(" | "))?;
        writeln!(f, "|---|---|{}", "--:|".repeat(self.columns.len()))?;
        for (name, cells) in &self.rows {
            let paper = self.expected.rows.get(name).map_or("", String::as_str);
            writeln!(f, "| {name} | {paper} | {} |", cells.join(" | "))?;
        }
        if !self.expected.why.is_empty() {
            writeln!(f, "\nwhy ours differ:")?;
        }
        for why in &self.expected.why {
            writeln!(f, "* {why}")?;
        }
        Ok(())
    }
}
