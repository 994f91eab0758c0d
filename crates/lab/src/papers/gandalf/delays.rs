//! What the radio does to packets (Gandalf §3 and Appendix B): Figs. 3 to 9, 27 and 28, and Tables
//! 3 to 6.

use std::time::Duration;

use miette::IntoDiagnostic;
use serde::Serialize;
use sounding_experiment::provenance::Begun;
use sounding_phy::{lte::BsrTable, nr::BsrFormat};
use sounding_units::Bytes;

use super::{Evidence, Row};
use crate::experiment::{Card, Experiment, Host, Outcome, jobs, report_share};
use crate::fidelity::cell::radio::{self, Found, SlotDelay};
use crate::paper::{Ours, PaperItem, Report, paper_item};

/// Figs. 3 to 9, 27 and 28 and Tables 3 to 6: retransmissions, reports and round trips of the
/// modelled cell, read from its modem
///
/// A device walks through a street with a saturated uplink or downlink, and stands with 2 Mbit/s.
/// `low` and `high` are the least and the most over all seeds, and of distributions the first and
/// the ninth decile.
#[derive(clap::Args)]
pub(crate) struct DelayFlags {
    /// Number of seeds
    #[arg(long, value_name = "N", default_value_t = 2, value_parser = clap::value_parser!(u32).range(1..))]
    seeds: u32,

    /// The first of them
    #[arg(long, value_name = "NUMBER", default_value_t = 1)]
    seed: u64,

    /// Duration of each run, in the model's time
    #[arg(long, value_name = "TIME", default_value = "60s", value_parser = humantime::parse_duration)]
    duration: Duration,

    /// Traces of round trips
    #[arg(long, value_name = "N", default_value_t = 20, value_parser = clap::value_parser!(u32).range(1..))]
    traces: u32,

    /// Runs at once; default: one for each processor
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u8).range(1..))]
    jobs: Option<u8>,
}

/// The item.
pub(crate) struct DelaysItem;

const FILES: PaperItem = paper_item!("gandalf", "table1")
    .called("gandalf/delays", "delays")
    .about(
        "retransmissions, reports and round trips of the modelled cell, from its modem's records",
    )
    .lasts("2 min");

const COLUMNS: &[&str] = &["low", "median", "high", "unit"];

/// Distributions: the pool, its name and its unit. The paper's figures for them are in
/// `expected.toml`.
const DISTRIBUTIONS: &[(&str, &str, &str)] = &[
    ("rlc.lte", "Fig. 4: RLC retransmission delay, LTE", "ms"),
    ("rlc.nr", "Fig. 4: RLC retransmission delay, NR", "ms"),
    ("places.nr.down", "Fig. 5a: MAC packet error rate by place, NR down", "%"),
    ("marks.nr.down", "Fig. 5a: RLC retransmissions in a minute, NR down", "/min"),
    ("places.nr.up", "Fig. 5b: MAC packet error rate by place, NR up", "%"),
    ("marks.nr.up", "Fig. 5b: RLC retransmissions in a minute, NR up", "/min"),
    ("seconds.nr.down", "Fig. 5c: MAC packet error rate by second, NR down", "%"),
    ("seconds.nr.up", "Fig. 5c: MAC packet error rate by second, NR up", "%"),
    ("seconds.lte.down", "Fig. 5c: the same, LTE down", "%"),
    ("seconds.lte.up", "Fig. 5c: the same, LTE up", "%"),
    ("steady.lte.buffered", "Fig. 6: wait in the modem at 2 Mbit/s, LTE", "T_bsr"),
    ("steady.nr.buffered", "Fig. 6: wait in the modem at 2 Mbit/s, NR", "T_bsr"),
    ("steady.lte.delay", "Fig. 8: one-way delay at 2 Mbit/s, LTE up", "ms"),
    ("steady.nr.delay", "Fig. 8: one-way delay at 2 Mbit/s, NR up", "ms"),
    ("traces.lte", "Fig. 9c: range of round trips by trace, LTE", "ms"),
    ("traces.nr", "Fig. 9c: range of round trips by trace, NR", "ms"),
];

/// Indexes of reports that are shown, out of 63 in LTE and 31 in NR's short format.
const LTE_INDEXES: [u8; 4] = [1, 20, 40, 62];
const NR_INDEXES: [u8; 4] = [1, 10, 20, 30];

/// A row with its cells; `short` is what falls short of the paper's.
#[derive(Clone, Debug, Serialize)]
struct Line {
    name: String,
    paper: Option<String>,
    values: [Option<f64>; 3],
    unit: &'static str,
    short: Option<&'static str>,
}

fn spacing(numerology: u8) -> Line {
    // TS 38.211 §4.3.2: a slot is 1 ms ÷ 2^μ.
    let slot_us = 1_000.0 / f64::from(1_u32 << numerology);
    Line {
        name: format!("Table 3: slots in a frame, numerology {numerology}"),
        paper: Some(format!("{}", 10_u32 << numerology)),
        values: [None, Some(10_000.0 / slot_us), None],
        unit: "slots",
        short: None,
    }
}

