use std::collections::VecDeque;
use std::io::{self, BufWriter, StdoutLock, Write};
use std::path::Path;
use std::process::ExitCode;
use std::sync::atomic::Ordering;
use std::time::Duration;

use clap::Args;
use miette::{IntoDiagnostic, Result, miette};
use serde_json::json;
use sounding_diag::session::Wanted;
use sounding_host::monotonic_now;
use sounding_kpi::Direction;
use sounding_link::{Arrival, Bins, CellView, Config, Counts, LinkEstimate, Method, Seen, Sounder};
use sounding_modem::{Framing, Live, READ_SIZE, Read, Source};
use sounding_units::{HostInstant, Rate};

use crate::doctor::refuse_held;
use crate::kpi::is_recorded;
use crate::run::told;
use crate::skipped::{Records, Skipped};
use crate::sniffer::{self, SnifferFile};
use crate::words::{DirectionWord, MethodWord, source_parser};
use crate::{input, say, screen, signals};

/// Prints the rate of the link over time, from the records of a capture or of a live modem
#[derive(Args, Debug)]
#[command(after_help = "\
Each row is the estimate at the end of a bin: the rate as IP bytes; `capacity` if the device had more to send than it was
granted, `served` if the rate is only what it asked for; the state of the link; the age of the newest record. Time is the
modem's. A live modem is asked for the records that this needs, until Ctrl-C, and then given back the log mask it had.

With --method cell the rate adds a part of what nobody has, where a sniffer says that; without one it is a floor unless the
device was backlogged. JSON rows then have the users with data, the idle part, and the fair share; and as a ceiling what the
most resource blocks that the device ever had would carry now.

Examples:
  sounding link drive.mi2log
  sounding link drive.mi2log --direction uplink --method formula --bin 50ms
  sounding link drive.mi2log --direction downlink --method cqi --window 200ms
  sounding link drive.mi2log --direction downlink --method cell --window 40ms --sniffer dcilog:cell.dciLog
  sounding link /dev/ttyUSB0 --direction uplink
  sounding link drive.mi2log --json | jq 'select(.bound == \"capacity\") | .rate_bits_per_sec'")]
pub(crate) struct Link {
    /// Capture file (.qmdl, .qmdl2, .mi2log, .hdf, .dlf, also .gz or .zst), - for standard input, or a modem: a device,
    /// tcp:HOST:PORT, router:NAME, vendor-router:NAME
    #[arg(value_parser = source_parser())]
    source: Source,
    /// One direction only; with --method cqi it is the downlink
    #[arg(long, value_enum)]
    direction: Option<DirectionWord>,
    /// What the rate is made of
    #[arg(long, value_enum, default_value_t = MethodWord::Grants)]
    method: MethodWord,
    /// A sniffer's log of the cell, for --method cell: dcilog:FILE (NG-Scope), falcon:FILE or nr-scope:FILE; once for each
    /// carrier, in their order
    #[arg(long, value_name = "FORMAT:FILE")]
    sniffer: Vec<SnifferFile>,
    /// Span of time that a rate is an average of; below 100ms it may still be 100ms where grants come in bursts
    #[arg(long, value_name = "TIME", default_value = "100ms", value_parser = humantime::parse_duration)]
    window: Duration,
    /// Time between rows
    #[arg(long, value_name = "TIME", default_value = "100ms", value_parser = humantime::parse_duration)]
    bin: Duration,
    /// One JSON object a row
    #[arg(long)]
    json: bool,
}

pub(crate) fn run(args: &Link) -> Result<ExitCode> {
    if args.bin < Duration::from_millis(1) || args.window < Duration::from_millis(1) {
        return Err(miette!("--bin and --window are at least 1ms"));
    }
    if !args.sniffer.is_empty() && args.method != MethodWord::Cell {
        return Err(miette!("--sniffer is for --method cell: no other method listens"));
    }
    if !args.sniffer.is_empty() && args.direction.is_none() {
        return Err(miette!(
            "--sniffer needs --direction: a log is of one, or its users differ by it"
        ));
    }
    if !args.sniffer.is_empty() && !is_recorded(&args.source) {
        return Err(miette!("--sniffer is for captures: a log has to be whole"));
    }
    let directions = match (args.direction, args.method) {
        (Some(DirectionWord::Uplink), MethodWord::Cqi) => {
            return Err(miette!(
                "--method cqi is for --direction downlink: no device reports a CQI of what it sends"
            ));
        }
        (Some(word), _) => vec![word.into()],
        (None, MethodWord::Cqi) => vec![Direction::Downlink],
        (None, _) => vec![Direction::Uplink, Direction::Downlink],
    };
    let mut sounders = Vec::new();
    for &direction in &directions {
        let mut config = Config::new(direction);
        config.method = args.method.into();
        config.window = args.window;
        let log = sniffer::read(&args.sniffer, direction)?;
        sounders.push((Sounder::new(config).hearing(log), Rows::new(args.bin)));
    }
    let mut series = Series { sounders, out: BufWriter::new(io::stdout().lock()), json: args.json };
    let outcome = if is_recorded(&args.source) {
        series.read_recorded(&args.source, &directions)
    } else {
        series.read_live(&args.source, &directions, args.method.into())
    };
    match outcome.and_then(|skipped| series.finish(&skipped).map_err(Stopped::Output)) {
        Err(Stopped::Output(error)) if error.kind() == io::ErrorKind::BrokenPipe => {}
        Err(Stopped::Output(error)) => return Err(say::failed(error)),
        Err(Stopped::Input(report)) => return Err(report),
        Ok(()) => {}
    }
    Ok(ExitCode::SUCCESS)
}

