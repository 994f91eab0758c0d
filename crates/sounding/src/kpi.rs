use std::collections::BTreeMap;
use std::io::{self, BufWriter, Write};
use std::ops::ControlFlow;
use std::process::ExitCode;
use std::sync::atomic::Ordering;
use std::time::Duration;

use clap::{Args, Subcommand, ValueEnum};
use miette::{IntoDiagnostic, Result, miette};
use serde_json::json;
use sounding_diag::LogCode;
use sounding_diag::capture::Located;
use sounding_diag::packet::Packet;
use sounding_kpi::registry::{self, Conversion, NamedKpi};
use sounding_kpi::{Counts, Reading, Subscription};
use sounding_modem::{Polled, Readings, Source};
use sounding_units::HostInstant;

use crate::cli_types::{RouterUser, UntoldMask, source_parser};
use crate::doctor::{self, Opened};
use crate::input::{self, CaptureError, Step};
use crate::patient::Patient;
use crate::session_report;
use crate::skipped::{Absent, Records, Skipped};
use crate::{rights, say, screen, signals};

/// Prints KPIs of a capture or a live modem, or lists them all
#[derive(Args, Debug)]
#[command(
    args_conflicts_with_subcommands = true,
    subcommand_negates_reqs = true,
    after_help = "\
Each line is one value: the modem's time, the KPI, which item of its record it belongs to, the value in the KPI's unit. \
A modem is asked for the records of these KPIs only, and is left as it was found. While `sounding run` holds the modem, its records are read beside the daemon.

Examples:
  Every KPI, with its unit, range and record:
    sounding kpi list

  Those of a capture, or of a modem until Ctrl-C:
    sounding kpi drive.mi2log --kpi lte.pusch.tbs,lte.cell.rsrp
    sounding kpi /dev/ttyUSB0 --kpi lte.pdsch.mcs --format json"
)]
pub(crate) struct Kpi {
    #[command(subcommand)]
    verb: Option<Verb>,
    /// Capture file, - for standard input, or a modem: device, tcp:HOST:PORT, router[:NAME];
    /// non-hdlc:SOURCE where the modem has the HDLC framing switched off
    #[arg(required = true, value_parser = source_parser())]
    source: Option<Source>,
    #[command(flatten)]
    router: RouterUser,
    #[command(flatten)]
    untold: UntoldMask,
    /// Names of KPIs
    #[arg(long, value_name = "NAME", value_delimiter = ',', required = true)]
    kpi: Vec<String>,
    /// Output format of the values
    #[arg(long, value_enum, default_value_t = Format::Text)]
    format: Format,
    /// As JSON lines
    #[arg(long, conflicts_with_all = ["csv", "format"])]
    json: bool,
    /// As CSV
    #[arg(long, conflicts_with = "format")]
    csv: bool,
}

