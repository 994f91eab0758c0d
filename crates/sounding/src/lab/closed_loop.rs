use std::process::ExitCode;

use miette::IntoDiagnostic;
use sounding_lab::closed_loop::{self, Case, Contender, Kind, Plan};

use super::Output;

/// Controllers on modelled cells whose grants answer what is sent: throughput, delay, climbs, handovers, fairness
///
/// Of each cell it is found out first what it can carry and how long it takes while it is empty. `biscay-published` takes
/// every estimate for all that the link carries, and stays where its own window holds it; `oracle` knows what the radio
/// would have sent when. Where `sounding` falls short of what is aimed at, that is said below the table, with what these got and
/// what made packets late. `present` and `reported` know the present alone, and may be named too, with what they keep waiting and how
/// far they look back, as `present-15ms-over-30ms`; `sounding lab run references` has their curves.
#[derive(clap::Args)]
pub(super) struct Args {
    /// Who sends: controllers, `biscay-published`, `oracle`, `present`, `reported-15ms-over-100ms`
    #[arg(
        long,
        value_name = "NAME,…",
        value_delimiter = ',',
        default_values = ["sounding", "biscay", "biscay-published", "bbr", "cubic", "oracle"],
        value_parser = contender
    )]
    controllers: Vec<Contender>,

    /// What they meet: still, alone, climb, handover, two, three, beside-cubic
    #[arg(long, value_name = "NAME,…", value_delimiter = ',', value_parser = case)]
    cases: Vec<Case>,

    #[command(flatten)]
    cells: Cells,

    #[command(flatten)]
    output: Output,
}

/// Which cells, and how many runs at once.
#[derive(clap::Args)]
pub(super) struct Cells {
    /// Cells of each kind
    #[arg(long, value_name = "N", default_value_t = 10, value_parser = clap::value_parser!(u64).range(1..=100_000))]
    pub(super) seeds: u64,

    /// The first cell's seed; the others follow
    #[arg(long, value_name = "SEED", default_value_t = 1001, value_parser = clap::value_parser!(u64).range(..=1 << 40))]
    pub(super) first: u64,

    /// Runs at once; as many as this machine has processors unless stated
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u8).range(1..))]
    jobs: Option<u8>,
}

impl Cells {
    pub(super) fn jobs(&self) -> usize {
        self.jobs.map_or_else(crate::sim::processors, usize::from)
    }
}

/// Says how far it is, twenty times at most.
pub(super) fn progress(done: usize, all: usize, what: &str) {
    if done.is_multiple_of(all.div_ceil(20)) {
        eprintln!("{done} of {all} {what}");
    }
}

fn contender(name: &str) -> Result<Contender, String> {
    Contender::by_name(name)
        .ok_or_else(|| format!("there are {}", Contender::names().collect::<Vec<_>>().join(", ")))
}

pub(super) fn case(name: &str) -> Result<Case, String> {
    Case::ALL
        .into_iter()
        .find(|case| case.name() == name)
        .ok_or_else(|| format!("there are {}", Case::ALL.map(Case::name).join(", ")))
}

pub(super) fn run(args: Args) -> miette::Result<ExitCode> {
    let plan = Plan {
        contenders: args.controllers,
        cases: if args.cases.is_empty() { Case::ALL.to_vec() } else { args.cases },
        kinds: Kind::ALL.to_vec(),
        first: args.cells.first,
        seeds: args.cells.seeds,
        jobs: args.cells.jobs(),
    };
    let told = |done, all| progress(done, all, "cells");
    let outcome = closed_loop::run(&plan, told).into_diagnostic()?;
    let text = outcome.to_string();
    let page = format!("```\n{text}```\n\n{}", outcome.provenance);
    args.output.write(&text, &page, &outcome)?;
    Ok(ExitCode::SUCCESS)
}
