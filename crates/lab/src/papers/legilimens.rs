//! Legilimens' evaluation: the plans of `papers/legilimens` in virtual time, beside the paper's
//! figures.

mod figures;
mod measured;
mod moves;
mod normal;
pub(crate) mod seeing;
mod variant;

use sounding_experiment::observe::windows as rig;
use sounding_experiment::plan::{Run, Wrong};

use crate::paper::plan_item::{Figures, Kinds, Row, Settings, Short};
use crate::paper::{PaperItem, paper_item};
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
    /// Queues.
    Fig13,
    /// Fairness.
    Fig14,
    /// Parameters.
    Fig15,
}

impl Kinds for Item {
    type Kind = Variant;
    type Run = Run;

    fn files(self) -> PaperItem {
        let item = match self {
            Self::Fig2 => paper_item!("legilimens", "fig2")
                .about("background downloads beside a foreground that comes and goes, on a wire and in a cell"),
            Self::Fig7 => paper_item!("legilimens", "fig2")
                .called("legilimens/fig7", "fig7")
                .about("how fast background downloads yield to a foreground, and come back"),
            Self::Fig8 => paper_item!("legilimens", "fig8")
                .about("six phones at three loads: how long short foreground transfers take"),
            Self::Fig9 => paper_item!("legilimens", "fig8")
                .called("legilimens/fig9", "fig9")
                .about("six phones at three loads: throughput of long transfers and of background"),
            Self::Fig10 => paper_item!("legilimens", "fig10")
                .about("resource blocks under a background download in busy hours"),
            Self::Fig11 => paper_item!("legilimens", "fig11")
                .about("a background and a foreground download on the move"),
            Self::Fig12 => paper_item!("legilimens", "fig12").about(
                "100 devices at three loads: foreground and background under thirteen schemes",
            ),
            Self::Alone => paper_item!("legilimens", "alone")
                .about("how much of its cell a background download has that is alone in it"),
            Self::Fig13 => paper_item!("legilimens", "fig13")
                .about("what waits at the radio for a background and a foreground flow"),
            Self::Fig14 => paper_item!("legilimens", "fig14")
                .about("how background flows share, at one device and at several"),
            Self::Fig15 => paper_item!("legilimens", "fig15")
                .about("foreground and background under Legilimens while λ, M and T change"),
        };
        item.lasts(match self {
            Self::Fig12 => "15 min",
            Self::Fig15 => "5 min",
            _ => "1 min",
        })
    }

    fn kinds(self) -> Vec<(String, Variant)> {
        variant::of(self).into_iter().map(|variant| (variant.row.clone(), variant)).collect()
    }

    fn runs(self, variant: &Variant, settings: &Settings) -> Result<Vec<Run>, Wrong> {
        let sets: Vec<String> = settings.seeds.iter().chain(&settings.sets).cloned().collect();
        variant.runs(&sets)
    }

    fn measure(self, variant: &Variant, run: &Run) -> Result<Figures, Wrong> {
        if !variant.watched() {
            return Ok(figures::of(self, run, &rig::run(run, self == Self::Fig13)?));
        }
        let (shown, free) = normal::run(run)?;
        Ok(figures::of(self, run, &shown).into_iter().chain(free).collect())
    }

    fn compare(self, rows: &mut Vec<Row>) {
        figures::compare(self, rows);
        if self == Self::Fig10 {
            rows.extend(figures::means(rows));
        }
    }

    fn columns(self) -> &'static [&'static str] {
        figures::columns(self)
    }

    fn shown(self, head: &str, value: f64) -> String {
        figures::shown(head, value)
    }

    fn short(self, rows: &[Row]) -> Short {
        figures::short(self, rows)
    }
}

#[cfg(test)]
mod tests;
