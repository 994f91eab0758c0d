use std::fs;
use std::io::IsTerminal;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::{Duration, Instant};

use clap::Args;
use indicatif::{ProgressBar, ProgressStyle};
use miette::{IntoDiagnostic, Result, WrapErr, miette};
use sounding_experiment::provenance::{Begun, Provenance};
use sounding_host::files::make_folder;
use sounding_kpi::Direction;
use sounding_report::{Cell, Figure, Kind, Origin, Page, Section, Table};
use sounding_testbed::kernel_compare::{self, Figures, Measured};
use sounding_testbed::kernel_run::FlowSetup;
use sounding_testbed::radio::RadioLink;

use crate::input;
use crate::output::write_text;
use crate::screen;

/// Our laws, BBR and CUBIC over one emulated radio link; needs only this machine
#[derive(Args, Debug)]
#[command(after_help = "\
The grants of the network in a capture become the capacity of an emulated link, and the capture's own bytes come out of a \
pty as from a modem. A daemon reads that pty and feeds this kernel; flows run through the link one after another. \
Prints a table and the path of a report page. Takes about a minute and a half, and needs root.

Without --capture it takes a shared capture if one is beside this folder, else one it generates from --seed.

Examples:
  sudo sounding demo
  sudo sounding demo --capture drive.mi2log --duration 30s")]
pub(crate) struct Demo {
    /// Capture file with an upload in it
    #[arg(long, value_name = "FILE")]
    capture: Option<PathBuf>,
    /// Duration of each flow, at most that of the capture's upload
    #[arg(long, value_name = "TIME", default_value = "20s", value_parser = humantime::parse_duration)]
    duration: Duration,
    /// One-way delay of the path outside the link
    #[arg(long, value_name = "TIME", default_value = "20ms", value_parser = humantime::parse_duration)]
    delay: Duration,
    /// Seed of the generated capture
    #[arg(long, value_name = "N", default_value_t = 1)]
    seed: u64,
    /// Generate a capture even if a shared one is there
    #[arg(long, conflicts_with = "capture")]
    generated: bool,
    /// Folder for the report
    #[arg(long, value_name = "DIR", default_value = "out/demo")]
    out: PathBuf,
    /// Print the figures as JSON instead of a table
    #[arg(long)]
    json: bool,
}

/// The time to set up and end a flow's link and daemon.
const BESIDE: Duration = Duration::from_secs(1);

/// A steady upload of a phone, if the shared data is there.
const SHARED: &str = "captures/lgs96__mobileinsight_core/diag_log_20211220_004729.mi2log";

pub(crate) fn run(args: &Demo) -> Result<ExitCode> {
    refuse_if_impossible()?;
    make_folder(&args.out)
        .into_diagnostic()
        .wrap_err_with(|| format!("the folder for the report, {}", screen::path(&args.out)))?;
    let (link, seed) = link(args)?;
    let setup = FlowSetup {
        delay: args.delay,
        duration: args
            .duration
            .min(link.duration.saturating_sub(sounding_testbed::kernel_run::HEAD_START)),
        flags: Vec::new(),
        program: std::env::current_exe().into_diagnostic()?,
        tag: format!("_{}", std::process::id() % 100_000),
    };
    if setup.duration < Duration::from_secs(1) {
        return Err(miette!(
            "the capture's upload, {:?}, is too short to race over",
            link.duration
        ));
    }
    eprintln!(
        "{}: {} on average for {:.1} s; each flow sends for {:.1} s",
        link.name,
        link.offered.mean_rate(),
        link.duration.as_secs_f64(),
        setup.duration.as_secs_f64()
    );

    let senders = kernel_compare::senders();
    let lasts = (setup.duration + BESIDE) * senders.len() as u32;
    eprintln!(
        "{} flows one after another, then a report: about {} s; Ctrl-C ends it",
        senders.len(),
        lasts.as_secs()
    );

    let begun = Begun::now();
    let mut runs = Vec::new();
    for (i, &name) in senders.iter().enumerate() {
        let bar = clock_bar(&format!("{}/{} {name}", i + 1, senders.len()), setup.duration);
        let measured = std::thread::scope(|scope| {
            let run = std::thread::Builder::new()
                .spawn_scoped(scope, || kernel_compare::run(&link, name, &setup))
                .into_diagnostic()?;
            let began = Instant::now();
            while !run.is_finished() {
                bar.set_position(began.elapsed().as_millis() as u64);
                std::thread::sleep(Duration::from_millis(50));
            }
            run.join().map_err(|_| miette!("the run of {name} broke off"))?.into_diagnostic()
        })?;
        bar.finish_and_clear();
        runs.push(measured);
    }
    runs.push(kernel_compare::oracle(&link, &setup));

    let table = table(&runs);
    let text = table.text();
    let page = page(
        &link,
        &setup,
        &runs,
        table,
        (&begun.end(), &seed.map_or(String::new(), |seed| seed.to_string())),
    );
    page.write(&args.out).into_diagnostic()?;
    let report = args.out.join("report.html");
    let figures: Vec<&Figures> = runs.iter().map(|measured| &measured.figures).collect();
    let json = serde_json::to_string_pretty(&figures).into_diagnostic()?;
    write(&args.out.join("figures.json"), &json)?;
    if args.json {
        println!("{json}");
    } else {
        print!("{text}");
        println!("\nreport: {}", screen::path(&fs::canonicalize(&report).unwrap_or(report)));
    }
    Ok(ExitCode::SUCCESS)
}

