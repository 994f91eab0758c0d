//! The cost of reading a modem (Gandalf §4.2.2, Figures 13 and 14), with real captures.
//!
//! `sounding_testbed::overhead` measures it.

use std::fs;
use std::path::PathBuf;
use std::time::Duration;

use miette::IntoDiagnostic;
use sounding_experiment::provenance::Begun;
use sounding_testbed::granularity::Spread;
use sounding_testbed::overhead::{self, Overhead, Plan};
use sounding_units::Rate;

use crate::experiment::{Card, Experiment, Host, Outcome, program, report};
use crate::table::Table;

/// A modem's output by log mask, and the CPU time of the process that reads it
#[derive(clap::Args)]
pub(crate) struct Flags {
    /// Captures of mixed records; without any, the LTE captures of the shared data
    #[arg(long, value_name = "FILE,…", value_delimiter = ',')]
    captures: Vec<PathBuf>,

    /// Rate of the diagnostic data while CPU time is measured
    #[arg(long, value_name = "RATE", default_value = "5Mbit")]
    rate: Rate,

    /// Duration of the measurement of CPU time, for each way to read
    #[arg(long, value_name = "TIME", default_value = "20s", value_parser = humantime::parse_duration)]
    duration: Duration,

    /// Folder with captures
    #[arg(long, value_name = "DIR", env = "SOUNDING_DATA", default_value = "../shared/data")]
    data: PathBuf,
}

/// LTE captures of mixed records, in the shared data.
const MIXED: &str = "captures/lgs96__mobileinsight_core";

/// Shortest measurement: the kernel's part of CPU time is counted in hundredths of a second.
const SHORTEST: Duration = Duration::from_secs(1);

/// See the module.
pub(crate) struct OverheadExperiment;

impl Experiment for OverheadExperiment {
    type Flags = Flags;

    fn card(&self) -> Card {
        Card::new("overhead", "what a modem sends by log mask, and CPU time of its reader")
            .lasts("7 min")
    }

    fn run(&self, flags: Flags, host: &dyn Host) -> miette::Result<Option<Outcome>> {
        let Flags { mut captures, rate, duration, data } = flags;
        if duration < SHORTEST {
            return Err(miette::miette!("--duration is at least {SHORTEST:?}"));
        }
        if captures.is_empty() {
            let folder = fs::read_dir(data.join(MIXED)).into_iter().flatten().flatten();
            captures.extend(folder.map(|entry| entry.path()));
            captures.sort();
        }
        let plan = Plan { captures, rate, duration, program: program()? };
        let begun = Begun::now();
        let result = overhead::run(&plan, |line| report(host, line)).into_diagnostic()?;
        Outcome::of_markdown(tables(&result), &begun.end(), &result).map(Some)
    }
}

fn spread(times: Option<&Spread>) -> String {
    times.map_or_else(|| "-".into(), |times| format!("{:.2} / {:.2}", times.median, times.p99))
}

fn tables(result: &Overhead) -> String {
    let heads = ["codes in it", "records", "kbit/s", "of everything"];
    let mut masks = Table::new().left(["log mask"]).right(heads);
    for row in &result.masks {
        masks.row([
            row.mask.to_string(),
            row.codes.to_string(),
            row.records.to_string(),
            format!("{:.0}", row.kbit_per_sec),
            format!("{:.1} %", row.share_percent),
        ]);
    }
    let mut cpu = Table::new()
        .left(["reads", "from"])
        .right(["Mbit/s", "records/s", "CPU of one core", "in the kernel"])
        .right(["wake-ups/s", "us a wake-up"]);
    for row in &result.cpu {
        cpu.row([
            row.reads.to_string(),
            row.port.to_string(),
            format!("{:.2}", row.mbit_per_sec),
            format!("{:.0}", row.records_per_sec),
            format!("{:.2} %", row.cpu_percent),
            format!("{:.2} %", row.system_percent),
            format!("{:.0}", row.wakes_per_sec),
            format!("{:.1}", row.cpu_percent * 1e4 / row.wakes_per_sec.max(1.0)),
        ]);
    }
    let mut daemons = Table::new()
        .left(["`sounding run` beside"])
        .right(["Mbit/s", "CPU of one core", "in the kernel", "wake-ups/s"])
        .right([
            "RSS MB",
            "anonymous MB",
            "lines/s",
            "a line adds ms p50 / p99",
            "the estimate is old ms p50 / p99",
            "packets, lost of the port's reader",
            "machine late ms",
        ]);
    for row in &result.daemons {
        daemons.row([
            row.beside.to_string(),
            format!("{:.2}", row.mbit_per_sec),
            format!("{:.2} %", row.cpu_percent),
            format!("{:.2} %", row.system_percent),
            format!("{:.0}", row.wakes_per_sec),
            format!("{:.1}", row.resident.bytes as f64 / 1e6),
            format!("{:.1}", row.resident.anonymous_bytes as f64 / 1e6),
            format!("{:.0}", row.lines_per_sec),
            spread(row.line_ms.as_ref()),
            spread(row.age_ms.as_ref()),
            row.port.map_or("-".into(), |came| format!("{}, {}", came.packets, came.lost)),
            spread(row.machine_late_ms.as_ref()),
        ]);
    }
    format!("{masks}\n{cpu}\n{daemons}")
}
