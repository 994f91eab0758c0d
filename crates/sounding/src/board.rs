use std::process::ExitCode;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use clap::Args;
use miette::{IntoDiagnostic, Result, WrapErr, miette};
use sounding_board::{Place, Publisher};
use sounding_diag::LogCode;
use sounding_host::{monotonic_now, prefer_this_thread};
use sounding_kpi::{Subscription, registry};
use sounding_modem::{Polled, Readings, Source};

use crate::doctor::{self, Opened};
use crate::session_report;
use crate::skipped::{self, counted, left};
use crate::{cli_types, rights, screen, signals};

/// The KPIs of a congestion control (BISCAY §3.2.2, Gandalf Table 8), if no names are given.
pub(crate) const USUAL: &[&str] = &[
    "lte.pusch.tbs",
    "lte.pusch.prb",
    "lte.pdsch.tbs",
    "lte.pdsch.mcs",
    "lte.pdsch.prb",
    "lte.pdsch.crc",
    "lte.pdsch.layers",
    "lte.mac.ul.grant",
    "lte.mac.ul.padding",
    "lte.mac.bsr",
    "lte.mac.ul.granted",
    "lte.mac.ul.used",
    "lte.rlc.dl.nack_sn",
    "lte.rlc.ul.nack_sn",
    "lte.csf.cqi",
    "lte.csf.ri",
    "lte.cell.rsrp",
    "lte.cell.rsrq",
];

/// Publishes KPIs of a live modem in shared memory, until Ctrl-C
#[derive(Args, Debug)]
#[command(after_help = "\
Any number of processes read the board without waiting for it or for each other: in C through libOD (od_open, \
od_read, see od.h), without root. `sounding run --board NAME` does the same beside congestion control. While `sounding run` holds the modem, its records are read beside the daemon.

Examples:
  sounding board /dev/ttyUSB0
  sounding board /dev/ttyUSB0 --name phone --kpi lte.pusch.tbs,lte.cell.rsrp
  sounding board router --kpi all")]
pub(crate) struct Board {
    /// A modem: device, tcp:HOST:PORT, router[:NAME], with non-hdlc: before it where the HDLC
    /// framing is off; for a capture, the pty that `sounding modem replay` serves
    #[arg(value_parser = cli_types::source_parser())]
    source: Source,
    #[command(flatten)]
    router: cli_types::RouterUser,
    #[command(flatten)]
    untold: cli_types::UntoldMask,
    /// Name that readers open it by
    #[arg(long, default_value = "modem")]
    name: String,
    /// Names of KPIs, or `all`; by default the KPIs that a congestion control needs
    #[arg(long, value_name = "NAME", value_delimiter = ',')]
    kpi: Vec<String>,
    /// Let no processor sleep so deep that it takes longer to wake, as 0us or 20us: values are on
    /// the board sooner, and the machine needs more power, until this ends. Needs root
    #[arg(long, value_name = "TIME", value_parser = humantime::parse_duration)]
    cpu_latency: Option<Duration>,
}

/// The time between two heartbeats. Readers are promised several a second. A new reader waits at
/// most this time.
const BEAT: Duration = Duration::from_millis(5);

pub(crate) fn run(args: Board) -> Result<ExitCode> {
    match args.source.place() {
        Source::Path(path) if path.is_file() => {
            let path = screen::path(path);
            return Err(miette!(
                help = format!(
                    "serve it as a modem: `sounding modem replay {path}`, and name the pty it prints"
                ),
                "{path}: a capture has no pace of its own"
            ));
        }
        Source::Stdin => return Err(miette!("standard input has no pace of its own")),
        _ => {}
    }
    let source = args.router.of(args.source).into_diagnostic()?;
    let subscription = subscription(&args.kpi)?;
    let _awake = cli_types::awake(args.cpu_latency)?;
    let stop = signals::stop_flag().into_diagnostic()?;
    let codes: Vec<LogCode> = subscription.codes().collect();
    let Opened { port, is_beside } = doctor::open(&source, Some(&codes))?;
    let readings = Readings::over(source, port, subscription);
    let mut readings = readings.setting_untold(args.untold.set_untold_mask);
    if is_beside {
        readings = readings.once();
    }
    let kpis = readings.subscription().kpis();
    let mut publisher = publisher(&args.name, kpis)?;
    eprintln!(
        "sounding: {} KPIs of {} in {}; Ctrl-C ends it",
        kpis.len(),
        screen::inline(&readings.source().to_string()),
        screen::path(&publisher.place().memory())
    );
    if let Err(refused) = prefer_this_thread() {
        eprintln!("sounding: {}", cli_types::no_priority(&refused));
    }
    rights::drop_for_reading()?;
    let outcome = serve(&mut readings, &mut publisher, &stop, is_beside);
    readings.finish();
    session_report::tell(|| readings.poll_event());
    let (counts, stream) = (readings.counts(), readings.stream());
    eprintln!(
        "sounding: {}, {}; {}; {}",
        counted(counts.records, "record", "records"),
        counted(counts.values, "value", "values"),
        left(&counts.by_coverage),
        skipped::damage(&stream)
    );
    doctor::tell_lost(readings.source(), readings.lost());
    outcome.map(|()| ExitCode::SUCCESS)
}

fn serve(
    readings: &mut Readings,
    publisher: &mut Publisher,
    stop: &AtomicBool,
    is_beside: bool,
) -> Result<()> {
    while !stop.load(Ordering::Relaxed) {
        let polled = readings.poll(BEAT, |now, reading| publisher.handle(&reading, now));
        match polled.into_diagnostic()? {
            Polled::Bytes => publisher.post(monotonic_now()),
            Polled::Idle | Polled::Reopened => {}
            Polled::Closed if is_beside => {
                doctor::tell_end(readings.source());
                return Ok(());
            }
            Polled::Closed if readings.source().may_return() => {
                let source = readings.source().to_string();
                eprintln!("sounding: {} closed, waiting for it", screen::inline(&source));
            }
            Polled::Closed => return Ok(()),
        }
        publisher.heartbeat(monotonic_now());
        session_report::tell(|| readings.poll_event());
    }
    Ok(())
}

/// The KPIs of these names.
pub(crate) fn subscription(names: &[String]) -> Result<Subscription> {
    match names {
        [] => Subscription::new(USUAL.iter().copied()).into_diagnostic(),
        [all] if all == "all" => Ok(Subscription::of(registry::all())),
        names => Subscription::new(names.iter().map(String::as_str)).into_diagnostic(),
    }
}

/// A board of that name for these KPIs.
pub(crate) fn publisher(name: &str, kpis: &[&'static registry::NamedKpi]) -> Result<Publisher> {
    let place = Place::to_publish(name).into_diagnostic()?;
    Publisher::create(place, kpis, monotonic_now())
        .into_diagnostic()
        .wrap_err("the board cannot be made")
}
