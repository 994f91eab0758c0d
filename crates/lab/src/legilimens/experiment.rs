//! The items as experiments.

use miette::{IntoDiagnostic, miette};
use sounding_experiment::provenance::Begun;

use super::{Item, Settings, report, rows};
use crate::experiment::{Experiment, Host, Outcome, report_share};
use crate::paper::PlanFlags;

/// An item of Legilimens' evaluation in virtual time: the paper's figures, ours, and why they differ
///
/// The plans are those of papers/legilimens, which `sounding sim` runs too.
#[derive(clap::Args)]
pub(crate) struct ItemFlags {
    #[command(flatten)]
    plan: PlanFlags,

    /// Only rows whose names contain this; may be repeated
    #[arg(long, value_name = "TEXT")]
    only: Vec<String>,

    /// Sets a key of the plan in all rows, as `sounding sim --set` does; may be repeated
    #[arg(long, value_name = "KEY=VALUE")]
    set: Vec<String>,
}

/// A plan of `papers/legilimens`.
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
            Item::Fig12 => "15 min",
            Item::Fig15 => "5 min",
            _ => "1 min",
        })
    }

    fn run(&self, flags: ItemFlags, host: &dyn Host) -> miette::Result<Option<Outcome>> {
        let plan = [flags.plan.seeds(), flags.plan.duration()];
        let sets = plan.into_iter().flatten().chain(flags.set).collect();
        let settings = Settings { sets, only: flags.only, jobs: flags.plan.jobs() };
        let begun = Begun::now();
        let progress = |done, all| report_share(host, done, all, "runs");
        let figures = rows(self.0, &settings, progress)
            .map_err(|wrong| miette!("{} {}", wrong.key, wrong.message))?;
        report(self.0, figures, begun.end()).into_diagnostic()?.outcome().map(Some)
    }
}
