use std::time::Duration;

use miette::IntoDiagnostic;

use crate::experiment::{End, Experiment, Host, Needs, Outcome, program, report};
use crate::soak;

/// Links, flows and daemons that come and go, and what they leave behind: fails on a leak, an alarm of the kernel, or a flow
/// that stands still
#[derive(clap::Args)]
pub(crate) struct Flags {
    /// How long to go on
    #[arg(long, value_name = "TIME", default_value = "1h", value_parser = humantime::parse_duration)]
    duration: Duration,

    /// How long a daemon lives until it is killed or ended, on average
    #[arg(long, value_name = "TIME", default_value = "2min", value_parser = humantime::parse_duration)]
    restart_every: Duration,

    /// Of links, flows and kills
    #[arg(long, value_name = "NUMBER", default_value_t = 1)]
    seed: u64,
}

/// See the module.
pub(crate) struct SoakExperiment;

impl Experiment for SoakExperiment {
    type Flags = Flags;

    fn name(&self) -> &'static str {
        "soak"
    }

    fn about(&self) -> &'static str {
        "links, flows and daemons that come and go, and what they leave behind"
    }

    fn needs(&self) -> Needs {
        Needs::Root
    }

    fn duration(&self) -> Option<&'static str> {
        Some("1 h")
    }

    fn run(&self, flags: Flags, host: &dyn Host) -> miette::Result<Option<Outcome>> {
        let Flags { duration, restart_every, seed } = flags;
        let program = program()?;
        let plan = soak::Plan { duration, restart_every, seed, program };
        let summary = soak::run(&plan, |line| report(host, line)).into_diagnostic()?;
        let outcome = Outcome::of_text(summary.to_string(), summary.provenance.as_ref(), &summary)?;
        let end = if summary.is_clean() { End::Complete } else { End::Failed };
        Ok(Some(Outcome { end, ..outcome }))
    }
}
