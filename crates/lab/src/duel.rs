//! BISCAY, BBR, CUBIC and the oracle over the same link: figures for a table, series for plots.

use std::time::Duration;

use serde::Serialize;
use sounding_emu::{Direction, Flow, Outcome, PacketRecord};
use sounding_trace::Schedule;
use sounding_units::{Bytes, HostInstant};

use crate::metrics::{Delays, Metrics, Question, nearest_rank};
use crate::oracle;
use crate::race::{self, Course, Lap, RaceError, Runner};
use crate::radio::RadioLink;
use crate::report::{Plots, RunPlot};

/// The figures of one run.
#[derive(Clone, Debug, Serialize)]
pub struct Figures {
    /// Who ran.
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
    /// How late the emulator's real-time thread was for a packet at the worst of a hundred.
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
    /// In milliseconds; all zero of nothing.
    pub fn of(delays: Option<Delays>) -> Self {
        delays.map_or_else(Self::default, |d| Self {
            mean: millis(d.mean),
            p50: millis(d.p50),
            p95: millis(d.p95),
            p99: millis(d.p99),
        })
    }
}

/// One run: its figures, and what a plot of it needs.
#[derive(Clone, Debug)]
pub struct Outing {
    /// The figures.
    pub figures: Figures,
    /// The series.
    pub plot: RunPlot,
    /// Changes of state that the daemon reported.
    pub transitions: Vec<serde_json::Value>,
}

/// Width of the bins of a series.
pub const BIN: Duration = Duration::from_millis(100);

/// Everybody who runs, the oracle last.
pub const RUNNERS: [&str; 3] = ["biscay", "bbr", "cubic"];

/// Runs one of [`RUNNERS`] over the link and measures it.
pub fn run(link: &RadioLink, name: &str, course: &Course) -> Result<Outing, RaceError> {
    let runner = match name {
        "biscay" => Runner::Biscay,
        other => Runner::Kernel(other.into()),
    };
    let lap = race::run(link, &runner, course)?;
    Ok(measure(link, &lap, name))
}

/// The oracle over the link, in virtual time.
pub fn oracle(link: &RadioLink, course: &Course) -> Outing {
    let end = race::HEAD_START + course.duration;
    let records = oracle::records(&link.offered, end, course.delay);
    let origin = HostInstant::default();
    let span = (origin + race::HEAD_START, origin + end);
    outing(link, "oracle", &records, Flow::default(), origin, span)
}

fn measure(link: &RadioLink, lap: &Lap, name: &str) -> Outing {
    let report = &lap.report;
    let span = (lap.flow.began, lap.flow.ended);
    let mut outing = outing(link, name, &report.records, lap.flow.flow, report.started, span);
    outing.figures.retransmitted = lap.flow.last.retransmitted_segments;
    outing.figures.lateness_p99_ms = millis(report.up.lateness.quantile(0.99));
    outing.transitions =
        lap.events.iter().filter(|event| event["event"] == "transition").cloned().collect();
    outing
}

fn outing(
    link: &RadioLink,
    name: &str,
    records: &[PacketRecord],
    flow: Flow,
    started: HostInstant,
    (from, to): (HostInstant, HostInstant),
) -> Outing {
    let schedule = Schedule::from(link.offered.clone());
    let question = Question {
        direction: Direction::Up,
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
    let bins = (started + race::HEAD_START, to);
    let delivered = Delivered::of(records, flow, bins);
    Outing { figures, plot: delivered.plot(name), transitions: Vec::new() }
}

/// What left the link, in bins by the time at which it left.
struct Delivered {
    bins: Vec<(Bytes, Vec<f64>)>,
    delays: Vec<f64>,
}

/// Shares of packets at which the distribution of the delay is drawn.
fn cdf_percent() -> Vec<f64> {
    (1..=100).map(f64::from).chain([99.5, 99.9]).filter(|p| *p < 100.0).collect::<Vec<_>>()
}

impl Delivered {
    fn of(records: &[PacketRecord], flow: Flow, (from, to): (HostInstant, HostInstant)) -> Self {
        let count = (to - from).as_millis().div_ceil(BIN.as_millis()) as usize;
        let mut bins = vec![(Bytes::ZERO, Vec::new()); count];
        let mut delays = Vec::new();
        for record in records.iter().filter(|r| r.direction == Direction::Up && r.flow == flow) {
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
        Self { bins, delays }
    }

    fn plot(mut self, name: &str) -> RunPlot {
        let p95 = |delays: &mut Vec<f64>| {
            delays.sort_by(f64::total_cmp);
            (!delays.is_empty()).then(|| nearest_rank(delays, 0.95))
        };
        RunPlot {
            name: name.into(),
            throughput_mbit_per_sec: self
                .bins
                .iter()
                .map(|(bytes, _)| bytes.per(BIN).mbit_per_sec())
                .collect(),
            delay_p95_ms: self.bins.iter_mut().map(|(_, delays)| p95(delays)).collect(),
            delay_cdf_ms: cdf_percent()
                .into_iter()
                .map(|p| (!self.delays.is_empty()).then(|| nearest_rank(&self.delays, p / 100.0)))
                .collect(),
        }
    }
}

/// The plots of several runs over one link.
pub fn plots(link: &RadioLink, course: &Course, outings: &[Outing]) -> Plots {
    let count = course.duration.as_millis().div_ceil(BIN.as_millis()) as u32;
    let start = |bin: u32| race::HEAD_START + BIN * bin;
    Plots {
        bin_ms: BIN.as_millis() as u64,
        time_s: (0..count).map(|bin| (BIN * bin).as_secs_f64()).collect(),
        capacity_mbit_per_sec: (0..count)
            .map(|bin| link.capacity(start(bin), start(bin + 1)).per(BIN).mbit_per_sec())
            .collect(),
        cdf_percent: cdf_percent(),
        runs: outings.iter().map(|outing| fitted(&outing.plot, count as usize)).collect(),
    }
}

/// Runs differ by a bin at their ends; a plot has one axis.
fn fitted(plot: &RunPlot, count: usize) -> RunPlot {
    let mut plot = plot.clone();
    plot.throughput_mbit_per_sec.resize(count, 0.0);
    plot.delay_p95_ms.resize(count, None);
    plot
}

fn millis(span: Duration) -> f64 {
    span.as_secs_f64() * 1e3
}
