//! `background` where a sniffer shows all blocks of its cell, beside the same law without one: the
//! plans of Legilimens' Figs. 7 and 8 under several schedulers and with bad sniffers.

pub(crate) mod experiment;
mod measured;
mod scene;

use std::fmt;

use serde::Serialize;
use sounding_experiment::observe::windows;
use sounding_experiment::plan::{Run, Wrong};
use sounding_experiment::provenance::Provenance;

use crate::paper::PaperItem;
use crate::paper::plan_item::{Figures, Kinds, Row, Settings, Short};
use crate::table::Table;
pub(crate) use scene::Part;
use scene::Scene;

/// The least foreground throughput in percent of that under ideal priority, and the longest
/// transfer in percent of one without background. Chosen.
const FOREGROUND: f64 = 98.0;
const COMPLETION: f64 = 103.0;
/// Where the sniffer is bad, dead or forged, and where the cell's average is as slow as 1000 slots.
const BAD_FOREGROUND: f64 = 88.0;
const SLOW_FOREGROUND: f64 = 80.0;
/// The least background in percent of ideal background, and the same at 80 % load.
const BACKGROUND: f64 = 70.0;
const BACKGROUND_BUSY: f64 = 60.0;
/// "No worse than blind" allows for so many percent of ideal: the spread of seeds. Chosen.
const ALIKE: f64 = 1.0;

impl Kinds for Part {
    type Kind = Scene;
    type Run = Run;

    fn files(self) -> PaperItem {
        self.plan()
    }

    fn kinds(self) -> Vec<(String, Scene)> {
        Scene::all(self).into_iter().map(|scene| (scene.name(), scene)).collect()
    }

    fn runs(self, scene: &Scene, settings: &Settings) -> Result<Vec<Run>, Wrong> {
        let mut text = self.plan().text();
        for set in scene.sets().iter().chain(&settings.seeds).chain(&settings.sets) {
            text.set(set)?;
        }
        Ok(text.runs()?)
    }

    fn measure(self, _: &Scene, run: &Run) -> Result<Figures, Wrong> {
        let shown = windows::run(run, false)?;
        Ok(match self {
            Self::Turns => measured::turns(run, &shown),
            Self::Loads => measured::load(run, &shown),
        })
    }

    fn compare(self, rows: &mut Vec<Row>) {
        let known = rows.clone();
        for row in rows.iter_mut() {
            let group = row.name.rsplit_once(", ").map_or("", |(group, _)| group).to_owned();
            let of = |scheme: &str, head: &str| {
                let name = format!("{group}, {scheme}");
                known.iter().find(|row| row.name == name).map_or(f64::NAN, |row| row.figure(head))
            };
            let over = |head: &str, scheme: &str| row.figure(head) / of(scheme, head) * 1e2;
            let excess = |head: &str| row.figure(head) - of("ideal", head);
            let more = [
                ("foreground %", over("foreground", "ideal")),
                ("foreground of none %", over("foreground", "none")),
                ("completion %", over("mean ms", "none")),
                ("background %", over("background", "ideal")),
                ("yields +ms", excess("yields ms")),
                ("back +ms", excess("back ms")),
                ("blind foreground %", of("blind", "foreground") / of("ideal", "foreground") * 1e2),
            ];
            row.figures.extend(more.into_iter().map(|(head, value)| (head.to_owned(), value)));
        }
    }

    fn columns(self) -> &'static [&'static str] {
        match self {
            Self::Turns => &[
                "foreground",
                "foreground %",
                "background",
                "background %",
                "beside",
                "yields +ms",
                "back +ms",
            ],
            Self::Loads => &[
                "foreground",
                "foreground %",
                "foreground of none %",
                "mean ms",
                "completion %",
                "background",
                "background %",
            ],
        }
    }

    fn shown(self, head: &str, value: f64) -> String {
        match head {
            "beside" => format!("{value:.2}"),
            head if head.ends_with('%') || head == "foreground" || head == "background" => {
                format!("{value:.1}")
            }
            _ => format!("{value:.0}"),
        }
    }

    fn short(self, rows: &[Row]) -> Short {
        let scenes = Scene::all(self);
        let scene = |name: &str| scenes.iter().find(|scene| scene.name() == name);
        let short = rows.iter().filter_map(|row| Some((row, scene(&row.name)?)));
        let short = short.map(|(row, scene)| (row.name.clone(), missed(self, row, scene)));
        short.filter(|(_, missed)| !missed.is_empty()).collect()
    }
}

impl Part {
    /// Whether a row has such a name.
    fn has(self, only: &[String]) -> bool {
        let mut names = Scene::all(self).into_iter().map(|scene| scene.name());
        only.is_empty() || names.any(|name| only.iter().any(|only| name.contains(only)))
    }
}

/// The goals that a row misses.
fn missed(part: Part, row: &Row, scene: &Scene) -> Vec<String> {
    // A figure that is no number is a miss.
    let below = |head: &str, least: f64| {
        let value = row.figure(head);
        (value.is_nan() || value < least).then(|| format!("{head} below {least:.0}"))
    };
    let above = |head: &str, most: f64| {
        let value = row.figure(head);
        (value.is_nan() || value > most).then(|| format!("{head} above {most:.0}"))
    };
    let found = if scene.sees() {
        let foreground = if scene.has_ideal() { "foreground %" } else { "foreground of none %" };
        let background = if scene.is_busy() { BACKGROUND_BUSY } else { BACKGROUND };
        let slow = above("completion %", COMPLETION).filter(|_| part == Part::Loads);
        vec![below(foreground, FOREGROUND), slow, below("background %", background)]
    } else if scene.is_bad() {
        let least = if scene.is_slow() { SLOW_FOREGROUND } else { BAD_FOREGROUND };
        let blind = row.figure("blind foreground %");
        // Where the blind law itself is below, it is the bar.
        vec![below("foreground %", least.min(blind - ALIKE))]
    } else {
        Vec::new()
    };
    found.into_iter().flatten().collect()
}

/// All rows, and the goals that they miss.
#[derive(Clone, Debug, Serialize)]
pub(crate) struct Seen {
    parts: Vec<(Part, Vec<Row>)>,
    missed: Short,
    pub(crate) provenance: Provenance,
}

impl Seen {
    fn new(parts: Vec<(Part, Vec<Row>)>, provenance: Provenance) -> Self {
        let missed = parts.iter().flat_map(|(part, rows)| part.short(rows)).collect();
        Self { parts, missed, provenance }
    }
}

impl fmt::Display for Seen {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (part, rows) in &self.parts {
            let mut table = Table::new().left([""]).right(part.columns().iter().copied());
            for row in rows {
                let cell = |head: &&str| {
                    let value = row.figure(head);
                    if value.is_finite() { part.shown(head, value) } else { "-".into() }
                };
                table.row(std::iter::once(row.name.clone()).chain(part.columns().iter().map(cell)));
            }
            writeln!(f, "{table}")?;
        }
        for (row, missed) in &self.missed {
            writeln!(f, "* missed: {row}, {}", missed.join(", "))?;
        }
        Ok(())
    }
}
