//! Gandalf's evaluation: the plan of `papers/gandalf` in virtual time, beside the paper's figures, and what it takes to trust it.

mod accuracy;
mod controls;
pub(crate) mod delays;
pub(crate) mod experiment;
mod filter;
mod gcc;
mod gradient;
pub(crate) mod groups;
mod hystart;
pub(crate) mod kernel;
mod masking;
mod modem;
mod parts;
mod rig;
mod scene;
mod table1;
pub(crate) mod webrtc;

use std::collections::BTreeMap;

use serde::Serialize;
use sounding_experiment::plan::Wrong;
use sounding_experiment::provenance::Provenance;

use crate::paper::{Ours, PaperItem, Report, Rows, no_row, paper_item};

/// An item.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Item {
    /// Copa and Vivace in eight scenes.
    Table1,
    /// The same for GCC, which the paper shows without figures of throughput.
    Gcc,
    /// What GCC compares.
    Gradient,
    /// Throughput by how late the modem's knowledge is.
    Lag,
    /// Events against the network's own account.
    Accuracy,
    /// True queues.
    Masking,
    /// Each part of Gandalf alone.
    Parts,
    /// From a measured delay to that of the network.
    Filter,
    /// What reading the modem costs.
    Modem,
    /// Slow start.
    HyStart,
}

impl Item {
    /// Its files in `papers/gandalf`.
    pub const fn files(self) -> PaperItem {
        let all = paper_item!("gandalf", "table1");
        match self {
            Self::Table1 => all,
            Self::Gcc => PaperItem { file: "gcc", experiment: "gandalf/gcc", ..all },
            Self::Gradient => PaperItem { file: "gradient", experiment: "gandalf/gradient", ..all },
            Self::Lag => PaperItem { file: "lag", experiment: "gandalf/lag", ..all },
            Self::Accuracy => PaperItem { file: "accuracy", experiment: "gandalf/accuracy", ..all },
            Self::Modem => PaperItem { file: "modem", experiment: "gandalf/modem", ..all },
            Self::Filter => PaperItem { file: "filter", experiment: "gandalf/filter", ..all },
            Self::Parts => PaperItem { file: "parts", experiment: "gandalf/parts", ..all },
            Self::HyStart => PaperItem { file: "hystart", experiment: "gandalf/hystart", ..all },
            Self::Masking => PaperItem { file: "masking", experiment: "gandalf/masking", ..all },
        }
    }

    /// Its subject.
    pub const fn about(self) -> &'static str {
        match self {
            Self::Table1 => {
                "Copa and Vivace with and without the radio's own delays, in eight scenes"
            }
            Self::Gcc => {
                "GCC with and without the radio's own delays, and SCReAMv2, in eight scenes"
            }
            Self::Gradient => "delay gradients of a call, and what GCC makes of them",
            Self::Lag => "Copa without the radio's own delays, by how late they are known",
            Self::Accuracy => "the modem's delay events against what the network did",
            Self::Masking => "whether true queues stay visible, with a control that hides them",
            Self::Modem => "what reading the modem costs, and which messages are read",
            Self::Filter => "the steps from a measured delay of an upload to that of the network",
            Self::HyStart => "whether the radio's own delays end slow start early",
            Self::Parts => {
                "what each part of Gandalf brings, and what Copa takes for a queue without it"
            }
        }
    }
}

/// What is measured of a row, the mean over all seeds.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Row {
    /// Its name.
    pub name: String,
    /// By the heads of the columns.
    pub figures: BTreeMap<String, f64>,
}

impl Row {
    fn figure(&self, head: &str) -> f64 {
        self.figures.get(head).copied().unwrap_or(f64::NAN)
    }
}

/// What can be set for all runs of an item.
#[derive(Clone, Debug, Default)]
pub struct Settings {
    /// As in `--set`.
    pub sets: Vec<String>,
    /// Seeds.
    pub seeds: Vec<u64>,
    /// Only rows whose names contain this.
    pub only: Option<String>,
    /// Runs at once.
    pub jobs: usize,
}

/// See [`Rows`].
pub type Evidence = Rows<Row>;

