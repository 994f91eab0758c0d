use std::time::Duration;

use miette::IntoDiagnostic;
use sounding_units::Rate;

use crate::emu_ceiling;
use crate::experiment::{Experiment, Host, Needs, Outcome, report};

/// How many packets the emulator moves, how punctually, and for how much CPU time
#[derive(clap::Args)]
pub(crate) struct Flags {
    /// Rates of the link
    #[arg(
        long,
        value_name = "RATE,…",
        value_delimiter = ',',
        default_value = "12Mbit,100Mbit,500Mbit,1000Mbit,1200Mbit,1500Mbit"
    )]
    rates: Vec<Rate>,

    /// Delay each way
    #[arg(long, value_name = "TIME", default_value = "20ms", value_parser = humantime::parse_duration)]
    delay: Duration,

    /// How long to send at each rate
    #[arg(long, value_name = "TIME", default_value = "8s", value_parser = humantime::parse_duration)]
    duration: Duration,

    /// Percent of a core for punctuality
    #[arg(long, value_name = "PERCENT", default_value_t = 10, value_parser = clap::value_parser!(u8).range(1..=100))]
    punctuality: u8,
}

/// See the module.
pub(crate) struct EmuCeilingExperiment;

impl Experiment for EmuCeilingExperiment {
    type Flags = Flags;

    fn name(&self) -> &'static str {
        "emu-ceiling"
    }

    fn about(&self) -> &'static str {
        "packet rate, punctuality and CPU time of the emulator"
    }

    fn needs(&self) -> Needs {
        Needs::Root
    }

    fn duration(&self) -> Option<&'static str> {
        Some("1 min")
    }

    fn run(&self, flags: Flags, host: &dyn Host) -> miette::Result<Option<Outcome>> {
        let plan = emu_ceiling::Plan {
            rates: flags.rates,
            delay: flags.delay,
            duration: flags.duration,
            overhead_percent: flags.punctuality,
        };
        let progress = |row: &emu_ceiling::Row| {
            let emu_ceiling::Row { rate_mbit, delivered_percent, .. } = row;
            report(host, format_args!("{rate_mbit:.0} Mbit/s: {delivered_percent:.1} % delivered"));
        };
        let result = emu_ceiling::run(&plan, progress).into_diagnostic()?;
        Outcome::new(result.to_string(), result.to_markdown(), &result).map(Some)
    }
}
