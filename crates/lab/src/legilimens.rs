//! Legilimens' evaluation: the plans of `papers/legilimens` in virtual time, beside the paper's figures.

pub(crate) mod experiment;
mod figures;
mod measured;
mod moves;
mod oracle;
pub(crate) mod rig;
mod variant;

use std::collections::BTreeMap;

use serde::Serialize;
use sounding_experiment::jobs;
use sounding_experiment::plan::{Run, Wrong};
use sounding_experiment::provenance::Provenance;

use crate::paper::{Ours, PaperItem, Report, Rows, no_row, paper_item};
use variant::Variant;

/// An item.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Item {
    /// What LEDBAT and TCP-LP do on a wire and in a cell.
    Fig2,
    /// Yielding and coming back.
    Fig7,
    /// Completion times of short transfers.
    Fig8,
    /// Throughput of long transfers and of background.
    Fig9,
    /// Busy hours.
    Fig10,
    /// On the move.
    Fig11,
    /// A hundred devices.
    Fig12,
    /// Alone in the cell.
    Alone,
    /// Why the foreground of a hundred devices is harmed, and oracles.
    Bound,
    /// Queues.
    Fig13,
    /// Fairness.
    Fig14,
    /// Parameters.
    Fig15,
}

impl Item {
    /// Its files in `papers/legilimens`.
    pub const fn files(self) -> PaperItem {
        match self {
            Self::Fig2 => paper_item!("legilimens", "fig2"),
            Self::Fig7 => {
                PaperItem { file: "fig7", experiment: "legilimens/fig7", ..Self::Fig2.files() }
            }
            Self::Fig8 => paper_item!("legilimens", "fig8"),
            Self::Fig9 => {
                PaperItem { file: "fig9", experiment: "legilimens/fig9", ..Self::Fig8.files() }
            }
            Self::Fig10 => paper_item!("legilimens", "fig10"),
            Self::Fig11 => paper_item!("legilimens", "fig11"),
            Self::Fig12 => paper_item!("legilimens", "fig12"),
            Self::Alone => paper_item!("legilimens", "alone"),
            Self::Bound => paper_item!("legilimens", "bound"),
            Self::Fig13 => paper_item!("legilimens", "fig13"),
            Self::Fig14 => paper_item!("legilimens", "fig14"),
            Self::Fig15 => paper_item!("legilimens", "fig15"),
        }
    }

    /// Its subject.
    pub const fn about(self) -> &'static str {
        match self {
            Self::Fig2 => {
                "background downloads beside a foreground that comes and goes, on a wire and in a cell"
            }
            Self::Fig7 => "how fast background downloads yield to a foreground, and come back",
            Self::Fig8 => "six phones at three loads: how long short foreground transfers take",
            Self::Fig9 => {
                "six phones at three loads: throughput of long transfers and of background"
            }
            Self::Fig10 => "resource blocks under a background download in busy hours",
            Self::Fig11 => "a background and a foreground download on the move",
            Self::Alone => "how much of its cell a background download has that is alone in it",
            Self::Bound => {
                "why background harms the foreground of fig12, beside oracles that know of each rival"
            }
            Self::Fig12 => {
                "100 devices at three loads: foreground and background under twelve schemes"
            }
            Self::Fig13 => "what waits at the radio for a background and a foreground flow",
            Self::Fig14 => "how background flows share, at one device and at several",
            Self::Fig15 => "foreground and background under Legilimens while λ, M and T change",
        }
    }
}

/// What is measured of a variant, the mean over all seeds.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Row {
    /// The variant.
    pub name: String,
    /// By the heads of the columns.
    pub figures: BTreeMap<String, f64>,
}

/// See [`Rows`].
pub type Evidence = Rows<Row>;

/// What can be set for all runs of an item.
#[derive(Clone, Debug, Default)]
pub struct Settings {
    /// As in `--set`.
    pub sets: Vec<String>,
    /// Only variants whose names contain one of these; all, if there is none.
    pub only: Vec<String>,
    /// Runs at once.
    pub jobs: usize,
}

