//! `sounding convert`: a capture, a folder of captures, or a link over time, into another kind of
//! file.

mod existing;
mod fleet;
mod format;
mod live;
mod parquet;
mod tally;
mod traces;

use std::io::{self, Write};
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use clap::Args;
use miette::{IntoDiagnostic, Result, miette};
use sounding_diag::capture::{Format, Located};
use sounding_diag::packet::Packet;
use sounding_diag::{LogRecord, record};
use sounding_export::json;
use sounding_export::message::Message;
use sounding_export::messages;
use sounding_export::pcap::{Became, Gsmtap, Messages};
use sounding_export::privacy::{self, Privacy};

use crate::capture_args::{Codes, PrivacyArgs, parse_code};
use crate::input::{CaptureError, Failure, Source, Step};
use crate::output::{Access, Output, Over};
use crate::progress::{self, ProgressBar};
use crate::screen;
use crate::signals;
use crate::skipped::{Records, Skipped};
use existing::Existing;
use format::{FileKind, Target, Version};
use live::{Shared, Writer};
use tally::Tally;
use traces::InputKind;

/// Turns a capture, a folder of captures, or a link over time, into another kind of file
#[derive(Args, Debug)]
#[command(after_help = "\
Kinds of files, by the end of the name or with --to; .gz or .zst behind it packs the file:
  .jsonl
    every record as a line of JSON, every field by name
  .parquet
    a folder with a table for each log code, for pandas and the like
  .pcapng, .pcap
    RRC and NAS messages for Wireshark; only .pcapng has NR, and numbers of carriers above 16383
  .qmdl, .mi2log
    Diag frames, as a modem sends them
  .hdf, .dlf
    log packets and records without framing

A link over time goes from any of these to any other:
  .trace, .up, .down
    mahimahi: a line for each packet that could have left, in whole milliseconds
  .csv, .parquet
    columns time_ms and packets, or from_ns, until_ns and rate_bits_per_sec

A capture becomes a link if OUT ends in .up or .down: what the network granted in that direction, each block at its own time. \
Time in which the device had nothing to send is only a floor of what the radio had; the end says how much of it there was.

A folder of captures becomes one dataset: OUT/code=0xB139/day=2021-12-20/ has the rows of a log code and a day, each with its \
capture. OUT/_about/captures.parquet lists all files. The same bytes count once. A killed run goes on with the same command, \
and so do files that come later.

All of a mahimahi trace is in the others, and comes back byte for byte. Rates are more than mahimahi holds; the loss is reported.

Data that identifies a person is left out unless --no-redact is given. The file appears under its name once it is complete; one \
that is there already stays unless --force is given. At the end a line counts the items that were left out, by reason.

With - for IN and OUT it is part of a pipe, and writes each record before it reads the next. Parquet cannot be streamed.

Examples:
  sounding convert drive.qmdl drive.parquet
  sounding convert drives dataset
  sounding convert drive.hdf drive.qmdl.zst --only 0xB139,0xB064
  sounding convert drive.mi2log.gz drive.pcapng --no-redact
  cat /dev/ttyUSB0 | sounding convert - drive.jsonl.gz
  sounding record /dev/ttyUSB0 - | sounding convert - - --to pcapng --no-redact | wireshark -k -i -
  sounding convert drive.mi2log drive.up
  sounding convert Verizon-LTE-short.down verizon.parquet
  sounding convert --from csv rates.txt rates.trace")]
