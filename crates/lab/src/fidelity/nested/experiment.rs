use std::time::Duration;

use miette::IntoDiagnostic as _;

use super::inside::{self, Role};
use crate::experiment::{Card, End, Experiment, Host, Needs, Outcome, program};
use crate::fidelity::nested;

/// A delay and a link in another delay, by this program itself: the round trip, the bytes, and how
/// late the emulators were
#[derive(clap::Args)]
pub(crate) struct Flags {
    /// Duration of each of the two measurements
    #[arg(long, value_name = "TIME", default_value = "10s", value_parser = humantime::parse_duration)]
    duration: Duration,

    /// Be the probe behind both links
    #[arg(long, value_name = "ROLE", hide = true)]
    inside: Option<Role>,
}

/// See the module.
pub(crate) struct NestedExperiment;

impl Experiment for NestedExperiment {
    type Flags = Flags;

    fn card(&self) -> Card {
        Card::new("nested", "a delay and a link in another delay: round trip, bytes and lateness")
            .needs(Needs::Root)
            .lasts("20 s")
    }

    fn run(&self, flags: Flags, _host: &dyn Host) -> miette::Result<Option<Outcome>> {
        if let Some(role) = flags.inside {
            let trips = inside::run(role)?;
            let text = serde_json::to_string(&trips).into_diagnostic()?;
            return Outcome::new(format!("{text}\n"), String::new(), &trips).map(Some);
        }
        let nested = nested::run(&program()?, flags.duration)?;
        let outcome = Outcome::of_text(nested.to_string(), Some(&nested.provenance), &nested)?;
        let end = if nested.holds() { End::Complete } else { End::Failed };
        Ok(Some(Outcome { end, ..outcome }))
    }
}
