use miette::IntoDiagnostic;

use crate::estimates::busyness::{self, Scene};
use crate::experiment::{Card, Experiment, Host, Outcome, jobs, report_share};

/// Whether background flows know that their cell is busy, by the cell's own account of its resource
/// blocks
///
/// Windows of 100 ms in which the flow sends are judged, after five seconds. Rivals are other
/// devices that download without end.
#[derive(clap::Args)]
pub(crate) struct Flags {
    /// Runs of each law in each scene
    #[arg(long, value_name = "N", default_value_t = 2, value_parser = clap::value_parser!(u64).range(1..=10_000))]
    seeds: u64,

    /// The first run's seed; the others follow
    #[arg(long, value_name = "SEED", default_value_t = 2001, value_parser = clap::value_parser!(u64).range(..=1 << 40))]
    first: u64,

    /// How long each run lasts, in seconds
    #[arg(long, value_name = "SECONDS", default_value_t = 30, value_parser = clap::value_parser!(u64).range(6..=10_000))]
    seconds: u64,

    /// Every scheduler and receiver in every cell, 960 scenes, and not one difference at a time
    #[arg(long)]
    full: bool,

    /// Only the scenes that have to be right: 20 MHz and ticks of 1 ms, at every speed, with none
    /// to four rivals
    #[arg(long, conflicts_with = "full")]
    required: bool,

    /// Runs at once; as many as this machine has processors unless stated
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u8).range(1..))]
    jobs: Option<u8>,
}

/// See the module.
pub(crate) struct BusynessExperiment;

impl Experiment for BusynessExperiment {
    type Flags = Flags;

    fn card(&self) -> Card {
        Card::new(
            "busyness",
            "labels of background flows, busy or free, against who had the modelled cell",
        )
        .alias("legilimens/blind")
        .lasts("5 min")
    }

    fn run(&self, flags: Flags, host: &dyn Host) -> miette::Result<Option<Outcome>> {
        let mut scenes = if flags.full { Scene::all() } else { Scene::one_by_one() };
        scenes.retain(|scene| !flags.required || scene.is_required());
        let plan = busyness::Plan {
            first: flags.first,
            seeds: flags.seeds,
            secs: flags.seconds,
            scenes,
            jobs: jobs(flags.jobs),
        };
        let progress = |done, all| report_share(host, done, all, "runs");
        let judged = busyness::run(&plan, progress).into_diagnostic()?;
        Outcome::of_markdown(judged.to_string(), &judged.provenance, &judged).map(Some)
    }
}
