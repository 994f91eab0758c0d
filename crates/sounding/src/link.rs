use std::io::{self, BufWriter, Write};
use std::path::PathBuf;
use std::process::ExitCode;
use std::time::Duration;

use clap::Args;
use miette::{IntoDiagnostic, Result, miette};
use serde_json::json;
use sounding_kpi::Direction;
use sounding_link::{Arrival, Bins, Config, LinkEstimate, Seen, Sounder};
use sounding_units::HostInstant;

use crate::input::{CaptureError, Source};
use crate::words::{DirectionWord, MethodWord};

/// Prints the rate of the link over time, from the records of a capture
#[derive(Args, Debug)]
#[command(after_help = "\
Each row is the estimate at the end of a bin: the rate as IP bytes; `capacity` if the device had more to send than it was
granted, `served` if the rate is only what it asked for; the state of the link; the age of the newest record.

Examples:
  sounding link drive.mi2log
  sounding link drive.mi2log --direction uplink --method formula --bin 50ms
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
    let configs = directions.iter().map(|&direction| {
        let mut config = Config::new(direction);
        config.method = args.method.into();
        config.window = args.window;
        config
    });
    let series = series(source, configs, args.bin)?;
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

/// A row for each bin: its end, and the estimate then.
type Series = Vec<(Duration, LinkEstimate)>;

/// The estimates at the end of each bin, from the first record on, one series for each configuration.
fn series(
    mut source: Source,
    configs: impl Iterator<Item = Config>,
    bin: Duration,
) -> Result<Vec<Series>, CaptureError> {
    let mut series: Vec<(Sounder, Rows)> = configs
        .map(|config| (Sounder::new(config).reading(source.kind()), Rows::new(bin)))
        .collect();
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
            self.series.push((elapsed, sounder.estimate(now)));
        });
    }
}

fn heading(columns: &str) -> String {
    let [rate, bound, state, age] = columns.split(' ').collect::<Vec<_>>()[..] else {
        return String::new();
    };
    format!("{rate:>12} {bound:>9} {state:>7} {age:>5}")
}

fn write_row(out: &mut impl Write, estimates: &[(Duration, LinkEstimate)]) -> io::Result<()> {
    write!(out, "{:>9.3}  ", estimates[0].0.as_secs_f64())?;
    for (i, (_, estimate)) in estimates.iter().enumerate() {
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

fn write_json(out: &mut impl Write, estimates: &[(Duration, LinkEstimate)]) -> io::Result<()> {
    for (time, estimate) in estimates {
        let line = json!({
            "time_s": time.as_secs_f64(),
            "direction": estimate.direction.to_string(),
            "rate_bits_per_sec": estimate.rate.bits_per_sec(),
            "bound": estimate.bound.to_string(),
            "state": estimate.state.to_string(),
            "age_us": u64::try_from(estimate.age.as_micros()).unwrap_or(u64::MAX),
            "backlog_bytes": estimate.backlog.map(sounding_units::Bytes::count),
            "cause": estimate.cause.to_string(),
        });
        writeln!(out, "{line}")?;
    }
    Ok(())
}
