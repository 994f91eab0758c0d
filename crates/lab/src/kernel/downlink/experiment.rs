use std::time::Duration;

use crate::experiment::{Card, Experiment, Host, Needs, Outcome, program, report};
use crate::kernel::downlink::{self, Plan, Row};

/// A flow has found its rate before it is measured.
const SHORTEST: Duration = Duration::from_secs(5);

/// See the module.
pub(crate) struct DownlinkExperiment;

impl Experiment for DownlinkExperiment {
    type Flags = Plan;

    fn card(&self) -> Card {
        Card::new(
            "downlink",
            "a download whose sender is held by its receive window, or told by an option",
        )
        .needs(Needs::Root)
        .lasts("10 min")
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
        let result = downlink::run(&plan, progress)?;
        Outcome::of_text(result.to_string(), Some(&result.provenance), &result).map(Some)
    }
}
