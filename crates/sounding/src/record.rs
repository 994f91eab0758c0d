mod file;

use std::io;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use clap::Args;
use miette::{Diagnostic, IntoDiagnostic, Result};
use sounding_diag::capture::Reader;
use sounding_diag::session::Wanted;
use sounding_diag::{LogCode, hdlc};
use sounding_host::{monotonic_now, prefer_this_thread};
use sounding_modem::{Framing, Pump, Source, Turn};
use sounding_units::{HostInstant, Rate};
use thiserror::Error;

use crate::doctor::{self, Opened};
use crate::progress::{self, ProgressBar};
use crate::session_report;
use crate::skipped::{self, counted};
use crate::{cli_types, rights, screen, signals};
use file::Recording;

/// Writes a modem's output to a file or a pipe, until Ctrl-C
#[derive(Args, Debug)]
#[command(after_help = "\
The file is the byte stream of the port (.qmdl), which every verb reads. Everything that has come is in it at every \
moment: killing the recorder or pulling the modem's plug loses nothing that was read. A modem that is unplugged is waited \
for. A full disk ends the recording, and the file ends with a whole frame.

With - instead of a file the stream goes to standard output, where another command reads it live. When that command ends, the \
recording ends too, and the modem's log mask is put back. A command that reads too slowly makes the modem lose records.

A port without HDLC is recorded with it, as routers are: every reader of captures takes the file.

The modem is given a log mask of the records that `sounding decode` reads, and the mask found is put back at the end. A modem that \
refuses to tell its mask keeps it, as with --no-mask. While `sounding run` holds the modem, its records are read beside the daemon.

Examples:
  sudo sounding record /dev/ttyUSB0 drive.qmdl
  sudo sounding record /dev/wwan0qcdm0 uplink.qmdl --code 0xB139,0xB064 --for 5min
  sudo sounding record non-hdlc:/dev/ttyUSB0 drive.qmdl
  sounding record tcp:192.168.1.5:43555 drive.qmdl --no-mask
  sounding record /dev/ttyUSB0 - | sounding convert - - --to pcapng --no-redact | wireshark -k -i -
  sounding link drive.qmdl")]
pub(crate) struct Record {
    /// Source of the modem's Diag: a device, tcp:HOST:PORT, router[:NAME], vendor-router[:NAME],
    /// or - for standard input; with non-hdlc: before it if the modem has the HDLC framing
    /// switched off
    #[arg(value_parser = cli_types::source_parser())]
    source: Source,
    #[command(flatten)]
    router: cli_types::RouterUser,
    /// File to write, which must not exist, or - for standard output
    file: PathBuf,
    /// Record only log records of these codes, the most important first, e.g. 0xB139,0xB064
    #[arg(long, value_name = "CODE", value_delimiter = ',', value_parser = log_code)]
    code: Vec<LogCode>,
    /// Do not change the modem's log mask, and record everything that arrives
    #[arg(long, conflicts_with_all = ["code", "budget", "set_untold_mask"])]
    no_mask: bool,
    #[command(flatten)]
    untold: cli_types::UntoldMask,
    /// Highest rate of the modem's output; above it the least important records are switched off
    #[arg(long, value_name = "RATE")]
    budget: Option<Rate>,
    /// Stop after this long
    #[arg(long = "for", value_name = "TIME", value_parser = humantime::parse_duration)]
    duration: Option<Duration>,
}

fn log_code(text: &str) -> std::result::Result<LogCode, String> {
    crate::capture_args::parse_code(text).map(LogCode::new)
}

/// Why a recording ended early.
#[derive(Debug, Error, Diagnostic)]
enum RecordError {
    /// The file cannot be made.
    #[error("{path}: {error}")]
    #[diagnostic(help("name a file that does not exist yet, in a folder that can be written"))]
    Create { path: PathBuf, error: io::Error },
    /// Standard output is a terminal.
    #[error("standard output is a terminal, and the bytes of a modem would garble it")]
    #[diagnostic(help(
        "name a file, or put a command behind it: `sounding record PORT - | sounding convert - - --to jsonl`"
    ))]
    Terminal,
    /// The file takes no more.
    #[error(
        "{path}: {error}: the recording ends here; the {whole} bytes before it are whole and readable"
    )]
    #[diagnostic(help("make room, then record into another file"))]
    Write { path: PathBuf, error: io::Error, whole: u64 },
}