/// Figures of a run, by the heads of their columns.
type Figures = Vec<(&'static str, f64)>;

/// A kind of row: the figures of one run of it.
struct Kind {
    name: String,
    sets: Vec<String>,
    measure: fn(&Kind, &[String], u64) -> Result<Figures, Wrong>,
}

/// Makes all runs of an item; `progress` is called for each that has ended.
pub fn rows(
    item: Item,
    settings: &Settings,
    mut progress: impl FnMut(usize, usize),
) -> Result<Vec<Row>, Wrong> {
    let kinds = match item {
        Item::Table1 => table1::kinds(&["copa", "vivace"]),
        Item::Gcc => gcc::kinds(),
        Item::Gradient => gradient::kinds(),
        Item::Lag => table1::lags(),
        Item::Accuracy => accuracy::kinds(),
        Item::Masking => masking::kinds(),
        Item::Parts => parts::kinds(),
        Item::Filter => filter::kinds(),
        Item::Modem => modem::kinds(),
        Item::HyStart => hystart::kinds(),
    };
    let kinds = wanted(kinds, settings.only.as_deref())?;
    let all = kinds.iter().flat_map(|kind| settings.seeds.iter().map(move |seed| (kind, *seed)));
    let all: Vec<(&Kind, u64)> = all.collect();
    let mut done = 0;
    let figures = sounding_experiment::jobs::each(
        &all,
        settings.jobs,
        |(kind, seed)| (kind.measure)(kind, &settings.sets, *seed),
        |_, _| {
            done += 1;
            progress(done, all.len());
        },
    )?;
    let mut rows: Vec<Row> = Vec::new();
    for (of, figures) in kinds.iter().zip(figures.chunks(settings.seeds.len().max(1))) {
        let mut row = Row { name: of.name.clone(), ..Row::default() };
        for (head, _) in figures.first().into_iter().flatten() {
            let values = figures.iter().flatten().filter(|(name, _)| name == head);
            let values: Vec<f64> =
                values.map(|(_, value)| *value).filter(|value| value.is_finite()).collect();
            let mean = values.iter().sum::<f64>() / values.len() as f64;
            row.figures.insert((*head).to_owned(), mean);
        }
        rows.push(row);
    }
    if matches!(item, Item::Table1 | Item::Gcc | Item::Lag | Item::Parts) {
        table1::compare(&mut rows);
    }
    Ok(rows)
}

/// The rows whose names contain this; an error if none does.
fn wanted(kinds: Vec<Kind>, only: Option<&str>) -> Result<Vec<Kind>, Wrong> {
    let Some(only) = only else { return Ok(kinds) };
    let names: Vec<String> = kinds.iter().map(|kind| kind.name.clone()).collect();
    let kinds: Vec<Kind> = kinds.into_iter().filter(|kind| kind.name.contains(only)).collect();
    if kinds.is_empty() {
        return Err(Wrong::new("--only", no_row(only, &names)));
    }
    Ok(kinds)
}

/// The item's table beside the paper's figures.
pub fn report(
    item: Item,
    figures: Vec<Row>,
    provenance: Provenance,
) -> Result<Report<Evidence>, toml::de::Error> {
    let expected = item.files().expected()?;
    let columns = match item {
        Item::Table1 | Item::Lag => table1::COLUMNS,
        Item::Gcc => gcc::COLUMNS,
        Item::Gradient => gradient::COLUMNS,
        Item::Accuracy => accuracy::COLUMNS,
        Item::Masking => masking::COLUMNS,
        Item::Parts => parts::COLUMNS,
        Item::Filter => filter::COLUMNS,
        Item::Modem => modem::COLUMNS,
        Item::HyStart => hystart::COLUMNS,
    };
    let cell = |row: &Row, head: &str| {
        let value = row.figure(head);
        if value.is_finite() { format!("{value:.2}") } else { "-".into() }
    };
    let table = figures.iter().map(|row| {
        (row.name.clone(), columns.iter().map(|head| cell(row, head)).collect::<Vec<_>>())
    });
    let mut ours = Ours::new(columns.iter().copied(), table);
    let short = match item {
        Item::Table1 | Item::Lag => table1::short(&figures),
        Item::Gcc => gcc::short(&figures),
        Item::Gradient => gradient::short(&figures),
        Item::Accuracy => accuracy::short(&figures),
        Item::Masking => masking::short(&figures),
        Item::Parts => parts::short(&figures),
        Item::Filter => filter::short(&figures),
        Item::Modem => modem::short(&figures),
        Item::HyStart => hystart::short(&figures),
    };
    for (row, short) in short {
        ours.misses
            .push(expected.miss(&row, &short.iter().map(String::as_str).collect::<Vec<_>>()));
    }
    Ok(Report::new(item.about(), expected, ours, Evidence { figures }, provenance))
}

/// The mean of values; not a number without any.
fn mean(values: &[f64]) -> f64 {
    values.iter().sum::<f64>() / values.len() as f64
}

/// The value below which this part of sorted values is; not a number without any.
fn quantile(sorted: &[f64], part: f64) -> f64 {
    let at = ((sorted.len() as f64 * part).ceil() as usize).clamp(1, sorted.len().max(1)) - 1;
    sorted.get(at).copied().unwrap_or(f64::NAN)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_that_no_row_has_is_an_error_that_lists_rows() {
        let found = |only| wanted(masking::kinds(), Some(only)).map(|kinds| kinds.len());
        assert_eq!(found("LTE UL, static, narrow wire: constant").unwrap(), 1);
        let wrong = found("narrow wires").unwrap_err();
        assert_eq!(wrong.key, "--only");
        let listed = ["\"narrow wires\"", "LTE UL, static, narrow wire: constant"];
        assert!(listed.iter().all(|part| wrong.message.contains(part)), "{wrong:?}");
    }
}
