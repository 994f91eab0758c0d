//! Speed and punctuality of the emulator, compared with mahimahi and rattan on the same kind of machine.
//!
//! Sends datagrams of 1500 bytes of IP at 105 % of a constant rate, so that the link is always busy. "Delivered" is the number of
//! packets that the receiver's kernel stamped while the sender sent, divided by what the link carries in that time. The delivery-time
//! error is the receiver's time stamp minus the model's delivery time, for every packet.

pub(crate) mod experiment;

use std::fmt;
use std::time::{Duration, SystemTime};

use serde::Serialize;
use sounding_emu::{
    Config, Direction, Emulation, Outcome, PacketRecord, Report, StartError, StopError,
    monotonic_now,
};
use sounding_experiment::metrics::nearest_rank;
use sounding_experiment::provenance::{Begun, Provenance};
use sounding_sim::PathConfig;
use sounding_testbed::flow::{FlowError, UdpArrival, UdpFlow, UdpResult};
use sounding_units::{HostInstant, Rate};

use crate::table::{Table, slashed};

/// Measures the emulator's packet rate, punctuality and CPU time
#[derive(Clone, Debug, clap::Args)]
pub struct Plan {
    /// Rates of the link
    #[arg(
        long,
        value_name = "RATE,…",
        value_delimiter = ',',
        default_value = "12Mbit,100Mbit,500Mbit,1000Mbit,1200Mbit,1500Mbit"
    )]
    pub rates: Vec<Rate>,

    /// One-way delay
    #[arg(long, value_name = "TIME", default_value = "20ms", value_parser = humantime::parse_duration)]
    pub delay: Duration,

    /// How long to send at each rate
    #[arg(long, value_name = "TIME", default_value = "8s", value_parser = humantime::parse_duration)]
    pub duration: Duration,

    /// CPU time for punctuality, in percent of a core
    #[arg(long = "punctuality", value_name = "PERCENT", default_value_t = 10, value_parser = clap::value_parser!(u8).range(1..=100))]
    pub overhead_percent: u8,
}