const TICK: Duration = Duration::from_millis(20);

pub(crate) fn run(args: &Record) -> Result<ExitCode> {
    // A file at the limit of its size is an error to report, not a reason to die without a word.
    // SAFETY: ignoring a signal installs no handler.
    unsafe {
        nix::sys::signal::signal(nix::sys::signal::SIGXFSZ, nix::sys::signal::SigHandler::SigIgn)
    }
    .into_diagnostic()?;
    if file::is_terminal(&args.file) {
        return Err(RecordError::Terminal.into());
    }
    let source = &args.router.of(args.source.clone()).into_diagnostic()?;
    let stop = signals::stop_flag().into_diagnostic()?;
    let wanted = (!args.no_mask).then(|| Wanted {
        codes: if args.code.is_empty() {
            sounding_diag::record::CODES.to_vec()
        } else {
            args.code.clone()
        },
        budget_bytes_per_sec: args.budget.map(|rate| rate.bits_per_sec() / 8),
    });
    let codes = wanted.as_ref().map(|wanted| &wanted.codes[..]);
    let Opened { port, is_beside } = doctor::open(source, codes)?;
    let file = Recording::create(&args.file)
        .map_err(|error| RecordError::Create { path: args.file.clone(), error })?;
    // The records in the file carry the modem's own time.
    let pump = Pump::over(source.clone(), port, wanted);
    let pump = pump.setting_untold(args.untold.set_untold_mask).in_no_hurry();
    let mut recorder = Recorder {
        pump: if is_beside { pump.once() } else { pump },
        reader: Reader::new(),
        file,
        path: &args.file,
        framed: Vec::new(),
        progress: match args.file == Path::new("-") {
            // The commands that read it have the terminal.
            true => progress::none(),
            false => progress::line("{spinner} {elapsed} {msg}", None),
        },
        shown: HostInstant::default(),
    };
    if is_beside && args.budget.is_some() {
        recorder.say("--budget has no effect here: the daemon's own budget holds");
    }
    // A source that will not come back is no modem, and needs no retry.
    if source.may_return()
        && !is_beside
        && let Err(refused) = prefer_this_thread()
    {
        recorder.say(&cli_types::no_priority(&refused));
    }
    rights::drop_for_reading()?;
    let until = args.duration.map(|span| monotonic_now() + span);
    let recorded = recorder.record(until, &stop);
    // Masks go back also where the disk is full.
    let put_back = recorder.put_back();
    if !source.may_return() {
        // A recording ends at its end; a port that was left may have been in the middle of a frame.
        while recorder.reader.poll_end().is_some() {}
    }
    recorder.progress.finish_and_clear();
    let counts = recorder.reader.counts();
    let is_taken = !recorder.file.is_gone();
    let len = recorder.file.finish().into_diagnostic();
    recorded?;
    put_back?;
    eprintln!(
        "sounding: {} {}: {}, {}, {}",
        size(len?),
        match args.file == Path::new("-") {
            true => "to standard output".into(),
            false => format!("in {}", screen::path(&args.file)),
        },
        counted(counts.logs, "log record", "log records"),
        counted(counts.others, "other packet", "other packets"),
        skipped::damage(&counts)
    );
    let is_due = until.is_some_and(|until| monotonic_now() >= until);
    if is_beside && is_taken && !is_due && !signals::is_stopping() {
        doctor::tell_end(source);
    }
    doctor::tell_lost(source, recorder.pump.lost());
    if counts.frames.good == 0 {
        let source = source.to_string();
        let source = screen::inline(&source);
        eprintln!(
            "sounding: not one Diag frame came: is {source} the modem's Diag port, and is logging on? `sounding doctor` asks"
        );
    }
    Ok(ExitCode::SUCCESS)
}

