//! CQIC's evaluation: its estimate over modelled links, and its sender in virtual time, beside the
//! paper's figures.

mod capacity;
mod downloads;
pub(crate) mod experiment;
mod hspa;
mod mapping;
mod robust;

use serde::Serialize;

use sounding_experiment::metrics;

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
    /// Its files in `papers/cqic`, and its subject. All of Fig. 5 has one plan; Figs. 2 to 4 have
    /// the links of `sounding lab run estimators`.
    pub const fn files(self) -> PaperItem {
        let fig5 = paper_item!("cqic", "fig5");
        let item = match self {
            Self::Fig2 => fig5
                .called("cqic/fig2", "fig2")
                .about("what a CQI stands for: the standard's rates, and the ones that are learnt"),
            Self::Fig3 => fig5
                .called("cqic/fig3", "fig3")
                .about("the capacity by CQI alone, and by CQI and the served share"),
            Self::Fig4 => fig5
                .called("cqic/fig4", "fig4")
                .about("how well the last 200 ms predict the next, in 24 runs of LTE and NR"),
            Self::Fig5a => fig5
                .called("cqic/fig5a", "fig5a")
                .about("throughput of downloads of 0.1 to 20 MB, standing still"),
            Self::Fig5b => fig5
                .called("cqic/fig5b", "fig5b")
                .about("mean RTT of downloads of 0.1 to 20 MB, standing still"),
            Self::Fig5c => fig5
                .called("cqic/fig5c", "fig5c")
                .about("the RTTs of large downloads, standing still"),
            Self::Fig5d => fig5
                .called("cqic/fig5d", "fig5d")
                .about("throughput of downloads of 0.1 to 20 MB, driving"),
            Self::Fig5e => fig5
                .called("cqic/fig5e", "fig5e")
                .about("mean RTT of downloads of 0.1 to 20 MB, driving"),
            Self::Fig5f => {
                fig5.called("cqic/fig5f", "fig5f").about("the RTTs of large downloads, driving")
            }
            Self::Robust => paper_item!("cqic", "robust").about(
                "CQIC where shares jump, applications pause, wires are narrow and flows meet",
            ),
        };
        item.lasts("3 min")
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

/// What an item measured.
#[derive(Default)]
struct Figures {
    rows: Vec<Row>,
    /// The row, the key of the cause, and what falls short.
    misses: Vec<(String, String, String)>,
}

fn mean(values: impl IntoIterator<Item = f64>) -> f64 {
    metrics::mean(values.into_iter().filter(|value| value.is_finite()))
}

/// The standard deviation of a sample.
fn deviation(values: &[f64]) -> f64 {
    let centre = mean(values.iter().copied());
    let squares: f64 = values.iter().map(|value| (value - centre).powi(2)).sum();
    (squares / (values.len() as f64 - 1.0)).sqrt()
}
