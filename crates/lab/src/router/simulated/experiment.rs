use std::time::Duration;

use super::{Case, Kind, Plan, Rule};
use crate::controllers::closed_loop::experiment::Cells;
use crate::experiment::{Card, Experiment, Host, Outcome, report_share};

/// A router's shaper in virtual time: `sounding shape`'s law beside CAKE that is given the truth
///
/// The share is the throughput over that of CAKE that is given the same cell's capacity, mean of
/// 100 ms, 50 ms late; `over` is the 95th percentile of a small packet's one-way delay minus its.
/// All shapers have limits from other seeds: half of the capacity's 10th percentile, its median,
/// and 1.2 times its 99th percentile.
#[derive(clap::Args)]
pub(crate) struct Flags {
    /// What sets the rate: none, naive, ours, truth-0, fixed-10, fixed-50
    #[arg(long, value_name = "RULE,…", value_delimiter = ',',
        default_values = ["none", "naive", "ours"], value_parser = rule)]
    rules: Vec<Rule>,

    /// Cases, as still, walking, driving, handovers, silence
    #[arg(long, value_name = "NAME,…", value_delimiter = ',', value_parser = case)]
    cases: Vec<Case>,

    /// One direction only
    #[arg(long, value_name = "up|down", value_parser = ["up", "down"])]
    direction: Option<String>,

    /// How long there is load
    #[arg(long, value_name = "TIME", default_value = "24s", value_parser = humantime::parse_duration)]
    duration: Duration,

    #[command(flatten)]
    cells: Cells,
}

fn rule(name: &str) -> Result<Rule, String> {
    Rule::named(name).ok_or_else(|| {
        "there are none, naive, ours, truth-0, truth-50, fixed-10 to fixed-90".into()
    })
}

fn case(name: &str) -> Result<Case, String> {
    let names = || Case::simulated().map(|case| case.to_string()).collect::<Vec<_>>();
    Case::named(name).ok_or_else(|| format!("there are {}", names().join(", ")))
}

/// See the module.
pub(crate) struct SimulatedExperiment;

impl Experiment for SimulatedExperiment {
    type Flags = Flags;

    fn card(&self) -> Card {
        Card::new(
            "router/simulated",
            "a router's shaper in virtual time, beside one that is given the truth",
        )
    }

    fn run(&self, flags: Flags, host: &dyn Host) -> miette::Result<Option<Outcome>> {
        let is_asked =
            |kind: &Kind| flags.direction.as_ref().is_none_or(|way| kind.up == (way == "up"));
        let kinds = Kind::ALL.iter().copied().filter(is_asked).collect();
        let plan = Plan {
            rules: flags.rules,
            cases: if flags.cases.is_empty() { Case::simulated().collect() } else { flags.cases },
            kinds,
            seeds: flags.cells.first..flags.cells.first + flags.cells.seeds,
            lasts: flags.duration,
            jobs: flags.cells.jobs(),
        };
        let told = |done, all| report_share(host, done, all, "cells");
        let outcome = super::run(&plan, told)?;
        Outcome::of_text(outcome.to_string(), Some(&outcome.provenance), &outcome).map(Some)
    }
}
