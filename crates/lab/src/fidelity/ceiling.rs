//! The emulator's speed and punctuality over a constant rate, with datagrams of 1500 bytes of IP at
//! 105 % of it, so that the link is always busy.

use std::time::Duration;

use miette::IntoDiagnostic as _;
use serde::Serialize;
use sounding_emu::{Config, Direction, Emulation};
use sounding_experiment::provenance::Begun;
use sounding_host::monotonic_now;
use sounding_sim::PathConfig;
use sounding_testbed::flow::UdpFlow;
use sounding_units::Rate;

use crate::experiment::{Card, Experiment, Host, Needs, Outcome, report};
use crate::table::{Table, slashed};

/// Measures the emulator's packet rate, punctuality and CPU time
#[derive(Clone, Debug, clap::Args)]
pub(crate) struct Flags {
    /// Rates of the link
    #[arg(long, value_name = "RATE,…", value_delimiter = ',', default_value = "1500Mbit,2000Mbit")]
    rates: Vec<Rate>,

    /// One-way delay
    #[arg(long, value_name = "TIME", default_value = "20ms", value_parser = humantime::parse_duration)]
    delay: Duration,

    /// How long to send at each rate
    #[arg(long, value_name = "TIME", default_value = "8s", value_parser = humantime::parse_duration)]
    duration: Duration,

    /// CPU time for punctuality, in percent of a core
    #[arg(long, value_name = "PERCENT", default_value = "10,100", value_delimiter = ',')]
    punctuality: Vec<u8>,
}

/// One rate. Times are in microseconds.
#[derive(Clone, Copy, Debug, Serialize)]
struct Row {
    rate_mbit: f64,
    punctuality_percent: u8,
    /// Packets that arrived while the sender sent, over those that the link carries.
    delivered_percent: f64,
    lost_packets: u64,
    cpu_us: f64,
    cpu_percent: f64,
    late_us: [f64; 4],
    sender_cpu_percent: f64,
}

/// See the module.
pub(crate) struct CeilingExperiment;

impl Experiment for CeilingExperiment {
    type Flags = Flags;

    fn card(&self) -> Card {
        Card::new("emu-ceiling", "packet rate, punctuality and CPU time of the emulator")
            .needs(Needs::Root)
            .lasts("1 min")
    }

    fn run(&self, flags: Flags, host: &dyn Host) -> miette::Result<Option<Outcome>> {
        let begun = Begun::now();
        let mut rows = Vec::new();
        for &rate in &flags.rates {
            for &percent in &flags.punctuality {
                let row = measure(&flags, rate, percent)?;
                report(host, format_args!("{row:?}"));
                rows.push(row);
            }
        }
        let mut table = Table::new().left(["Mbit/s", "punctuality"]).right([
            "delivered",
            "lost",
            "CPU",
            "late p50/p95/p99/max us",
            "sender's CPU",
        ]);
        for row in &rows {
            table.row([
                format!("{:.0}", row.rate_mbit),
                format!("{} %", row.punctuality_percent),
                format!("{:.1} %", row.delivered_percent),
                row.lost_packets.to_string(),
                format!("{:.1} us ({:.0} % of a core)", row.cpu_us, row.cpu_percent),
                slashed(row.late_us),
                format!("{:.0} %", row.sender_cpu_percent),
            ]);
        }
        Outcome::of_markdown(table.to_string(), &begun.end(), &rows).map(Some)
    }
}

fn measure(flags: &Flags, rate: Rate, percent: u8) -> miette::Result<Row> {
    let way = || PathConfig { delay: flags.delay, ..PathConfig::new(rate) };
    let mut config = Config { record: true, ..Config::new(way(), way()) };
    config.realtime.overhead_percent = percent;
    let emulation = Emulation::start(config).into_diagnostic()?;
    let flow = UdpFlow {
        drain: flags.delay + Duration::from_millis(500),
        ..UdpFlow::new(Direction::Downlink, rate.scaled(105, 100), flags.duration)
    };
    let result = flow.start(&emulation).into_diagnostic()?.wait().into_diagnostic()?;
    let ran = monotonic_now() - emulation.started();
    let sim = emulation.stop().into_diagnostic()?;
    let first = result.arrivals.first().map_or(0, |arrival| arrival.received_realtime_ns);
    // The link is busy while datagrams are sent. The last tenth of a second is left out.
    let window = flags.duration.saturating_sub(Duration::from_millis(100));
    let end = first + window.as_nanos() as u64;
    let inside = result.arrivals.iter().filter(|one| one.received_realtime_ns < end).count();
    let carried = (rate * window).count() as f64 / 1500.0;
    let down = &sim.down;
    let micros = |span: Duration| span.as_secs_f64() * 1e6;
    Ok(Row {
        rate_mbit: rate.mbit_per_sec(),
        punctuality_percent: percent,
        delivered_percent: 100.0 * inside as f64 / carried,
        lost_packets: result.sent.saturating_sub(result.received + down.queued),
        cpu_us: micros(sim.cpu) / down.delivered.max(1) as f64,
        cpu_percent: 100.0 * sim.cpu.as_secs_f64() / ran.as_secs_f64(),
        late_us: [0.5, 0.95, 0.99, 1.0].map(|quantile| micros(down.lateness.quantile(quantile))),
        sender_cpu_percent: 100.0 * result.sender_cpu.as_secs_f64() / flags.duration.as_secs_f64(),
    })
}
