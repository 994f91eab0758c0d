//! The items of the evaluation, and how their tables are made.

use std::fmt;
use std::time::Duration;

use serde::Serialize;
use sounding_experiment::plan::{PlanError, Run, Text};
use sounding_experiment::provenance::Provenance;

use super::{Distance, Figures, Plan, tables};
use crate::experiment::Failed;
use crate::paper::{self, PaperItem, paper_item};

/// An item.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Item {
    /// The gain of BISCAY over each algorithm.
    Table1,
    /// Correlation of each estimation method with goodput.
    Fig5,
    /// The sampling interval.
    Fig6,
    /// Resource blocks as two readers of a modem see them.
    Fig7,
    /// All algorithms by scenario.
    Fig8,
    /// One to three flows.
    Table2,
    /// Fairness over short windows.
    Fig9,
    /// The bottleneck moves to the wire.
    Fig10,
    /// This kernel over a private network.
    Fig11b,
}

impl Item {
    /// Its files in `papers/biscay`, and its subject.
    pub const fn files(self) -> PaperItem {
        match self {
            Self::Table1 => paper_item!("biscay", "table1")
                .about("what BISCAY gains on eight algorithms over recorded links"),
            Self::Fig5 => paper_item!("biscay", "fig5")
                .about("rates by BISCAY's methods and by raw KPIs beside goodput")
                .lasts("1 min"),
            Self::Fig6 => paper_item!("biscay", "fig6").about("how often a link has to be sampled"),
            Self::Fig7 => paper_item!("biscay", "fig7")
                .about("resource blocks as two readers of a modem know them"),
            Self::Fig8 => paper_item!("biscay", "fig8")
                .about("throughput and delay of all algorithms by scenario"),
            Self::Table2 => paper_item!("biscay", "table2").about("one to three flows on a device"),
            Self::Fig9 => paper_item!("biscay", "fig9").about("fairness over short windows"),
            Self::Fig10 => {
                paper_item!("biscay", "fig10").about("a bottleneck that moves to the wire and back")
            }
            Self::Fig11b => paper_item!("biscay", "fig11b")
                .about(
                    "our laws, BBR and CUBIC in this kernel over a private network with handovers",
                )
                .lasts("9 min"),
        }
    }
}

/// The plan of an item, so long and with these seeds if not as the plan has it.
pub(super) fn text(
    item: PaperItem,
    duration: Option<Duration>,
    seeds: Option<String>,
) -> Result<Text, PlanError> {
    let mut text = item.text();
    if let Some(duration) = duration {
        text.set(&format!("duration={}us", duration.as_micros()))?;
    }
    if let Some(seeds) = seeds {
        text.set(&format!("seeds={seeds}"))?;
    }
    Ok(text)
}

/// The controller of a run's first flow.
pub(super) fn controller(run: &Run) -> &str {
    run.plan.flows.first().map_or("", |flow| flow.controller.name())
}

/// Why a run has no result.
pub(super) fn failed(run: &Run, error: impl fmt::Display) -> Failed {
    Failed::at(format_args!("{}, seed {}", controller(run), run.seed), error)
}

/// The data behind an item's table: its rows were made of `M`.
#[derive(Clone, Debug, Serialize)]
pub struct Evidence<M> {
    /// Distance to the oracle, if it ran too.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub distances: Vec<Distance>,
    /// The data of the rows, under its name.
    #[serde(flatten)]
    pub measured: M,
}

impl<M> From<M> for Evidence<M> {
    fn from(measured: M) -> Self {
        Self { distances: Vec::new(), measured }
    }
}

impl<M> fmt::Display for Evidence<M> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.distances.iter().try_for_each(|distance| write!(f, "\n{distance}"))
    }
}

/// An item as a table.
pub type Report<M> = paper::Report<Evidence<M>>;

/// Flows over links that are given.
#[derive(Clone, Debug, Serialize)]
pub struct OverLinks {
    /// For each link and controller.
    pub figures: Vec<Figures>,
}

/// The table of an item whose flows went over links that are given.
pub(super) fn of_links(
    item: Item,
    plan: &Plan,
    figures: Vec<Figures>,
    provenance: Provenance,
) -> Result<Report<OverLinks>, toml::de::Error> {
    let expected = item.files().expected()?;
    let ours = match item {
        Item::Table1 => tables::gains(&figures, plan, &expected),
        Item::Fig6 => tables::sampling(&figures),
        Item::Table2 => tables::several(&figures),
        Item::Fig9 => tables::fairness(&figures, plan),
        _ => tables::scenarios(&figures, plan),
    };
    let distances = match item {
        Item::Table1 | Item::Fig8 => Distance::all(&figures),
        _ => Vec::new(),
    };
    let evidence = Evidence { distances, measured: OverLinks { figures } };
    Ok(Report::new(&plan.about, expected, ours, evidence, provenance))
}
