use miette::IntoDiagnostic;
use sounding_cc::ChoiceError;

use crate::controllers::closed_loop::{self, Case, Contender, Kind, Plan};
use crate::experiment::{Card, Experiment, Host, Outcome, jobs, report_share};

/// Controllers on modelled cells whose grants depend on what is sent: throughput, delay, climbs,
/// handovers, fairness
///
/// First each cell's capacity and its delay while empty are measured. `biscay-published` treats
/// every estimate as the whole capacity, and does not grow beyond its own window. `oracle` knows
/// the radio's future. The text below the table lists missed targets of `sounding`, with the
/// results of these and the causes of late packets. `present` and `reported` know only the present,
/// and may be named too, with their queue target and averaging span, as `present-15ms-over-30ms`;
/// docs/results/references.md has their curves.
#[derive(clap::Args)]
pub(crate) struct Flags {
    /// Senders: controllers, also with parameters as `copa:delta=0.1:mode=default`,
    /// `biscay-published`, `oracle`, `present`, `reported-15ms-over-100ms`
    #[arg(
        long,
        value_name = "NAME,…",
        value_delimiter = ',',
        default_values = ["sounding", "biscay", "biscay-published", "bbr", "cubic", "oracle"],
        value_parser = contender
    )]
    controllers: Vec<Contender>,

    /// Situations: still, alone, climb, handover, two, three, beside-cubic
    #[arg(long, value_name = "NAME,…", value_delimiter = ',', value_parser = case)]
    cases: Vec<Case>,

    #[command(flatten)]
    cells: Cells,
}

/// The cells, and the number of parallel runs.
#[derive(clap::Args)]
pub(crate) struct Cells {
    /// Cells of each kind
    #[arg(long, value_name = "N", default_value_t = 10, value_parser = clap::value_parser!(u64).range(1..=100_000))]
    pub(crate) seeds: u64,

    /// The first cell's seed; the others follow
    #[arg(long, value_name = "SEED", default_value_t = 1001, value_parser = clap::value_parser!(u64).range(..=1 << 40))]
    pub(crate) first: u64,

    /// Runs at once; default: one for each processor
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u8).range(1..))]
    jobs: Option<u8>,
}

impl Cells {
    pub(crate) fn jobs(&self) -> usize {
        jobs(self.jobs)
    }
}

pub(crate) fn contender(name: &str) -> Result<Contender, String> {
    Contender::by_name(name).map_err(|error| match error {
        ChoiceError::Controller { .. } => {
            format!("there are {}", Contender::names().collect::<Vec<_>>().join(", "))
        }
        error => error.to_string(),
    })
}

pub(crate) fn case(name: &str) -> Result<Case, String> {
    Case::ALL
        .into_iter()
        .find(|case| case.name() == name)
        .ok_or_else(|| format!("there are {}", Case::ALL.map(Case::name).join(", ")))
}

/// See the module.
pub(crate) struct ClosedLoopExperiment;

impl Experiment for ClosedLoopExperiment {
    type Flags = Flags;

    fn card(&self) -> Card {
        Card::new("closed-loop", "controllers on modelled cells that grant what is asked for")
    }

    fn run(&self, flags: Flags, host: &dyn Host) -> miette::Result<Option<Outcome>> {
        let plan = Plan {
            contenders: flags.controllers,
            cases: if flags.cases.is_empty() { Case::ALL.to_vec() } else { flags.cases },
            kinds: Kind::ALL.to_vec(),
            first: flags.cells.first,
            seeds: flags.cells.seeds,
            jobs: flags.cells.jobs(),
        };
        let told = |done, all| report_share(host, done, all, "cells");
        let outcome = closed_loop::run(&plan, told).into_diagnostic()?;
        Outcome::of_text(outcome.to_string(), Some(&outcome.provenance), &outcome).map(Some)
    }
}
