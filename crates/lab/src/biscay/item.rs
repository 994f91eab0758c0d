//! The items of the evaluation, as tables beside the paper's figures.

use std::collections::BTreeMap;
use std::fmt;

use serde::{Deserialize, Serialize};
use sounding_experiment::provenance::Provenance;

use super::tables::{self, Rows};
use super::{Crossing, Distance, Figures, Plan, PrivateRun, View};
use crate::estimators;
use crate::table::Table;

/// An item.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Item {
    /// What BISCAY gains on each algorithm.
    Table1,
    /// How well each way to a rate goes with goodput.
    Fig5,
    /// How often the link is sampled.
    Fig6,
    /// What two readers of a modem know of its resource blocks.
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
    /// Its plan, as `papers/biscay` has it.
    pub const fn plan(self) -> &'static str {
        match self {
            Self::Table1 => include_str!("../../../../papers/biscay/table1.toml"),
            Self::Fig5 => include_str!("../../../../papers/biscay/fig5.toml"),
            Self::Fig6 => include_str!("../../../../papers/biscay/fig6.toml"),
            Self::Fig7 => include_str!("../../../../papers/biscay/fig7.toml"),
            Self::Fig8 => include_str!("../../../../papers/biscay/fig8.toml"),
            Self::Table2 => include_str!("../../../../papers/biscay/table2.toml"),
            Self::Fig9 => include_str!("../../../../papers/biscay/fig9.toml"),
            Self::Fig10 => include_str!("../../../../papers/biscay/fig10.toml"),
            Self::Fig11b => include_str!("../../../../papers/biscay/fig11b.toml"),
        }
    }

    /// Its name.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Table1 => "table1",
            Self::Fig5 => "fig5",
            Self::Fig6 => "fig6",
            Self::Fig7 => "fig7",
            Self::Fig8 => "fig8",
            Self::Table2 => "table2",
            Self::Fig9 => "fig9",
            Self::Fig10 => "fig10",
            Self::Fig11b => "fig11b",
        }
    }

    /// After `sounding lab run`.
    pub const fn experiment(self) -> &'static str {
        match self {
            Self::Table1 => "biscay/table1",
            Self::Fig5 => "biscay/fig5",
            Self::Fig6 => "biscay/fig6",
            Self::Fig7 => "biscay/fig7",
            Self::Fig8 => "biscay/fig8",
            Self::Table2 => "biscay/table2",
            Self::Fig9 => "biscay/fig9",
            Self::Fig10 => "biscay/fig10",
            Self::Fig11b => "biscay/fig11b",
        }
    }

    /// What the paper has of it.
    pub fn expected(self) -> Result<Expected, toml::de::Error> {
        let mut all: BTreeMap<String, Expected> = toml::from_str(EXPECTED)?;
        Ok(all.remove(self.name()).unwrap_or_default())
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
    #[serde(default)]
    pub rows: BTreeMap<String, String>,
    /// By row, where a row is BISCAY beside an algorithm.
    #[serde(default)]
    pub gains: BTreeMap<String, Gains>,
    /// By row, why it is missed where it is.
    #[serde(default)]
    pub causes: BTreeMap<String, String>,
    /// Why ours differ.
    #[serde(default)]
    pub why: Vec<String>,
}

/// What BISCAY gains on an algorithm; what nobody states is no number.
#[derive(Clone, Copy, Debug, Deserialize, PartialEq, Serialize)]
#[serde(deny_unknown_fields)]
pub struct Gains {
    /// Its throughput over the algorithm's.
    pub throughput: f64,
    /// The part of the mean delay that it saves, in percent.
    pub mean: f64,
    /// The same of the 95th percentile.
    pub tail: f64,
}

impl fmt::Display for Gains {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let percent =
            |saved: f64| if saved.is_nan() { "-".into() } else { format!("{saved:.1} %") };
        write!(f, "{:.2} ×, {}, {}", self.throughput, percent(self.mean), percent(self.tail))
    }
}

/// What the rows of an item were made of.
#[derive(Clone, Debug, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Measured {
    /// Flows over links that are given.
    Figures(Vec<Figures>),
    /// Flows behind a wire.
    Crossings(Vec<Crossing>),
    /// Ways to a rate.
    Methods(Vec<estimators::Row>),
    /// Readers of a modem.
    Views(Vec<View>),
    /// Flows of this kernel.
    Runs(Vec<PrivateRun>),
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
    /// Rows that fall short of the paper's, and why.
    pub misses: Vec<String>,
    /// How far from the oracle, where it ran too.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub distances: Vec<Distance>,
    /// What the rows were made of.
    #[serde(flatten)]
    pub measured: Measured,
    /// Where the figures come from.
    pub provenance: Provenance,
}

impl Report {
    /// The table of an item whose flows went over links that are given.
    pub fn of_links(
        item: Item,
        plan: &Plan,
        figures: Vec<Figures>,
        provenance: Provenance,
    ) -> Result<Self, toml::de::Error> {
        let expected = item.expected()?;
        let mut misses = Vec::new();
        let rows = match item {
            Item::Table1 => tables::gains(&figures, plan, &expected, &mut misses),
            Item::Fig6 => tables::sampling(&figures),
            Item::Table2 => tables::several(&figures),
            Item::Fig9 => tables::fairness(&figures, plan),
            _ => tables::scenarios(&figures, plan),
        };
        let distances = match item {
            Item::Table1 | Item::Fig8 => Distance::all(&figures),
            _ => Vec::new(),
        };
        let report = Self::new(&plan.about, expected, rows, Measured::Figures(figures), provenance);
        Ok(Self { misses, distances, ..report })
    }

    /// A table of these rows.
    pub(super) fn new(
        about: &str,
        expected: Expected,
        (columns, rows): Rows,
        measured: Measured,
        provenance: Provenance,
    ) -> Self {
        Self {
            about: about.into(),
            expected,
            columns,
            rows,
            misses: Vec::new(),
            distances: Vec::new(),
            measured,
            provenance,
        }
    }

    /// What the paper has of a row.
    pub(super) fn paper(&self, row: &str) -> String {
        let gains = self.expected.gains.get(row).map(ToString::to_string);
        gains.or_else(|| self.expected.rows.get(row).cloned()).unwrap_or_default()
    }
}

impl fmt::Display for Report {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "{}\npaper: {}\n", self.about, self.expected.section)?;
        let mut table = Table::new().left(["", "paper"]).right(self.columns.iter().cloned());
        for (name, cells) in &self.rows {
            table.row([name.clone(), self.paper(name)].into_iter().chain(cells.iter().cloned()));
        }
        table.fmt(f)?;
        for (heading, lines) in
            [("missed:", &self.misses), ("why ours differ:", &self.expected.why)]
        {
            if !lines.is_empty() {
                writeln!(f, "\n{heading}")?;
            }
            lines.iter().try_for_each(|line| writeln!(f, "* {line}"))?;
        }
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
