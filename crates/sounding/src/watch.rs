use std::collections::BTreeMap;
use std::io::{self, BufWriter, IsTerminal, Write};
use std::path::PathBuf;
use std::process::ExitCode;
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

use clap::Args;
use miette::{IntoDiagnostic, Result, miette};
use sounding_board::Place;
use sounding_feed::{FeedError, Flows, Line, Reader};

use crate::patient::Patient;
use crate::skipped::counted;
use crate::{say, screen, signals};

/// Shows what a daemon's rate feed says now, and the flows of its laws, until Ctrl-C
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
  flow
    the ports of a flow under one of the daemon's laws, the phase of the law and the pacing rate that it has set, once a second; \
the fastest 16, and the count of the others

Examples:
  sounding watch modem
  sounding watch modem --json | jq .advice_bits_per_sec
  sounding watch /run/sounding/modem.rate")]
pub(crate) struct Watch {
    /// The feed's name, or the path of its socket
    #[arg(default_value = "modem")]
    name: String,
    /// Print the lines as they come, each a JSON object
    #[arg(long)]
    json: bool,
}

/// The rows of a terminal are painted this often.
const PAINT_EVERY: Duration = Duration::from_millis(200);

/// Flows that no line has had for so long are not shown: the daemon has no law any more.
const FORGET: Duration = Duration::from_secs(5);

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
            (false, false) => plain(&mut out, &line),
        };
        match written {
            Err(error) if error.kind() == io::ErrorKind::BrokenPipe => break,
            written => written.map_err(say::failed)?,
        }
    }
    Ok(ExitCode::SUCCESS)
}

/// A line as text, for a file or a pipe.
fn plain(out: &mut impl Write, line: &Line) -> io::Result<()> {
    writeln!(out, "{}", row(line, 0))?;
    for flow in line.flows.iter().flat_map(flows) {
        writeln!(out, "{flow}")?;
    }
    out.flush()
}

/// The newest line of each modem and direction, on a terminal, and the newest flows of each modem.
#[derive(Default)]
struct Rows {
    lines: BTreeMap<(String, String), Line>,
    flows: BTreeMap<String, (Instant, Flows)>,
    most: u64,
    painted: Option<Instant>,
    height: usize,
}

impl Rows {
    fn handle(&mut self, out: &mut impl Write, mut line: Line) -> io::Result<()> {
        if let Some(flows) = line.flows.take() {
            self.flows.insert(line.modem.clone(), (Instant::now(), flows));
        }
        self.flows.retain(|_, (at, _)| at.elapsed() < FORGET);
        self.most = self.most.max(line.advice_bits_per_sec.unwrap_or(0));
        self.lines.insert((line.modem.clone(), line.direction.clone()), line);
        if self.painted.is_some_and(|painted| painted.elapsed() < PAINT_EVERY) {
            return Ok(());
        }
        self.painted = Some(Instant::now());
        if self.height > 0 {
            write!(out, "\x1b[{}A", self.height)?;
        }
        let lines = self.lines.values().map(|line| row(line, self.most));
        let rows: Vec<String> =
            lines.chain(self.flows.values().flat_map(|(_, each)| flows(each))).collect();
        for row in &rows {
            writeln!(out, "{row}\x1b[K")?;
        }
        // Rows of flows that have ended.
        write!(out, "\x1b[J")?;
        self.height = rows.len();
        out.flush()
    }
}

/// A row for each flow, and one for those that are left out.
fn flows(flows: &Flows) -> Vec<String> {
    let mut rows: Vec<String> = flows
        .fastest
        .iter()
        .map(|flow| {
            let rate = flow.rate_bits_per_sec;
            let rate = rate.map_or("-".into(), |rate| format!("{:.2}", rate as f64 / 1e6));
            let phase = flow.phase.as_deref().unwrap_or("unknown");
            let ports = format!("{} to {}", flow.local_port, flow.remote_port);
            let row = format!("  flow {ports:<15} {phase:<20} {rate:>8} Mbit/s");
            screen::inline(&row).into_owned()
        })
        .collect();
    rows.extend(
        (flows.more > 0)
            .then(|| format!("  and {}", counted(flows.more, "slower flow", "slower flows"))),
    );
    rows
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
