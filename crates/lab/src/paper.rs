//! A paper's evaluation, item by item: the plan, the paper's figures, the measured ones, the
//! misses, and their reasons.
//!
//! The plans of a paper's items and its figures are files of `papers/<paper>`: `<item>.toml` and
//! `expected.toml`. `docs/interpretations/<paper>.md` has the decisions where the paper is silent.

mod flags;
mod headline;
mod picture;
pub(crate) mod plan_item;
mod work;

use std::collections::BTreeMap;
use std::fmt;
use std::path::PathBuf;

use miette::IntoDiagnostic;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use sounding_experiment::plan::Text;
use sounding_experiment::provenance::Provenance;

use crate::experiment::{Card, Outcome};
use crate::table::Table;

pub(crate) use flags::PlanFlags;
pub use headline::Headline;
pub(crate) use picture::{Course, OverTime, Picture, Pictures, over_time, plane, stated};
pub(crate) use work::Work;

/// An item of a paper's evaluation.
#[derive(Clone, Copy, Debug)]
pub struct PaperItem {
    /// Its name in the files of the paper, whose plan is `<file>.toml`.
    pub file: &'static str,
    /// Its name after `sounding lab run`.
    pub experiment: &'static str,
    /// The text of its plan.
    pub plan: &'static str,
    /// The text of `expected.toml`, for all items.
    pub expected: &'static str,
    /// Its subject.
    pub about: &'static str,
    /// Its duration; `None` if that depends on the data.
    pub lasts: Option<&'static str>,
}

/// The item of a paper, from its files.
macro_rules! paper_item {
    ($paper:literal, $name:literal) => {
        $crate::paper::PaperItem {
            file: $name,
            experiment: concat!($paper, "/", $name),
            about: "",
            lasts: None,
            plan: include_str!(concat!(
                env!("CARGO_MANIFEST_DIR"),
                "/../../papers/",
                $paper,
                "/",
                $name,
                ".toml"
            )),
            expected: include_str!(concat!(
                env!("CARGO_MANIFEST_DIR"),
                "/../../papers/",
                $paper,
                "/expected.toml"
            )),
        }
    };
}
pub(crate) use paper_item;

impl PaperItem {
    /// Another item with the same plan.
    pub(crate) const fn called(self, experiment: &'static str, file: &'static str) -> Self {
        Self { file, experiment, ..self }
    }

    /// With its subject.
    pub(crate) const fn about(self, about: &'static str) -> Self {
        Self { about, ..self }
    }

    /// With its duration.
    pub(crate) const fn lasts(self, lasts: &'static str) -> Self {
        Self { lasts: Some(lasts), ..self }
    }

    /// What a list says of its experiment.
    pub(crate) const fn card(self) -> Card {
        Card { lasts: self.lasts, ..Card::new(self.experiment, self.about) }
    }

    /// Its plan.
    pub(crate) fn plan<P: DeserializeOwned>(&self) -> miette::Result<P> {
        toml::from_str(self.plan).into_diagnostic()
    }

    /// Its plan as the text of an experiment, whose keys can be set.
    pub fn text(&self) -> Text {
        Text::new(self.experiment, self.plan, PathBuf::new())
    }

    /// The paper's figures of this item.
    pub fn expected(&self) -> Result<Expected, toml::de::Error> {
        let mut all: BTreeMap<String, Expected> = toml::from_str(self.expected)?;
        Ok(all.remove(self.file).unwrap_or_default())
    }
}

/// The paper's values of an item, and why the measured ones differ.
#[derive(Clone, Debug, Default, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub struct Expected {
    /// Section, and description of the figures.
    pub section: String,
    /// By row.
    #[serde(default)]
    pub rows: BTreeMap<String, String>,
    /// By row; a row compares two controllers.
    #[serde(default)]
    pub gains: BTreeMap<String, Gains>,
    /// By row, why it is missed where it is.
    #[serde(default)]
    pub causes: BTreeMap<String, String>,
    /// Why the measured ones differ.
    #[serde(default)]
    pub why: Vec<String>,
}

impl Expected {
    /// The paper's figures of a row.
    pub fn of(&self, row: &str) -> String {
        let gains = self.gains.get(row).map(ToString::to_string);
        gains.or_else(|| self.rows.get(row).cloned()).unwrap_or_default()
    }

    /// The line that reports these shortfalls of a row against the paper's, with its cause.
    pub fn miss(&self, row: &str, short: &[&str]) -> String {
        let cause = self.causes.get(row).map_or("no cause known", String::as_str);
        format!("{row}, {}: {cause}", short.join(", "))
    }
}

/// Gains of a controller over another; a value that the paper does not give is not a number.
#[derive(Clone, Copy, Debug, Deserialize, PartialEq, Serialize)]
#[serde(deny_unknown_fields)]
pub struct Gains {
    /// Its throughput over the other's.
    pub throughput: f64,
    /// The part of the mean delay that it saves, in percent.
    pub mean: f64,
    /// The same of the 95th percentile.
    pub tail: f64,
}