#[derive(Subcommand, Debug)]
enum Verb {
    /// Lists every KPI: name, unit, range, record and meaning
    List {
        /// One JSON object for each KPI, with its versions and the section that defines it
        #[arg(long)]
        json: bool,
    },
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Format {
    Text,
    Json,
    Csv,
}

pub(crate) fn run(args: Kpi) -> Result<ExitCode> {
    let mut out = BufWriter::new(Patient::stdout(None).map_err(say::failed)?);
    let outcome = match (args.verb, args.source) {
        (Some(Verb::List { json }), _) => list(&mut out, json),
        (None, Some(source)) => {
            let source = args.router.of(source).into_diagnostic()?;
            let subscription =
                Subscription::new(args.kpi.iter().map(String::as_str)).into_diagnostic()?;
            let format = match (args.json, args.csv) {
                (true, _) => Format::Json,
                (_, true) => Format::Csv,
                _ => args.format,
            };
            let kpis = subscription.kpis().to_vec();
            let met = vec![false; kpis.len()];
            let mut printer = Printer { out, format, kpis, met, failed: None };
            printer.head();
            let skipped = if is_recorded(&source) {
                recorded(&source, subscription, &mut printer)?
            } else {
                live(source, subscription, args.untold, &mut printer)?
            };
            printer.finish(&skipped)
        }
        (None, None) => return Err(miette!("no source: name a capture or a modem")),
    };
    match outcome {
        Err(error) if error.kind() != io::ErrorKind::BrokenPipe => Err(say::failed(error)),
        _ => Ok(ExitCode::SUCCESS),
    }
}

/// Whether a source ends by itself.
pub(crate) fn is_recorded(source: &Source) -> bool {
    match source.place() {
        Source::Path(path) => path.is_file() || path.is_dir(),
        Source::Stdin => true,
        _ => false,
    }
}

fn recorded(
    source: &Source,
    mut subscription: Subscription,
    printer: &mut Printer<impl Write>,
) -> Result<Skipped> {
    let mut met = BTreeMap::<LogCode, u64>::new();
    let skipped = input::Source::of(source)?.for_each(|step| -> Result<_, CaptureError> {
        if let Step::Chunk { .. } = step {
            printer.flush();
        }
        if let Step::Found(Ok(Located { packet: Packet::Log(log), .. })) = step {
            // Unreadable records are counted.
            let is_asked_for =
                subscription.handle(&log, |reading| printer.print(None, &reading)).unwrap_or(true);
            *met.entry(log.code).or_default() += u64::from(is_asked_for);
        }
        Ok(if printer.failed.is_some() {
            ControlFlow::Break(())
        } else {
            ControlFlow::Continue(())
        })
    })?;
    let absent = printer.absent(|kpi| match met.get(&kpi.code).copied().unwrap_or_default() {
        0 => format!("there is no record {}", kpi.code),
        1 => format!("the one record {} has no value of it", kpi.code),
        count => format!("none of {count} records {} has a value of it", kpi.code),
    });
    Ok(Skipped { records: records(&subscription.counts()), absent, ..skipped })
}

/// Prints KPIs until an interrupt, or until the source ends.
fn live(
    source: Source,
    subscription: Subscription,
    untold: UntoldMask,
    printer: &mut Printer<impl Write>,
) -> Result<Skipped> {
    let stop = signals::stop_flag().into_diagnostic()?;
    let codes: Vec<LogCode> = subscription.codes().collect();
    let Opened { port, is_beside } = doctor::open(&source, Some(&codes))?;
    let readings = Readings::over(source, port, subscription);
    rights::drop_for_reading()?;
    let mut readings = readings.setting_untold(untold.set_untold_mask).once();
    while !stop.load(Ordering::Relaxed) && printer.failed.is_none() {
        let patience = Duration::from_millis(50);
        let polled = readings.poll(patience, |now, reading| printer.print(Some(now), &reading));
        match polled.into_diagnostic()? {
            Polled::Bytes => printer.flush(),
            Polled::Idle | Polled::Reopened => {}
            Polled::Closed if is_beside => {
                doctor::tell_end(readings.source());
                break;
            }
            Polled::Closed => break,
        }
        session_report::tell(|| readings.poll_event());
    }
    readings.finish();
    session_report::tell(|| readings.poll_event());
    Ok(Skipped {
        name: readings.source().to_string(),
        stream: readings.stream(),
        records: records(&readings.counts()),
        dropped: readings.lost(),
        absent: printer.absent(|kpi| format!("it is in record {}", kpi.code)),
        ..Skipped::default()
    })
}

/// The records that can have these KPIs.
fn records(counts: &Counts) -> Records {
    Records { lacking: counts.lacking, ..counts.by_coverage.into() }
}

/// Prints readings, and keeps the first error.
struct Printer<W> {
    out: W,
    format: Format,
    kpis: Vec<&'static NamedKpi>,
    /// For each of them, whether it has had a value.
    met: Vec<bool>,
    failed: Option<io::Error>,
}

impl<W: Write> Printer<W> {
    fn head(&mut self) {
        let written = match self.format {
            Format::Csv => writeln!(self.out, "modem_unix_ns,host_ns,kpi,item,value"),
            Format::Text | Format::Json => Ok(()),
        };
        self.note(written);
    }