/// Why the benchmark did not run.
#[derive(Debug, thiserror::Error)]
pub enum CeilingError {
    /// An emulation did not start.
    #[error(transparent)]
    Start(#[from] StartError),
    /// An emulation did not end well.
    #[error(transparent)]
    Stop(#[from] StopError),
    /// The flow did not run.
    #[error(transparent)]
    Flow(#[from] FlowError),
    /// No packet arrived.
    #[error("nothing arrived at {rate}")]
    Silence {
        /// Rate of the link.
        rate: Rate,
    },
}

/// The benchmark's result.
#[derive(Clone, Debug, Serialize)]
pub struct Ceiling {
    /// Origin of the figures.
    pub provenance: Provenance,
    /// One-way delay, in ms.
    pub delay_ms: f64,
    /// CPU time for punctuality, in percent of a core.
    pub overhead_percent: u8,
    /// One row for each rate.
    pub rows: Vec<Row>,
}

/// One rate. Times are in microseconds.
#[derive(Clone, Copy, Debug, Serialize)]
pub struct Row {
    /// Rate of the link, in Mbit/s.
    pub rate_mbit: f64,
    /// Delivered packets divided by what the link carries, in percent.
    pub delivered_percent: f64,
    /// Packets lost anywhere but in the emulated queue, which is infinite.
    pub lost_packets: u64,
    /// CPU time per packet of the thread that moves packets.
    pub cpu_us: f64,
    /// The same, in percent of a core.
    pub cpu_percent: f64,
    /// How late packets were written, median,
    pub late_p50_us: f64,
    /// 95th percentile,
    pub late_p95_us: f64,
    /// 99th percentile,
    pub late_p99_us: f64,
    /// maximum.
    pub late_max_us: f64,
    /// Delivery-time error by the receiver's own time stamps, median,
    pub error_p50_us: f64,
    /// 95th percentile,
    pub error_p95_us: f64,
    /// 99th percentile.
    pub error_p99_us: f64,
}

/// Results of other emulators on an idle machine of this kind.
struct Known {
    rate_mbit: f64,
    /// mm-delay 20 and mm-link without log: delivered in percent, CPU a packet in us (of both programs).
    mahimahi: &'static str,
    /// mm-link alone: delivery-time error p50 / p95 / p99 in us.
    mahimahi_error: &'static str,
    /// rattan with 20 ms: delivered in percent.
    rattan: &'static str,
    /// rattan: lag behind the nominal line p50 / p95 / p99 in us.
    rattan_error: &'static str,
}

/// Measured for the reference: UDP of 1500 bytes at 105 % for 8 s on two virtual cores, load below 1.5.
const KNOWN: [Known; 6] = [
    Known {
        rate_mbit: 12.0,
        mahimahi: "-",
        mahimahi_error: "480 / 950 / 1040",
        rattan: "-",
        rattan_error: "12 / 33 / 54",
    },
    Known {
        rate_mbit: 100.0,
        mahimahi: "100 %, 9.0 us (mm-link alone)",
        mahimahi_error: "120 / 300-460 / 1100",
        rattan: "100 %, 51 us",
        rattan_error: "62-72 / - / 140-500",
    },
    Known {
        rate_mbit: 500.0,
        mahimahi: "99-100 %, 5.1 us (mm-link alone)",
        mahimahi_error: "210 / 400-600 / 1000-1300",
        rattan: "99.8 %, 25 us",
        rattan_error: "-",
    },
    Known {
        rate_mbit: 1000.0,
        mahimahi: "99.4 %, 7.8 us",
        mahimahi_error: "270-340 / 600-1300 / 1500-5000",
        rattan: "94 %, 13 us",
        rattan_error: "-",
    },
    Known {
        rate_mbit: 1200.0,
        mahimahi: "99.7 %",
        mahimahi_error: "-",
        rattan: "-",
        rattan_error: "-",
    },
    Known {
        rate_mbit: 1500.0,
        mahimahi: "94.3 %",
        mahimahi_error: "-",
        rattan: "98 % (without delay)",
        rattan_error: "-",
    },
];

/// Runs the benchmark; calls `progress` after each rate.
pub fn run(plan: &Plan, mut progress: impl FnMut(&Row)) -> Result<Ceiling, CeilingError> {
    let begun = Begun::now();
    let mut rows = Vec::new();
    for &rate in &plan.rates {
        let row = measure(plan, rate)?;
        progress(&row);
        rows.push(row);
    }
    Ok(Ceiling {
        provenance: begun.end(),
        delay_ms: plan.delay.as_secs_f64() * 1e3,
        overhead_percent: plan.overhead_percent,
        rows,
    })
}

fn measure(plan: &Plan, rate: Rate) -> Result<Row, CeilingError> {
    let way = || PathConfig { delay: plan.delay, ..PathConfig::new(rate) };
    let mut config = Config { record: true, ..Config::new(way(), way()) };
    config.realtime.overhead_percent = plan.overhead_percent;
    let emulation = Emulation::start(config)?;
    let clocks = ClockPair::read();
    let flow = UdpFlow {
        // The delay includes ten milliseconds for the emulator's thread to settle.
        drain: plan.delay + Duration::from_millis(500),
        ..UdpFlow::new(Direction::Downlink, rate.scaled(105, 100), plan.duration)
    };
    let result = flow.start(&emulation)?.wait()?;
    let ran = monotonic_now() - emulation.started();
    let report = emulation.stop()?;
    let clocks = [clocks, ClockPair::read()];
    row(plan, rate, &result, &report, ran, clocks).ok_or(CeilingError::Silence { rate })
}

fn row(
    plan: &Plan,
    rate: Rate,
    result: &UdpResult,
    report: &Report,
    ran: Duration,
    clocks: [ClockPair; 2],
) -> Option<Row> {
    let first = result.arrivals.first()?.received_realtime_ns;
    // The link is busy while datagrams are sent. The last tenth of a second is left out.
    let window = plan.duration.saturating_sub(Duration::from_millis(100));
    let end = first + u64::try_from(window.as_nanos()).ok()?;
    let inside =
        result.arrivals.iter().filter(|arrival| arrival.received_realtime_ns < end).count();
    let carried = (rate * window).count() as f64 / 1500.0;
    let errors = errors(&result.arrivals, &report.records, clocks);
    let error = |quantile| nearest_rank(&errors, quantile) as f64 / 1e3;
    let down = &report.down;
    let late = |quantile| micros(down.lateness.quantile(quantile));
    Some(Row {
        rate_mbit: rate.mbit_per_sec(),
        delivered_percent: 100.0 * inside as f64 / carried,
        lost_packets: result.sent.saturating_sub(result.received + down.queued),
        cpu_us: micros(report.cpu) / down.delivered.max(1) as f64,
        cpu_percent: 100.0 * report.cpu.as_secs_f64() / ran.as_secs_f64(),
        late_p50_us: late(0.50),
        late_p95_us: late(0.95),
        late_p99_us: late(0.99),
        late_max_us: micros(down.lateness.max()),
        error_p50_us: error(0.50),
        error_p95_us: error(0.95),
        error_p99_us: error(0.99),
    })
}

/// Delay from the model's time to the receiver kernel's stamp of each packet, in nanoseconds, sorted; never empty.
///
/// The link keeps the order, so without losses the n-th arrival is the n-th delivery.
fn errors(arrivals: &[UdpArrival], records: &[PacketRecord], clocks: [ClockPair; 2]) -> Vec<i64> {
    let dues = records.iter().filter_map(|record| match record.outcome {
        Outcome::Delivered { due, .. } if record.direction == Direction::Downlink => Some(due),
        _ => None,
    });
    let mut errors: Vec<i64> = arrivals
        .iter()
        .zip(dues)
        .map(|(arrival, due)| {
            let stamped = ClockPair::to_monotonic(clocks, arrival.received_realtime_ns);
            stamped.as_nanos() as i64 - due.as_nanos() as i64
        })
        .collect();
    errors.sort_unstable();
    if errors.is_empty() {
        errors.push(i64::MAX);
    }
    errors
}

/// The same time on CLOCK_MONOTONIC and on CLOCK_REALTIME, which the kernel's time stamps use.
#[derive(Clone, Copy, Debug)]
struct ClockPair {
    monotonic: HostInstant,
    realtime_ns: u64,
}

impl ClockPair {
    /// Reads both clocks a few times, and keeps the pair with the shortest reading time.
    fn read() -> Self {
        let pair = || {
            let before = monotonic_now();
            let realtime = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH);
            let span = monotonic_now() - before;
            let realtime_ns = realtime.map_or(0, |since| since.as_nanos() as u64);
            (span, Self { monotonic: before + span / 2, realtime_ns })
        };
        let fastest = (0..20).map(|_| pair()).min_by_key(|(span, _)| *span);
        fastest.map_or_else(|| pair().1, |(_, pair)| pair)
    }

    /// Converts a time between two pairs. CLOCK_REALTIME is adjusted all the time, so its offset from CLOCK_MONOTONIC
    /// drifts.
    fn to_monotonic([begin, end]: [Self; 2], realtime_ns: u64) -> HostInstant {
        let offset =
            |pair: Self| i128::from(pair.realtime_ns) - i128::from(pair.monotonic.as_nanos());
        let span = i128::from(end.realtime_ns) - i128::from(begin.realtime_ns);
        let since = i128::from(realtime_ns) - i128::from(begin.realtime_ns);
        let drift = (offset(end) - offset(begin)) * since / span.max(1);
        let monotonic = i128::from(realtime_ns) - offset(begin) - drift;
        HostInstant::from_nanos(u64::try_from(monotonic).unwrap_or(0))
    }
}

fn micros(span: Duration) -> f64 {
    span.as_secs_f64() * 1e6
}

impl Ceiling {
    /// A page for the documentation.
    pub fn to_markdown(&self) -> String {
        format!(
            "# The emulator's ceiling\n\n\
             UDP packets of 1500 bytes at 105 % of a constant rate, {} ms each way, {} % of a core for punctuality. CPU is \
             that of the emulator's thread, a packet delivered. The error is the receiver's kernel time stamp less the \
             scheduled moment. mahimahi's and rattan's figures were measured on an idle machine of this kind.\n\n{}\n{self}",
            self.delay_ms, self.overhead_percent, self.provenance
        )
    }
}

impl fmt::Display for Ceiling {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut table = Table::new().left([
            "Mbit/s",
            "delivered",
            "lost",
            "CPU",
            "late p50/p95/p99/max us",
            "error p50/p95/p99 us",
            "mahimahi",
            "its error",
            "rattan",
            "its error",
        ]);
        for row in &self.rows {
            let known = KNOWN.iter().find(|known| (known.rate_mbit - row.rate_mbit).abs() < 0.5);
            let of = |what: fn(&Known) -> &'static str| known.map_or("-", what).to_owned();
            table.row([
                format!("{:.0}", row.rate_mbit),
                format!("{:.1} %", row.delivered_percent),
                row.lost_packets.to_string(),
                format!("{:.1} us ({:.0} % of a core)", row.cpu_us, row.cpu_percent),
                slashed([row.late_p50_us, row.late_p95_us, row.late_p99_us, row.late_max_us]),
                slashed([row.error_p50_us, row.error_p95_us, row.error_p99_us]),
                of(|known| known.mahimahi),
                of(|known| known.mahimahi_error),
                of(|known| known.rattan),
                of(|known| known.rattan_error),
            ]);
        }
        table.fmt(f)
    }
}
