use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::atomic::Ordering;
use std::time::Duration;

use miette::{IntoDiagnostic, NamedSource, SourceSpan};
use sounding_experiment::plan::{PlanError, Text};
use sounding_experiment::results::Results;
pub(crate) use sounding_experiment::results::run_folder;
use sounding_experiment::simulate::{self, About, Finished, Keep};
use sounding_experiment::study::{Study, StudyError};

use crate::progress::{self, ProgressBar};
use crate::screen;
use crate::signals;

/// Run a plan in virtual time.
///
/// PLAN is a TOML file: a network (a modelled cell or given links), flows over it, how long, and
/// with which seeds; and lists of values for any of its keys; every combination of values is a run.
/// The same plan and seed give the same bytes on every machine. Commented examples are in
/// examples/plans; docs/reference/plans.md explains every key.
#[derive(clap::Args)]
#[command(after_long_help = EXAMPLES)]
pub(crate) struct Args {
    /// The plan
    plan: PathBuf,

    /// Only with this seed
    #[arg(long, value_name = "N")]
    seed: Option<u64>,

    /// Set a key of the plan, as duration=5s, flows.0.controller=bbr or
    /// flows.0.controller=copa:delta=0.1; may be given several times
    #[arg(long, value_name = "KEY=VALUE")]
    set: Vec<String>,

    /// Runs at once [default: one for each processor]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..))]
    jobs: Option<u16>,

    /// Folder for the results: result.json, flows.parquet and a folder for each run with kept data
    #[arg(long, value_name = "DIR")]
    out: Option<PathBuf>,

    /// Print the results as JSON instead of a table
    #[arg(long)]
    json: bool,

    /// Only check the plan, and print its number of runs
    #[arg(long)]
    check: bool,

    /// Keep what happens to each flow in bins of this width
    #[arg(long, value_name = "TIME", value_parser = humantime::parse_duration, requires = "out")]
    series: Option<Duration>,

    /// Keep each data packet
    #[arg(long, requires = "out")]
    packets: bool,

    /// Keep the output of each modem, as a capture
    #[arg(long, requires = "out")]
    captures: bool,

    /// Keep the deliveries of each flow, as a packet-delivery trace of mahimahi
    #[arg(long, requires = "out")]
    traces: bool,

    /// Keep when each packet passed where in a modelled cell, for judging
    #[arg(long, requires = "out")]
    truth: bool,
}

const EXAMPLES: &str = "\
Examples:
  sounding sim examples/plans/biscay.toml
  sounding sim examples/plans/biscay.toml --set duration=5s --seed 7 --json
  sounding sim examples/plans/pbe-cc.toml --out results --series 100ms --captures
  sounding link results/run-0001/phone.qmdl

Files of a run appear when it is complete. Ctrl-C gives up what is under way and keeps what is finished; the exit status is \
then 1.";

/// A packet of 1500 bytes takes this time at 12 Mbit/s. Narrower bins would show single packets.
const NARROWEST: Duration = Duration::from_millis(1);

/// The width of bins, if it is one.
pub(crate) fn series(width: Option<Duration>) -> miette::Result<Option<Duration>> {
    if width.is_some_and(|width| width < NARROWEST) {
        return Err(miette::miette!("--series is at least {NARROWEST:?}"));
    }
    Ok(width)
}

/// Runs the verb.
pub(crate) fn run(args: Args) -> miette::Result<ExitCode> {
    let series = series(args.series)?;
    let mut text = Text::read(&args.plan).map_err(shown)?;
    let seed = args.seed.map(|seed| format!("seeds={seed}"));
    for set in args.set.iter().chain(&seed) {
        text.set(set).map_err(shown)?;
    }
    let study = Study::new(text).map_err(shown)?;
    let total: Duration = study.runs().iter().map(|run| run.plan.duration).sum();
    if args.check {
        let flows = study.runs().iter().map(|run| run.plan.flows.len()).max().unwrap_or(0);
        let (runs, seconds) = (study.runs().len(), total.as_secs_f64());
        println!(
            "{}: {runs} runs, {seconds} s in all, {flows} kinds of flows",
            screen::path(&args.plan)
        );
        return Ok(ExitCode::SUCCESS);
    }
    let keep = Keep {
        series,
        packets: args.packets,
        captures: args.captures,
        traces: args.traces,
        truth: args.truth,
        sniffer: false,
    };
    let stop = signals::stop_flag().into_diagnostic()?;
    let jobs = args.jobs.map_or_else(processors, usize::from);
    let bar = progress(total);
    let mut passed = |span: Duration| bar.inc(span.as_millis() as u64);
    let finished = study.run_on(jobs, &keep, args.out.as_deref(), &stop, &mut passed);
    bar.finish_and_clear();
    if stop.load(Ordering::Relaxed) {
        eprintln!();
    }
    let finished = finished.map_err(failed)?;
    if args.json {
        print!("{}", simulate::json(study.about(), &finished).into_diagnostic()?);
    } else {
        print!("{}", simulate::table(&finished));
    }
    if finished.complete {
        return Ok(ExitCode::SUCCESS);
    }
    let (done, all) = (finished.outcomes.len(), study.runs().len());
    eprintln!(
        "sounding: stopped: {done} of {all} runs are finished, and what is written of them is whole"
    );
    Ok(ExitCode::FAILURE)
}

fn failed(error: StudyError) -> miette::Report {
    match error {
        StudyError::Plan(error) => shown(error),
        error => miette::Report::msg(error.to_string()),
    }
}

/// Writes the results of all runs into a folder, each file whole.
pub(crate) fn store(out: &Path, about: &About, finished: &Finished) -> miette::Result<()> {
    Results::of(out).store(about, finished).into_diagnostic()
}

pub(crate) fn processors() -> usize {
    std::thread::available_parallelism().map_or(1, usize::from)
}

/// A bar of virtual time.
fn progress(total: Duration) -> ProgressBar {
    let length = Some(total.as_millis() as u64);
    progress::line("{bar:40} {percent} %, {elapsed} elapsed, {eta} left", length)
}

/// A fault in a plan, with its place in the text.
#[derive(Debug, thiserror::Error, miette::Diagnostic)]
#[error("{message}")]
struct Shown {
    message: String,
    #[source_code]
    text: Option<NamedSource<String>>,
    #[label("here")]
    label: Option<SourceSpan>,
}

pub(crate) fn shown(error: PlanError) -> miette::Report {
    let message = error.to_string();
    let PlanError { name, text, span, .. } = error;
    let label = span.map(|span| SourceSpan::from(span.start..span.end.max(span.start)));
    let text = label.map(|_| NamedSource::new(name, text));
    Shown { message, text, label }.into()
}
