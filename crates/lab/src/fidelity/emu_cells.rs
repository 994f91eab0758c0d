//! Whether modelled cells keep up with the clock: datagrams at a rate, how late each was, how late
//! each slot.
//!
//! Lateness of a packet is the time at which the receiver's kernel got it minus the time that the
//! network computed. Lateness of a step is the time at which its work was done minus the time at
//! which it was due. A step is a slot of a carrier, or the departure of a packet or a record
//! between two slots. A repetition of RLC releases many packets at once, and this kernel receives
//! them one after the other, or some dozens together. At hundreds of Mbit/s the last of them is a
//! millisecond or more after the first. So the first packet of those that are due at the same time
//! is counted separately: it shows the emulator's own lateness.

pub(crate) mod experiment;

use std::fmt;
use std::path::PathBuf;
use std::sync::atomic::AtomicBool;
use std::time::Duration;

use serde::Serialize;
use sounding_emu::Lateness;
use sounding_experiment::plan::Text;
use sounding_experiment::provenance::{Begun, Provenance};
use sounding_testbed::emulate::{self, EmulateError};

use crate::experiment::Failed;
use crate::table::{Table, slashed};

/// A cell, and its traffic.
struct Case {
    name: &'static str,
    carriers: &'static str,
    carrier_count: usize,
    way: &'static str,
    rate: &'static str,
}

const LTE: &str = "[[cell.carriers]]\nprb = 100\n";
const NR: &str = "[[cell.carriers]]\nrat = \"nr\"\nnumerology = 1\nprb = 273\nlayers = 4\nqam256 = true\n\
                  frequency_mhz = 3500.0\ntdd = \"DDDSU\"\n";

const CASES: [Case; 6] = [
    Case::new("LTE 20 MHz, uplink", (LTE, 1), "up", "30Mbit"),
    Case::new("LTE 20 MHz, downlink", (LTE, 1), "down", "50Mbit"),
    Case::new("LTE 3 x 20 MHz, downlink", (LTE, 3), "down", "150Mbit"),
    Case::new("NR 100 MHz, uplink", (NR, 1), "up", "30Mbit"),
    Case::new("NR 100 MHz, downlink", (NR, 1), "down", "300Mbit"),
    Case::new("NR 2 x 100 MHz, downlink", (NR, 2), "down", "600Mbit"),
];

/// Punctuality of modelled cells in real time, and its CPU time
#[derive(Clone, Debug, clap::Args)]
pub struct Plan {
    /// Duration of each cell's run
    #[arg(long, value_name = "TIME", default_value = "8s", value_parser = humantime::parse_duration)]
    pub duration: Duration,

    /// CPU time for punctuality, in percent of a core
    #[arg(long = "punctuality", value_name = "PERCENT", default_value_t = 10, value_parser = clap::value_parser!(u8).range(1..=100))]
    pub overhead_percent: u8,

    /// This program, which has the daemon.
    #[arg(skip)]
    pub program: PathBuf,
}

/// The result.
#[derive(Clone, Debug, Serialize)]
pub struct CellPace {
    /// Origin of the figures.
    pub provenance: Provenance,
    /// One a cell.
    pub rows: Vec<Row>,
}

/// A distribution of lateness, in microseconds.
#[derive(Clone, Copy, Debug, Serialize)]
pub struct Late {
    /// Median.
    pub p50_us: f64,
    /// 99th percentile.
    pub p99_us: f64,
    /// Maximum.
    pub max_us: f64,
}

impl Late {
    fn of(lateness: &Lateness) -> Self {
        let micros = |span: Duration| span.as_nanos() as f64 / 1e3;
        Self {
            p50_us: micros(lateness.quantile(0.5)),
            p99_us: micros(lateness.quantile(0.99)),
            max_us: micros(lateness.max()),
        }
    }
}

/// One cell.
#[derive(Clone, Debug, Serialize)]
pub struct Row {
    /// Its description.
    pub cell: &'static str,
    /// Its traffic.
    pub sent: &'static str,
    /// Received throughput.
    pub throughput_mbit_per_sec: f64,
    /// Lateness of packets.
    pub packets: Late,
    /// Lateness of the first packet of those due at one moment.
    pub firsts: Late,
    /// The most packets that were due at one moment.
    pub most_at_once: u64,
    /// Lateness of steps.
    pub steps: Late,
    /// Times that the network fell behind by 10 ms.
    pub times_behind: u64,
    /// CPU time of the thread that moves packets, in percent of a core.
    pub cpu_percent: f64,
    /// The result of the trial before the start, in percent of a core; with all that the cell
    /// carries.
    pub trial_percent: f64,
    /// Records that the modem made.
    pub records: u64,
}