pub(crate) struct Convert {
    /// Capture (.qmdl, .qmdl2, .mi2log, .hdf, .dlf) or link (.trace, .up, .down, .csv, .parquet),
    /// also .gz or .zst; a folder of captures; - for standard input
    #[arg(value_name = "IN")]
    input: PathBuf,
    /// File or folder to write, or - for standard output
    #[arg(value_name = "OUT")]
    output: PathBuf,
    /// Format of the input, if the file's name does not tell it
    #[arg(long, value_enum, value_name = "KIND")]
    from: Option<InputKind>,
    /// Format of the output, if the file's name does not tell it
    #[arg(long, value_enum, value_name = "KIND")]
    to: Option<FileKind>,
    /// Only records of these codes, e.g. 0xB139,0xB064
    #[arg(long, value_name = "CODE", value_delimiter = ',', value_parser = parse_code)]
    only: Vec<u16>,
    /// Version of GSMTAP in a .pcap or .pcapng
    #[arg(long, value_enum, value_name = "VERSION")]
    gsmtap: Option<Version>,
    /// Replace OUT if it is there already
    #[arg(long)]
    force: bool,
    /// Threads for a folder of captures [default: one for each processor]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..))]
    jobs: Option<u16>,
    /// Of a folder of captures, print the counts as JSON
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    privacy: PrivacyArgs,
}

pub(crate) fn run(args: &Convert) -> Result<ExitCode> {
    if args.input.is_dir() {
        return fleet::run(args);
    }
    if args.jobs.is_some() || args.json {
        return Err(miette!("--jobs and --json are for a folder of captures"));
    }
    let target = Target::of(&args.output, args.to)?;
    refuse_itself(args)?;
    if args.gsmtap.is_some() && !target.kind.is_of_messages() {
        return Err(miette!(
            help = "name OUT .pcap or .pcapng, or leave the option out",
            "--gsmtap is for messages: no other kind of file has GSMTAP"
        ));
    }
    let existing = Existing::of(&args.output, args.force);
    let from = InputKind::of(&args.input, args.from);
    if from != InputKind::Capture {
        if !args.only.is_empty() {
            return Err(miette!("--only is for captures: a link over time has no records"));
        }
        existing.refuse(target.kind)?;
        traces::run(&args.input, from, &args.output, target, args.force)?;
        return Ok(ExitCode::SUCCESS);
    }
    if matches!(target.kind, FileKind::Csv | FileKind::Mahimahi) {
        if !args.only.is_empty() {
            return Err(miette!("--only is for records: a link is made of all that are needed"));
        }
        existing.refuse(target.kind)?;
        traces::of_capture(&args.input, &args.output, target, args.force)?;
        return Ok(ExitCode::SUCCESS);
    }
    existing.refuse(target.kind)?;
    let mut job = Job {
        args,
        privacy: args.privacy.announced(&args.output),
        messages: messages::Messages::default(),
        stop: signals::stop_flag().into_diagnostic()?,
        progress: match args.output == Path::new("-") {
            // Its reader may have the terminal.
            true => progress::none(),
            false => progress::line("{bar:40} {bytes}/{total_bytes} {eta}", Some(0)),
        },
        asked: Codes::new(&args.only),
        tally: Tally::default(),
    };
    let skipped = match target.kind {
        FileKind::Parquet => parquet::write_tables(&mut job)?,
        _ => job.stream(target)?,
    };
    job.progress.finish_and_clear();
    let written = match target.kind.is_of_messages() {
        true => ["message", "messages"],
        false => ["record", "records"],
    };
    let records = Records { without_nas: job.messages.undecoded(), ..job.tally.read.into() };
    let skipped = Skipped { records, absent: job.asked.absent(), ..skipped };
    skipped.tell_after(Some(job.tally.sentence(written)));
    Ok(ExitCode::SUCCESS)
}

/// A conversion at work.
struct Job<'a> {
    args: &'a Convert,
    privacy: Privacy,
    messages: messages::Messages,
    stop: Arc<AtomicBool>,
    progress: ProgressBar,
    /// The requested codes.
    asked: Codes,
    tally: Tally,
}

