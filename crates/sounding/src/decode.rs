use std::collections::BTreeMap;
use std::io::{self, BufWriter, Write};
use std::ops::ControlFlow;
use std::path::PathBuf;
use std::process::ExitCode;

use clap::Args;
use miette::{Result, miette};
use serde_json::{Value as Json, json};
use sounding_diag::LogRecord;
use sounding_diag::capture::Located;
use sounding_diag::packet::Packet;
use sounding_diag::record::{self, RecordError, Version};
use sounding_export::json;
use sounding_export::messages::Messages;

use crate::capture_args::{Codes, PrivacyArgs, parse_code};
use crate::coverage;
use crate::input::{Failure, Source, Step};
use crate::skipped::{self, Records, Skipped, counted};
use crate::{say, screen};

/// Prints the records of a capture, every field by name
#[derive(Args, Debug)]
#[command(after_help = "\
Examples:
  sounding decode drive.mi2log                      every described record as a JSON line
  sounding decode drive.mi2log --code 0xB139        only uplink transmit reports
  sounding decode drive.mi2log --summary            its contents, and what is undescribed
  sounding decode drive.qmdl --code 0xB0C0 --no-redact
                                                    RRC messages, with what they say
  sounding decode --coverage                        what is described at all
  zcat drive.qmdl.gz | sounding decode - --summary

What identifies a person is hidden unless --no-redact is given. What cannot be read is passed over: how much that was, and
where the first of it is, is said on standard error at the end, and the exit code is 0.")]
pub(crate) struct Decode {
    /// Capture file (.qmdl, .qmdl2, .mi2log, .hdf, .dlf, also .gz or .zst), or - for standard input
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
    let mut unread = Records::default();
    let mut asked = Codes::new(&args.code);
    let mut is_whole = true;
    let skipped = Source::open(path)?.for_each(|step| -> Result<_, Failure> {
        let Step::Found(Ok(Located { offset, packet: Packet::Log(record) })) = step else {
            return Ok(ControlFlow::Continue(()));
        };
        if !asked.wants(record.code.number()) {
            return Ok(ControlFlow::Continue(()));
        }
        let outcome = record::check(&record);
        if let Err(error) = &outcome {
            unread.handle(error);
        }
        if args.summary {
            summary.handle_record(&record, &outcome);
            return Ok(ControlFlow::Continue(()));
        }
        let enough = print(&mut out, &json::line(offset, &record, privacy, &mut messages))?;
        is_whole = !enough;
        Ok(if enough { ControlFlow::Break(()) } else { ControlFlow::Continue(()) })
    });
    let skipped = skipped.map_err(|Failure(report)| report)?;
    // If part of the capture is not described, we cannot know whether the field is absent.
    let absent = if is_whole { asked.absent() } else { Vec::new() };
    let records = Records { without_nas: messages.undecoded(), ..unread };
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

/// Writes a line. Returns true if the reader has closed the pipe, as `head` does.
fn print(out: &mut impl Write, line: &Json) -> Result<bool> {
    match writeln!(out, "{}", screen::inline(&line.to_string())) {
        Err(error) if error.kind() == io::ErrorKind::BrokenPipe => Ok(true),
        other => other.map_err(say::failed).map(|()| false),
    }
}

/// The content of a capture, by code and version.
#[derive(Default)]
struct Summary {
    kinds: BTreeMap<(u16, u32), Kind>,
}

#[derive(Default)]
struct Kind {
    name: Option<&'static str>,
    described: u64,
    unsupported: u64,
    corrupt: u64,
    bytes: u64,
}

impl Summary {
    fn handle_record(&mut self, record: &LogRecord<'_>, outcome: &Result<(), RecordError>) {
        let version = record.code.version_of(record.body).unwrap_or_default();
        let kind = self.kinds.entry((record.code.number(), version)).or_default();
        kind.name = record.code.name();
        kind.bytes += record.body.len() as u64;
        match outcome {
            Ok(()) => kind.described += 1,
            Err(RecordError::Corrupt { .. }) => kind.corrupt += 1,
            Err(_) => kind.unsupported += 1,
        }
    }

    fn table(&self, skipped: &Skipped) -> String {
        let mut text = format!(
            "{:<8} {:>7} {:>10} {:>11} {:>8} {:>12}  name\n",
            "code", "version", "decoded", "unsupported", "corrupt", "bytes"
        );
        for ((code, version), kind) in &self.kinds {
            text += &format!(
                "0x{code:04X}   {:>7} {:>10} {:>11} {:>8} {:>12}  {}\n",
                Version::Packet(*version).to_string(),
                kind.described,
                kind.unsupported,
                kind.corrupt,
                kind.bytes,
                kind.name.unwrap_or("-")
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
        let kinds: Vec<Json> = self
            .kinds
            .iter()
            .map(|((code, version), kind)| {
                json!({
                    "code": format!("0x{code:04X}"), "version": version, "name": kind.name,
                    "decoded": kind.described, "unsupported": kind.unsupported,
                    "corrupt": kind.corrupt, "bytes": kind.bytes,
                })
            })
            .collect();
        let mut summary = json!({ "records": kinds, "other_frames": skipped.stream.others });
        if let (Json::Object(summary), Json::Object(numbers)) = (&mut summary, skipped.numbers()) {
            summary.extend(numbers);
            summary.insert("absent".into(), skipped.absent_names());
        }
        summary
    }
}
