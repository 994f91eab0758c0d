use std::time::Duration;

use clap::builder::{PossibleValuesParser, TypedValueParser};
use miette::IntoDiagnostic;
use sounding_cell::config::NetworkKind;

use crate::estimates::bound;
use crate::experiment::{Card, Experiment, Host, Outcome, jobs, report};

/// How often an estimate is right about whether the radio or the sender sets the limit, in modelled
/// cells
#[derive(clap::Args)]
pub(crate) struct Flags {
    /// Runs, each with a separate cell, load and flow
    #[arg(long, value_name = "N", default_value_t = 1000, value_parser = clap::value_parser!(u64).range(1..=1_000_000))]
    seeds: u64,

    /// The first run's seed; the others follow
    #[arg(long, value_name = "SEED", default_value_t = 0, value_parser = clap::value_parser!(u64).range(..=1 << 40))]
    first: u64,

    /// Runs at once; default: one for each processor
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u8).range(1..))]
    jobs: Option<u8>,

    /// How the network answers the device's requests and reports
    #[arg(long, value_name = "KIND", default_value = "operator", value_parser = PossibleValuesParser::new(NETWORKS.map(|(name, _)| name)).map(|name| network(&name)))]
    network: NetworkKind,

    /// The device's periodicBSR-Timer
    #[arg(long, value_name = "MS", default_value_t = 5, value_parser = clap::value_parser!(u16).range(1..=2_560))]
    timer: u16,
}

/// The kinds by their names.
const NETWORKS: [(&str, NetworkKind); 3] = [
    ("operator", NetworkKind::Operator),
    ("srsran", NetworkKind::Srsran),
    ("before", NetworkKind::Before),
];

/// The kind of this name; the parser has refused all others.
fn network(name: &str) -> NetworkKind {
    NETWORKS.iter().find(|(known, _)| *known == name).map_or_else(Default::default, |of| of.1)
}

/// See the module.
pub(crate) struct BoundExperiment;

impl Experiment for BoundExperiment {
    type Flags = Flags;

    fn card(&self) -> Card {
        Card::new("bound", "labels of link estimates against what modelled cells know")
            .lasts("1 min")
    }

    fn run(&self, flags: Flags, host: &dyn Host) -> miette::Result<Option<Outcome>> {
        let plan = bound::Plan {
            first: flags.first,
            seeds: flags.seeds,
            jobs: jobs(flags.jobs),
            network: flags.network,
            timer: Duration::from_millis(flags.timer.into()),
        };
        let step = (plan.seeds / 20).max(1);
        let progress = |done: u64| {
            if done.is_multiple_of(step) {
                report(host, format_args!("{done} of {} runs", plan.seeds));
            }
        };
        let outcome = bound::run(&plan, progress).into_diagnostic()?;
        Outcome::of_text(outcome.to_string(), Some(&outcome.provenance), &outcome).map(Some)
    }
}
