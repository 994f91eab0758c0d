use std::path::PathBuf;
use std::time::Duration;

use super::inside::{self, Role};
use super::{Plan, run};
use crate::experiment::{Card, Experiment, Host, Needs, Outcome, program, report};

/// The load time of a page in Chromium behind recorded LTE links, and the end of the same load in
/// the simulator's link
#[derive(clap::Args)]
pub(crate) struct Flags {
    /// Loads over each trace
    #[arg(long, value_name = "N", default_value_t = 3, value_parser = clap::value_parser!(u8).range(1..))]
    reps: u8,

    /// Only traces whose name contains this, as `vz-short`
    #[arg(long, value_name = "TEXT")]
    traces: Option<String>,

    /// How much later in its trace each load begins than the one before
    #[arg(long, value_name = "TIME", default_value = "7s", value_parser = humantime::parse_duration)]
    apart: Duration,

    /// Seed of the page
    #[arg(long, value_name = "NUMBER", default_value_t = 1)]
    seed: u64,

    /// Folder with mahimahi's traces
    #[arg(long, value_name = "DIR", env = "SOUNDING_DATA", default_value = "../shared/data")]
    data: PathBuf,

    /// Be the probe behind the link
    #[arg(long, value_name = "ROLE", hide = true)]
    inside: Option<Role>,
}

/// See the module.
pub(crate) struct PageExperiment;

impl Experiment for PageExperiment {
    type Flags = Flags;

    fn card(&self) -> Card {
        Card::new("page", "a page in Chromium over LTE links, and the same load in virtual time")
            .needs(Needs::Root)
            .lasts("3 min")
    }

    fn run(&self, flags: Flags, host: &dyn Host) -> miette::Result<Option<Outcome>> {
        let Flags { reps, traces: filter, apart, seed, data, inside } = flags;
        if let Some(role) = inside {
            inside::run(&role)?;
            return Outcome::new(String::new(), String::new(), &()).map(Some);
        }
        let stop = host.stop()?;
        let plan = Plan { program: program()?, data, filter, reps: reps.into(), apart, seed };
        let pages = run(&plan, &stop, |line| report(host, line))?;
        let complete = pages.complete;
        let outcome = Outcome::of_markdown(pages.to_string(), &pages.provenance, &pages)?;
        Ok(Some(outcome.ended(complete)))
    }
}