/// A row for each bin: its end, the estimate then, and what was known of the cell.
type Row = (Duration, LinkEstimate, Option<CellView>);

/// Why nothing more is printed.
enum Stopped {
    Input(miette::Report),
    Output(io::Error),
}

/// The way from bytes to rows.
struct Series {
    /// One for each direction, and the rows that have not been printed.
    sounders: Vec<(Sounder, Rows)>,
    out: BufWriter<StdoutLock<'static>>,
    json: bool,
}

/// How long a live port is waited for at a time.
const PATIENCE: Duration = Duration::from_millis(20);

/// A modem that does not take its masks back within this keeps those of this program.
const PUT_BACK: Duration = Duration::from_secs(1);

impl Series {
    fn read_recorded(
        &mut self,
        source: &Source,
        directions: &[Direction],
    ) -> Result<Skipped, Stopped> {
        let path = match source.place() {
            Source::Path(path) => path,
            _ => Path::new("-"),
        };
        let failed = |error: input::CaptureError| Stopped::Input(error.into());
        let mut capture = input::Source::open(path).map_err(failed)?;
        self.head(directions)?;
        let kind = capture.kind();
        let plain = std::mem::take(&mut self.sounders);
        self.sounders =
            plain.into_iter().map(|(sounder, rows)| (sounder.reading(kind), rows)).collect();
        while let Some(chunk) = capture.next_chunk().map_err(failed)? {
            for (sounder, rows) in &mut self.sounders {
                let watch = |sounder: &Sounder, seen: Seen<'_>| rows.handle_seen(sounder, &seen);
                sounder.handle_bytes(Arrival::AsStamped, chunk, watch);
            }
            self.print()?;
        }
        for (sounder, rows) in &mut self.sounders {
            sounder
                .handle_end(Arrival::AsStamped, |sounder, seen| rows.handle_seen(sounder, &seen));
        }
        self.print()?;
        let counts = self.counts();
        Ok(Skipped { records: records(&counts), ..capture.skipped(counts.stream) })
    }

    /// What the first direction has met: the other has been given the same bytes.
    fn counts(&self) -> Counts {
        self.sounders.first().map(|(sounder, _)| sounder.counts()).unwrap_or_default()
    }

    /// The last words: what was skipped, to whoever reads the rows too.
    fn finish(&mut self, skipped: &Skipped) -> io::Result<()> {
        if let Some(line) = skipped.json().filter(|_| self.json) {
            writeln!(self.out, "{}", screen::inline(&line.to_string()))?;
        }
        self.flush()?;
        skipped.tell();
        Ok(())
    }

    /// Until somebody ends it, or the source is over for good.
    fn read_live(
        &mut self,
        source: &Source,
        directions: &[Direction],
        method: Method,
    ) -> Result<Skipped, Stopped> {
        fn failed<T>(result: Result<T, impl Into<miette::Report>>) -> Result<T, Stopped> {
            result.map_err(|error| Stopped::Input(error.into()))
        }
        let stop = failed(signals::stop_flag().into_diagnostic())?;
        failed(refuse_held(source))?;
        let port = failed(source.open().into_diagnostic())?;
        self.head(directions)?;
        let codes = directions.iter().flat_map(|&direction| sounding_kpi::codes(direction));
        let codes = codes.chain(method.channel_codes()).copied().collect();
        let wanted = Wanted { codes, ..Wanted::default() };
        let mut live = Live::new(port, Some(wanted)).remembering(source);
        let mut buffer = vec![0; READ_SIZE];
        let mut outcome = Ok(());
        let mut ending = None;
        loop {
            let now = monotonic_now();
            live.tick(now);
            if ending.is_none() && (stop.load(Ordering::Relaxed) || outcome.is_err()) {
                live.handle_end(now);
                ending = Some(now);
            }
            if ending.is_some_and(|since| live.is_over() || now - since > PUT_BACK) {
                break;
            }
            match failed(live.read(&mut buffer, PATIENCE).into_diagnostic())? {
                Read::Bytes(count) => self.handle_live(&mut live, &buffer[..count]),
                Read::Idle => {}
                Read::Closed => break,
            }
            told::tell(|| live.poll_event());
            if outcome.is_ok() {
                outcome = self.print().and_then(|()| self.flush().map_err(Stopped::Output));
            }
        }
        told::tell(|| live.poll_event());
        let counts = self.counts();
        let records = records(&counts);
        outcome.map(|()| Skipped {
            name: source.to_string(),
            stream: counts.stream,
            records,
            ..Skipped::default()
        })
    }

