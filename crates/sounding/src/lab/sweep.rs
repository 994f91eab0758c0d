use std::collections::HashSet;
use std::io;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use indicatif::{HumanDuration, ProgressBar};
use miette::{Context, IntoDiagnostic};
use sounding_experiment::plan::{Run, Text, names_controller, network};
use sounding_experiment::simulate::{self, About, Finished, Keep, Place, SimulateError};
use sounding_experiment::sweep::summary::Summary;
use sounding_experiment::sweep::{Folder, Part, Progress, SweepError, collect, sweep};
use sounding_host::files;

use crate::progress;
use crate::screen;
use crate::signals;
use crate::sim::{processors, run_folder, series, shown, store};

/// Make all runs of a plan into a folder, on all processors, and continue an earlier sweep
///
/// Results, series, events and a sniffer's logs have the same bytes as those of `sounding sim PLAN
/// --out DIR`. A finished run stays finished if the sweep is killed. Parts of a sweep can be made
/// on several machines. If all of them use one folder, the same command without --shard then puts
/// the results together. --merge takes over the runs of separate folders.
#[derive(clap::Args)]
#[command(after_long_help = EXAMPLES)]
pub(crate) struct Args {
    /// The plan
    plan: PathBuf,

    /// Folder for the results: result.json, flows.parquet, and the runs
    #[arg(long, value_name = "DIR")]
    out: PathBuf,

    /// Set a key of the plan, as duration=5s; may be given several times
    #[arg(long, value_name = "KEY=VALUE")]
    set: Vec<String>,

    /// Runs at once [default: one for each processor]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..))]
    jobs: Option<u16>,

    /// Only a part, as 3/8 for the third of eight
    #[arg(long, value_name = "I/N", default_value = "1/1")]
    shard: Part,

    /// Take over the runs of these folders of the same sweep first
    #[arg(long, value_name = "DIR", num_args = 1..)]
    merge: Vec<PathBuf>,

    /// Wait for another sweep in the folder instead of refusing
    #[arg(long)]
    wait: bool,

    /// Keep a time series of each flow in bins of this width
    #[arg(long, value_name = "TIME", value_parser = humantime::parse_duration)]
    series: Option<Duration>,

    /// Print the results as JSON instead of a table
    #[arg(long)]
    json: bool,
}

const EXAMPLES: &str = "\
Examples:
  sounding lab sweep examples/plans/biscay.toml --out results
  sounding lab sweep plan.toml --out results --shard $SLURM_ARRAY_TASK_ID/64
  sounding lab sweep plan.toml --out all --merge results-a results-b

Exit status 1 means that runs are missing: the message has their number, and the same command continues with them.";

/// Runs the verb.
pub(crate) fn run(args: &Args) -> miette::Result<ExitCode> {
    let series = series(args.series)?;
    let mut text = Text::read(&args.plan).map_err(shown)?;
    for set in &args.set {
        text.set(set).map_err(shown)?;
    }
    let setup = SweepSetup {
        out: &args.out,
        part: args.shard,
        jobs: args.jobs.map_or_else(processors, usize::from),
        merge: &args.merge,
        wait: args.wait,
        keep: Keep { series, ..Keep::default() },
        stays: true,
    };
    let about = About::new(&text);
    let Some(finished) = setup.run(&text, &about)? else { return Ok(ExitCode::FAILURE) };
    if !args.shard.is_whole() && !finished.complete {
        return Ok(ExitCode::SUCCESS);
    }
    if args.json {
        print!("{}", simulate::json(&about, &finished).into_diagnostic()?);
    } else {
        print!("{}", Summary::of(&finished.outcomes).table());
    }
    Ok(ExitCode::SUCCESS)
}

/// Settings of a sweep.
pub(super) struct SweepSetup<'a> {
    pub(super) out: &'a Path,
    pub(super) part: Part,
    pub(super) jobs: usize,
    pub(super) merge: &'a [PathBuf],
    pub(super) wait: bool,
    pub(super) keep: Keep,
    /// Whether the folder remains, so that the same command can continue.
    pub(super) stays: bool,
}