fn range(rat: &str, index: u8, least: Option<Bytes>, most: Option<Bytes>) -> Line {
    let bytes = |of: Option<Bytes>| of.map(|of| of.count() as f64);
    Line {
        name: format!("Fig. 7: bytes of a report, {rat}, index {index}"),
        paper: None,
        values: [bytes(least), None, bytes(most)],
        unit: "bytes",
        short: None,
    }
}

fn slot(delay: &SlotDelay) -> Line {
    let table = match (delay.pattern, delay.up) {
        (0, false) => "Table 4",
        (1, false) => "Table 5",
        (0, true) => "Table 6a",
        _ => "Table 6b",
    };
    let way = if delay.up { "up" } else { "down" };
    let equal = delay.ours == Some(delay.paper as f64);
    Line {
        name: format!("{table}: T_M {way} by slot, slot {}", delay.slot),
        paper: Some(delay.paper.to_string()),
        values: [None, delay.ours, None],
        unit: "slots",
        short: (!equal).then_some("another delay"),
    }
}

/// The figure of the paper that a source names, first.
fn figure_of(source: &str) -> &str {
    let from = source.find("Gandalf ").map_or(0, |at| at + "Gandalf ".len());
    source[from..].trim()
}

fn lines(found: &Found) -> Vec<Line> {
    let mut lines: Vec<Line> = (0..=4).map(spacing).collect();
    lines.extend(found.slots.iter().map(slot));
    for row in &found.figures {
        let ours = row.ours;
        lines.push(Line {
            name: format!("{}: {}", figure_of(row.source), row.what),
            paper: Some(row.paper.to_owned()),
            values: [ours.map(|of| of.least), ours.map(|of| of.median), ours.map(|of| of.most)],
            unit: row.unit,
            short: (!row.agrees).then_some("outside of what counts as agreement"),
        });
    }
    for &(pool, name, unit) in DISTRIBUTIONS {
        let values = found.deciles(pool).map_or([None; 3], |deciles| deciles.map(Some));
        // The paper's stars: some in each direction.
        let short = (pool.starts_with("marks") && values[2] == Some(0.0)).then_some("none");
        lines.push(Line { name: name.to_owned(), paper: None, values, unit, short });
    }
    for index in LTE_INDEXES {
        let table = BsrTable::Normal;
        lines.push(range("LTE", index, table.lower(index), table.upper(index)));
    }
    for index in NR_INDEXES {
        let format = BsrFormat::Short;
        lines.push(range("NR", index, format.lower(index), format.upper(index)));
    }
    lines
}

impl Experiment for DelaysItem {
    type Flags = DelayFlags;

    fn card(&self) -> Card {
        FILES.card()
    }

    fn run(&self, flags: DelayFlags, host: &dyn Host) -> miette::Result<Option<Outcome>> {
        let seeds: Vec<u64> = (flags.seed..).take(flags.seeds as usize).collect();
        let begun = Begun::now();
        let progress = |done, all| report_share(host, done, all, "runs");
        let (traces, at_once) = (u64::from(flags.traces), jobs(flags.jobs));
        let found =
            radio::find(&seeds, traces, flags.duration, at_once, progress).into_diagnostic()?;
        let mut expected = FILES.expected().into_diagnostic()?;
        let lines = lines(&found);
        for line in &lines {
            if let Some(paper) = &line.paper {
                expected.rows.entry(line.name.clone()).or_insert_with(|| paper.clone());
            }
        }
        let shown = |value: Option<f64>| value.map_or("-".into(), |value| format!("{value:.2}"));
        let table = lines.iter().map(|line| {
            let mut cells = line.values.map(shown).to_vec();
            cells.push(line.unit.to_owned());
            (line.name.clone(), cells)
        });
        let mut ours = Ours::new(COLUMNS.iter().copied(), table);
        for line in &lines {
            let short: Vec<&str> = line.short.into_iter().collect();
            if !short.is_empty() {
                ours.misses.push(expected.miss(&line.name, &short));
            }
        }
        let figures = lines.iter().map(|line| {
            let heads = ["low", "median", "high"].into_iter().zip(line.values);
            let figures =
                heads.filter_map(|(head, value)| Some((head.to_owned(), value?))).collect();
            Row { name: line.name.clone(), figures }
        });
        let evidence = Evidence { figures: figures.collect() };
        Report::new(FILES.about, expected, ours, evidence, begun.end()).outcome().map(Some)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_slot_with_another_delay_than_the_papers_falls_short() {
        let delay = SlotDelay { pattern: 1, up: false, slot: 6, paper: 17, ours: Some(17.0) };
        assert_eq!(slot(&delay).short, None);
        assert_eq!(slot(&delay).name, "Table 5: T_M down by slot, slot 6");
        assert!(slot(&SlotDelay { ours: Some(16.0), ..delay }).short.is_some());
        assert!(slot(&SlotDelay { ours: None, ..delay }).short.is_some());
    }

    #[test]
    fn a_report_of_more_bytes_has_a_wider_range() {
        let width = |line: Line| line.values[2].unwrap_or(0.0) - line.values[0].unwrap_or(0.0);
        let of = |index| {
            let format = BsrFormat::Short;
            width(range("NR", index, format.lower(index), format.upper(index)))
        };
        assert!(of(1) < of(10) && of(10) < of(20) && of(20) < of(30));
        assert_eq!(spacing(1).values[1], Some(20.0));
    }
}
