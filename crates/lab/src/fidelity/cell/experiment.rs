use std::path::PathBuf;
use std::time::Duration;

use miette::IntoDiagnostic;

use crate::experiment::{Card, Experiment, Host, Outcome, report};
use crate::fidelity::cell;

/// The modelled cell, compared with papers that measured real cells, and with real captures and
/// logs; needs no rights
#[derive(clap::Args)]
pub(crate) struct Flags {
    /// Number of seeds
    #[arg(long, value_name = "N", default_value_t = 5, value_parser = clap::value_parser!(u32).range(1..))]
    seeds: u32,

    /// The first of them
    #[arg(long, value_name = "NUMBER", default_value_t = 1)]
    seed: u64,

    /// Duration of each run, in the model's time
    #[arg(long, value_name = "TIME", default_value = "60s", value_parser = humantime::parse_duration)]
    duration: Duration,

    /// Folder with captures and logs
    #[arg(long, value_name = "DIR", env = "SOUNDING_DATA", default_value = "../shared/data")]
    data: PathBuf,
}

/// Rates and errors are measured per second, and a median needs this many.
const SHORTEST: Duration = Duration::from_secs(10);

/// See the module.
pub(crate) struct CellExperiment;

impl Experiment for CellExperiment {
    type Flags = Flags;

    fn card(&self) -> Card {
        Card::new(
            "cell",
            "the modelled cell beside the papers, real captures and a real stack's logs",
        )
        .lasts("3 min")
    }

    fn run(&self, flags: Flags, host: &dyn Host) -> miette::Result<Option<Outcome>> {
        if flags.duration < SHORTEST {
            return Err(miette::miette!("--duration is at least {SHORTEST:?}"));
        }
        let plan = cell::Plan {
            data: flags.data.exists().then_some(flags.data),
            seed: flags.seed,
            seeds: flags.seeds,
            span: flags.duration,
        };
        let result = cell::run(&plan, |line| report(host, line)).into_diagnostic()?;
        Outcome::new(result.to_string(), result.to_markdown(), &result).map(Some)
    }
}
