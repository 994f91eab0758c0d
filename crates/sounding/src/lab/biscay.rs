use std::path::PathBuf;
use std::process::ExitCode;
use std::time::Duration;

use miette::IntoDiagnostic;
use sounding_experiment::provenance::Begun;
use sounding_lab::biscay::{
    Crossing, Item, Methods, Plan, Private, PrivateRun, Report, SHORTEST, Wires, crossings,
    measure, methods, private, private_page, views,
};

use super::Output;
use super::links::{Links, read};
use crate::{screen, signals, sim};

/// An item of BISCAY's evaluation in virtual time: the paper's figures, ours, and why they differ
///
/// Over public recordings of LTE, over a set that `sounding lab dataset` made, whose own Diag logs are then what is told of
/// each link, or over links of your own; the plan is that of papers/biscay.
#[derive(clap::Args)]
pub(super) struct Args {
    #[command(flatten)]
    links: Links,

    /// How long each run lasts, if not as the plan has it
    #[arg(long, value_name = "TIME", value_parser = humantime::parse_duration)]
    duration: Option<Duration>,

    /// Runs at once; as many as this machine has processors unless stated
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u8).range(1..))]
    jobs: Option<u8>,

    #[command(flatten)]
    output: Output,
}

pub(super) fn run(item: Item, args: Args) -> miette::Result<ExitCode> {
    let mut plan: Plan = toml::from_str(item.plan()).into_diagnostic()?;
    if let Some(duration) = args.duration {
        plan.duration = duration;
    }
    if plan.duration < SHORTEST {
        return Err(miette::miette!("--duration is at least {SHORTEST:?}"));
    }
    let begun = Begun::now();
    let jobs = args.jobs.map_or_else(sim::processors, usize::from);
    let entries = args.links.entries()?;
    let progress = |done: usize, all: usize| {
        if done.is_multiple_of(all.div_ceil(20)) {
            eprintln!("{done} of {all} links");
        }
    };
    let figures = measure(&plan, &entries, jobs, &read, progress).into_diagnostic()?;
    let report = Report::of_links(item, &plan, figures, begun.end()).into_diagnostic()?;
    write(&report, &args.output)
}

fn write(report: &Report, output: &Output) -> miette::Result<ExitCode> {
    let text = report.to_string();
    let page = format!("{text}\n{}", report.provenance);
    output.write(&text, &page, report)?;
    Ok(ExitCode::SUCCESS)
}

/// How well rates by BISCAY's methods and raw KPIs go with goodput, over modelled links: the paper's figure, ours, and why
/// they differ
#[derive(clap::Args)]
pub(super) struct Fig5Args {
    /// Only links whose name contains this, as `sounding lab run estimators` calls them
    #[arg(long, value_name = "TEXT")]
    links: Option<String>,

    /// Runs over each link, each at another place with another crowd
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..=1000))]
    seeds: Option<u64>,

    /// How long each flow sends, of which 22s are learnt from
    #[arg(long, value_name = "TIME", value_parser = humantime::parse_duration)]
    duration: Option<Duration>,

    /// Runs at once; as many as this machine has processors unless stated
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u8).range(1..))]
    jobs: Option<u8>,

    #[command(flatten)]
    output: Output,
}

pub(super) fn fig5(args: Fig5Args) -> miette::Result<ExitCode> {
    let plan: Methods = toml::from_str(Item::Fig5.plan()).into_diagnostic()?;
    let plan = Methods {
        links: args.links.unwrap_or(plan.links),
        seeds: args.seeds.unwrap_or(plan.seeds),
        duration: args.duration.unwrap_or(plan.duration),
        ..plan
    };
    if plan.duration < sounding_lab::estimators::SHORTEST {
        return Err(miette::miette!("--duration is at least 30s: 22s are learnt from"));
    }
    let jobs = args.jobs.map_or_else(sim::processors, usize::from);
    let report = methods(&plan, jobs, |line| eprintln!("{line}")).into_diagnostic()?;
    write(&report, &args.output)
}

/// Resource blocks as they are, and as two readers of the modem know them: the paper's figure, ours, and why they differ
#[derive(clap::Args)]
pub(super) struct Fig7Args {
    /// How long to look, if not as the plan has it
    #[arg(long, value_name = "TIME", value_parser = humantime::parse_duration)]
    duration: Option<Duration>,

    /// Of the network, if not as the plan has it
    #[arg(long, value_name = "NUMBER")]
    seed: Option<u64>,

    #[command(flatten)]
    output: Output,
}

pub(super) fn fig7(args: Fig7Args) -> miette::Result<ExitCode> {
    if args.duration.is_some_and(|duration| duration < SHORTEST) {
        return Err(miette::miette!("--duration is at least {SHORTEST:?}"));
    }
    let report = views(args.duration, args.seed).into_diagnostic()?;
    write(&report, &args.output)
}