/// Runs all cells; `progress` is called for each that ended.
pub fn run(plan: &Plan, mut progress: impl FnMut(&Row)) -> Result<CellPace, Failed> {
    let begun = Begun::now();
    let mut rows = Vec::new();
    for case in &CASES {
        let row = measure(plan, case)?;
        progress(&row);
        rows.push(row);
    }
    Ok(CellPace { provenance: begun.end(), rows })
}

impl Case {
    const fn new(
        name: &'static str,
        (carriers, carrier_count): (&'static str, usize),
        way: &'static str,
        rate: &'static str,
    ) -> Self {
        Self { name, carriers, carrier_count, way, rate }
    }

    /// The case as a plan. All carriers are one cell of the device, whose SINR is 25 dB.
    fn text(&self, duration: Duration) -> Text {
        let cells: Vec<usize> = (0..self.carrier_count).collect();
        let text = format!(
            "duration = \"{}ms\"\nwarmup = \"500ms\"\n{}\n[[cell.devices]]\ncells = [{cells:?}]\nmodem = {{}}\n\
             channel = {{ kind = \"script\", levels = [{{ at_s = 0.0, sinr_db = 25.0 }}], fading = {{}} }}\n\
             [[flows]]\ndirection = \"{}\"\ntraffic = {{ kind = \"datagrams\", rate = \"{}\" }}\n",
            duration.as_millis(),
            self.carriers.repeat(self.carrier_count),
            self.way,
            self.rate,
        );
        Text::new(self.name, text, PathBuf::new())
    }
}

fn measure(plan: &Plan, case: &Case) -> Result<Row, Failed> {
    let fail = |error: EmulateError| Failed::at(case.name, error);
    let runs = case.text(plan.duration).runs()?;
    let load = emulate::load(&runs[0]).map_err(|wrong| fail(wrong.into()))?;
    let never = AtomicBool::new(false);
    let (figures, ended) =
        emulate::whole(&runs[0], plan.program.clone(), plan.overhead_percent, &never)
            .map_err(fail)?;
    let report = &ended.report;
    let way = if case.way == "up" { &report.up } else { &report.down };
    let tallies = ended.modems.iter().filter_map(|modem| modem.tally);
    Ok(Row {
        cell: case.name,
        sent: case.rate,
        throughput_mbit_per_sec: figures[0].throughput_mbit_per_sec,
        packets: Late::of(&way.lateness),
        firsts: Late::of(&way.first_lateness),
        most_at_once: way.most_at_once,
        steps: Late::of(&report.pace.steps),
        times_behind: report.pace.times_behind,
        cpu_percent: 100.0 * report.cpu.as_secs_f64() / report.ran.as_secs_f64(),
        trial_percent: 100.0 * load,
        records: tallies.map(|tally| tally.sent + tally.masked).sum(),
    })
}

impl CellPace {
    /// A page for the documentation.
    pub fn to_markdown(&self) -> String {
        format!("# Modelled cells in real time\n\n{}\n{self}", self.provenance)
    }
}

impl fmt::Display for CellPace {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut table = Table::new().left([
            "cell",
            "sent",
            "Mbit/s",
            "packets late p50/p99/max us",
            "first of a moment",
            "most at once",
            "steps late p50/p99/max us",
            "behind",
            "CPU",
            "trial",
            "records",
        ]);
        for row in &self.rows {
            let late = |late: &Late| slashed([late.p50_us, late.p99_us, late.max_us]);
            table.row([
                row.cell.to_string(),
                row.sent.to_string(),
                format!("{:.1}", row.throughput_mbit_per_sec),
                late(&row.packets),
                late(&row.firsts),
                row.most_at_once.to_string(),
                late(&row.steps),
                row.times_behind.to_string(),
                format!("{:.0} %", row.cpu_percent),
                format!("{:.0} %", row.trial_percent),
                row.records.to_string(),
            ]);
        }
        table.fmt(f)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_case_is_a_plan_of_one_run() {
        for case in &CASES {
            let runs = case.text(Duration::from_secs(2)).runs().expect(case.name);
            assert_eq!(runs.len(), 1, "{}", case.name);
        }
    }
}
