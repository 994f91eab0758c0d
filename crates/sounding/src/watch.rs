use std::collections::BTreeMap;
use std::io::{self, BufWriter, IsTerminal, Write};
use std::path::PathBuf;
use std::process::ExitCode;
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

use clap::Args;
use miette::{IntoDiagnostic, Result, miette};
use sounding_board::Place;
use sounding_feed::{FeedError, Line, Reader};

use crate::patient::Patient;
use crate::{say, screen, signals};

/// Shows what a daemon's rate feed says now, until Ctrl-C
///
/// A daemon has a feed with `sounding run --feed NAME`, or `[feed]` in its file.
#[derive(Args, Debug)]
#[command(after_help = "\
A row for each modem and direction. An unknown value is `-`.

  advice
    the rate that a live sender should take now, and why
  granted
    the rate that the radio granted; `capacity` if that was all that it had, `floor` if it was all that was asked for
  waits
    bytes in the modem

Examples:
  sounding watch modem
  sounding watch modem --json | jq .advice_bits_per_sec
  sounding watch /run/sounding/modem.rate")]
pub(crate) struct Watch {
    /// The feed's name, or the path of its socket
    #[arg(default_value = "modem")]
    name: String,
    /// Print the lines as they come
    #[arg(long)]
    json: bool,
}

/// The rows of a terminal are painted this often.
const PAINT_EVERY: Duration = Duration::from_millis(200);

/// A bar has so many signs at most.
const BAR: usize = 30;

pub(crate) fn run(args: &Watch) -> Result<ExitCode> {
    let stop = signals::stop_flag().into_diagnostic()?;
    let path = match args.name.contains('/') {
        true => PathBuf::from(&args.name),
        false => Place::to_read(&args.name).into_diagnostic()?.feed(),
    };
    let reader = Reader::open(&path).map_err(|error| match error {
        FeedError::Open { .. } => miette!(
            help = "start it with `sounding run --feed NAME`; the socket's mode and group say who may read it: [feed] mode, group",
            "{error}"
        ),
        error => miette!("{error}"),
    })?;
    let mut out = BufWriter::new(Patient::stdout(None).map_err(say::failed)?);
    let paints = !args.json && io::stdout().is_terminal();
    let mut rows = Rows::default();
    for line in reader {
        if stop.load(Ordering::Relaxed) {
            break;
        }
        let line = line.map_err(|error| miette!("{error}"))?;
        let written = match (args.json, paints) {
            (true, _) => serde_json::to_writer(&mut out, &line)
                .map_err(io::Error::from)
                .and_then(|()| writeln!(out))
                .and_then(|()| out.flush()),
            (false, true) => rows.handle(&mut out, line),
            (false, false) => writeln!(out, "{}", row(&line, 0)).and_then(|()| out.flush()),
        };
        match written {
            Err(error) if error.kind() == io::ErrorKind::BrokenPipe => break,
            written => written.map_err(say::failed)?,
        }
    }
    Ok(ExitCode::SUCCESS)
}

/// The newest line of each modem and direction, on a terminal.
#[derive(Default)]
struct Rows {
    lines: BTreeMap<(String, String), Line>,
    most: u64,
    painted: Option<Instant>,
    height: usize,
}

impl Rows {
    fn handle(&mut self, out: &mut impl Write, line: Line) -> io::Result<()> {
        self.most = self.most.max(line.advice_bits_per_sec.unwrap_or(0));
        self.lines.insert((line.modem.clone(), line.direction.clone()), line);
        if self.painted.is_some_and(|painted| painted.elapsed() < PAINT_EVERY) {
            return Ok(());
        }
        self.painted = Some(Instant::now());
        if self.height > 0 {
            write!(out, "\x1b[{}A", self.height)?;
        }
        for line in self.lines.values() {
            writeln!(out, "{}\x1b[K", row(line, self.most))?;
        }
        self.height = self.lines.len();
        out.flush()
    }
}

/// A row; its bar is the advice as a part of `most`.
fn row(line: &Line, most: u64) -> String {
    let mbit =
        |rate: Option<u64>| rate.map_or("-".into(), |rate| format!("{:.2}", rate as f64 / 1e6));
    let word = |word: &Option<String>| word.as_deref().unwrap_or("-").to_owned();
    let bar = line
        .advice_bits_per_sec
        .filter(|_| most > 0)
        .map_or(0, |advice| (advice as f64 / most as f64 * BAR as f64).round() as usize);
    let row = format!(
        "{:<10} {:<8}  advice {:>8} Mbit/s {:<9} {:<BAR$}  granted {:>8} {:<8}  {:<8}  waits {:>8}  age {:>6} ms",
        line.modem,
        line.direction,
        mbit(line.advice_bits_per_sec),
        word(&line.advice_cause),
        "#".repeat(bar.min(BAR)),
        mbit(line.rate_bits_per_sec),
        word(&line.bound),
        word(&line.state),
        line.backlog_bytes.map_or("-".into(), |bytes| bytes.to_string()),
        line.age_ms.map_or("-".into(), |ms| format!("{ms:.0}")),
    );
    screen::inline(&row).into_owned()
}