/// A wire behind the radio that gets narrower than it and wide again: how soon our laws know, in virtual time over a link that is
/// given and over modelled cells, or in this kernel; the paper's figure, ours, and why they differ
///
/// With --kernel the cell is between namespaces, its modem on a pty that a daemon reads, and the flows are this kernel's own, for
/// 70 s each. That needs root. Ctrl-C ends what is under way, puts everything back and prints what was measured until then.
#[derive(clap::Args)]
pub(super) struct Fig10Args {
    /// In this kernel, in real time
    #[arg(long)]
    kernel: bool,

    /// Only these controllers, if not all of the plan
    #[arg(long, value_name = "NAME", value_delimiter = ',')]
    controllers: Vec<String>,

    /// Seeds of the cell, counted from 1, if not as many as the plan has; 1 with --kernel unless stated
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    seeds: Option<u32>,

    /// How long each flow sends, if not as the plan has it
    #[arg(long, value_name = "TIME", value_parser = humantime::parse_duration)]
    duration: Option<Duration>,

    #[command(flatten)]
    output: Output,
}

/// The wire gets narrow after ten seconds.
const FIRST_NARROW: Duration = Duration::from_secs(12);

pub(super) fn fig10(args: Fig10Args) -> miette::Result<ExitCode> {
    if args.duration.is_some_and(|duration| duration < FIRST_NARROW) {
        return Err(miette::miette!(
            "--duration is at least {FIRST_NARROW:?}: the wire gets narrow after 10s"
        ));
    }
    let stop = signals::stop_flag().into_diagnostic()?;
    let program = std::env::current_exe().into_diagnostic()?;
    let plan = Wires {
        duration: args.duration,
        seeds: args.seeds.or(args.kernel.then_some(1)),
        controllers: args.controllers,
        in_kernel: args.kernel.then_some(program),
    };
    let progress = |crossing: &Crossing| {
        if args.kernel {
            let ms = |span: Option<f64>| span.map_or("never".into(), |ms| format!("{ms:.0} ms"));
            let (found, back) = (ms(crossing.found_ms), ms(crossing.back_ms));
            let Crossing { controller, seed, wire_mbit_per_sec, .. } = crossing;
            eprintln!(
                "{controller}, seed {seed}, {wire_mbit_per_sec:.0} Mbit/s: found {found}, back {back}"
            );
        }
    };
    let (report, complete) = crossings(&plan, &stop, progress).into_diagnostic()?;
    write(&report, &args.output)?;
    Ok(ended(complete))
}

/// How an item ends that can be interrupted.
fn ended(complete: bool) -> ExitCode {
    if complete {
        return ExitCode::SUCCESS;
    }
    eprintln!("sounding: interrupted: what is above is of the runs that were finished");
    ExitCode::from(130)
}

/// Our laws, BBR and CUBIC in this kernel over a private network in real time, handovers and all: the paper's figure, ours, and
/// why they differ
///
/// The network is a modelled cell with two base stations between namespaces; its modem is on a pty, which a daemon reads for
/// BISCAY. Needs root. Ctrl-C ends what is under way, puts everything back and prints what was measured until then.
#[derive(clap::Args)]
pub(super) struct Fig11bArgs {
    /// Runs of each algorithm with each seed
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = clap::value_parser!(u32).range(1..))]
    reps: u32,

    /// Seeds of the network, counted from 1, if not as many as the plan has
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    seeds: Option<u32>,

    /// How long each flow sends, if not as the plan has it; its first 3s are not measured
    #[arg(long, value_name = "TIME", value_parser = humantime::parse_duration)]
    duration: Option<Duration>,

    /// Folder for a report page with boxes and distributions
    #[arg(long, value_name = "DIR")]
    out: Option<PathBuf>,

    #[command(flatten)]
    output: Output,
}

pub(super) fn fig11b(args: Fig11bArgs) -> miette::Result<ExitCode> {
    if args.duration.is_some_and(|duration| duration < SHORTEST) {
        return Err(miette::miette!("--duration is at least {SHORTEST:?}"));
    }
    // Before anything is started, so that no signal finds a half-made emulation.
    let stop = signals::stop_flag().into_diagnostic()?;
    let plan = Private {
        duration: args.duration,
        seeds: args.seeds,
        reps: args.reps,
        program: std::env::current_exe().into_diagnostic()?,
    };
    let progress = |run: &PrivateRun| {
        eprintln!(
            "{}, seed {}: {:.2} Mbit/s, p95 {:.0} ms",
            run.controller, run.seed, run.throughput_mbit_per_sec, run.p95_ms
        );
    };
    let (report, complete) = private(&plan, &stop, progress).into_diagnostic()?;
    write(&report, &args.output)?;
    if let Some(folder) = &args.out {
        private_page(&report).write(folder).into_diagnostic()?;
        eprintln!("report: {}", screen::path(&folder.join("report.html")));
    }
    Ok(ended(complete))
}
