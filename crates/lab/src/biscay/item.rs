//! The items of the evaluation, and how their tables are made.

use std::fmt;

use serde::Serialize;
use sounding_experiment::provenance::Provenance;

use super::{Distance, Figures, Plan, tables};
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
    /// Its files in `papers/biscay`.
    pub const fn files(self) -> PaperItem {
        match self {
            Self::Table1 => paper_item!("biscay", "table1"),
            Self::Fig5 => paper_item!("biscay", "fig5"),
            Self::Fig6 => paper_item!("biscay", "fig6"),
            Self::Fig7 => paper_item!("biscay", "fig7"),
            Self::Fig8 => paper_item!("biscay", "fig8"),
            Self::Table2 => paper_item!("biscay", "table2"),
            Self::Fig9 => paper_item!("biscay", "fig9"),
            Self::Fig10 => paper_item!("biscay", "fig10"),
            Self::Fig11b => paper_item!("biscay", "fig11b"),
        }
    }
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
        self.distances.iter().try_for_each(|distance| write!(f, "\n{distance}"))?;
        if !self.distances.is_empty() {
            writeln!(
                f,
                "\nsenders that know the present of the same links: `sounding lab run references`"
            )?;
        }
        Ok(())
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
