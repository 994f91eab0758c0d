use std::io::{self, BufWriter, Write};
use std::path::PathBuf;
use std::process::ExitCode;
use std::time::Duration;

use clap::Args;
use miette::{IntoDiagnostic, Result, miette};
use serde_json::json;
use sounding_kpi::Direction;
use sounding_link::{Arrival, Bins, CellView, Config, LinkEstimate, Seen, Sounder};
use sounding_units::{HostInstant, Rate};

use crate::input::{CaptureError, Source};
use crate::sniffer::{self, SnifferFile};
use crate::words::{DirectionWord, MethodWord};

/// Prints the rate of the link over time, from the records of a capture
#[derive(Args, Debug)]
#[command(after_help = "\
Each row is the estimate at the end of a bin: the rate as IP bytes; `capacity` if the device had more to send than it was
granted, `served` if the rate is only what it asked for; the state of the link; the age of the newest record.

With --method cell the rate adds a part of what nobody has, where a sniffer says that; without one it is a floor unless the
device was backlogged. JSON rows then have the users with data, the idle part, and the fair share; and as a ceiling what the
most resource blocks that the device ever had would carry now.

Examples:
  sounding link drive.mi2log
  sounding link drive.mi2log --direction uplink --method formula --bin 50ms
  sounding link drive.mi2log --direction downlink --method cqi --window 200ms
  sounding link drive.mi2log --direction downlink --method cell --window 40ms --sniffer dcilog:cell.dciLog
  sounding link drive.mi2log --json | jq 'select(.bound == \"capacity\") | .rate_bits_per_sec'")]
pub(crate) struct Link {
    /// Capture file (.qmdl, .qmdl2, .mi2log, .hdf, .dlf, also .gz or .zst), or - for standard input
    capture: PathBuf,
    /// One direction only
    #[arg(long, value_enum)]
    direction: Option<DirectionWord>,
    /// What the rate is made of
    #[arg(long, value_enum, default_value_t = MethodWord::Grants)]
    method: MethodWord,
    /// A sniffer's log of the cell, for --method cell: dcilog:FILE (NG-Scope), falcon:FILE or nr-scope:FILE; once for each
    /// carrier, in their order
    #[arg(long, value_name = "FORMAT:FILE")]
    sniffer: Vec<SnifferFile>,
    /// Span of time that a rate is an average of
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
    let source = Source::open(&args.capture)?;
    let directions = match args.direction {
        Some(word) => vec![word.into()],
        None => vec![Direction::Uplink, Direction::Downlink],
    };
    let mut out = BufWriter::new(io::stdout().lock());
    if !args.json {
        let columns = "rate bound state age";
        writeln!(out, "{:>9}  {}", "time", vec![heading(columns); directions.len()].join("  |"))
            .into_diagnostic()?;
        let names: Vec<String> =
            directions.iter().map(|d| format!("{:^36}", d.to_string())).collect();
        writeln!(out, "{:>9}  {}", "s", names.join("  |")).into_diagnostic()?;
    }
    let mut sounders = Vec::new();
    for &direction in &directions {
        let mut config = Config::new(direction);
        config.method = args.method.into();
        config.window = args.window;
        let log = sniffer::read(&args.sniffer, direction)?;
        let sounder = Sounder::new(config).reading(source.kind()).hearing(log);
        sounders.push((sounder, Rows::new(args.bin)));
    }
    let series = series(source, sounders)?;
    for row in 0..series[0].len() {
        let estimates: Vec<_> = series.iter().map(|one| one[row]).collect();
        let written = if args.json {
            write_json(&mut out, &estimates)
        } else {
            write_row(&mut out, &estimates)
        };
        match written {
            Err(error) if error.kind() == io::ErrorKind::BrokenPipe => {
                return Ok(ExitCode::SUCCESS);
            }
            other => other.into_diagnostic()?,
        }
    }
    out.flush().into_diagnostic()?;
    Ok(ExitCode::SUCCESS)
}

/// A row for each bin: its end, the estimate then, and what was known of the cell.
type Row = (Duration, LinkEstimate, Option<CellView>);
type Series = Vec<Row>;

/// The estimates at the end of each bin, from the first record on, one series for each sounder.
fn series(
    mut source: Source,
    mut series: Vec<(Sounder, Rows)>,
) -> Result<Vec<Series>, CaptureError> {
    while let Some(chunk) = source.next_chunk()? {
        for (sounder, rows) in &mut series {
            sounder.handle_bytes(Arrival::AsStamped, chunk, |sounder, seen| {
                rows.handle_seen(sounder, seen);
            });
        }
    }
    for (sounder, rows) in &mut series {
        sounder.handle_end(Arrival::AsStamped, |sounder, seen| rows.handle_seen(sounder, seen));
    }
    Ok(series.into_iter().map(|(_, rows)| rows.series).collect())
}

/// Estimates, one for each bin.
struct Rows {
    bins: Bins,
    series: Series,
}

impl Rows {
    fn new(bin: Duration) -> Self {
        Self { bins: Bins::new(bin), series: Vec::new() }
    }

    fn handle_seen(&mut self, sounder: &Sounder, seen: Seen<'_>) {
        let Seen::Record(record) = seen else { return };
        self.bins.handle_record(record.at, |elapsed, end| {
            let now = HostInstant::from_nanos(end.as_nanos());
            self.series.push((elapsed, sounder.estimate(now), sounder.cell(now)));
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
        let mut line = json!({
            "time_s": time.as_secs_f64(),
            "direction": estimate.direction.to_string(),
            "rate_bits_per_sec": estimate.rate.bits_per_sec(),
            "bound": estimate.bound.to_string(),
            "state": estimate.state.to_string(),
            "age_us": u64::try_from(estimate.age.as_micros()).unwrap_or(u64::MAX),
            "backlog_bytes": estimate.backlog.map(sounding_units::Bytes::count),
            "cause": estimate.cause.to_string(),
        });
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
