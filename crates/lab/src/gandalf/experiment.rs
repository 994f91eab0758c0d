//! The items as experiments.

use std::time::Duration;

use miette::{IntoDiagnostic, miette};
use sounding_experiment::provenance::Begun;

use super::{Item, Settings, report, rows};
use crate::experiment::{Experiment, Host, Needs, Outcome, jobs, report_share};

/// An item of Gandalf's evaluation in virtual time: the paper's figures, the measured ones, and why they differ
///
/// A modelled cell with its modem; the delays that the radio makes reach the sender from the modem's records, as late as those come.
/// The plan is that of papers/gandalf.
#[derive(clap::Args)]
pub(crate) struct ItemFlags {
    /// Seeds, such as 1 or "1..20"; default: those of the plan
    #[arg(long, value_name = "SEEDS")]
    seeds: Option<String>,

    /// Duration of each run; default: as in the plan
    #[arg(long, value_name = "TIME", value_parser = humantime::parse_duration)]
    duration: Option<Duration>,

    /// Only rows whose names contain this
    #[arg(long, value_name = "TEXT")]
    only: Option<String>,

    /// Runs at once; default: one for each processor
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u8).range(1..))]
    jobs: Option<u8>,
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

    fn needs(&self) -> Needs {
        Needs::Nothing
    }

    fn duration(&self) -> Option<&'static str> {
        Some(match self.0 {
            Item::Table1 => "10 min",
            Item::Lag | Item::Gcc | Item::Masking | Item::Accuracy => "3 min",
        })
    }

    fn run(&self, flags: ItemFlags, host: &dyn Host) -> miette::Result<Option<Outcome>> {
        let mut sets = Vec::new();
        if let Some(duration) = flags.duration {
            sets.push(format!("duration=\"{}ms\"", duration.as_millis()));
        }
        let mut text = self.0.files().text();
        if let Some(seeds) = &flags.seeds {
            // A number, or a range in quotes.
            let is_one = seeds.parse::<u64>().is_ok();
            let written = if is_one { seeds.clone() } else { format!("{seeds:?}") };
            text.set(&format!("seeds={written}")).into_diagnostic()?;
        }
        let seeds = text.runs().into_diagnostic()?.iter().map(|run| run.seed).collect();
        let settings = Settings { sets, seeds, only: flags.only, jobs: jobs(flags.jobs) };
        let begun = Begun::now();
        let progress = |done, all| report_share(host, done, all, "runs");
        let figures = rows(self.0, &settings, progress)
            .map_err(|wrong| miette!("{} {}", wrong.key, wrong.message))?;
        report(self.0, figures, begun.end()).into_diagnostic()?.outcome().map(Some)
    }
}
