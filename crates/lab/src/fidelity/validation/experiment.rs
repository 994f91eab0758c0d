use crate::experiment::{Card, Experiment, Host, Needs, Outcome, report};
use crate::fidelity::mahimahi::experiment::Flags as Rows;
use crate::fidelity::validation;

/// mahimahi compared with the emulator, and the emulator with virtual time: CUBIC and BBR over the
/// same recorded links
// Its group would have the name of the one that is flattened into it.
#[derive(clap::Args)]
#[group(skip)]
pub(crate) struct Flags {
    #[command(flatten)]
    rows: Rows,
}

/// See the module.
pub(crate) struct ValidationExperiment;

impl Experiment for ValidationExperiment {
    type Flags = Flags;

    fn card(&self) -> Card {
        Card::new("validation", "mahimahi, the emulator and virtual time, each beside the next")
            .needs(Needs::Root)
            .lasts("13 min a repetition")
    }

    fn run(&self, flags: Flags, host: &dyn Host) -> miette::Result<Option<Outcome>> {
        let plan = flags.rows.plan();
        let chain = validation::run(&plan, |line| report(host, line))?;
        Outcome::new(chain.to_string(), chain.to_markdown(), &chain).map(Some)
    }
}
