use std::time::Duration;

use miette::IntoDiagnostic;

use crate::agreement;
use crate::experiment::{Experiment, Host, Needs, Outcome, program, report};

/// This kernel's controllers in real time beside ours in virtual time, over the same modelled cells
#[derive(clap::Args)]
pub(crate) struct Flags {
    /// How long each flow sends; the first fifth is not measured
    #[arg(long, value_name = "TIME", default_value = "20s", value_parser = humantime::parse_duration)]
    duration: Duration,

    /// Seeds of each cell, counted from 1
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = clap::value_parser!(u32).range(1..))]
    seeds: u32,
}

/// See the module.
pub(crate) struct AgreementExperiment;

impl Experiment for AgreementExperiment {
    type Flags = Flags;

    fn name(&self) -> &'static str {
        "agreement"
    }

    fn about(&self) -> &'static str {
        "the kernel's controllers in real time beside ours in virtual time"
    }

    fn needs(&self) -> Needs {
        Needs::Root
    }

    fn duration(&self) -> Option<&'static str> {
        Some("5 min")
    }

    fn run(&self, flags: Flags, host: &dyn Host) -> miette::Result<Option<Outcome>> {
        let program = program()?;
        let plan = agreement::Plan { duration: flags.duration, seeds: flags.seeds, program };
        let progress = |row: &agreement::Row| {
            let agreement::Row { cell, seed, way, controller, .. } = row;
            report(host, format_args!("{cell}, seed {seed}, {way}, {controller}"));
        };
        let result = agreement::run(&plan, progress).into_diagnostic()?;
        Outcome::new(result.to_string(), result.to_markdown(), &result).map(Some)
    }
}
