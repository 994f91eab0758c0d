use std::time::Duration;

use miette::IntoDiagnostic;

use crate::downlink::{self, Channel, Plan, Row};
use crate::experiment::{Experiment, Host, Needs, Outcome, program, report};

/// A download over a modelled cell: as it is, with its receive window held by the device, and with a sender that obeys the
/// device's TCP option
#[derive(clap::Args)]
pub(crate) struct Flags {
    /// How long each flow sends; the first fifth is not measured
    #[arg(long, value_name = "TIME", default_value = "20s", value_parser = humantime::parse_duration)]
    duration: Duration,

    /// What the radio does: never changes, or fades as people walk by
    #[arg(long, value_name = "LIST", value_delimiter = ',', default_value = "still,fading")]
    channels: Vec<Channel>,

    /// Seeds of the cell, counted from 1
    #[arg(long, value_name = "N", default_value_t = 3, value_parser = clap::value_parser!(u32).range(1..))]
    seeds: u32,
}

/// A flow has found its rate before it is measured.
const SHORTEST: Duration = Duration::from_secs(5);

/// See the module.
pub(crate) struct DownlinkExperiment;

impl Experiment for DownlinkExperiment {
    type Flags = Flags;

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
        Some("6 min")
    }

    fn run(&self, flags: Flags, host: &dyn Host) -> miette::Result<Option<Outcome>> {
        if flags.duration < SHORTEST {
            return Err(miette::miette!("--duration is at least {SHORTEST:?}"));
        }
        let program = program()?;
        let Flags { duration, channels, seeds } = flags;
        let plan = Plan { duration, channels, seeds, program };
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