/// What one turn of the port was.
enum Step {
    Read,
    Waits,
    Reopened,
    Closed,
}

struct Recorder<'a> {
    pump: Pump,
    reader: Reader,
    file: Recording,
    path: &'a Path,
    framed: Vec<u8>,
    progress: ProgressBar,
    shown: HostInstant,
}

impl Recorder<'_> {
    fn record(&mut self, until: Option<HostInstant>, stop: &AtomicBool) -> Result<()> {
        let is_over = || until.is_some_and(|until| monotonic_now() >= until);
        while !stop.load(Ordering::Relaxed) && !is_over() && !self.file.is_gone() {
            let step = self.step()?;
            let source = self.pump.source();
            match step {
                Step::Closed => return Ok(()),
                Step::Waits => self.say(&format!("{source} closed: waiting for it")),
                Step::Reopened => self.say(&format!("{source} is back")),
                Step::Read => {}
            }
            self.tell();
            self.show(monotonic_now());
        }
        Ok(())
    }

    fn put_back(&mut self) -> Result<()> {
        let put_back = self.pump.put_back().into_diagnostic();
        self.tell();
        put_back
    }

    /// Waits once for bytes, and writes them before it reads their content.
    fn step(&mut self) -> Result<Step> {
        let Self { pump, reader, file, framed, .. } = self;
        let read = match pump.turn(TICK).into_diagnostic()? {
            Turn::Bytes(read) => read,
            Turn::Idle => return Ok(Step::Read),
            Turn::Closed(None) => return Ok(Step::Closed),
            Turn::Closed(Some(_)) => return Ok(Step::Waits),
            Turn::Reopened => {
                while reader.poll_end().is_some() {}
                return Ok(Step::Reopened);
            }
        };
        let stretch = match read.framing {
            Framing::Hdlc => read.bytes,
            // The file is a stream of HDLC frames, even if the port has another framing.
            Framing::Packet => {
                framed.clear();
                hdlc::encode(read.bytes, framed);
                framed
            }
        };
        let written = file.write(stretch);
        // The session needs the answers in it also where nothing more is written.
        read.find(reader, |_| {});
        match written {
            Ok(()) => Ok(Step::Read),
            // As an end by Ctrl-C, which also ends a reader that takes nothing.
            Err(_) if file.is_gone() => Ok(Step::Closed),
            Err(error) => {
                let (path, whole) = (self.path.to_path_buf(), file.whole());
                Err(RecordError::Write { path, error, whole }.into())
            }
        }
    }

    fn tell(&mut self) {
        while let Some(event) = self.pump.poll_event() {
            self.say(&session_report::sentence(&event));
        }
    }

    fn say(&self, sentence: &str) {
        // The message is one line, even if the source's name contains a line break.
        self.progress.suspend(|| eprintln!("sounding: {}", screen::inline(sentence)));
    }

    fn show(&mut self, now: HostInstant) {
        const SHOW_EVERY: Duration = Duration::from_millis(200);
        if now - self.shown < SHOW_EVERY {
            return;
        }
        self.shown = now;
        let counts = self.reader.counts();
        self.progress.set_message(format!(
            "{} {}, {}",
            size(counts.frames.bytes),
            counted(counts.logs, "log record", "log records"),
            skipped::damage(&counts)
        ));
    }
}

/// A number of bytes, in the largest unit that fits into it.
fn size(bytes: u64) -> String {
    let (mut value, mut unit) = (bytes as f64, None);
    for larger in ["KiB", "MiB", "GiB", "TiB", "PiB", "EiB"] {
        if value < 1024.0 {
            break;
        }
        (value, unit) = (value / 1024.0, Some(larger));
    }
    unit.map_or_else(|| format!("{bytes} B"), |unit| format!("{value:.2} {unit}"))
}
