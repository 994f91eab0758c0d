//! The items as experiments.

use std::sync::atomic::AtomicBool;

use miette::IntoDiagnostic;
use sounding_experiment::jobs::{self, Job, Told};
use sounding_experiment::provenance::Begun;

use super::{Evidence, Item, Row, capacity, downloads, mapping, robust};
use crate::experiment::{Experiment, Host, Needs, Outcome, jobs as jobs_of, report_share};
use crate::paper::{Ours, Report};

/// An item of CQIC's evaluation in virtual time: the paper's figures, ours, and why they differ
///
/// Rates come from the records of a modelled modem; in Fig. 2 also from a generator for HSPA, of which no record can be read.
#[derive(clap::Args)]
pub(crate) struct ItemFlags {
    /// Only the first so many runs of each kind; default: as many as the paper
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..=1000))]
    runs: Option<u16>,

    /// Runs at once; default: one for each processor
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u8).range(1..))]
    jobs: Option<u8>,
}

/// See the module.
pub(crate) struct CqicItem(pub(crate) Item);

impl Experiment for CqicItem {
    type Flags = ItemFlags;

    fn name(&self) -> &'static str {
        self.0.files().experiment
    }

    fn about(&self) -> &'static str {
        self.0.about()
    }

    fn needs(&self) -> Needs {
        Needs::Nothing
    }

    fn duration(&self) -> Option<&'static str> {
        Some("3 min")
    }

    fn run(&self, flags: ItemFlags, host: &dyn Host) -> miette::Result<Option<Outcome>> {
        let (begun, stop) = (Begun::now(), host.stop()?);
        let work = Work {
            most: flags.runs.map(usize::from),
            jobs: jobs_of(flags.jobs),
            stop: &stop,
            host,
        };
        let measured = match self.0 {
            Item::Fig2 => mapping::measure(&work),
            Item::Fig3 | Item::Fig4 => capacity::measure(self.0, &work),
            Item::Robust => robust::measure(&work),
            _ => downloads::measure(self.0, &work),
        };
        let Some(figures) = measured? else { return Ok(None) };
        let expected = self.0.files().expected().into_diagnostic()?;
        let columns = figures.rows.first().map(|row| row.figures.clone()).unwrap_or_default();
        let rows = figures.rows.iter().map(|row| (row.name.clone(), row.cells()));
        let mut ours = Ours::new(columns.into_iter().map(|(head, _)| head), rows);
        for (row, cause, short) in &figures.misses {
            let known = expected.causes.get(cause).map_or("no cause known", String::as_str);
            ours.misses.push(format!("{row}, {short}: {known}"));
        }
        let evidence = Evidence { figures: figures.rows };
        let report = Report::new(self.0.about(), expected, ours, evidence, begun.end());
        report.outcome().map(Some)
    }
}

/// What an item measured.
#[derive(Default)]
pub(super) struct Figures {
    pub(super) rows: Vec<Row>,
    /// The row, the key of the cause, and what falls short.
    pub(super) misses: Vec<(String, String, String)>,
}

/// How the runs of an item are made.
pub(super) struct Work<'a> {
    most: Option<usize>,
    jobs: usize,
    stop: &'a AtomicBool,
    host: &'a dyn Host,
}

impl Work<'_> {
    /// So many runs, or as many as were asked for.
    pub(super) fn most(&self, paper: usize) -> usize {
        self.most.map_or(paper, |most| most.min(paper))
    }

    /// The same measurement of each; `None` if it was stopped.
    pub(super) fn each<T: Sync, R: Send, E: Send + std::fmt::Display>(
        &self,
        items: &[T],
        measure: impl Fn(&T) -> Result<R, E> + Sync,
    ) -> miette::Result<Option<Vec<R>>> {
        let mut done = 0;
        let work = |item: &T, _: &Job<'_, (), R, E>| measure(item).map(Some);
        let results = jobs::until(items, self.jobs, self.stop, work, |told| {
            if let Told::Done(..) = told {
                done += 1;
                report_share(self.host, done, items.len(), "runs");
            }
        });
        let results = results.map_err(|(_, error)| miette::miette!("{error}"))?;
        Ok(results.into_iter().collect())
    }
}