fn refuse_if_impossible() -> Result<()> {
    sounding_emu::refuse_inside().into_diagnostic()?;
    let missing: Vec<_> = crate::doctor::needed_for_demo().into_iter().filter(|c| !c.ok).collect();
    let Some(first) = missing.first() else { return Ok(()) };
    Err(miette!(
        help = format!("{}; `sounding doctor` shows everything", first.cure),
        "{}: {}",
        first.name,
        first.detail
    ))
}

/// The link of the flows, and its seed if it has one.
fn link(args: &Demo) -> Result<(RadioLink, Option<u64>)> {
    let shared = std::env::var_os("SOUNDING_DATA")
        .map_or_else(|| PathBuf::from("../shared/data"), PathBuf::from)
        .join(SHARED);
    let capture =
        args.capture.clone().or_else(|| (!args.generated && shared.exists()).then_some(shared));
    match capture {
        Some(path) => {
            let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
            let (bytes, skipped) = input::capture(&path)?;
            skipped.tell();
            let link = RadioLink::of_capture(&name, bytes, Direction::Uplink).into_diagnostic()?;
            Ok((link, None))
        }
        None => {
            let duration = args.duration + Duration::from_secs(1);
            Ok((RadioLink::generated(args.seed, duration).into_diagnostic()?, Some(args.seed)))
        }
    }
}

fn table(runs: &[Measured]) -> Table {
    let columns = [
        "",
        "Mbit/s",
        "utilisation %",
        "one-way mean",
        "p95",
        "p99 ms",
        "queueing mean",
        "p95",
        "p99 ms",
        "retransmitted",
    ];
    let row = |f: &Figures| {
        let ms = |value: f64| Cell::Number(value, 1);
        vec![
            f.name.as_str().into(),
            Cell::Number(f.throughput_mbit_per_sec, 2),
            Cell::Number(f.utilisation * 100.0, 1),
            ms(f.one_way_ms.mean),
            ms(f.one_way_ms.p95),
            ms(f.one_way_ms.p99),
            ms(f.queueing_ms.mean),
            ms(f.queueing_ms.p95),
            ms(f.queueing_ms.p99),
            Cell::Number(f.retransmitted.into(), 0),
        ]
    };
    Table {
        columns: columns.map(Into::into).to_vec(),
        named: 0,
        rows: runs.iter().map(|measured| row(&measured.figures)).collect(),
    }
}

fn page(
    link: &RadioLink,
    setup: &FlowSetup,
    runs: &[Measured],
    table: Table,
    (provenance, seed): (&Provenance, &str),
) -> Page {
    let mut pairs = provenance.pairs();
    let lateness: Vec<String> = runs
        .iter()
        .filter(|o| o.figures.name != "oracle")
        .map(|o| format!("{} {:.3}", o.figures.name, o.figures.lateness_p99_ms))
        .collect();
    pairs.push(("emulator lateness, p99 in ms".into(), lateness.join(", ")));
    let figure = |name: &str, title: &str, caption: &str, kind: Kind| Figure {
        name: name.into(),
        title: title.into(),
        caption: caption.into(),
        origin: Origin::of(provenance, seed),
        kind,
    };
    let figures = vec![
        figure(
            "summary",
            "Throughput and delay",
            "Throughput: IP bytes that reached the receiver. One-way: from the sender's device to the receiver's, \
             propagation included; queueing: waiting for the link alone. The oracle knows the link and sends each packet \
             just in time; no sender can do better.",
            Kind::Table(table),
        ),
        figure(
            "over-time",
            "Rate against capacity, and delay",
            "IP bytes delivered, and the 95th percentile of the one-way delay of the packets that left the link, in bins of \
             100 ms. The shaded area is what the link offered.",
            kernel_compare::over_time(link, setup, runs),
        ),
        figure(
            "delay-cdf",
            "One-way delay of all packets",
            "The share of packets that were not later than this.",
            kernel_compare::delay_of_packets(runs),
        ),
    ];
    Page {
        title: "BISCAY, Sounding, BBR and CUBIC over one radio link".into(),
        subtitle: format!(
            "{}: {} on average, {:.1} s a flow, {} ms one way beside the link",
            link.name,
            link.offered.mean_rate(),
            setup.duration.as_secs_f64(),
            setup.delay.as_millis()
        ),
        sections: vec![Section {
            heading: "One after the other".into(),
            text: String::new(),
            figures,
        }],
        origin: pairs,
    }
}

fn write(path: &Path, text: &str) -> Result<()> {
    write_text(path, text).into_diagnostic().wrap_err_with(|| format!("{}", screen::path(path)))
}

fn clock_bar(message: &str, duration: Duration) -> ProgressBar {
    if !std::io::stderr().is_terminal() {
        eprintln!("{message}");
        return ProgressBar::hidden();
    }
    let style = ProgressStyle::with_template("{msg:12} {bar:40} {elapsed} of about {len_s} s")
        .map(|style| {
            let seconds = duration.as_secs();
            style.with_key(
                "len_s",
                move |_: &indicatif::ProgressState, w: &mut dyn std::fmt::Write| {
                    let _ = write!(w, "{seconds}");
                },
            )
        })
        .unwrap_or_else(|_| ProgressStyle::default_bar());
    ProgressBar::new(duration.as_millis() as u64)
        .with_style(style)
        .with_message(message.to_string())
}
