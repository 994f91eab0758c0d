//! The items as experiments.

use miette::IntoDiagnostic;
use sounding_experiment::provenance::Begun;

use super::{Evidence, Item, capacity, downloads, mapping, robust};
use crate::experiment::{Card, Experiment, Host, Outcome, jobs};
use crate::paper::{Ours, Report, Work};

/// An item of CQIC's evaluation in virtual time: the paper's figures, ours, and why they differ
///
/// Rates come from the records of a modelled modem; in Fig. 2 also from a generator for HSPA,
/// because no record of HSPA can be read.
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

    fn card(&self) -> Card {
        self.0.files().card()
    }

    fn run(&self, flags: ItemFlags, host: &dyn Host) -> miette::Result<Option<Outcome>> {
        let (begun, stop) = (Begun::now(), host.stop()?);
        let most = flags.runs.map(usize::from);
        let work = Work { most, jobs: jobs(flags.jobs), stop: &stop, host };
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
        let report = Report::new(self.0.files().about, expected, ours, evidence, begun.end());
        report.outcome().map(Some)
    }
}
