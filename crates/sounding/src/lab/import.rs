use std::fmt::Write as _;
use std::path::PathBuf;
use std::process::ExitCode;
use std::time::Duration;

use miette::IntoDiagnostic;
use sounding_experiment::import::{Import, Imported, Input, Question};
use sounding_experiment::simulate;
use sounding_units::Bytes;

use crate::screen;

/// Turn logs of mahimahi and Pantheon into a folder of results, as `sounding sim --out` makes one.
///
/// FILE is a log of mm-link (--uplink-log, --downlink-log), a log of Pantheon's tunnel
/// (NAME_datalink_runN.log), also as .gz, or Pantheon's pantheon_perf.json. The figures follow the
/// definitions of the log's own tools. Figures that the log does not contain stay empty.
/// docs/reference/controllers.md defines each figure.
#[derive(clap::Args)]
#[command(after_long_help = EXAMPLES)]
pub(crate) struct Args {
    /// A log; NAME is the sender's controller, and replaces the one in the file's name
    #[arg(value_name = "[NAME=]FILE", required = true, value_parser = input)]
    files: Vec<Input>,

    /// Folder for the results
    #[arg(long, value_name = "DIR")]
    out: PathBuf,

    /// Name of the link, if no log names it
    #[arg(long, value_name = "NAME")]
    link: Option<String>,

    /// Count only packets that left at least this long after the first packet arrived
    #[arg(long, value_name = "TIME", value_parser = humantime::parse_duration)]
    window: Option<Duration>,

    /// Only packets of at least this many bytes of IP, as 996: leaves out acknowledgements
    #[arg(long, value_name = "BYTES", default_value_t = 0)]
    least: u64,

    /// Keep what happened to each flow in bins of this width
    #[arg(long, value_name = "TIME", value_parser = humantime::parse_duration)]
    series: Option<Duration>,

    /// Print the results as JSON instead of a table
    #[arg(long)]
    json: bool,
}

const EXAMPLES: &str = "\
Examples:
  sounding lab import cubic=up-1.log cubic=up-2.log bbr=up-3.log --least 996 --out logs
  sounding lab import data/*_datalink_run*.log --link mexico --series 500ms --out pantheon
  sounding lab import data/pantheon_perf.json --link mexico --out summary";

fn input(text: &str) -> Result<Input, String> {
    // A path may have the sign itself, behind a folder.
    let (name, path) = match text.split_once('=') {
        Some((name, path)) if !name.contains('/') => (Some(name), path),
        _ => (None, text),
    };
    match (name, path) {
        (Some(""), _) | (_, "") => Err("is FILE, or NAME=FILE with both".into()),
        (name, path) => Ok(Input { name: name.map(str::to_owned), path: path.into() }),
    }
}

/// Runs the verb.
pub(crate) fn run(args: Args) -> miette::Result<ExitCode> {
    let Args { files, out, link, window, least, series, json } = args;
    let question = Question { window, least: Bytes::new(least) };
    let import = Import { inputs: files, link, question, series };
    let imported = import.run(&out).into_diagnostic()?;
    for (path, problem, count) in &imported.bad {
        eprintln!("warning: {}: {count} lines left out: {problem}", screen::path(path));
    }
    if json {
        print!("{}", simulate::json(&imported.about, &imported.finished).into_diagnostic()?);
    } else {
        print!("{}", table(&imported));
    }
    Ok(ExitCode::SUCCESS)
}

/// A row for each flow of each log.
fn table(imported: &Imported) -> String {
    let mut text = format!(
        "{:<20} {:<28} {:>4} {:<8} {:>8} {:>7} {:>12} {:>12} {:>7}\n",
        "link",
        "sender",
        "run",
        "flow",
        "Mbit/s",
        "used %",
        "one-way p95",
        "queue p95 ms",
        "loss %"
    );
    for outcome in &imported.finished.outcomes {
        let link = outcome.values.first().map_or("", |(_, link)| link.as_str());
        for flow in &outcome.flows {
            let figure = |figure: Option<f64>, digits: usize| {
                let figure = figure.filter(|figure| figure.is_finite());
                figure.map_or("-".to_owned(), |figure| format!("{figure:.digits$}"))
            };
            // Writing into a string cannot fail.
            let _ = writeln!(
                text,
                "{link:<20} {:<28} {:>4} {:<8} {:>8} {:>7} {:>12} {:>12} {:>7}",
                flow.controller,
                outcome.seed,
                flow.name,
                figure(Some(flow.throughput_mbit_per_sec), 3),
                figure(flow.utilisation.map(|used| 100.0 * used), 1),
                figure(flow.one_way_ms.map(|delays| delays.p95), 1),
                figure(flow.queueing_ms.map(|delays| delays.p95), 1),
                figure(Some(100.0 * flow.loss), 2),
            );
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_stands_before_the_first_sign_unless_it_is_a_folder() {
        let named = |text: &str| input(text).map(|input| (input.name, input.path));
        assert_eq!(named("bbr=a.log"), Ok((Some("bbr".into()), "a.log".into())));
        assert_eq!(named("x/a=b.log"), Ok((None, "x/a=b.log".into())));
        assert_eq!(named("bbr=x/a=b.log"), Ok((Some("bbr".into()), "x/a=b.log".into())));
        assert!(named("=a.log").is_err() && named("bbr=").is_err());
    }
}
