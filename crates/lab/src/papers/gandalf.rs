//! Gandalf's evaluation: the plan of `papers/gandalf` in virtual time, beside the paper's figures,
//! and what it takes to trust it.

mod accuracy;
mod controls;
pub(crate) mod delays;
mod filter;
mod gcc;
mod gradient;
pub(crate) mod groups;
pub(crate) mod kernel;
mod masking;
mod modem;
pub(crate) mod overhead;
mod parts;
mod rig;
mod scene;
mod table1;
pub(crate) mod webrtc;

use sounding_experiment::metrics::{mean, nearest_rank};
use sounding_experiment::plan::Wrong;

use crate::paper::plan_item::{Evidence, Figures, Kinds, Row, Settings, Short};
use crate::paper::{PaperItem, paper_item};

/// An item.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Item {
    /// Copa and Vivace in eight scenes.
    Table1,
    /// The same for GCC, which the paper shows without figures of throughput.
    Gcc,
    /// What GCC compares.
    Gradient,
    /// Events against the network's own account.
    Accuracy,
    /// True queues.
    Masking,
    /// Each part of Gandalf alone.
    Parts,
    /// The steps from a measured delay to the network's.
    Filter,
    /// What reading the modem costs.
    Modem,
}

impl Item {
    /// Its rows, the heads of its table, and which rows fall short.
    const fn table(self) -> Table {
        match self {
            Self::Table1 => (table1::kinds, table1::COLUMNS, table1::short),
            Self::Gcc => (gcc::kinds, gcc::COLUMNS, gcc::short),
            Self::Gradient => (gradient::kinds, gradient::COLUMNS, gradient::short),
            Self::Accuracy => (accuracy::kinds, accuracy::COLUMNS, accuracy::short),
            Self::Masking => (masking::kinds, masking::COLUMNS, masking::short),
            Self::Parts => (parts::kinds, parts::COLUMNS, parts::short),
            Self::Filter => (filter::kinds, filter::COLUMNS, filter::short),
            Self::Modem => (modem::kinds, modem::COLUMNS, modem::short),
        }
    }
}

type Table = (fn() -> Vec<Kind>, &'static [&'static str], fn(&[Row]) -> Short);

/// A kind of row.
pub(crate) struct Kind {
    name: String,
    sets: Vec<String>,
    measure: Measure,
}

/// How a kind is measured.
#[derive(Clone, Copy)]
enum Measure {
    /// By a run of it.
    Run(fn(&Kind, &Made) -> Figures),
    /// As it likes, with these settings and this seed.
    Own(fn(&Kind, &[String], u64) -> Result<Figures, Wrong>),
}

/// A run that was made.
struct Made {
    observed: rig::Observed,
    shared: scene::Shared,
}

impl Made {
    /// The run of a kind; if it is wanted, the modem's bytes are kept.
    fn of(kind: &Kind, sets: &[String], seed: u64, keeps: bool) -> Result<Self, Wrong> {
        let sets = kind.sets.iter().chain(sets).cloned().chain([format!("seeds={seed}")]);
        let (run, shared) = scene::run(Item::Table1.files(), sets)?;
        Ok(Self { observed: rig::observe(&run, &shared, keeps)?, shared })
    }
}

impl Kinds for Item {
    type Kind = Kind;
    type Run = (Vec<String>, u64);

    fn files(self) -> PaperItem {
        let all = paper_item!("gandalf", "table1").lasts("3 min");
        match self {
            Self::Table1 => all
                .about("Copa and Vivace with and without the radio's own delays, in eight scenes")
                .lasts("10 min"),
            Self::Gcc => all.called("gandalf/gcc", "gcc").about(
                "GCC with and without the radio's own delays, and SCReAMv2, in eight scenes",
            ),
            Self::Gradient => all
                .called("gandalf/gradient", "gradient")
                .about("delay gradients of a call, and what GCC makes of them"),
            Self::Accuracy => all
                .called("gandalf/accuracy", "accuracy")
                .about("the modem's delay events against what the network did"),
            Self::Masking => all
                .called("gandalf/masking", "masking")
                .about("whether true queues stay visible, with a control that hides them"),
            Self::Parts => all.called("gandalf/parts", "parts").about(
                "what each part of Gandalf brings, and what Copa takes for a queue without it",
            ),
            Self::Filter => all
                .called("gandalf/filter", "filter")
                .about("the steps from a measured delay of an upload to that of the network"),
            Self::Modem => all
                .called("gandalf/modem", "modem")
                .about("what reading the modem costs, and which messages are read"),
        }
    }

    fn kinds(self) -> Vec<(String, Kind)> {
        self.table().0().into_iter().map(|kind| (kind.name.clone(), kind)).collect()
    }

    fn runs(self, _: &Kind, settings: &Settings) -> Result<Vec<Self::Run>, Wrong> {
        let mut text = self.files().text();
        settings.seeds.iter().try_for_each(|seeds| text.set(seeds))?;
        let runs = text.runs()?;
        Ok(runs.iter().map(|run| (settings.sets.clone(), run.seed)).collect())
    }

    fn measure(self, kind: &Kind, (sets, seed): &Self::Run) -> Result<Figures, Wrong> {
        match kind.measure {
            Measure::Run(measure) => Ok(measure(kind, &Made::of(kind, sets, *seed, false)?)),
            Measure::Own(measure) => measure(kind, sets, *seed),
        }
    }

    fn compare(self, rows: &mut Vec<Row>) {
        if matches!(self, Self::Table1 | Self::Gcc | Self::Parts) {
            table1::compare(rows);
        }
    }

    fn columns(self) -> &'static [&'static str] {
        self.table().1
    }

    fn short(self, rows: &[Row]) -> Short {
        self.table().2(rows)
    }
}

/// The value below which this part of sorted values is; not a number without any.
fn quantile(sorted: &[f64], part: f64) -> f64 {
    if sorted.is_empty() { f64::NAN } else { nearest_rank(sorted, part) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::paper::plan_item::rows;

    #[test]
    fn a_name_that_no_row_has_is_an_error_that_lists_rows() {
        let settings =
            Settings { only: vec!["narrow wires".into()], jobs: 1, ..Settings::default() };
        let wrong = rows(Item::Masking, &settings, |_, _| {}).unwrap_err();
        assert_eq!(wrong.key, "--only");
        let listed = ["\"narrow wires\"", "LTE UL, static, narrow wire: constant"];
        assert!(listed.iter().all(|part| wrong.message.contains(part)), "{wrong:?}");
    }
}
