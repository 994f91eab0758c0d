//! Flows of this kernel and the oracle, compared over one link: figures for a table, series for
//! plots.

use std::time::Duration;

use serde::Serialize;
use sounding_emu::{Direction, Flow, Outcome, PacketRecord};
use sounding_experiment::metrics::{Delays, nearest_rank};
use sounding_laws::Law;
use sounding_report::{Axis, Cdf, Curve, Kind, Line, Panel, Series, Shade};
use sounding_trace::Schedule;
use sounding_units::{Bytes, HostInstant};

use crate::kernel_run::{self, FlowRun, FlowSetup, KernelRunError, Sender};
use crate::oracle;
use crate::packet_metrics::{Metrics, Question};
use crate::radio::RadioLink;

/// The figures of one run.
#[derive(Clone, Debug, Serialize)]
pub struct Figures {
    /// The sender.
    pub name: String,
    /// IP bytes delivered over the time of the flow.
    pub throughput_mbit_per_sec: f64,
    /// Delivered over offered.
    pub utilisation: f64,
    /// From the sender's device to the receiver's, propagation included.
    pub one_way_ms: Spread,
    /// Waiting for the link alone.
    pub queueing_ms: Spread,
    /// Segments that TCP sent again.
    pub retransmitted: u32,
    /// The 99th percentile of the lateness of the emulator's real-time thread.
    pub lateness_p99_ms: f64,
}

/// A distribution of delays, in milliseconds.
#[derive(Clone, Copy, Debug, Default, Serialize)]
pub struct Spread {
    /// Mean.
    pub mean: f64,
    /// Median.
    pub p50: f64,
    /// 95th percentile, nearest rank.
    pub p95: f64,
    /// 99th percentile, nearest rank.
    pub p99: f64,
}

impl Spread {
    /// In milliseconds; all zero without packets.
    pub fn of(delays: Option<Delays>) -> Self {
        delays.map_or_else(Self::default, |d| Self {
            mean: millis(d.mean),
            p50: millis(d.p50),
            p95: millis(d.p95),
            p99: millis(d.p99),
        })
    }
}

/// One run: its figures, and the data of a plot.
#[derive(Clone, Debug)]
pub struct Measured {
    /// The figures.
    pub figures: Figures,
    /// Bytes that left the link in each bin of [`BIN`] from the flow's beginning on.
    pub bins: Vec<Bin>,
    /// One-way delay of each packet, in milliseconds, in the order of its length.
    pub delays_ms: Vec<f64>,
    /// Changes of state that the daemon reported.
    pub transitions: Vec<serde_json::Value>,
}

/// Packets that left the link in a bin.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Bin {
    /// IP bytes over the width of the bin.
    pub throughput_mbit_per_sec: f64,
    /// 95th percentile of the one-way delay of these packets; `None` without packets.
    pub delay_p95_ms: Option<f64>,
}

/// Width of the bins of a series.
pub const BIN: Duration = Duration::from_millis(100);

/// This kernel's own congestion controls.
const STOCK: [&str; 2] = ["bbr", "cubic"];

/// The senders that run unless others are named: the laws for a device's own flows, then this
/// kernel's own algorithms.
pub fn senders() -> Vec<&'static str> {
    let laws = Law::ALL.iter().filter(|law| !law.needs().remote);
    laws.map(|law| law.name()).chain(STOCK).collect()
}

/// Runs [the sender of this name](Sender::by_name) over the link and measures it.
pub fn run(link: &RadioLink, name: &str, setup: &FlowSetup) -> Result<Measured, KernelRunError> {
    let run = kernel_run::run(link, &Sender::by_name(name), setup)?;
    Ok(measure(link, &run, name))
}

/// The oracle over the link, in virtual time.
pub fn oracle(link: &RadioLink, setup: &FlowSetup) -> Measured {
    let end = kernel_run::HEAD_START + setup.duration;
    let records = oracle::records(&link.offered, end, setup.delay);
    let origin = HostInstant::default();
    let span = (origin + kernel_run::HEAD_START, origin + end);
    of_records(link, "oracle", &records, Flow::default(), origin, span)
}

fn measure(link: &RadioLink, run: &FlowRun, name: &str) -> Measured {
    let report = &run.report;
    let span = (run.flow.began, run.flow.ended);
    let mut measured = of_records(link, name, &report.records, run.flow.flow, report.started, span);
    measured.figures.retransmitted = run.flow.last.retransmitted_segments;
    measured.figures.lateness_p99_ms = millis(report.up.lateness.quantile(0.99));
    measured.transitions =
        run.events.iter().filter(|event| event["event"] == "transition").cloned().collect();
    measured
}

