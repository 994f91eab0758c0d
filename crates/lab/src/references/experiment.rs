use std::time::Duration;

use miette::IntoDiagnostic;
use sounding_experiment::provenance::Begun;

use crate::biscay::SHORTEST;
use crate::biscay::{Links, read};
use crate::closed_loop::Case;
use crate::closed_loop::experiment::{Cells, case};
use crate::experiment::{Experiment, Host, Outcome, report_share};
use crate::references::{self, Grid, OverCells, OverLinks, over_cells, over_links};

/// Senders that know the present of their link without error, over a grid of queueing delays and averaging spans
///
/// `present` knows the link's rate and queue in each millisecond, `reported` every 10 ms, as a modem writes records.
/// Both do not know the future, and follow a simple rule: bytes in flight and queued = rate × (time until a packet sent now arrives +
/// room). The rate is the mean over the span. Another rule may use the same
/// knowledge better: the curves are no bounds. `sounding` and `biscay` are compared with them.
///
/// They run over recordings or other given links, and over modelled cells that grant what is requested.
#[derive(clap::Args)]
pub(crate) struct Flags {
    /// Rooms: queueing delays to keep at the link in ms, one number after the other
    #[arg(long, value_name = "MS,…", value_delimiter = ',', default_values_t = [0, 2, 4, 6, 8, 10, 15, 20, 25, 35], value_parser = clap::value_parser!(u64).range(..=10_000))]
    rooms: Vec<u64>,

    /// Spans over which the link's rate is averaged in ms, one number after the other
    #[arg(long, value_name = "MS,…", value_delimiter = ',', default_values_t = [10, 30, 100], value_parser = clap::value_parser!(u64).range(1..=10_000))]
    spans: Vec<u64>,

    /// Only one of the two: `open`, links that are given, or `closed`, cells
    #[arg(long, value_name = "open|closed", value_parser = ["open", "closed"])]
    only: Option<String>,

    #[command(flatten)]
    links: Links,

    /// Duration of each run over a link
    #[arg(long, value_name = "TIME", default_value = "30s", value_parser = humantime::parse_duration)]
    duration: Duration,

    /// Situations of flows in cells: still, alone, climb, handover, two, three, beside-cubic
    #[arg(long, value_name = "NAME,…", value_delimiter = ',', default_values = ["alone"], value_parser = case)]
    cases: Vec<Case>,

    #[command(flatten)]
    cells: Cells,
}

/// Propagation delay over links, each way: that of BISCAY's evaluation.
const DELAY: Duration = Duration::from_millis(20);

/// See the module.
pub(crate) struct ReferencesExperiment;

impl Experiment for ReferencesExperiment {
    type Flags = Flags;

    fn name(&self) -> &'static str {
        "references"
    }

    fn about(&self) -> &'static str {
        "senders that know the present of a link, by what they keep waiting"
    }

    fn duration(&self) -> Option<&'static str> {
        None
    }

    fn run(&self, flags: Flags, host: &dyn Host) -> miette::Result<Option<Outcome>> {
        if flags.duration < SHORTEST {
            return Err(miette::miette!("--duration is at least {SHORTEST:?}"));
        }
        let begun = Begun::now();
        let jobs = flags.cells.jobs();
        let grid = Grid { rooms_ms: once(flags.rooms), spans_ms: once(flags.spans) };
        let is_asked = |loops: &str| flags.only.as_deref().is_none_or(|only| only == loops);
        let mut grounds = Vec::new();
        if is_asked("open") {
            let entries = flags.links.entries(host)?;
            let how = OverLinks { delay: DELAY, duration: flags.duration, jobs };
            let told = |done, all| report_share(host, done, all, "links");
            grounds.push(
                over_links(&grid, &entries, how, &|path| read(host, path), told)
                    .into_diagnostic()?,
            );
        }
        if is_asked("closed") {
            let how = OverCells {
                cases: flags.cases,
                first: flags.cells.first,
                seeds: flags.cells.seeds,
                jobs,
            };
            let told = |done, all| report_share(host, done, all, "cells");
            grounds.extend(over_cells(&grid, &how, told).into_diagnostic()?);
        }
        let outcome = references::Outcome { grounds, provenance: begun.end() };
        Outcome::of_markdown(outcome.to_string(), &outcome.provenance, &outcome).map(Some)
    }
}

/// In order, and each once.
fn once(mut numbers: Vec<u64>) -> Vec<u64> {
    numbers.sort_unstable();
    numbers.dedup();
    numbers
}
