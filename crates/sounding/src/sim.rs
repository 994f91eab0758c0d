use std::fs;
use std::io::{self, BufWriter, IsTerminal};
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use indicatif::{ProgressBar, ProgressStyle};
use miette::{Context, IntoDiagnostic, NamedSource, SourceSpan};
use sounding_lab::plan::{PlanError, Run, Text, network};
use sounding_lab::simulate::{self, About, Files, Finished, Keep, Place, SimulateError};

use crate::output::{Folder, Output, Packing};
use crate::signals;

/// Run a plan in virtual time.
///
/// PLAN is a TOML file: a network (a modelled cell or given links), flows over it, how long, and with which seeds; and
/// lists of values for any of its keys, of which every combination is a run. The same plan and seed give the same bytes on
/// every machine. Commented examples are in examples/plans; docs/plans.md explains every key.
#[derive(clap::Args)]
#[command(after_long_help = EXAMPLES)]
pub(crate) struct Args {
    /// The plan
    plan: PathBuf,

    /// Only with this seed
    #[arg(long, value_name = "N")]
    seed: Option<u64>,

    /// Set a key of the plan, as duration=5s or flows.0.controller=bbr; may be given several times
    #[arg(long, value_name = "KEY=VALUE")]
    set: Vec<String>,

    /// Runs at once [default: one for each processor]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..))]
    jobs: Option<u16>,

    /// Folder for the results: result.json, flows.parquet and a folder for each run of which something is kept
    #[arg(long, value_name = "DIR")]
    out: Option<PathBuf>,

    /// Print the results as JSON instead of a table
    #[arg(long)]
    json: bool,

    /// Only say whether the plan is one, and how many runs it comes to
    #[arg(long)]
    check: bool,

    /// Keep what happens to each flow in bins of this width
    #[arg(long, value_name = "TIME", value_parser = humantime::parse_duration, requires = "out")]
    series: Option<Duration>,

    /// Keep each data packet
    #[arg(long, requires = "out")]
    packets: bool,

    /// Keep what each modem wrote, as a capture
    #[arg(long, requires = "out")]
    captures: bool,