fn of_records(
    link: &RadioLink,
    name: &str,
    records: &[PacketRecord],
    flow: Flow,
    started: HostInstant,
    (from, to): (HostInstant, HostInstant),
) -> Measured {
    let schedule = Schedule::from(link.offered.clone());
    let question = Question {
        direction: Direction::Uplink,
        flow: Some(flow),
        at_least: Bytes::ZERO,
        schedule: &schedule,
        started,
        from,
        to,
    };
    let metrics = Metrics::of(records, &question);
    let figures = Figures {
        name: name.into(),
        throughput_mbit_per_sec: metrics.throughput.mbit_per_sec(),
        utilisation: metrics.utilisation(),
        one_way_ms: Spread::of(metrics.one_way),
        queueing_ms: Spread::of(metrics.queueing),
        retransmitted: 0,
        lateness_p99_ms: 0.0,
    };
    let bins = (started + kernel_run::HEAD_START, to);
    let (bins, delays_ms) = delivered(records, flow, bins);
    Measured { figures, bins, delays_ms, transitions: Vec::new() }
}

/// Bytes that left the link, in bins by departure time, and the delays of all of them.
fn delivered(
    records: &[PacketRecord],
    flow: Flow,
    (from, to): (HostInstant, HostInstant),
) -> (Vec<Bin>, Vec<f64>) {
    let count = (to - from).as_millis().div_ceil(BIN.as_millis()) as usize;
    let mut bins = vec![(Bytes::ZERO, Vec::new()); count];
    let mut delays = Vec::new();
    for record in records.iter().filter(|r| r.direction == Direction::Uplink && r.flow == flow) {
        let Outcome::Delivered { left, .. } = record.outcome else { continue };
        let Some(delay) = record.one_way_delay().map(millis) else { continue };
        if left < from || left >= to {
            continue;
        }
        let bin = ((left - from).as_nanos() / BIN.as_nanos()) as usize;
        if let Some((bytes, in_bin)) = bins.get_mut(bin) {
            *bytes += record.size;
            in_bin.push(delay);
        }
        delays.push(delay);
    }
    delays.sort_by(f64::total_cmp);
    let bin = |(bytes, delays): &mut (Bytes, Vec<f64>)| {
        delays.sort_by(f64::total_cmp);
        let p95 = (!delays.is_empty()).then(|| nearest_rank(delays, 0.95));
        Bin { throughput_mbit_per_sec: bytes.per(BIN).mbit_per_sec(), delay_p95_ms: p95 }
    };
    (bins.iter_mut().map(bin).collect(), delays)
}

/// Rate against capacity and delay, over time.
pub fn over_time(link: &RadioLink, setup: &FlowSetup, runs: &[Measured]) -> Kind {
    let count = setup.duration.as_millis().div_ceil(BIN.as_millis()) as u32;
    let at = |bin: u32| (BIN * bin).as_secs_f64();
    let offered = |bin: u32| {
        let from = kernel_run::HEAD_START + BIN * bin;
        link.capacity(from, from + BIN).per(BIN).mbit_per_sec()
    };
    // The last step marks the end.
    let steps = (0..=count).map(|bin| (at(bin), offered(bin.min(count.saturating_sub(1)))));
    let line = |measured: &Measured, of: fn(&Bin) -> Option<f64>| {
        let middle = |bin: usize| (BIN.as_secs_f64()) * (bin as f64 + 0.5);
        // Runs differ by a bin at their ends; a plot has one axis.
        let bins = measured.bins.iter().take(count as usize).enumerate();
        let points = bins.map(|(bin, values)| (middle(bin), of(values))).collect();
        Line { name: measured.figures.name.clone(), points }
    };
    let lines = |of: fn(&Bin) -> Option<f64>| runs.iter().map(|run| line(run, of)).collect();
    Kind::Series(Series {
        x: Axis::linear("time (s)"),
        panels: vec![
            Panel {
                y: Axis::linear("throughput (Mbit/s)"),
                shade: Some(Shade { name: "capacity".into(), steps: steps.collect() }),
                lines: lines(|bin| Some(bin.throughput_mbit_per_sec)),
            },
            Panel {
                y: Axis::logarithmic("one-way delay, p95 (ms)"),
                shade: None,
                lines: lines(|bin| bin.delay_p95_ms),
            },
        ],
        happenings: Vec::new(),
    })
}

/// The one-way delay of all packets.
pub fn delay_of_packets(runs: &[Measured]) -> Kind {
    let curve = |run: &Measured| Curve::of(run.figures.name.clone(), run.delays_ms.clone());
    Kind::Cdf(Cdf {
        x: Axis::logarithmic("one-way delay (ms)"),
        of: "packets".into(),
        curves: runs.iter().map(curve).collect(),
    })
}

fn millis(span: Duration) -> f64 {
    span.as_secs_f64() * 1e3
}
