use std::collections::BTreeMap;
use std::io::{self, BufWriter, Write};
use std::path::PathBuf;
use std::process::ExitCode;

use clap::Args;
use miette::{IntoDiagnostic, Result};
use serde_json::{Map, Value as Json, json};
use sounding_diag::LogRecord;
use sounding_diag::capture::{Counts, Located, Reader};
use sounding_diag::layout::{Sink, Value};
use sounding_diag::packet::Packet;
use sounding_diag::record::{self, RecordError};

use crate::input;

/// Prints the records of a capture, every field by name
#[derive(Args, Debug)]
#[command(after_help = "\
Examples:
  sounding decode drive.mi2log                      every described record as a JSON line
  sounding decode drive.mi2log --code 0xB139        only uplink transmit reports
  sounding decode drive.mi2log --summary            what is in it, and what nobody has described
  cat drive.qmdl | sounding decode - --summary")]
pub(crate) struct Decode {
    /// Capture file (.mi2log, .qmdl: a raw Diag byte stream), or - for standard input
    capture: PathBuf,
    /// Only records of these codes, e.g. 0xB139,0xB064
    #[arg(long, value_name = "CODE", value_delimiter = ',', value_parser = parse_code)]
    code: Vec<u16>,
    /// Count records by code and version instead of printing them
    #[arg(long)]
    summary: bool,
    /// With --summary: as JSON
    #[arg(long, requires = "summary")]
    json: bool,
}

pub(crate) fn parse_code(text: &str) -> Result<u16, String> {
    let digits = text.strip_prefix("0x").or_else(|| text.strip_prefix("0X")).unwrap_or(text);
    u16::from_str_radix(digits, 16)
        .map_err(|_| "a log code is four hex digits, as in 0xB139".into())
}

pub(crate) fn run(args: &Decode) -> Result<ExitCode> {
    let capture = input::capture(&args.capture)?;
    let mut out = BufWriter::new(io::stdout().lock());
    let mut summary = Summary::default();
    let mut reader = Reader::new();
    let mut rest = &capture[..];
    while let Some(packet) = reader.poll_packet(&mut rest) {
        let Ok(Located { offset, packet: Packet::Log(record) }) = packet else { continue };
        if !args.code.is_empty() && !args.code.contains(&record.code.number()) {
            continue;
        }
        let mut fields = Fields::default();
        let outcome = record::decode(&record, &mut fields);
        summary.handle_record(&record, &outcome);
        if args.summary {
            continue;
        }
        let line = line(offset, &record, outcome, fields);
        if print(&mut out, &line)? {
            return Ok(ExitCode::SUCCESS);
        }
    }
    reader.handle_end();
    summary.counts = reader.counts();
    match (args.summary, args.json) {
        (true, true) => print(&mut out, &summary.json()).map(drop)?,
        (true, false) => out.write_all(summary.table().as_bytes()).into_diagnostic()?,
        (false, _) => {}
    }
    out.flush().into_diagnostic()?;
    Ok(ExitCode::SUCCESS)
}

/// Writes a line; true if the reader has had enough, as `head` has.
fn print(out: &mut impl Write, line: &Json) -> Result<bool> {
    match writeln!(out, "{line}") {
        Err(error) if error.kind() == io::ErrorKind::BrokenPipe => Ok(true),
        other => other.into_diagnostic().map(|()| false),
    }
}

fn line(
    offset: u64,
    record: &LogRecord<'_>,
    outcome: Result<(), RecordError>,
    fields: Fields,
) -> Json {
    let mut line = Map::new();
    line.insert("offset".into(), offset.into());
    line.insert("code".into(), record.code.to_string().into());
    if let Some(name) = record.code.name() {
        line.insert("name".into(), name.into());
    }
    line.insert("stamp".into(), record.stamp.into());
    line.insert("unix_ns".into(), record.at.unix_nanos().into());
    if let Some(radio) = record.radio {
        line.insert("radio".into(), radio.into());
    }
    match outcome {
        Ok(()) => drop(line.insert("fields".into(), fields.into_json())),
        Err(error) => {
            // What nobody can read is kept, for whoever comes to describe it.
            line.insert("unread".into(), error.to_string().into());
            let raw: String = record.body.iter().map(|byte| format!("{byte:02x}")).collect();
            line.insert("raw".into(), raw.into());
        }
    }
    Json::Object(line)
}

/// Collects the fields of a record as JSON.
#[derive(Default)]
struct Fields {
    root: Map<String, Json>,
    /// Lists and items that are open, innermost last.
    open: Vec<Open>,
}

enum Open {
    List(&'static str, Vec<Json>),
    Item(Map<String, Json>),
}

impl Fields {
    fn into_json(self) -> Json {
        Json::Object(self.root)
    }

    fn object(&mut self) -> &mut Map<String, Json> {
        match self.open.last_mut() {
            Some(Open::Item(item)) => item,
            _ => &mut self.root,
        }
    }
}

impl Sink for Fields {
    fn field(&mut self, name: &'static str, value: Value<'_>) {
        let json = match value {
            Value::Uint(number) => number.into(),
            Value::Int(number) => number.into(),
            Value::Flag(set) => set.into(),
            Value::Scaled(number) => json!(number),
            Value::Name(number, None) => number.into(),
            Value::Hex(..) | Value::Name(_, Some(_)) | Value::Bytes(_) => value.to_string().into(),
        };
        self.object().insert(name.into(), json);
    }

    fn begin_list(&mut self, name: &'static str) {
        self.open.push(Open::List(name, Vec::new()));
    }

    fn begin_item(&mut self) {
        self.open.push(Open::Item(Map::new()));
    }

    fn end_item(&mut self) {
        let item = self.open.pop();
        if let (Some(Open::Item(item)), Some(Open::List(_, items))) = (item, self.open.last_mut()) {
            items.push(Json::Object(item));
        }
    }

    fn end_list(&mut self) {
        if let Some(Open::List(name, items)) = self.open.pop() {
            self.object().insert(name.into(), Json::Array(items));
        }
    }
}

/// What a capture holds, by code and version.
#[derive(Default)]
struct Summary {
    kinds: BTreeMap<(u16, u8), Kind>,
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
        let version = record.body.first().copied().unwrap_or_default();
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
                "0x{code:04X}   {version:>7} {:>10} {:>11} {:>8} {:>12}  {}\n",
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
