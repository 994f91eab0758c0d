use std::time::Duration;

use miette::IntoDiagnostic;

use crate::downlink::{self, Plan, Row};
use crate::experiment::{Experiment, Host, Needs, Outcome, program, report};

/// A flow has found its rate before it is measured.
const SHORTEST: Duration = Duration::from_secs(5);

/// See the module.
pub(crate) struct DownlinkExperiment;

impl Experiment for DownlinkExperiment {
    type Flags = Plan;

    fn name(&self) -> &'static str {
        "downlink"
    }

    fn about(&self) -> &'static str {
        "a download whose sender is held by its receive window, or told by an option"
    }

    fn needs(&self) -> Needs {
        Needs::Root
    }

    fn duration(&self) -> Option<&'static str> {
        Some("10 min")
    }

    fn run(&self, plan: Plan, host: &dyn Host) -> miette::Result<Option<Outcome>> {
        if plan.duration < SHORTEST {
            return Err(miette::miette!("--duration is at least {SHORTEST:?}"));
        }
        let plan = Plan { program: program()?, ..plan };
        let progress = |row: &Row| {
            let Row { way, seed, throughput_mbit_per_sec, .. } = row;
            let channel = row.channel.name();
            report(
                host,
                format_args!(
                    "{channel}, {way:?}, seed {seed}: {throughput_mbit_per_sec:.2} Mbit/s"
                ),
            );
        };
        let result = downlink::run(&plan, progress).into_diagnostic()?;
        Outcome::of_text(result.to_string(), Some(&result.provenance), &result).map(Some)
    }
}
