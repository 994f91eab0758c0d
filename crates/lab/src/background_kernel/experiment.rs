use std::time::Duration;

use miette::IntoDiagnostic;

use crate::background_kernel::{self, Plan};
use crate::experiment::{Experiment, Host, Needs, Outcome, program, report};

/// `background` in this kernel beside virtual time, on the same plan
///
/// A download at a phone in a modelled cell, alone and beside a rival at another phone. The rival comes after a third of a
/// run and goes after two thirds.
#[derive(clap::Args)]
pub(crate) struct Flags {
    /// Runs of each scene in each world
    #[arg(long, value_name = "N", default_value_t = 5, value_parser = clap::value_parser!(u64).range(1..=99))]
    seeds: u64,

    /// How long each run lasts
    #[arg(long, value_name = "TIME", default_value = "36s", value_parser = humantime::parse_duration)]
    duration: Duration,
}

/// See the module.
pub(crate) struct BackgroundKernelExperiment;

impl Experiment for BackgroundKernelExperiment {
    type Flags = Flags;

    fn name(&self) -> &'static str {
        "background-kernel"
    }

    fn about(&self) -> &'static str {
        "background in this kernel beside virtual time: throughput, yield and time in each state"
    }

    fn needs(&self) -> Needs {
        Needs::Root
    }

    fn duration(&self) -> Option<&'static str> {
        Some("7 min")
    }

    fn run(&self, flags: Flags, host: &dyn Host) -> miette::Result<Option<Outcome>> {
        if flags.duration < Duration::from_secs(12) {
            return Err(miette::miette!(
                "--duration is at least 12s: the law learns its cell first"
            ));
        }
        let plan = Plan { seeds: flags.seeds, lasts: flags.duration, program: program()? };
        let compared =
            background_kernel::run(&plan, |line| report(host, line)).into_diagnostic()?;
        Outcome::of_markdown(compared.to_string(), &compared.provenance, &compared).map(Some)
    }
}
