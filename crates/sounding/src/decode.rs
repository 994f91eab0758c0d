use std::collections::BTreeMap;
use std::io::{self, BufWriter, Write};
use std::ops::ControlFlow;
use std::path::PathBuf;
use std::process::ExitCode;

use clap::Args;
use miette::{IntoDiagnostic, Result, miette};
use serde_json::{Value as Json, json};
use sounding_diag::LogRecord;
use sounding_diag::capture::{Counts, Located};
use sounding_diag::layout::{Sink, Value};
use sounding_diag::packet::Packet;
use sounding_diag::record::{self, RecordError, Version};
use sounding_export::json;

use crate::convert::{Failure, PrivacyArgs};
use crate::coverage;
use crate::input::{Source, Step};

/// Prints the records of a capture, every field by name
#[derive(Args, Debug)]
#[command(after_help = "\
Examples:
  sounding decode drive.mi2log                      every described record as a JSON line
  sounding decode drive.mi2log --code 0xB139        only uplink transmit reports
  sounding decode drive.mi2log --summary            what is in it, and what nobody has described
  sounding decode --coverage                        what is described at all
  zcat drive.qmdl.gz | sounding decode - --summary

What identifies a person is hidden unless --no-redact is given.")]
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

pub(crate) fn parse_code(text: &str) -> Result<u16, String> {
    let digits = text.strip_prefix("0x").or_else(|| text.strip_prefix("0X")).unwrap_or(text);
    u16::from_str_radix(digits, 16)
        .map_err(|_| "a log code is four hex digits, as in 0xB139".into())
}

pub(crate) fn run(args: &Decode) -> Result<ExitCode> {
    let mut out = BufWriter::new(io::stdout().lock());
    let Some(path) = &args.capture else {
        let text = coverage::text(args.json);
        out.write_all(text.as_bytes()).into_diagnostic()?;
        out.flush().into_diagnostic()?;
        return Ok(ExitCode::SUCCESS);
    };
    if args.json && !args.summary {
        return Err(miette!("--json goes with --summary or --coverage: records are JSON anyway"));
    }
    let privacy = args.privacy.choice();
    let mut summary = Summary::default();
    let counts = Source::open(path)?.for_each(|step| -> Result<_, Failure> {
        let Step::Found(Ok(Located { offset, packet: Packet::Log(record) })) = step else {
            return Ok(ControlFlow::Continue(()));
        };
        if !args.code.is_empty() && !args.code.contains(&record.code.number()) {
            return Ok(ControlFlow::Continue(()));
        }
        if args.summary {
            summary.handle_record(&record, &record::decode(&record, &mut Nowhere));
            return Ok(ControlFlow::Continue(()));
        }
        let enough = print(&mut out, &json::line(offset, &record, privacy))?;
        Ok(if enough { ControlFlow::Break(()) } else { ControlFlow::Continue(()) })
    });
    summary.counts = counts.map_err(|Failure(report)| report)?;
    match (args.summary, args.json) {
        (true, true) => print(&mut out, &summary.json()).map(drop)?,
        (true, false) => out.write_all(summary.table().as_bytes()).into_diagnostic()?,
        (false, _) => {}
    }
    // A reader that has had enough by now has had enough before.
    match out.flush() {
        Err(error) if error.kind() == io::ErrorKind::BrokenPipe => {}
        other => other.into_diagnostic()?,
    }
    Ok(ExitCode::SUCCESS)
}

/// Takes fields and forgets them: only whether a record can be read counts.
struct Nowhere;

impl Sink for Nowhere {
    fn field(&mut self, _: &'static str, _: Value<'_>) {}
    fn begin_list(&mut self, _: &'static str) {}
    fn begin_item(&mut self) {}
    fn end_item(&mut self) {}
    fn end_list(&mut self) {}
}

/// Writes a line; true if the reader has had enough, as `head` has.
fn print(out: &mut impl Write, line: &Json) -> Result<bool> {
    match writeln!(out, "{line}") {
        Err(error) if error.kind() == io::ErrorKind::BrokenPipe => Ok(true),
        other => other.into_diagnostic().map(|()| false),
    }
}

/// What a capture holds, by code and version.
#[derive(Default)]
struct Summary {
    kinds: BTreeMap<(u16, u32), Kind>,
    counts: Counts,
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

    fn table(&self) -> String {
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
        text += &format!(
            "{} corrupt frames, {} frames that are not log records\n",
            self.counts.frames.bad + self.counts.bad_packets,
            self.counts.others
        );
        text
    }

    fn json(&self) -> Json {
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
        json!({
            "records": kinds,
            "corrupt_frames": self.counts.frames.bad + self.counts.bad_packets,
            "other_frames": self.counts.others,
        })
    }
}
