use miette::IntoDiagnostic;

use crate::experiment::{Experiment, Host, Needs, Outcome, report};
use crate::mahimahi::experiment::Flags as Rows;
use crate::validation;

/// mahimahi compared with the emulator, and the emulator with virtual time: CUBIC and BBR over the same recorded links
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

    fn name(&self) -> &'static str {
        "validation"
    }

    fn about(&self) -> &'static str {
        "mahimahi, the emulator and virtual time, each beside the next"
    }

    fn needs(&self) -> Needs {
        Needs::Root
    }

    fn duration(&self) -> Option<&'static str> {
        Some("13 min a repetition")
    }

    fn run(&self, flags: Flags, host: &dyn Host) -> miette::Result<Option<Outcome>> {
        let plan = flags.rows.plan();
        let chain = validation::run(&plan, |line| report(host, line)).into_diagnostic()?;
        Outcome::new(chain.to_string(), chain.to_markdown(), &chain).map(Some)
    }
}
