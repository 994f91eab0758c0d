//! The items as experiments.

use std::time::Duration;

use miette::{IntoDiagnostic, miette};
use sounding_experiment::provenance::Begun;

use super::{Item, Settings, report, rows};
use crate::experiment::{Experiment, Host, Needs, Outcome, jobs, report_share};

/// An item of Legilimens' evaluation in virtual time: the paper's figures, ours, and why they differ
///
/// The plans are those of papers/legilimens, which `sounding sim` runs too.
#[derive(clap::Args)]
pub(crate) struct ItemFlags {
    /// Seeds, such as 1 or "1..20", if not those of the plan
    #[arg(long, value_name = "SEEDS")]
    seeds: Option<String>,

    /// How long each run lasts, if not as the plan has it
    #[arg(long, value_name = "TIME", value_parser = humantime::parse_duration)]
    duration: Option<Duration>,

    /// Only rows whose names contain this
    #[arg(long, value_name = "TEXT")]
    only: Option<String>,

    /// Runs at once; as many as this machine has processors unless stated
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u8).range(1..))]
    jobs: Option<u8>,
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

    fn needs(&self) -> Needs {
        Needs::Nothing
    }

    fn duration(&self) -> Option<&'static str> {
        Some(match self.0 {
            Item::Fig12 => "15 min",
            Item::Fig15 => "5 min",
            _ => "1 min",
        })
    }

    fn run(&self, flags: ItemFlags, host: &dyn Host) -> miette::Result<Option<Outcome>> {
        let mut sets = Vec::new();
        if let Some(seeds) = flags.seeds {
            // A number, or a range in quotes.
            let written = if seeds.parse::<u64>().is_ok() { seeds } else { format!("{seeds:?}") };
            sets.push(format!("seeds={written}"));
        }
        if let Some(duration) = flags.duration {
            sets.push(format!("duration=\"{}ms\"", duration.as_millis()));
        }
        let settings = Settings { sets, only: flags.only, jobs: jobs(flags.jobs) };
        let begun = Begun::now();
        let progress = |done, all| report_share(host, done, all, "runs");
        let figures = rows(self.0, &settings, progress)
            .map_err(|wrong| miette!("{} {}", wrong.key, wrong.message))?;
        report(self.0, figures, begun.end()).into_diagnostic()?.outcome().map(Some)
    }
}
