mod host;
mod import;
mod report;
mod sweep;

use std::io;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use clap::error::{Error, ErrorKind};
use clap::{ArgMatches, Args as _, Command, FromArgMatches, Subcommand};
use miette::{Context, IntoDiagnostic};
use sounding_host::files::{Access, Draft};
use sounding_lab::experiment::{End, Outcome, Registered};
use sounding_lab::registry::{EXPERIMENTS, line};

use crate::dataset;
use crate::output::write_text;
use crate::screen;
use host::Terminal;

/// Experiments that compare this project with others and with itself.
///
/// Experiments that send this kernel's own flows through emulated links need the rights of
/// `sounding emu`: run them with sudo. The others need no rights; `list` shows which. Figures in
/// real time depend on a quiet machine; each result has the machine's load. `dataset`, `sweep`,
/// `import` and `report` need no rights.
#[derive(clap::Args)]
#[command(arg_required_else_help = true, after_long_help = EXAMPLES)]
pub(crate) struct Args {
    #[command(subcommand)]
    verb: Verb,
}

const EXAMPLES: &str = "\
Examples:
  sounding lab list
  sudo sounding lab run mahimahi --reps 3 --markdown mahimahi.md
  sudo sounding lab run mahimahi --traces vz-short.down --duration 20s --reps 1
  sudo sounding lab run emu-cells --json cells.json
  sounding lab run bound --seeds 1000
  sounding lab dataset traces --traces 20 --duration 30s
  sounding lab run field --out field
  sounding lab sweep examples/plans/biscay.toml --out results
  sounding lab report results --out report";

#[derive(Subcommand)]
enum Verb {
    /// Name the experiments
    List {
        /// One JSON object an experiment
        #[arg(long)]
        json: bool,
    },
    /// Run an experiment
    Run {
        #[command(subcommand)]
        experiment: Chosen,
    },
    Dataset(dataset::Args),
    Sweep(Box<sweep::Args>),
    Import(import::Args),
    Report(report::Args),
}

/// An experiment of the registry with the flags that were given.
struct Chosen {
    experiment: &'static dyn Registered,
    given: ArgMatches,
    output: Output,
}

impl Subcommand for Chosen {
    fn augment_subcommands(command: Command) -> Command {
        let with_output = |experiment: &&dyn Registered| Output::augment_args(experiment.command());
        command
            .subcommands(EXPERIMENTS.iter().map(with_output))
            .subcommand_required(true)
            .arg_required_else_help(true)
    }

    fn augment_subcommands_for_update(command: Command) -> Command {
        Self::augment_subcommands(command)
    }

    fn has_subcommand(name: &str) -> bool {
        EXPERIMENTS.iter().any(|experiment| {
            experiment.card().name == name
                || experiment.command().get_all_aliases().any(|a| a == name)
        })
    }
}

impl FromArgMatches for Chosen {
    fn from_arg_matches(matches: &ArgMatches) -> Result<Self, Error> {
        let chosen = matches.subcommand().and_then(|(name, given)| {
            let experiment =
                EXPERIMENTS.iter().find(|experiment| experiment.card().name == name)?;
            Some((*experiment, given.clone()))
        });
        let (experiment, given) = chosen.ok_or_else(|| Error::new(ErrorKind::MissingSubcommand))?;
        let output = Output::from_arg_matches(&given)?;
        Ok(Self { experiment, given, output })
    }

    fn update_from_arg_matches(&mut self, matches: &ArgMatches) -> Result<(), Error> {
        *self = Self::from_arg_matches(matches)?;
        Ok(())
    }
}

impl Chosen {
    fn run(&self) -> miette::Result<ExitCode> {
        self.output.check()?;
        let Some(outcome) = self.experiment.run(&self.given, &Terminal)? else {
            return Ok(ExitCode::FAILURE);
        };
        self.output.write(&outcome)?;
        if let Some((folder, page)) = &outcome.page {
            page.write(folder).into_diagnostic()?;
            eprintln!("report: {}", screen::path(&folder.join("report.html")));
        }
        for note in &outcome.notes {
            eprintln!("{note}");
        }
        Ok(match outcome.end {
            End::Complete => ExitCode::SUCCESS,
            End::Failed => ExitCode::FAILURE,
            End::Interrupted => {
                eprintln!(
                    "sounding: interrupted: the output above has the runs that were finished"
                );
                ExitCode::from(130)
            }
        })
    }
}

// The destination of results, in addition to the table on standard output. A doc comment would
// become the help text of every experiment.
#[derive(clap::Args)]
struct Output {
    /// Write the result as a page of Markdown
    #[arg(long, value_name = "FILE")]
    markdown: Option<PathBuf>,

    /// Write the result as JSON; `-` is standard output, instead of the table
    #[arg(long, value_name = "FILE", num_args = 0..=1, default_missing_value = "-")]
    json: Option<PathBuf>,
}

impl Output {
    /// A place that takes no file is known before hours of work.
    fn check(&self) -> miette::Result<()> {
        let files = [&self.json, &self.markdown].into_iter().flatten();
        // A pipe that is opened and closed is at its end for its reader.
        let files =
            files.filter(|path| *path != Path::new("-") && (!path.exists() || path.is_file()));
        for path in files {
            cannot_write(path, Draft::begin(path, Access::Usual).map(drop))?;
        }
        Ok(())
    }

    fn write(&self, outcome: &Outcome) -> miette::Result<()> {
        let Outcome { text, markdown, json, .. } = outcome;
        if let Some(path) = &self.json {
            write(path, &format!("{json}\n"))?;
        }
        if self.json.as_deref() != Some(Path::new("-")) {
            print!("{text}");
        }
        self.markdown.as_ref().map_or(Ok(()), |path| write(path, markdown))
    }
}

fn write(path: &Path, text: &str) -> miette::Result<()> {
    cannot_write(path, write_text(path, text))
}

fn cannot_write(path: &Path, written: io::Result<()>) -> miette::Result<()> {
    written.into_diagnostic().wrap_err_with(|| format!("cannot write {}", screen::path(path)))
}

/// Runs the verb.
pub(crate) fn run(args: Args) -> miette::Result<ExitCode> {
    match args.verb {
        Verb::List { json } => list(json),
        Verb::Run { experiment } => experiment.run(),
        Verb::Dataset(args) => dataset::run(args),
        Verb::Sweep(args) => sweep::run(&args),
        Verb::Import(args) => import::run(args),
        Verb::Report(args) => report::run(args),
    }
}

fn list(json: bool) -> miette::Result<ExitCode> {
    let widest =
        EXPERIMENTS.iter().map(|experiment| experiment.card().name.len()).max().unwrap_or(0);
    for experiment in EXPERIMENTS {
        let card = experiment.card();
        let name = card.name;
        if json {
            let fields = serde_json::json!({
                "name": name,
                "about": card.about,
                "needs": card.needs,
                "duration": card.lasts,
            });
            println!("{fields}");
        } else {
            println!("{name:<widest$}  {}", line(*experiment));
        }
    }
    Ok(ExitCode::SUCCESS)
}