    fn print(&mut self, received: Option<HostInstant>, reading: &Reading) {
        let Some(kpi) = self.kpis.get(reading.slot) else { return };
        if let Some(met) = self.met.get_mut(reading.slot) {
            *met = true;
        }
        let Reading { value, item, at, .. } = reading;
        let (name, out) = (kpi.name, &mut self.out);
        let stamp = at.known_unix_nanos();
        let written = match self.format {
            Format::Text => {
                let time = stamp.map_or("-".to_owned(), |stamp| {
                    format!("{}.{:06}", stamp / 1_000_000_000, stamp % 1_000_000_000 / 1_000)
                });
                let item = item.to_string();
                writeln!(out, "{time} {name:28} {item:>7} {value} {}", kpi.unit)
            }
            Format::Csv => {
                let host = received.map_or(String::new(), |now| now.as_nanos().to_string());
                let stamp = stamp.map_or(String::new(), |stamp| stamp.to_string());
                writeln!(out, "{stamp},{host},{name},{item},{value}")
            }
            Format::Json => {
                let line = json!({
                    "modem_unix_ns": stamp,
                    "host_ns": received.map(HostInstant::as_nanos),
                    "kpi": name,
                    "item": item.levels(),
                    "value": value,
                    "unit": kpi.unit.to_string(),
                });
                writeln!(out, "{line}")
            }
        };
        self.note(written);
    }

    /// The KPIs without a value, and the reasons; empty if the input was not read to its end.
    fn absent(&self, because: impl Fn(&NamedKpi) -> String) -> Vec<Absent> {
        if self.failed.is_some() {
            return Vec::new();
        }
        let absent = self.kpis.iter().zip(&self.met).filter(|(_, has_come)| !**has_come);
        absent
            .map(|(kpi, _)| Absent { name: kpi.name.into(), because: Some(because(kpi)) })
            .collect()
    }

    fn flush(&mut self) {
        let flushed = self.out.flush();
        self.note(flushed);
    }

    fn note(&mut self, written: io::Result<()>) {
        if let (Err(error), None) = (written, &self.failed) {
            self.failed = Some(error);
        }
    }

    /// The summary of what was skipped, also for readers of the values.
    fn finish(mut self, skipped: &Skipped) -> io::Result<()> {
        if let Some(line) = skipped.json().filter(|_| self.format == Format::Json) {
            let written = writeln!(self.out, "{}", screen::inline(&line.to_string()));
            self.note(written);
        }
        self.flush();
        match self.failed {
            Some(error) => Err(error),
            None => {
                skipped.tell();
                Ok(())
            }
        }
    }
}

fn list(out: &mut impl Write, json: bool) -> io::Result<()> {
    for kpi in registry::all() {
        if json {
            writeln!(out, "{}", described(kpi))?;
        } else {
            let range = format!("{}..{}", kpi.least, kpi.most);
            let unit = kpi.unit.to_string();
            writeln!(out, "{:32} {unit:6} {range:>16}  {}  {}", kpi.name, kpi.code, kpi.what)?;
        }
    }
    out.flush()
}

fn described(kpi: &NamedKpi) -> serde_json::Value {
    let versions: Vec<String> = kpi
        .layouts()
        .flat_map(|layout| layout.versions)
        .map(|&version| sounding_diag::record::Version::Packet(version).to_string())
        .collect();
    json!({
        "name": kpi.name,
        "unit": kpi.unit.to_string(),
        "least": kpi.least,
        "most": kpi.most,
        "what": kpi.what,
        "origin": kpi.origin,
        "code": kpi.code.to_string(),
        "record": kpi.code.name(),
        "path": kpi.path(),
        "versions": versions,
        "by_choice": matches!(kpi.source, registry::Source::Field { conversion: Conversion::Choice(_), .. }),
        "of_message": matches!(kpi.source, registry::Source::Fact { .. }),
    })
}
