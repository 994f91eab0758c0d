//! CQIC's evaluation: its estimate over modelled links, and its sender in virtual time, beside the paper's figures.

mod capacity;
mod downloads;
pub(crate) mod experiment;
mod hspa;
mod mapping;
mod robust;
mod warm;
mod work;

use serde::Serialize;

use crate::paper::{PaperItem, Rows, paper_item};

/// An item.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Item {
    /// From CQI to rate.
    Fig2,
    /// Without the served share.
    Fig3,
    /// Errors of the prediction.
    Fig4,
    /// Throughput, standing still.
    Fig5a,
    /// RTT, standing still.
    Fig5b,
    /// The RTTs of a large flow, standing still.
    Fig5c,
    /// Throughput, driving.
    Fig5d,
    /// RTT, driving.
    Fig5e,
    /// The RTTs of a large flow, driving.
    Fig5f,
    /// Beyond the paper.
    Robust,
}

impl Item {
    /// Its files in `papers/cqic`. All of Fig. 5 has one plan; Figs. 2 to 4 have the links of `sounding lab run estimators`.
    pub const fn files(self) -> PaperItem {
        const FIG5: PaperItem = paper_item!("cqic", "fig5");
        const fn of(file: &'static str, experiment: &'static str) -> PaperItem {
            PaperItem { file, experiment, ..FIG5 }
        }
        match self {
            Self::Fig2 => of("fig2", "cqic/fig2"),
            Self::Fig3 => of("fig3", "cqic/fig3"),
            Self::Fig4 => of("fig4", "cqic/fig4"),
            Self::Fig5a => of("fig5a", "cqic/fig5a"),
            Self::Fig5b => of("fig5b", "cqic/fig5b"),
            Self::Fig5c => of("fig5c", "cqic/fig5c"),
            Self::Fig5d => of("fig5d", "cqic/fig5d"),
            Self::Fig5e => of("fig5e", "cqic/fig5e"),
            Self::Fig5f => of("fig5f", "cqic/fig5f"),
            Self::Robust => paper_item!("cqic", "robust"),
        }
    }

    /// Its subject.
    pub const fn about(self) -> &'static str {
        match self {
            Self::Fig2 => {
                "what a CQI stands for: the standard's rates, and the ones that are learnt"
            }
            Self::Fig3 => "the capacity by CQI alone, and by CQI and the served share",
            Self::Fig4 => "how well the last 200 ms predict the next, in 24 runs of LTE and NR",
            Self::Fig5a => "throughput of downloads of 0.1 to 20 MB, standing still",
            Self::Fig5b => "mean RTT of downloads of 0.1 to 20 MB, standing still",
            Self::Fig5c => "the RTTs of large downloads, standing still",
            Self::Fig5d => "throughput of downloads of 0.1 to 20 MB, driving",
            Self::Fig5e => "mean RTT of downloads of 0.1 to 20 MB, driving",
            Self::Fig5f => "the RTTs of large downloads, driving",
            Self::Robust => {
                "CQIC where shares jump, applications pause, wires are narrow and flows meet"
            }
        }
    }
}

/// A row as numbers.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Row {
    /// Its name in the table.
    pub name: String,
    /// By the heads of the columns; what was not measured is no number.
    pub figures: Vec<(String, f64)>,
}

impl Row {
    fn new<'a>(name: impl Into<String>, figures: impl IntoIterator<Item = (&'a str, f64)>) -> Self {
        let figures = figures.into_iter().map(|(head, value)| (head.to_owned(), value)).collect();
        Self { name: name.into(), figures }
    }

    fn cells(&self) -> Vec<String> {
        let shown = |value: f64| match value {
            value if !value.is_finite() => "-".to_owned(),
            value if value.abs() < 10.0 => format!("{value:.2}"),
            value => format!("{value:.1}"),
        };
        self.figures.iter().map(|(_, value)| shown(*value)).collect()
    }
}

/// See [`Rows`].
pub type Evidence = Rows<Row>;

fn mean(values: impl IntoIterator<Item = f64>) -> f64 {
    let (mut sum, mut count) = (0.0, 0.0);
    for value in values.into_iter().filter(|value| value.is_finite()) {
        (sum, count) = (sum + value, count + 1.0);
    }
    sum / count
}

/// The standard deviation of a sample.
fn deviation(values: &[f64]) -> f64 {
    let centre = mean(values.iter().copied());
    let squares: f64 = values.iter().map(|value| (value - centre).powi(2)).sum();
    (squares / (values.len() as f64 - 1.0)).sqrt()
}
