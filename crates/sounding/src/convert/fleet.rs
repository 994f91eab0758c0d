//! A folder of captures as one dataset.

use std::path::Path;
use std::process::ExitCode;

use miette::{IntoDiagnostic, Result, miette};
use sounding_fleet::{Captures, Choice, Fleet, FleetError, Progress, Summary};

use super::Convert;
use super::format::FileKind;
use crate::progress::{self, ProgressBar};
use crate::skipped::counted;
use crate::{screen, signals, sim};

pub(super) fn run(args: &Convert) -> Result<ExitCode> {
    if args.to.is_some_and(|kind| kind != FileKind::Parquet) || args.gsmtap.is_some() {
        return Err(miette!(
            help = "leave --to and --gsmtap out, or name one capture",
            "{}: is a folder, and becomes tables",
            screen::path(&args.input)
        ));
    }
    if args.output == Path::new("-") {
        return Err(miette!(
            help = "name a folder",
            "-: a dataset is a folder of files, and cannot be streamed"
        ));
    }
    let choice = Choice::new(args.privacy.announced(&args.output), &args.only);
    let jobs = args.jobs.map_or_else(sim::processors, usize::from);
    let stop = signals::stop_flag().into_diagnostic()?;
    if args.force {
        Fleet::remove(&args.output).map_err(|error| failed(args, error))?;
    }
    let mut bar = Bar(None);
    let made = (|| {
        let captures = Captures::folder(&args.input);
        let mut told = |progress| bar.show(progress);
        let fleet = Fleet::open(captures, &args.output, choice, jobs, &stop, &mut told)?;
        fleet.make(jobs, &stop, &mut told)?;
        fleet.finish()
    })();
    bar.end();
    let summary = made.map_err(|error| failed(args, error))?;
    if args.json {
        println!("{}", serde_json::to_string_pretty(&summary).into_diagnostic()?);
    }
    eprintln!("sounding: {}: {}", screen::path(&args.output), sentence(&summary));
    Ok(ExitCode::SUCCESS)
}

fn failed(args: &Convert, error: FleetError) -> miette::Report {
    let out = screen::path(&args.output);
    let help = match &error {
        FleetError::Stopped => {
            return miette!(
                help = "the same command goes on; --force begins anew",
                "interrupted: {out} is not complete"
            );
        }
        FleetError::Other { .. } => "name another folder; or --force replaces this dataset",
        FleetError::Taken { .. } => "name a folder that does not exist, or move it away",
        FleetError::Busy(_) => "wait until it ends, or name another folder",
        FleetError::Damaged { .. } => "--force makes the dataset anew",
        FleetError::NoCapture { .. } => {
            "a capture is .qmdl, .qmdl2, .mi2log, .hdf or .dlf, also as .gz or .zst"
        }
        FleetError::Table(_) => "please report it",
        FleetError::Read { .. } | FleetError::Write { .. } | FleetError::Pattern { .. } => {
            return miette!("{}", screen::inline(&error.to_string()));
        }
    };
    miette!(help = help, "{}", screen::inline(&error.to_string()))
}

fn sentence(summary: &Summary) -> String {
    let captures = counted(summary.captures, "capture", "captures");
    let mut text = format!("{captures}, {}", counted(summary.records, "record", "records"));
    if summary.hidden_records > 0 {
        text += &format!(
            ", {} of them hidden because they may identify a person (--no-redact)",
            summary.hidden_records
        );
    }
    let changed = summary.changed.len() as u64;
    let parts = [
        (summary.damaged, "damaged capture", "damaged captures"),
        (summary.again, "file with the bytes of another", "files with the bytes of another"),
        (summary.foreign, "file that is no capture", "files that are no captures"),
        (summary.unreadable, "unreadable file", "unreadable files"),
        (
            changed,
            "file that has changed since, with its old rows",
            "files that have changed since, with their old rows",
        ),
    ];
    let parts: Vec<String> = parts
        .into_iter()
        .filter(|(count, ..)| *count > 0)
        .map(|(count, one, many)| counted(count, one, many))
        .collect();
    if !parts.is_empty() {
        text += &format!("; {}; _about/captures.parquet lists them", parts.join(", "));
    }
    if let Some(first) = summary.faults.first() {
        text += &format!("; the first: {}", screen::inline(first));
    }
    text
}

/// The line of the step that is at work.
struct Bar(Option<(bool, ProgressBar)>);

impl Bar {
    fn show(&mut self, progress: Progress) {
        let (is_read, done, of, form) = match progress {
            Progress::Looked(done, of) => (false, done, of, "{bar:40} {pos}/{len} files looked at"),
            Progress::Read(done, of) => {
                (true, done, of, "{bar:40} {bytes}/{total_bytes} {bytes_per_sec} {eta}")
            }
        };
        if self.0.as_ref().is_none_or(|(shown, _)| *shown != is_read) {
            self.end();
            self.0 = Some((is_read, progress::line(form, Some(of))));
        }
        if let Some((_, bar)) = &self.0 {
            bar.set_position(done);
        }
    }

    fn end(&mut self) {
        if let Some((_, bar)) = self.0.take() {
            bar.finish_and_clear();
        }
    }
}