/// How far a gain may stay below the paper's and still count as the same result: of throughput, and
/// in percent of a delay. Chosen.
const SHORT_OF_THROUGHPUT: f64 = 0.05;
const SHORT_OF_SAVING: f64 = 10.0;

impl Gains {
    /// The paper's gains that are not reached.
    pub fn short_of(self, paper: Self) -> Vec<&'static str> {
        let mut short = Vec::new();
        if self.throughput < paper.throughput - SHORT_OF_THROUGHPUT {
            short.push("throughput");
        }
        if self.mean < paper.mean - SHORT_OF_SAVING {
            short.push("mean delay");
        }
        if self.tail < paper.tail - SHORT_OF_SAVING {
            short.push("tail delay");
        }
        short
    }
}

impl fmt::Display for Gains {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let percent =
            |saved: f64| if saved.is_nan() { "-".into() } else { format!("{saved:.1} %") };
        write!(f, "{:.2} ×, {}, {}", self.throughput, percent(self.mean), percent(self.tail))
    }
}

/// The measured figures of an item.
#[derive(Clone, Debug, Default)]
pub struct Ours {
    /// Names of the columns after the row's and the paper's.
    pub columns: Vec<String>,
    /// Rows: their names, and their cells.
    pub rows: Vec<(String, Vec<String>)>,
    /// Rows that fall short of the paper's, and why.
    pub misses: Vec<String>,
}

impl Ours {
    /// Rows under these columns. None of them falls short.
    pub fn new<C: Into<String>>(
        columns: impl IntoIterator<Item = C>,
        rows: impl IntoIterator<Item = (String, Vec<String>)>,
    ) -> Self {
        let columns = columns.into_iter().map(Into::into).collect();
        Self { columns, rows: rows.into_iter().collect(), misses: Vec::new() }
    }
}

/// What an item's rows are made of, if that is nothing beyond them.
#[derive(Clone, Debug, Serialize)]
pub struct Rows<R> {
    /// As numbers.
    pub figures: Vec<R>,
}

impl<R> fmt::Display for Rows<R> {
    fn fmt(&self, _: &mut fmt::Formatter<'_>) -> fmt::Result {
        Ok(())
    }
}

/// An item as a table with the paper's figures, and the evidence.
#[derive(Clone, Debug, Serialize)]
pub struct Report<E> {
    /// Its description.
    pub about: String,
    /// The paper's figures.
    pub expected: Expected,
    /// Names of the columns after the row's and the paper's.
    pub columns: Vec<String>,
    /// Rows: their names, and the measured figures.
    pub rows: Vec<(String, Vec<String>)>,
    /// Rows that fall short of the paper's, and why.
    pub misses: Vec<String>,
    /// The data of the rows. It is displayed after the table.
    #[serde(flatten)]
    pub evidence: E,
    /// Origin of the figures.
    pub provenance: Provenance,
}

impl<E> Report<E> {
    /// Makes a table of measured figures and the paper's.
    pub fn new(
        about: &str,
        expected: Expected,
        ours: Ours,
        evidence: E,
        provenance: Provenance,
    ) -> Self {
        let Ours { columns, rows, misses } = ours;
        Self { about: about.into(), expected, columns, rows, misses, evidence, provenance }
    }
}

impl<E: fmt::Display + Serialize> Report<E> {
    /// The outcome of the item's experiment.
    pub fn outcome(&self) -> miette::Result<Outcome> {
        Outcome::of_markdown(self.to_string(), &self.provenance, self)
    }
}

impl<E: fmt::Display> fmt::Display for Report<E> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "{}\npaper: {}\n", self.about, self.expected.section)?;
        let heads = self.columns.iter().map(|head| if head.is_empty() { " " } else { head });
        let mut table = Table::new().left(["", "paper"]).right(heads);
        for (name, cells) in &self.rows {
            let names = [name.clone(), self.expected.of(name)].into_iter();
            table.row(names.chain(cells.iter().cloned()));
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
        self.evidence.fmt(f)
    }
}

/// What is wrong with an `--only` that no row's name contains.
pub(crate) fn no_row(only: &str, names: &[String]) -> String {
    format!("{only:?} is in no row's name. Rows are: {}", names.join("; "))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_gain_that_is_less_than_the_papers_is_a_miss_and_one_that_is_more_is_none() {
        let paper = Gains { throughput: 1.03, mean: 58.5, tail: 41.2 };
        let more = Gains { throughput: 1.2, mean: 90.0, tail: 80.0 };
        assert_eq!(more.short_of(paper), Vec::<&str>::new());
        let less = Gains { throughput: 0.97, mean: 50.0, tail: 31.0 };
        assert_eq!(less.short_of(paper), ["throughput", "tail delay"]);
    }

    #[test]
    fn a_miss_has_its_row_what_is_short_and_a_cause_if_one_is_known() {
        let mut expected = Expected::default();
        assert_eq!(expected.miss("copa", &["throughput"]), "copa, throughput: no cause known");
        expected.causes.insert("copa".into(), "it waits less".into());
        let line = expected.miss("copa", &["throughput", "tail delay"]);
        assert_eq!(line, "copa, throughput, tail delay: it waits less");
    }
}
