//! The items as experiments.

use miette::{IntoDiagnostic, miette};
use sounding_experiment::provenance::Begun;

use super::{Item, Settings, report, rows};
use crate::experiment::{Experiment, Host, Outcome, report_share};
use crate::paper::PlanFlags;

/// An item of Gandalf's evaluation in virtual time: the paper's figures, the measured ones, and why they differ
///
/// A modelled cell with its modem; the delays that the radio makes reach the sender from the modem's records, as late as those come.
/// The plan is that of papers/gandalf.
#[derive(clap::Args)]
pub(crate) struct ItemFlags {
    #[command(flatten)]
    plan: PlanFlags,

    /// Only rows whose names contain this
    #[arg(long, value_name = "TEXT")]
    only: Option<String>,

    /// Sets a key of the plan in all rows, as `sounding sim --set` does; may be repeated
    #[arg(long, value_name = "KEY=VALUE")]
    set: Vec<String>,
}

/// An item.
pub(crate) struct PlanItem(pub(crate) Item);

impl Experiment for PlanItem {
    type Flags = ItemFlags;

    fn name(&self) -> &'static str {
        self.0.files().experiment
    }

    fn about(&self) -> &'static str {
        self.0.about()
    }

    fn duration(&self) -> Option<&'static str> {
        Some(match self.0 {
            Item::Table1 => "10 min",
            _ => "3 min",
        })
    }

    fn run(&self, flags: ItemFlags, host: &dyn Host) -> miette::Result<Option<Outcome>> {
        let sets = flags.plan.duration().into_iter().chain(flags.set).collect();
        let mut text = self.0.files().text();
        if let Some(seeds) = flags.plan.seeds() {
            text.set(&seeds).into_diagnostic()?;
        }
        let seeds = text.runs().into_diagnostic()?.iter().map(|run| run.seed).collect();
        let settings = Settings { sets, seeds, only: flags.only, jobs: flags.plan.jobs() };
        let begun = Begun::now();
        let progress = |done, all| report_share(host, done, all, "runs");
        let figures = rows(self.0, &settings, progress)
            .map_err(|wrong| miette!("{} {}", wrong.key, wrong.message))?;
        report(self.0, figures, begun.end()).into_diagnostic()?.outcome().map(Some)
    }
}
