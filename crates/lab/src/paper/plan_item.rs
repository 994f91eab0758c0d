//! An item whose table has a row for each kind of run: what is different from the plan, and the
//! means over seeds.

use std::collections::BTreeMap;

use miette::IntoDiagnostic;
use serde::Serialize;
use sounding_experiment::plan::Wrong;
use sounding_experiment::provenance::{Begun, Provenance};
use sounding_host::jobs;

use super::{Ours, PaperItem, Pictures, PlanFlags, Report, Rows, no_row};
use crate::experiment::{Card, Experiment, Host, Outcome, report_share};

/// An item of a paper's evaluation in virtual time: the paper's figures, the measured ones, and why
/// they differ
///
/// A modelled cell, and what its modem writes. The plan is that of the paper's folder in papers/,
/// which `sounding sim` runs too.
#[derive(clap::Args)]
pub(crate) struct ItemFlags {
    #[command(flatten)]
    rows: RowFlags,

    #[command(flatten)]
    pictures: Pictures,
}

// A comment for rustdoc would become the command's help.
#[derive(clap::Args)]
pub(crate) struct RowFlags {
    #[command(flatten)]
    plan: PlanFlags,

    /// Only rows whose names contain this; may be repeated
    #[arg(long, value_name = "TEXT")]
    only: Vec<String>,

    /// Sets a key of the plan in all rows, as `sounding sim --set` does; may be repeated
    #[arg(long, value_name = "KEY=VALUE")]
    set: Vec<String>,
}

impl RowFlags {
    pub(crate) fn settings(self) -> Settings {
        let Self { plan, only, set } = self;
        let sets = plan.duration().into_iter().chain(set).collect();
        Settings { sets, seeds: plan.seeds(), only, jobs: plan.jobs() }
    }
}

/// Figures of a run, by the heads of their columns.
pub(crate) type Figures = Vec<(&'static str, f64)>;

/// What is measured of a kind of run, the mean over all seeds.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub(crate) struct Row {
    /// Its name.
    pub(crate) name: String,
    /// By the heads of the columns.
    pub(crate) figures: BTreeMap<String, f64>,
}

impl Row {
    /// A figure; not a number if it was not measured.
    pub(crate) fn figure(&self, head: &str) -> f64 {
        self.figures.get(head).copied().unwrap_or(f64::NAN)
    }
}

/// See [`Rows`].
pub(crate) type Evidence = Rows<Row>;

/// Rows that fall short of what is asked for, and in which figures.
pub(crate) type Short = Vec<(String, Vec<String>)>;

/// What can be set for all runs of an item.
#[derive(Clone, Debug, Default)]
pub(crate) struct Settings {
    /// As in `--set`, except of the seeds.
    pub(crate) sets: Vec<String>,
    /// As in `--set`; those of the plan otherwise.
    pub(crate) seeds: Option<String>,
    /// Only rows whose names contain one of these; all, if there is none.
    pub(crate) only: Vec<String>,
    /// Runs at once.
    pub(crate) jobs: usize,
}

/// The items of a paper that are made so.
pub(crate) trait Kinds: Copy + Sync {
    /// What is different from the plan in a row.
    type Kind: Sync;
    /// A run of one.
    type Run: Sync;

    /// Its files, and what it is about.
    fn files(self) -> PaperItem;

    /// The rows, by their names.
    fn kinds(self) -> Vec<(String, Self::Kind)>;

    /// The runs of a row, one for each seed.
    fn runs(self, kind: &Self::Kind, settings: &Settings) -> Result<Vec<Self::Run>, Wrong>;

    /// Makes one.
    fn measure(self, kind: &Self::Kind, run: &Self::Run) -> Result<Figures, Wrong>;

    /// Adds what compares rows.
    fn compare(self, rows: &mut Vec<Row>);

    /// The heads of the table.
    fn columns(self) -> &'static [&'static str];

    /// A value as its column shows it.
    fn shown(self, _head: &str, value: f64) -> String {
        format!("{value:.2}")
    }

    /// Rows that fall short.
    fn short(self, rows: &[Row]) -> Short;
}

