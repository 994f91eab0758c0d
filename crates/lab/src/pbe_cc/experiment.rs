//! The items as experiments.

use std::path::PathBuf;
use std::time::Duration;

use miette::IntoDiagnostic;
use sounding_experiment::plan::Text;
use sounding_experiment::provenance::Begun;
use sounding_experiment::simulate::Keep;
use sounding_experiment::study::Study;

use super::{Item, report};
use crate::experiment::{self, End, Experiment, Host, Needs, Outcome, jobs};

/// An item of PBE-CC's evaluation in virtual time: the paper's figures, the measured ones, and why they differ
///
/// It runs a modelled cell with its modem and a sniffer. Their estimates reach the sender on acknowledgements. The plan is that of
/// papers/pbe-cc, which `sounding sim` runs too.
#[derive(clap::Args)]
pub(crate) struct ItemFlags {
    /// Seeds, such as 1 or "1..20"; default: those of the plan
    #[arg(long, value_name = "SEEDS")]
    seeds: Option<String>,

    /// Duration of each run; default: as in the plan
    #[arg(long, value_name = "TIME", value_parser = humantime::parse_duration)]
    duration: Option<Duration>,

    /// Runs at once; default: one for each processor
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u8).range(1..))]
    jobs: Option<u8>,
}

/// A plan of `papers/pbe-cc`.
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
        Some("2 min")
    }

    fn run(&self, flags: ItemFlags, host: &dyn Host) -> miette::Result<Option<Outcome>> {
        let files = self.0.files();
        let mut text = Text::new(files.experiment, files.plan, PathBuf::new());
        if let Some(seeds) = flags.seeds {
            // A number, or a range in quotes.
            let written = if seeds.parse::<u64>().is_ok() { seeds } else { format!("{seeds:?}") };
            text.set(&format!("seeds={written}")).into_diagnostic()?;
        }
        if let Some(duration) = flags.duration {
            text.set(&format!("duration=\"{}ms\"", duration.as_millis())).into_diagnostic()?;
        }
        let begun = Begun::now();
        let study = Study::new(text).into_diagnostic()?;
        let all: Duration = study.runs().iter().map(|run| run.plan.duration).sum();
        let mut passed = Duration::ZERO;
        let mut tenth = 0;
        let mut progress = |span: Duration| {
            passed += span;
            let done = (passed.as_secs_f64() / all.as_secs_f64() * 10.0) as u32;
            if done > tenth {
                tenth = done;
                experiment::report(host, format_args!("{done}0 % of all runs"));
            }
        };
        let stop = host.stop()?;
        let finished = study.run_on(jobs(flags.jobs), &Keep::default(), None, &stop, &mut progress);
        let finished = finished.into_diagnostic()?;
        if finished.outcomes.is_empty() {
            return Ok(None);
        }
        let report = report(self.0, &finished.outcomes, begun.end()).into_diagnostic()?;
        let mut outcome = report.outcome()?;
        if !finished.complete {
            outcome.end = End::Interrupted;
        }
        Ok(Some(outcome))
    }
}