impl Job<'_> {
    /// Writes packet by packet.
    fn stream(&mut self, target: Target) -> Result<Skipped> {
        let source = match self.is_piped() {
            true => Source::for_stdout(&self.args.input)?,
            false => Source::open(&self.args.input)?,
        };
        let output = Output::begin(&self.args.output, target.packing, self.access());
        let output = output.map_err(|error| self.failed(error))?;
        let mut writer = match target.kind {
            FileKind::Jsonl => Writer::Lines(output),
            FileKind::Pcap | FileKind::Pcapng => {
                let output = Shared::new(output);
                let messages = match target.kind {
                    FileKind::Pcap => Messages::pcap(output.clone()),
                    _ => Messages::pcapng(output.clone()),
                };
                let messages = messages.map_err(|error| self.failed(error))?;
                let gsmtap = self.args.gsmtap.map_or(Gsmtap::default(), Gsmtap::from);
                Writer::Messages(messages.with_gsmtap(gsmtap), output)
            }
            FileKind::Qmdl => Writer::Capture(output, Format::Hdlc, Vec::new()),
            FileKind::Hdf => Writer::Capture(output, Format::Hdf, Vec::new()),
            FileKind::Dlf => Writer::Capture(output, Format::Dlf, Vec::new()),
            FileKind::Parquet | FileKind::Csv | FileKind::Mahimahi => {
                unreachable!("tables and links are written elsewhere")
            }
        };
        let skipped = self.for_each(source, |job, located| {
            let written = match located {
                Some(located) => job.write(&mut writer, located),
                None => writer.flush(),
            };
            written.map_err(|error| job.failed(error))
        })?;
        let output = match writer {
            Writer::Lines(output) | Writer::Capture(output, ..) => output,
            Writer::Messages(messages, output) => {
                // It shares the output until it ends. Where it is left out, it has nothing to drop.
                {
                    let _ended = messages;
                }
                output.into_inner().map_err(|error| self.failed(error))?
            }
        };
        output.finish(self.over()).map_err(|error| self.failed(error))?;
        Ok(skipped)
    }

    /// Passes every selected packet to `each`, and `None` before a read that may wait. A request to
    /// stop is an error, but the end of a pipe that is passed on.
    fn for_each(
        &mut self,
        source: Source,
        mut each: impl FnMut(&mut Self, Option<&Located<'_>>) -> Result<()>,
    ) -> Result<Skipped> {
        let skipped = source.for_each(|step| -> Result<_, Failure> {
            match step {
                Step::Chunk { taken, size } => {
                    if self.stop.load(Ordering::Relaxed) && (size.is_some() || !self.is_piped()) {
                        let written = if self.is_piped() { "not all" } else { "nothing" };
                        return Err(miette!("interrupted: {written} was written").into());
                    }
                    each(self, None)?;
                    self.progress.set_length(size.unwrap_or(taken));
                    self.progress.set_position(taken);
                }
                Step::Found(Ok(located)) if self.wants(&located.packet) => {
                    each(self, Some(&located))?;
                }
                Step::Found(Ok(_)) => self.tally.left_out.unwanted += 1,
                Step::Found(Err(_)) => {}
            }
            Ok(ControlFlow::Continue(()))
        });
        skipped.map_err(|Failure(report)| report)
    }

    fn wants(&mut self, packet: &Packet<'_>) -> bool {
        match packet {
            Packet::Log(record) => self.asked.wants(record.code.number()),
            Packet::Other { .. } => self.asked.is_all(),
        }
    }

    fn hides(&self, packet: &Packet<'_>) -> bool {
        self.privacy == Privacy::Redact && privacy::packet_identifies(packet)
    }

    fn write(&mut self, writer: &mut Writer, located: &Located<'_>) -> io::Result<()> {
        let packet = &located.packet;
        match (writer, packet) {
            (Writer::Lines(out), Packet::Log(log)) => {
                self.count_shown(log);
                let line = json::line(located.offset, log, self.privacy, &mut self.messages);
                writeln!(out, "{}", screen::inline(&line.to_string()))
            }
            (Writer::Messages(out, _), Packet::Log(log)) => {
                let message = match Message::find(log) {
                    Ok(message) => message,
                    Err(without) => {
                        self.tally.handle_without(&without);
                        return Ok(());
                    }
                };
                if self.hides(packet) {
                    if self.tally.left_out.hidden == 0 {
                        self.progress.suspend(tell_of_hiding);
                    }
                    self.tally.left_out.hidden += 1;
                    return Ok(());
                }
                self.tally.read.handle(record::check(log).as_ref().copied());
                match out.handle_message(log, &message)? {
                    Became::Written => self.tally.written += 1,
                    Became::WithoutCarrier => {
                        self.tally.written += 1;
                        self.tally.without_carrier += 1;
                    }
                    Became::NoPlace => self.tally.left_out.handle_no_place(message.channel),
                }
                Ok(())
            }
            (Writer::Lines(_) | Writer::Messages(..), Packet::Other { .. }) => {
                self.tally.left_out.others += 1;
                Ok(())
            }
            (Writer::Capture(out, format, bytes), packet) => {
                bytes.clear();
                match format.emit(packet, bytes) {
                    Err(error) => self.tally.handle_refused(&error),
                    Ok(()) if self.hides(packet) => self.tally.left_out.hidden += 1,
                    Ok(()) => {
                        self.tally.written += 1;
                        out.write_all(bytes)?;
                    }
                }
                Ok(())
            }
        }
    }

    /// Counts a record that is in the file with its contents, or only with its bytes.
    fn count_shown(&mut self, log: &LogRecord<'_>) {
        self.tally.written += 1;
        let hidden = self.privacy == Privacy::Redact && privacy::identifies(log);
        self.tally.blank += u64::from(hidden);
        self.tally.read.handle(record::check(log).as_ref().copied());
    }

    /// Whether the output is standard output.
    fn is_piped(&self) -> bool {
        self.args.output == Path::new("-")
    }

    /// The users who may read the output.
    fn access(&self) -> Access {
        match self.privacy {
            Privacy::Expose => Access::Private,
            Privacy::Redact => Access::Usual,
        }
    }

    /// What the output may replace. Without `--force` it is an empty folder, as was checked before.
    fn over(&self) -> Over {
        if self.args.force { Over::All } else { Over::Nothing }
    }

    fn failed(&self, error: io::Error) -> miette::Report {
        // A request to stop ends a reader that takes nothing.
        let is_stuck = error.kind() == io::ErrorKind::TimedOut && self.is_piped();
        if is_stuck || error.kind() == io::ErrorKind::BrokenPipe {
            return CaptureError::Unread.into();
        }
        let reason = match error.kind() {
            io::ErrorKind::StorageFull => "no space left; nothing was written".to_owned(),
            io::ErrorKind::NotFound => "there is no such folder".to_owned(),
            io::ErrorKind::PermissionDenied => format!("its folder cannot be written to: {error}"),
            _ => error.to_string(),
        };
        miette!("{}: {reason}", screen::path(&self.args.output))
    }
}

/// Said at the first message that is left out: a reader of a pipe does not see the end.
fn tell_of_hiding() {
    eprintln!(
        "sounding: most messages are left out, because they may identify a person: --no-redact writes them"
    );
}

/// Refuses to replace the input by the output. The parts that the output leaves out would be lost.
fn refuse_itself(args: &Convert) -> Result<()> {
    // A file of this name is no part of a pipe.
    let is_piped = [&args.input, &args.output].iter().any(|path| path.as_path() == Path::new("-"));
    let same = !is_piped
        && match (args.input.canonicalize(), args.output.canonicalize()) {
            (Ok(input), Ok(output)) => input == output && input.is_file(),
            _ => false,
        };
    if same {
        return Err(miette!("{}: input and output are the same file", screen::path(&args.input)));
    }
    Ok(())
}