/// Makes all runs of an item; `progress` is called for each that has ended.
pub fn rows(
    item: Item,
    settings: &Settings,
    mut progress: impl FnMut(usize, usize),
) -> Result<Vec<Row>, Wrong> {
    let wanted = |variant: &Variant| {
        let only = &settings.only;
        only.is_empty() || only.iter().any(|only| variant.row.contains(only.as_str()))
    };
    let all = variant::of(item);
    let names: Vec<String> = all.iter().map(|variant| variant.row.clone()).collect();
    let variants: Vec<Variant> = all.into_iter().filter(wanted).collect();
    if variants.is_empty() {
        let only = settings.only.join(", ");
        return Err(Wrong::new("--only", no_row(&only, &names)));
    }
    let mut all: Vec<(usize, Run)> = Vec::new();
    for (at, variant) in variants.iter().enumerate() {
        let runs = variant.runs(&settings.sets)?;
        all.extend(runs.into_iter().map(|run| (at, run)));
    }
    let mut done = 0;
    let figures = jobs::each(
        &all,
        settings.jobs,
        |(at, run)| {
            let Some(watched) = variants[*at].watched() else {
                return Ok(figures::of(item, run, &rig::run(run, item == Item::Fig13)?));
            };
            let (shown, taken) = oracle::run(run, watched)?;
            Ok(figures::of(item, run, &shown).into_iter().chain(taken).collect())
        },
        |_, _| {
            done += 1;
            progress(done, all.len());
        },
    )?;
    let mut rows: Vec<Row> = variants
        .iter()
        .map(|variant| Row { name: variant.row.clone(), ..Row::default() })
        .collect();
    for (at, row) in rows.iter_mut().enumerate() {
        let of = all.iter().zip(&figures).filter(|((of, _), _)| *of == at);
        let of: Vec<&Vec<(String, f64)>> = of.map(|(_, figures)| figures).collect();
        for (head, _) in of.first().copied().into_iter().flatten() {
            let values = of.iter().flat_map(|figures| figures.iter());
            let values = values.filter(|(name, value)| name == head && value.is_finite());
            let values: Vec<f64> = values.map(|(_, value)| *value).collect();
            row.figures.insert(head.clone(), values.iter().sum::<f64>() / values.len() as f64);
            // Of tails the seeds' extremes are kept too.
            if head.starts_with("p99") {
                let extreme = |of: fn(f64, f64) -> f64| values.iter().copied().reduce(of);
                for (end, value) in [("low", extreme(f64::min)), ("high", extreme(f64::max))] {
                    row.figures.insert(format!("{head} {end}"), value.unwrap_or(f64::NAN));
                }
            }
        }
    }
    figures::compare(item, &mut rows);
    if item == Item::Fig10 {
        rows.extend(figures::means(&rows));
    }
    Ok(rows)
}

/// The item's table beside the paper's figures.
pub fn report(
    item: Item,
    figures: Vec<Row>,
    provenance: Provenance,
) -> Result<Report<Evidence>, toml::de::Error> {
    let expected = item.files().expected()?;
    let columns = figures::columns(item);
    let cell = |row: &Row, head: &str| {
        let value = row.figures.get(head).copied().filter(|value| value.is_finite());
        value.map_or("-".into(), |value| figures::shown(head, value))
    };
    let table = figures.iter().map(|row| {
        (row.name.clone(), columns.iter().map(|head| cell(row, head)).collect::<Vec<_>>())
    });
    let mut ours = Ours::new(columns.iter().copied(), table);
    for (row, short) in figures::short(item, &figures) {
        ours.misses
            .push(expected.miss(&row, &short.iter().map(String::as_str).collect::<Vec<_>>()));
    }
    Ok(Report::new(item.about(), expected, ours, Evidence { figures }, provenance))
}

#[cfg(test)]
mod tests;