impl SweepSetup<'_> {
    /// Makes the missing runs, and puts the results together if all runs are there. `None` if it
    /// was stopped, which it has printed. After a part it returns the runs that are there so
    /// far.
    pub(super) fn run(&self, text: &Text, about: &About) -> miette::Result<Option<Finished>> {
        let runs = text.runs().map_err(shown)?;
        check(text, &runs)?;
        let Self { out, part, jobs, merge, wait, stays, .. } = self;
        let keep = &self.keep.with_sniffer_of(&runs);
        let mut folder = Folder::open(out, about, &runs, keep, *part, *wait).into_diagnostic()?;
        for other in *merge {
            let taken = folder.take(other, about, &runs, keep).into_diagnostic()?;
            eprintln!("{taken} runs taken over from {}", screen::path(other));
        }
        let own: Vec<&Run> = runs.iter().filter(|run| part.has(run)).collect();
        let done = own.iter().filter(|run| folder.is_finished(run)).count();
        if done > 0 {
            eprintln!("{done} of {} runs are finished already", own.len());
        }
        let stop = signals::stop_flag().into_diagnostic()?;
        let lacks = own.iter().filter(|run| !folder.is_finished(run));
        let mut bar = Bar::new(own.len() - done, lacks.map(|run| run.plan.duration).sum());
        let open = |run: &Run| -> io::Result<Box<dyn Place>> {
            let place = folder.run_folder(run);
            // A run was killed between writing its files and its outcome.
            files::remove(&place)?;
            run_folder(&place)
        };
        let mut progress = |told| bar.tell(told);
        let made = sweep(&folder, &runs, *part, keep, about, *jobs, &stop, &open, &mut progress);
        bar.end(&stop);
        folder.look(&runs);
        let lacking = own.iter().filter(|run| !folder.is_finished(run)).count();
        let (done, all) = (own.len() - lacking, own.len());
        made.map_err(|error| match error {
            SweepError::Run { run, source: SimulateError::Plan(wrong) } => {
                shown(text.locate(&runs[run - 1], wrong))
            }
            error if *stays => miette::miette!(
                help = format!(
                    "{done} of {all} runs are finished and kept: correct the error and repeat the command to continue"
                ),
                "{error}"
            ),
            error => miette::Report::msg(error.to_string()),
        })?;
        if lacking > 0 {
            let on = match stays {
                true => "repeat the command to continue",
                false => "none is kept; with --out they are, and the same command continues",
            };
            eprintln!("sounding: stopped: {done} of {all} runs are finished; {on}");
            return Ok(None);
        }
        let finished = collect(&folder, &runs).into_diagnostic()?;
        if finished.complete {
            store(out, about, &finished)
                .wrap_err_with(|| format!("the results in {}", screen::path(out)))?;
        } else {
            let (done, all) = (finished.outcomes.len(), runs.len());
            eprintln!(
                "part {part} is finished; of the whole {done} of {all} runs are here. When all are, the same command \
                 without --shard puts the results together"
            );
        }
        Ok(Some(finished))
    }
}

/// Checks that every network of the runs can be made.
fn check(text: &Text, runs: &[Run]) -> miette::Result<()> {
    let mut checked = HashSet::new();
    for run in runs {
        let values = run.values.iter().filter(|(key, _)| !names_controller(key));
        if checked.insert(values.collect::<Vec<_>>()) {
            network::<()>(&run.plan, &run.folder, run.seed)
                .map_err(|wrong| shown(text.locate(run, wrong)))?;
        }
    }
    Ok(())
}

/// Progress: a bar on a terminal, elsewhere a line at intervals.
struct Bar {
    bar: ProgressBar,
    runs: usize,
    finished: usize,
    begun: Instant,
    total: Duration,
    passed: Duration,
    told: Instant,
}

/// Interval of these lines.
const TELL: Duration = Duration::from_secs(10);

impl Bar {
    fn new(runs: usize, total: Duration) -> Self {
        let bar = if runs > 0 {
            let form = "{bar:40} {percent} %, {msg}, {elapsed} elapsed, {eta} left";
            progress::line(form, Some(total.as_millis() as u64))
        } else {
            ProgressBar::hidden()
        };
        let now = Instant::now();
        let passed = Duration::ZERO;
        Self { bar, runs, finished: 0, begun: now, total, passed, told: now }
    }

    fn tell(&mut self, told: Progress) {
        match told {
            Progress::Passed(span) => {
                self.passed += span;
                self.bar.inc(span.as_millis() as u64);
            }
            Progress::Finished => {
                self.finished += 1;
                self.bar.set_message(format!("{} of {} runs", self.finished, self.runs));
            }
        }
        if self.bar.is_hidden() && self.told.elapsed() >= TELL {
            self.told = Instant::now();
            let left = self.total.saturating_sub(self.passed).as_secs_f64();
            let pace = self.begun.elapsed().as_secs_f64() / self.passed.as_secs_f64().max(1e-3);
            let left = HumanDuration(Duration::from_secs_f64((left * pace).min(1e9)));
            eprintln!("{} of {} runs, {left} left", self.finished, self.runs);
        }
    }

    fn end(&self, stop: &AtomicBool) {
        self.bar.finish_and_clear();
        if stop.load(Ordering::Relaxed) {
            eprintln!();
        }
    }
}
