use std::path::PathBuf;
use std::process::ExitCode;
use std::time::Duration;

use miette::{Context, IntoDiagnostic};
use sounding_experiment::provenance::Begun;
use sounding_host::files::make_folder;
use sounding_report::findings::{self, Findings, Options};

use crate::screen;

/// Figures of results: a page, and each figure as SVG, PNG and Parquet.
///
/// RESULTS are folders that `sounding sim PLAN --out DIR --series 100ms` made. Figures over time,
/// distributions and fairness need the series. Without it, the page shows the table and the figures
/// of whole runs. docs/reference/reports.md describes every figure.
#[derive(clap::Args)]
#[command(after_long_help = EXAMPLES)]
pub(super) struct Args {
    /// Folders of results; several are one report
    #[arg(required = true)]
    results: Vec<PathBuf>,

    /// Folder for report.html, report.md and figures/; existing files with these names are
    /// replaced
    #[arg(long, value_name = "DIR")]
    out: PathBuf,

    /// Width of the windows over which Jain's index slides
    #[arg(long, value_name = "TIME", default_value = "1s", value_parser = humantime::parse_duration)]
    window: Duration,

    /// Number of scenarios that are drawn over time, from the first of the plan
    #[arg(long, value_name = "N", default_value_t = 4)]
    scenarios: usize,
}

const EXAMPLES: &str = "\
Examples:
  sounding sim examples/plans/biscay.toml --out results --series 100ms
  sounding lab report results --out report
  sounding lab report before after --out report --window 500ms";

/// As a plan's own: a narrower one would hold a packet or two.
const NARROWEST: Duration = Duration::from_millis(10);

/// Runs the verb.
pub(super) fn run(args: Args) -> miette::Result<ExitCode> {
    if args.window < NARROWEST {
        return Err(miette::miette!("--window is at least {NARROWEST:?}"));
    }
    let begun = Begun::now();
    let results: Vec<Findings> = args
        .results
        .iter()
        .map(|folder| Findings::read(folder))
        .collect::<Result<_, _>>()
        .into_diagnostic()?;
    let options = Options { window: args.window, drawn: args.scenarios };
    let page = findings::page(&results, &options, &begun.end()).into_diagnostic()?;
    make_folder(&args.out)
        .into_diagnostic()
        .wrap_err_with(|| format!("the folder for the report, {}", screen::path(&args.out)))?;
    page.write(&args.out).into_diagnostic()?;
    let report = args.out.join("report.html");
    println!("{} figures: {}", page.figures().count(), screen::path(&report));
    Ok(ExitCode::SUCCESS)
}
