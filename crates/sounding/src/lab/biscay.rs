use std::path::PathBuf;
use std::process::ExitCode;
use std::time::Duration;

use miette::IntoDiagnostic;
use sounding_lab::biscay::{Item, Plan, Report, chosen, crossings, dataset, measure, real};
use sounding_lab::provenance::Begun;

use super::Output;

/// An item of BISCAY's evaluation in virtual time: the paper's figures, ours, and why they differ
///
/// Over public recordings of LTE, or over a set that `sounding lab dataset` made; the plan is that of papers/biscay.
#[derive(clap::Args)]
pub(super) struct Args {
    /// Folder of a set of traces instead of the recordings
    #[arg(long, value_name = "DIR")]
    dataset: Option<PathBuf>,

    /// Only links whose name contains this
    #[arg(long, value_name = "TEXT")]
    links: Option<String>,

    /// At most so many links, evenly over the list
    #[arg(long, value_name = "N")]
    most: Option<usize>,

    /// How long each run lasts, if not as the plan has it
    #[arg(long, value_name = "TIME", value_parser = humantime::parse_duration)]
    duration: Option<Duration>,

    /// Runs at once; as many as this machine has processors unless stated
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u8).range(1..))]
    jobs: Option<u8>,

    /// Folder with traces
    #[arg(long, value_name = "DIR", env = "SOUNDING_DATA", default_value = "../shared/data")]
    data: PathBuf,

    #[command(flatten)]
    output: Output,
}

/// Flows are looked at from 2.3 s on.
const SHORTEST: Duration = Duration::from_secs(4);

pub(super) fn run(item: Item, args: Args) -> miette::Result<ExitCode> {
    let mut plan: Plan = toml::from_str(item.plan()).into_diagnostic()?;
    if let Some(duration) = args.duration {
        plan.duration = duration;
    }
    if plan.duration < SHORTEST {
        return Err(miette::miette!("--duration is at least {SHORTEST:?}"));
    }
    let begun = Begun::now();
    let jobs = args.jobs.map_or_else(crate::sim::processors, usize::from);
    let (mut figures, mut over_wires) = (Vec::new(), Vec::new());
    match &plan.wire {
        Some(wire) => {
            let wire = wire.parse().into_diagnostic()?;
            over_wires = crossings(&plan, &wire).into_diagnostic()?;
        }
        None => {
            let (entries, folder) = match &args.dataset {
                Some(folder) => (dataset(folder), folder),
                None => (real(&args.data), &args.data),
            };
            let entries =
                chosen(entries.into_diagnostic()?, folder, args.links.as_deref(), args.most)
                    .into_diagnostic()?;
            let progress = |done: usize, all: usize| {
                if done.is_multiple_of(all.div_ceil(20)) {
                    eprintln!("{done} of {all} links");
                }
            };
            figures = measure(&plan, &entries, jobs, progress).into_diagnostic()?;
        }
    }
    let report = Report::new(item, &plan, figures, over_wires, begun.end()).into_diagnostic()?;
    let text = report.to_string();
    let page = format!("{text}\n{}", report.provenance);
    args.output.write(&text, &page, &report)?;
    Ok(ExitCode::SUCCESS)
}