    fn handle_live(&mut self, live: &mut Live, bytes: &[u8]) {
        let (now, framing) = (monotonic_now(), live.framing());
        for (number, (sounder, rows)) in self.sounders.iter_mut().enumerate() {
            let watch = |sounder: &Sounder, seen: Seen<'_>| {
                // The session is told once.
                match &seen {
                    Seen::Record(record) if number == 0 => live.handle_log(now, record),
                    Seen::Other { command, body } if number == 0 => {
                        live.handle_other(now, *command, body);
                    }
                    _ => {}
                }
                rows.handle_seen(sounder, &seen);
            };
            match framing {
                Framing::Hdlc => sounder.handle_bytes(Arrival::AsStamped, bytes, watch),
                Framing::Packet => sounder.handle_payload(Arrival::AsStamped, bytes, watch),
            }
        }
    }

    /// Only once there is something to read.
    fn head(&mut self, directions: &[Direction]) -> Result<(), Stopped> {
        if self.json {
            return Ok(());
        }
        let heads = vec![heading("rate bound state age"); directions.len()].join("  |");
        let names: Vec<String> =
            directions.iter().map(|d| format!("{:^36}", d.to_string())).collect();
        writeln!(self.out, "{:>9}  {heads}", "time")
            .and_then(|()| writeln!(self.out, "{:>9}  {}", "s", names.join("  |")))
            .map_err(Stopped::Output)
    }

    /// Prints what is known of all directions.
    fn print(&mut self) -> Result<(), Stopped> {
        while self.sounders.iter().all(|(_, rows)| !rows.ready.is_empty()) {
            let ready = self.sounders.iter_mut().filter_map(|(_, rows)| rows.ready.pop_front());
            let estimates: Vec<_> = ready.collect();
            let written = if self.json {
                write_json(&mut self.out, &estimates)
            } else {
                write_row(&mut self.out, &estimates)
            };
            written.map_err(Stopped::Output)?;
        }
        Ok(())
    }

    fn flush(&mut self) -> io::Result<()> {
        self.out.flush()
    }
}

/// Of the records that a rate is made of, those that cannot be read.
fn records(counts: &Counts) -> Records {
    Records { undescribed: counts.unsupported, corrupt: counts.corrupt, ..Records::default() }
}

/// The rows of one direction.
struct Rows {
    bins: Bins,
    ready: VecDeque<Row>,
}

impl Rows {
    fn new(bin: Duration) -> Self {
        Self { bins: Bins::new(bin), ready: VecDeque::new() }
    }

    fn handle_seen(&mut self, sounder: &Sounder, seen: &Seen<'_>) {
        let Seen::Record(record) = seen else { return };
        self.bins.handle_record(record.at, |elapsed, end| {
            let now = HostInstant::from_nanos(end.as_nanos());
            self.ready.push_back((elapsed, sounder.estimate(now), sounder.cell(now)));
        });
    }
}

fn heading(columns: &str) -> String {
    let [rate, bound, state, age] = columns.split(' ').collect::<Vec<_>>()[..] else {
        return String::new();
    };
    format!("{rate:>12} {bound:>9} {state:>7} {age:>5}")
}

fn write_row(out: &mut impl Write, estimates: &[Row]) -> io::Result<()> {
    write!(out, "{:>9.3}  ", estimates[0].0.as_secs_f64())?;
    for (i, (_, estimate, _)) in estimates.iter().enumerate() {
        if i > 0 {
            write!(out, "  |")?;
        }
        write!(
            out,
            "{:>12.3} {:>9} {:>7} {:>5}",
            estimate.rate.mbit_per_sec(),
            estimate.bound,
            estimate.state,
            estimate.age.as_millis().min(99_999)
        )?;
    }
    writeln!(out)
}

fn write_json(out: &mut impl Write, estimates: &[Row]) -> io::Result<()> {
    for (time, estimate, cell) in estimates {
        let mut line = told::estimate(estimate);
        line["time_s"] = time.as_secs_f64().into();
        line["cause"] = estimate.cause.to_string().into();
        if let Some(cell) = cell {
            let rate = |rate: Rate| rate.bits_per_sec();
            line["cell"] = json!({
                "fair_share_bits_per_sec": cell.fair_share.map(rate),
                "ceiling_bits_per_sec": rate(cell.ceiling),
                "users": cell.users,
                "idle": cell.idle,
            });
        }
        writeln!(out, "{line}")?;
    }
    Ok(())
}
