//! Links, flows and daemons that come and go, as `sounding_testbed::soak` has them.

use std::time::Duration;

use miette::IntoDiagnostic;
use sounding_testbed::soak::{self, Plan};

use crate::experiment::{Card, End, Experiment, Host, Needs, Outcome, program, report};

/// Starts and ends links, flows and daemons for a long time; fails on a leak, an alarm of the
/// kernel, or a stalled flow
#[derive(clap::Args)]
pub(crate) struct Flags {
    /// Duration
    #[arg(long, value_name = "TIME", default_value = "1h", value_parser = humantime::parse_duration)]
    duration: Duration,

    /// Mean time until a daemon is killed or ended
    #[arg(long, value_name = "TIME", default_value = "2min", value_parser = humantime::parse_duration)]
    restart_every: Duration,

    /// Seed of links, flows and kills
    #[arg(long, value_name = "NUMBER", default_value_t = 1)]
    seed: u64,
}

/// See the module.
pub(crate) struct SoakExperiment;

impl Experiment for SoakExperiment {
    type Flags = Flags;

    fn card(&self) -> Card {
        Card::new("soak", "links, flows and daemons that come and go, and what they leave behind")
            .needs(Needs::Root)
            .lasts("1 h")
    }

    fn run(&self, flags: Flags, host: &dyn Host) -> miette::Result<Option<Outcome>> {
        let Flags { duration, restart_every, seed } = flags;
        let plan = Plan { duration, restart_every, seed, program: program()? };
        let summary = soak::run(&plan, |line| report(host, line)).into_diagnostic()?;
        let outcome = Outcome::of_text(summary.to_string(), summary.provenance.as_ref(), &summary)?;
        let end = if summary.is_clean() { End::Complete } else { End::Failed };
        Ok(Some(Outcome { end, ..outcome }))
    }
}