    /// Keep what each flow got, as a packet-delivery trace of mahimahi
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

Files of a run appear when it is complete. Ctrl-C gives up what is under way and keeps what is finished; the exit status is
then 1.";

/// Runs the verb.
pub(crate) fn run(args: Args) -> miette::Result<ExitCode> {
    let mut text = Text::read(&args.plan).map_err(shown)?;
    let seed = args.seed.map(|seed| format!("seeds={seed}"));
    for set in args.set.iter().chain(&seed) {
        text.set(set).map_err(shown)?;
    }
    let runs = text.runs().map_err(shown)?;
    for run in &runs {
        network::<()>(&run.plan, &run.folder, run.seed)
            .map_err(|wrong| shown(text.locate(run, wrong)))?;
    }
    if args.check {
        let flows = runs.iter().map(|run| run.plan.flows.len()).max().unwrap_or(0);
        let total: Duration = runs.iter().map(|run| run.plan.duration).sum();
        let (runs, seconds) = (runs.len(), total.as_secs_f64());
        println!(
            "{}: {runs} runs, {seconds} s in all, {flows} kinds of flows",
            args.plan.display()
        );
        return Ok(ExitCode::SUCCESS);
    }
    let keep = Keep {
        series: args.series,
        packets: args.packets,
        captures: args.captures,
        traces: args.traces,
        truth: args.truth,
        sniffer: args.out.is_some() && runs.iter().any(sniffs),
    };
    if let Some(out) = &args.out {
        prepare(out, &runs, &keep)?;
    }
    let about = About::new(&text);
    let stop = signals::stop_flag().into_diagnostic()?;
    let jobs = args.jobs.map_or_else(processors, usize::from);
    let finished = execute(&runs, &keep, &about, jobs, &stop, args.out.as_deref()).map_err(
        |(at, error)| match error {
            SimulateError::Plan(wrong) => shown(text.locate(&runs[at], wrong)),
            error => miette::Report::msg(error.to_string()),
        },
    )?;
    if let Some(out) = &args.out {
        store(out, &about, &finished)?;
    }
    if args.json {
        print!("{}", simulate::json(&about, &finished).into_diagnostic()?);
    } else {
        print!("{}", simulate::table(&finished));
    }
    if finished.complete {
        return Ok(ExitCode::SUCCESS);
    }
    let (done, all) = (finished.outcomes.len(), runs.len());
    eprintln!(
        "sounding: stopped: {done} of {all} runs are finished, and what is written of them is whole"
    );
    Ok(ExitCode::FAILURE)
}

fn sniffs(run: &Run) -> bool {
    run.plan.cell.as_ref().is_some_and(|cell| cell.sniffer)
}

/// Runs everything, and shows how far it has come.
pub(crate) fn execute(
    runs: &[Run],
    keep: &Keep,
    about: &About,
    jobs: usize,
    stop: &AtomicBool,
    out: Option<&Path>,
) -> Result<Finished, (usize, SimulateError)> {
    let total: Duration = runs.iter().map(|run| run.plan.duration).sum();
    let bar = progress(total);
    let open = |run: &Run| -> io::Result<Box<dyn Place>> {
        let out = out.ok_or_else(|| io::Error::other("no folder for results"))?;
        run_folder(&folder_of(out, run))
    };
    let mut passed = |span: Duration| bar.inc(span.as_millis() as u64);
    let finished = simulate::all(runs, keep, about, jobs, stop, &open, &mut passed);
    bar.finish_and_clear();
    if stop.load(Ordering::Relaxed) {
        eprintln!();
    }
    finished
}

fn folder_of(out: &Path, run: &Run) -> PathBuf {
    out.join(format!("run-{:04}", run.number))
}

/// Begins the folder of a run.
pub(crate) fn run_folder(path: &Path) -> io::Result<Box<dyn Place>> {
    Ok(Box::new(RunFolder(Folder::begin(path)?)))
}

/// What a run leaves behind, whole or not at all.
struct RunFolder(Folder);

impl Files for RunFolder {
    fn create(&mut self, name: &str) -> io::Result<simulate::Output> {
        Ok(Box::new(BufWriter::new(self.0.file(name)?)))
    }
}

impl Place for RunFolder {
    fn finish(self: Box<Self>) -> io::Result<()> {
        self.0.finish()
    }
}

/// Makes the folder for the results, and refuses one that has some: which of them are of which plan nobody could say.
fn prepare(out: &Path, runs: &[Run], keep: &Keep) -> miette::Result<()> {
    fs::create_dir_all(out)
        .into_diagnostic()
        .wrap_err_with(|| format!("the folder for the results, {}", out.display()))?;
    let mut there = runs.iter().filter(|_| keep.is_anything()).map(|run| folder_of(out, run));
    let result = out.join("result.json");
    let taken = there.find(|folder| folder.exists()).or_else(|| result.exists().then_some(result));
    taken.map_or(Ok(()), |path| {
        Err(miette::miette!(
            help = "name another folder with --out, or remove this one",
            "{} is there already",
            path.display()
        ))
    })
}

/// Writes the results of all runs, each file whole.
pub(crate) fn store(out: &Path, about: &About, finished: &Finished) -> miette::Result<()> {
    let failed = |path: &Path| format!("cannot write {}", path.display());
    let path = out.join("flows.parquet");
    let mut folder = tempfile::Builder::new();
    let file = folder.prefix(".sounding-").tempfile_in(out).into_diagnostic();
    let file = file.wrap_err_with(|| failed(&path))?;
    let writer = BufWriter::new(file.reopen().into_diagnostic()?);
    simulate::parquet(about, finished, Box::new(writer))
        .into_diagnostic()
        .wrap_err_with(|| failed(&path))?;
    file.persist(&path).into_diagnostic().wrap_err_with(|| failed(&path))?;
    let path = out.join("result.json");
    let json = simulate::json(about, finished).into_diagnostic()?;
    write(&path, json.as_bytes()).into_diagnostic().wrap_err_with(|| failed(&path))
}

/// Writes a file that is there whole or not at all.
pub(crate) fn write(path: &Path, bytes: &[u8]) -> io::Result<()> {
    let mut output = Output::begin(path, Packing::None)?;
    io::Write::write_all(&mut output, bytes)?;
    output.finish()
}

pub(crate) fn processors() -> usize {
    std::thread::available_parallelism().map_or(1, usize::from)
}

/// A bar of virtual time.
fn progress(total: Duration) -> ProgressBar {
    if !io::stderr().is_terminal() {
        return ProgressBar::hidden();
    }
    let style = ProgressStyle::with_template("{bar:40} {percent} %, {elapsed} gone, {eta} to go")
        .unwrap_or_else(|_| ProgressStyle::default_bar());
    ProgressBar::new(total.as_millis() as u64).with_style(style)
}

/// What is wrong with a plan, with the place in its text.
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
