use miette::IntoDiagnostic;

use super::Plan;
use crate::controllers::closed_loop::Contender;
use crate::controllers::closed_loop::experiment::{Cells, contender};
use crate::experiment::{Card, Experiment, Host, Outcome, report_share};

/// A live sender under the feed's advice: how fast it rises from idleness, and follows a drop
///
/// In a still cell a sender begins after a second. After five, the capacity halves. `risen` is the
/// time until it carries 90 % of the capacity, mean of 100 ms; `fallen` the time until it sends no
/// more than the new capacity. `carried` and `queueing` are of a minute over a channel that fades,
/// in a cell with others: a part of what a saturating sender carries, and the time until a packet
/// has been sent once. `frozen` is there the time without a packet that waited no longer than
/// 200 ms, beyond 200 ms each time.
#[derive(clap::Args)]
pub(crate) struct Flags {
    /// Senders: `advice`, `rtt-buffer`, `fixed-half`, or a controller
    #[arg(
        long,
        value_name = "NAME,…",
        value_delimiter = ',',
        default_values = ["advice", "scream", "rtt-buffer", "gcc", "fixed-half"],
        value_parser = contender
    )]
    controllers: Vec<Contender>,

    #[command(flatten)]
    cells: Cells,
}

/// See the module.
pub(crate) struct AdviceExperiment;

impl Experiment for AdviceExperiment {
    type Flags = Flags;

    fn card(&self) -> Card {
        Card::new("advice", "a live sender under the feed's advice, in virtual time")
    }

    fn run(&self, flags: Flags, host: &dyn Host) -> miette::Result<Option<Outcome>> {
        let plan = Plan {
            contenders: flags.controllers,
            seeds: flags.cells.first..flags.cells.first + flags.cells.seeds,
            jobs: flags.cells.jobs(),
        };
        let told = |done, all| report_share(host, done, all, "cells");
        let outcome = super::run(&plan, told).into_diagnostic()?;
        Outcome::of_text(outcome.to_string(), Some(&outcome.provenance), &outcome).map(Some)
    }
}
