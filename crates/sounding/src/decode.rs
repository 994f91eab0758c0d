use std::collections::BTreeMap;
use std::io::{self, BufWriter, Write};
use std::ops::ControlFlow;
use std::path::PathBuf;
use std::process::ExitCode;

use clap::Args;
use miette::{Result, miette};
use serde_json::{Value as Json, json};
use sounding_diag::capture::Located;
use sounding_diag::packet::Packet;
use sounding_diag::record::{self, Coverage, RecordCounts, RecordError, Version};
use sounding_diag::{LogCode, LogRecord};
use sounding_export::json;
use sounding_export::messages::Messages;

use crate::capture_args::{Codes, PrivacyArgs, parse_code};
use crate::coverage;
use crate::input::{Failure, Source, Step};
use crate::kinds::Kind;
use crate::skipped::{self, Records, Skipped, counted};
use crate::{say, screen};

/// Prints the records of a capture, every field by name
#[derive(Args, Debug)]
#[command(after_help = "\
Examples:
  Every described record as a JSON line, or only uplink transmit reports:
    sounding decode drive.mi2log
    sounding decode drive.mi2log --code 0xB139

  RRC messages with their contents:
    sounding decode drive.qmdl --code 0xB0C0 --no-redact

  The records of a capture, and those that are not described:
    sounding decode drive.mi2log --summary
    zcat drive.qmdl.gz | sounding decode - --summary

  All records that are described:
    sounding decode --coverage

Data that identifies a person is hidden unless --no-redact is given. Unreadable bytes are passed over. At the end their number, \
and the place of the first, are printed on standard error, and the exit code is 0.")]
pub(crate) struct Decode {
    /// Capture file (.qmdl, .qmdl2, .mi2log, .hdf, .dlf, also .gz or .zst), or - for standard
    /// input
    #[arg(required_unless_present = "coverage")]
    capture: Option<PathBuf>,
    /// Only records of these codes, e.g. 0xB139,0xB064
    #[arg(long, value_name = "CODE", value_delimiter = ',', value_parser = parse_code)]
    code: Vec<u16>,
    /// Count records by code and version instead of printing them
    #[arg(long)]
    summary: bool,
    /// Print the codes and versions that are described, and how many fields each has
    #[arg(long, conflicts_with_all = ["capture", "summary", "code"])]
    coverage: bool,
    /// With --summary or --coverage: as JSON
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    privacy: PrivacyArgs,
}

pub(crate) fn run(args: &Decode) -> Result<ExitCode> {
    let Some(path) = &args.capture else {
        print!("{}", coverage::text(args.json));
        return Ok(ExitCode::SUCCESS);
    };
    if args.json && !args.summary {
        return Err(miette!("--json goes with --summary or --coverage: records are JSON anyway"));
    }
    let privacy = args.privacy.choice();
    let mut out = BufWriter::new(io::stdout().lock());
    let mut summary = Summary::default();
    let mut messages = Messages::default();
    let mut counts = RecordCounts::default();
    let mut asked = Codes::new(&args.code);
    let mut is_whole = true;
    let skipped = Source::for_stdout(path)?.for_each(|step| -> Result<_, Failure> {
        if let Step::Chunk { .. } = step {
            is_whole = !is_closed(out.flush())?;
        }
        let Step::Found(Ok(Located { offset, packet: Packet::Log(record) })) = step else {
            return Ok(if is_whole { ControlFlow::Continue(()) } else { ControlFlow::Break(()) });
        };
        if !asked.wants(record.code.number()) {
            return Ok(ControlFlow::Continue(()));
        }
        let outcome = record::check(&record);
        counts.handle(outcome.as_ref().copied());
        if args.summary {
            summary.handle_record(&record, outcome.as_ref().copied());
            return Ok(ControlFlow::Continue(()));
        }
        let enough = print(&mut out, &json::line(offset, &record, privacy, &mut messages))?;
        is_whole = !enough;
        Ok(if enough { ControlFlow::Break(()) } else { ControlFlow::Continue(()) })
    });
    let skipped = skipped.map_err(|Failure(report)| report)?;
    // If part of the capture is not described, we cannot know whether the field is absent.
    let absent = if is_whole { asked.absent() } else { Vec::new() };
    let records = Records { without_nas: messages.undecoded(), ..counts.into() };
    let skipped = Skipped { records, absent, ..skipped };
    let written = match (args.summary, args.json) {
        (true, true) => {
            writeln!(out, "{}", screen::inline(&summary.json(&skipped).to_string()))
        }
        (true, false) => out.write_all(screen::lines(&summary.table(&skipped)).as_bytes()),
        (false, _) => Ok(()),
    };
    match written.and_then(|()| out.flush()) {
        // The reader has had enough, and need not know what else there was.
        Err(error) if error.kind() == io::ErrorKind::BrokenPipe => {}
        Err(error) => return Err(say::failed(error)),
        // The summary has already reported the unread parts.
        Ok(()) if args.summary => skipped.tell_absent(),
        Ok(()) => skipped.tell(),
    }
    Ok(ExitCode::SUCCESS)
}

/// Writes a line. Returns true if the reader has closed the pipe.
fn print(out: &mut impl Write, line: &Json) -> Result<bool> {
    is_closed(writeln!(out, "{}", screen::inline(&line.to_string())))
}

/// Whether a write found that the reader has closed the pipe, as `head` does.
fn is_closed(written: io::Result<()>) -> Result<bool> {
    match written {
        Err(error) if error.kind() == io::ErrorKind::BrokenPipe => Ok(true),
        other => other.map_err(say::failed).map(|()| false),
    }
}

/// The content of a capture, by code and version.
#[derive(Default)]
struct Summary {
    kinds: BTreeMap<(LogCode, Option<u32>), Kind>,
}

impl Summary {
    fn handle_record(&mut self, record: &LogRecord<'_>, outcome: Result<Coverage, &RecordError>) {
        let kind = self.kinds.entry((record.code, record::version_of(record))).or_default();
        kind.handle_record(record, outcome);
    }

    fn table(&self, skipped: &Skipped) -> String {
        let mut text = format!(
            "{:<8} {:>7} {:>10} {:>8} {:>8} {:>11} {:>8} {:>12}  name\n",
            "code", "version", "decoded", "in part", "longer", "unsupported", "corrupt", "bytes"
        );
        for ((code, version), kind) in &self.kinds {
            text += &format!(
                "{code}   {:>7} {:>10} {:>8} {:>8} {:>11} {:>8} {:>12}  {}{}\n",
                version.map_or("-".into(), |version| Version::Packet(version).to_string()),
                kind.counts.whole,
                kind.counts.partly,
                kind.counts.longer,
                kind.counts.unknown(),
                kind.counts.corrupt,
                kind.bytes,
                code.name().unwrap_or("-"),
                kind.without(),
            );
        }
        let stream = &skipped.stream;
        text += &format!(
            "{}, {}\n",
            skipped::damage(stream),
            counted(
                stream.others,
                "frame that is no log record",
                "frames that are not log records"
            )
        );
        for damage in skipped.places() {
            text += &format!("{damage}\n");
        }
        text
    }

    fn json(&self, skipped: &Skipped) -> Json {
        let kinds = self.kinds.iter();
        let kinds: Vec<Json> =
            kinds.map(|((code, version), kind)| kind.json(*code, *version)).collect();
        let mut summary = json!({ "records": kinds, "other_frames": skipped.stream.others });
        if let (Json::Object(summary), Json::Object(numbers)) = (&mut summary, skipped.numbers()) {
            summary.extend(numbers);
            summary.insert("absent".into(), skipped.absent_names());
        }
        summary
    }
}
