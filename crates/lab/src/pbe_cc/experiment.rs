//! The items as experiments.

use std::path::PathBuf;
use std::time::Duration;

use miette::IntoDiagnostic;
use sounding_experiment::plan::Text;
use sounding_experiment::provenance::Begun;
use sounding_experiment::simulate::Keep;
use sounding_experiment::study::Study;

use super::place::PLACES;
use super::{Item, report, table1};
use crate::experiment::{self, End, Experiment, Host, Needs, Outcome, jobs, report_share};

/// An item of PBE-CC's evaluation in virtual time: the paper's figures, ours, and why they differ
///
/// A modelled cell with its modem and a sniffer; what they know reaches the sender on acknowledgements. The plan is that of
/// papers/pbe-cc, which `sounding sim` runs too.
#[derive(clap::Args)]
pub(crate) struct ItemFlags {
    /// Seeds, such as 1 or "1..20", if not those of the plan
    #[arg(long, value_name = "SEEDS")]
    seeds: Option<String>,

    /// How long each run lasts, if not as the plan has it
    #[arg(long, value_name = "TIME", value_parser = humantime::parse_duration)]
    duration: Option<Duration>,

    /// Runs at once; as many as this machine has processors unless stated
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

/// PBE-CC's 40 places in virtual time: its gains on seven algorithms, Figs. 12 to 15, and its time in the Internet's state
///
/// The places are drawn, each from its own seed: 25 with busy cells and 15 with idle ones, with one, two or three carriers.
#[derive(clap::Args)]
pub(crate) struct Table1Flags {
    /// The first so many of the 40 places
    #[arg(long, value_name = "N", default_value_t = PLACES as u16, value_parser = clap::value_parser!(u16).range(1..=PLACES as i64))]
    places: u16,

    /// How many seconds each flow sends
    #[arg(long, value_name = "S", default_value_t = 20, value_parser = clap::value_parser!(u16).range(1..=600))]
    seconds: u16,

    /// How often each flow is repeated at its place, with other lots
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = clap::value_parser!(u8).range(1..=20))]
    repeats: u8,

    /// Runs at once; as many as this machine has processors unless stated
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u8).range(1..))]
    jobs: Option<u8>,
}

/// Table 1.
pub(crate) struct Table1Item;

impl Experiment for Table1Item {
    type Flags = Table1Flags;

    fn name(&self) -> &'static str {
        Item::Table1.files().experiment
    }

    fn about(&self) -> &'static str {
        Item::Table1.about()
    }

    fn needs(&self) -> Needs {
        Needs::Nothing
    }

    fn duration(&self) -> Option<&'static str> {
        Some("3 min")
    }

    fn run(&self, flags: Table1Flags, host: &dyn Host) -> miette::Result<Option<Outcome>> {
        let plan = table1::Plan {
            places: flags.places.into(),
            repeats: flags.repeats.into(),
            span: Duration::from_secs(flags.seconds.into()),
            jobs: jobs(flags.jobs),
        };
        let begun = Begun::now();
        let stop = host.stop()?;
        let progress = |done, all| report_share(host, done, all, "flows");
        let places = table1::measure(&plan, &stop, progress).into_diagnostic()?;
        if places.is_empty() {
            return Ok(None);
        }
        let complete = places.len() == plan.places;
        let mut outcome = table1::report(places, begun.end()).into_diagnostic()?.outcome()?;
        if !complete {
            outcome.end = End::Interrupted;
        }
        Ok(Some(outcome))
    }
}
