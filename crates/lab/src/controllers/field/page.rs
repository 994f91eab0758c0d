//! The tables: for a terminal and for a page.

use std::fmt::Write as _;

use sounding_experiment::columns::aligned;
use sounding_experiment::sweep::summary::{FIGURES, shown};

use super::{Compared, Judged};
use crate::table::Table;

/// The columns; loss is zero with an endless queue, and the one-way delay is 20 ms more than the
/// queueing.
const SHOWN: [&str; 6] = [
    "throughput_mbit_per_sec",
    "utilisation_percent",
    "queueing_mean_ms",
    "queueing_p95_ms",
    "oracle_throughput_percent",
    "oracle_queueing_p95_ms",
];

fn header() -> Vec<String> {
    let figures = FIGURES.iter().filter(|figure| SHOWN.contains(&figure.name));
    let mut header = vec!["controller".to_owned()];
    header.extend(figures.map(|figure| figure.head.to_owned()));
    header.extend(["Mbit/s beside BBR".into(), "p95 beside BBR".into()]);
    header
}

fn lines(group: &Compared) -> Vec<Vec<String>> {
    let rows = group.rows.iter().map(|beside| {
        let mut cells = vec![beside.row.controller.clone()];
        for (figure, estimate) in FIGURES.iter().zip(&beside.row.figures) {
            if SHOWN.contains(&figure.name) {
                cells.push(shown(estimate.as_ref(), figure.digits));
            }
        }
        cells.extend([beside.throughput_over_bbr, beside.queueing_p95_over_bbr].map(verdict));
        cells
    });
    std::iter::once(header()).chain(rows).collect()
}

/// A difference that chance produces once in twenty times does not count.
const SURE: f64 = 0.05;

fn verdict(judged: Option<Judged>) -> String {
    let Some(Judged { paired, p_holm }) = judged else { return "-".into() };
    let p = if p_holm < 0.001 { "p<0.001".to_owned() } else { format!("p={p_holm:.3}") };
    let word = match paired.difference {
        _ if p_holm >= SURE => "alike",
        by if by > 0.0 => "more",
        by if by < 0.0 => "less",
        _ => "differs",
    };
    format!("{word} {p}")
}

const NOTE: &str = "Median over links, each the mean over its seeds; in brackets where the true median is in 95 of 100 cases. \
                    Beside BBR: Wilcoxon's signed-rank test over links, corrected for the number of controllers (Holm).";

/// For a terminal.
pub fn table(groups: &[Compared]) -> String {
    let mut text = String::new();
    for group in groups {
        // Writing into a string cannot fail.
        let _ = writeln!(text, "{}, {} links", group.group, group.links);
        let _ = writeln!(text, "{}", aligned(&lines(group), 1));
    }
    text + NOTE + "\n"
}

/// For a page.
pub fn markdown(groups: &[Compared]) -> String {
    let mut text = format!("{NOTE}\n");
    for group in groups {
        let _ = writeln!(text, "\n### {}, {} links\n", group.group, group.links);
        let mut lines = lines(group).into_iter();
        let mut heads = lines.next().unwrap_or_default().into_iter();
        let mut table = Table::new().left(heads.next()).right(heads);
        lines.for_each(|line| table.row(line));
        text += &table.to_string();
    }
    text
}