/// Makes all runs of an item; `progress` is called for each that has ended.
pub(crate) fn rows<I: Kinds>(
    item: I,
    settings: &Settings,
    mut progress: impl FnMut(usize, usize),
) -> Result<Vec<Row>, Wrong> {
    let only = &settings.only;
    let (kinds, others): (Vec<_>, Vec<_>) = item
        .kinds()
        .into_iter()
        .partition(|(name, _)| only.is_empty() || only.iter().any(|only| name.contains(only)));
    if kinds.is_empty() {
        let names: Vec<String> = others.into_iter().map(|(name, _)| name).collect();
        return Err(Wrong::new("--only", no_row(&only.join(", "), &names)));
    }
    let mut all = Vec::new();
    for (at, (_, kind)) in kinds.iter().enumerate() {
        all.extend(item.runs(kind, settings)?.into_iter().map(|run| (at, run)));
    }
    let mut done = 0;
    let make = |(at, run): &(usize, I::Run)| item.measure(&kinds[*at].1, run);
    let figures = jobs::each(&all, settings.jobs, make, |_, _| {
        done += 1;
        progress(done, all.len());
    })?;
    let mut rows = Vec::new();
    for (at, (name, _)) in kinds.iter().enumerate() {
        let runs = all.iter().zip(&figures).filter(|((of, _), _)| *of == at);
        let runs: Vec<&Figures> = runs.map(|(_, figures)| figures).collect();
        rows.push(Row { name: name.clone(), figures: means(&runs) });
    }
    item.compare(&mut rows);
    Ok(rows)
}

/// The means of figures, and of tails the extremes of seeds.
fn means(runs: &[&Figures]) -> BTreeMap<String, f64> {
    let mut means = BTreeMap::new();
    for (head, _) in runs.first().copied().into_iter().flatten() {
        let values = runs.iter().copied().flatten().filter(|(name, _)| name == head);
        let values: Vec<f64> = values.map(|(_, of)| *of).filter(|of| of.is_finite()).collect();
        means.insert((*head).to_owned(), values.iter().sum::<f64>() / values.len() as f64);
        if head.starts_with("p99") {
            let extreme = |of: fn(f64, f64) -> f64| values.iter().copied().reduce(of);
            for (end, value) in [("low", extreme(f64::min)), ("high", extreme(f64::max))] {
                means.insert(format!("{head} {end}"), value.unwrap_or(f64::NAN));
            }
        }
    }
    means
}

/// The item's table beside the paper's figures.
pub(crate) fn report<I: Kinds>(
    item: I,
    figures: Vec<Row>,
    provenance: Provenance,
) -> Result<Report<Evidence>, toml::de::Error> {
    let expected = item.files().expected()?;
    let cell = |row: &Row, head: &str| {
        let value = row.figure(head);
        if value.is_finite() { item.shown(head, value) } else { "-".into() }
    };
    let cells = |row: &Row| item.columns().iter().map(|head| cell(row, head)).collect();
    let table = figures.iter().map(|row| (row.name.clone(), cells(row)));
    let mut ours = Ours::new(item.columns().iter().copied(), table);
    for (row, short) in item.short(&figures) {
        let short: Vec<&str> = short.iter().map(String::as_str).collect();
        ours.misses.push(expected.miss(&row, &short));
    }
    Ok(Report::new(item.files().about, expected, ours, Evidence { figures }, provenance))
}

/// Such an item.
pub(crate) struct PlanItem<I>(pub(crate) I);

impl<I: Kinds> Experiment for PlanItem<I> {
    type Flags = ItemFlags;

    fn card(&self) -> Card {
        self.0.files().card()
    }

    fn run(&self, flags: ItemFlags, host: &dyn Host) -> miette::Result<Option<Outcome>> {
        let ItemFlags { rows: flags, pictures } = flags;
        let settings = flags.settings();
        let begun = Begun::now();
        let progress = |done, all| report_share(host, done, all, "runs");
        let rows = rows(self.0, &settings, progress).into_diagnostic()?;
        let report = report(self.0, rows, begun.end()).into_diagnostic()?;
        pictures.outcome(&report, Vec::new()).map(Some)
    }
}
