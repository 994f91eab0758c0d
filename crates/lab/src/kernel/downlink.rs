//! A download over a modelled cell: unmodified, with its receive window limited by the device, and
//! from senders that receive the device's rate.
//!
//! The device's modem is read, so the estimates come all the way from Diag records. The packets
//! that carry them to a sender cross the emulated network. The limited sender is this kernel's
//! unmodified CUBIC.

pub(crate) mod experiment;

use std::fmt;
use std::path::PathBuf;
use std::time::Duration;

use serde::Serialize;
use sounding_bpf::OwnCgroup;
use sounding_emu::{Direction, Outcome, Report, monotonic_now};
use sounding_experiment::metrics::Delays;
use sounding_experiment::provenance::{Begun, Provenance};
use sounding_laws::Law;
use sounding_testbed::download::{Channel, Scene};
use sounding_testbed::flow::{TcpFlow, TcpResult};
use sounding_testbed::kernel_compare::Spread;
use sounding_units::Bytes;

use crate::experiment::Failed;
use crate::fidelity::agreement::fallback_percent;
use crate::table::Table;

/// A download over a modelled cell: unmodified, with its receive window limited by the device, and
/// with senders that use the device's TCP option
#[derive(Clone, Debug, clap::Args)]
pub struct Plan {
    /// Duration of each flow; the first fifth is not measured
    #[arg(long, value_name = "TIME", default_value = "20s", value_parser = humantime::parse_duration)]
    pub duration: Duration,

    /// The radio: constant, or fading at walking speed
    #[arg(long, value_name = "LIST", value_delimiter = ',', default_value = "still,fading")]
    pub channels: Vec<Channel>,

    /// Seeds of the cell, counted from 1
    #[arg(long, value_name = "N", default_value_t = 3, value_parser = clap::value_parser!(u32).range(1..))]
    pub seeds: u32,

    /// How the sender gets the device's rate: unclamped (CUBIC), bbr, clamped, option (BISCAY),
    /// pbe-cc, cqic
    #[arg(
        long,
        value_name = "LIST",
        value_delimiter = ',',
        default_value = "unclamped,bbr,clamped,option,pbe-cc,cqic"
    )]
    pub ways: Vec<Signalling>,

    /// This program, which has the daemon.
    #[arg(skip)]
    pub program: PathBuf,
}

/// How the sender gets the device's rate.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, clap::ValueEnum)]
#[serde(rename_all = "kebab-case")]
pub enum Signalling {
    /// Not at all: CUBIC.
    Unclamped,
    /// Not at all: BBR.
    Bbr,
    /// By the receive window: CUBIC, which knows of nothing.
    Clamped,
    /// By a TCP option: BISCAY.
    Option,
    /// By a TCP option: PBE-CC.
    PbeCc,
    /// By a TCP option: CQIC. The device estimates by its channel reports.
    Cqic,
}

impl Signalling {
    fn name(self) -> &'static str {
        match self {
            Self::Unclamped => "unclamped",
            Self::Bbr => "bbr",
            Self::Clamped => "clamped",
            Self::Option => "option",
            Self::PbeCc => "pbe-cc",
            Self::Cqic => "cqic",
        }
    }

    /// The law of the sender, if it reads the option.
    const fn law(self) -> Option<Law> {
        match self {
            Self::Unclamped | Self::Bbr | Self::Clamped => None,
            Self::Option => Some(Law::Biscay),
            Self::PbeCc => Some(Law::PbeCc),
            Self::Cqic => Some(Law::Cqic),
        }
    }
}

/// One download.
#[derive(Clone, Debug, Serialize)]
pub struct Row {
    /// The radio channel.
    pub channel: Channel,
    /// How its sender got the rate.
    pub way: Signalling,
    /// The cell's seed.
    pub seed: u32,
    /// Received IP bytes.
    pub throughput_mbit_per_sec: f64,
    /// From the sender's device to the receiver's.
    pub one_way_ms: Spread,
    /// The same, minus the minimum of the run.
    pub queueing_ms: Spread,
    /// Segments that TCP sent again.
    pub retransmitted: u32,
    /// The part of the time in which the receive window limited the sender, in percent.
    pub window_limited_percent: f64,
    /// The part of the measured time in which a sender with the option fell back to its stock
    /// algorithm, in percent.
    pub fallback_percent: Option<f64>,
    /// Times that the emulation fell behind the clock; if any, the row is unreliable.
    pub times_behind: u64,
}

/// All downloads.
#[derive(Clone, Debug, Serialize)]
pub struct Comparison {
    /// Origin of the figures.
    pub provenance: Provenance,
    /// One a download.
    pub rows: Vec<Row>,
}

/// Runs everything; `progress` is called for each download.
pub fn run(plan: &Plan, mut progress: impl FnMut(&Row)) -> Result<Comparison, Failed> {
    let begun = Begun::now();
    let own = OwnCgroup::enter(&format!("sounding-lab-{}", std::process::id()))
        .map_err(|error| format!("a cgroup for the sockets of this experiment: {error}: it takes root and a cgroup v2"))?;
    let mut rows = Vec::new();
    for &channel in &plan.channels {
        for seed in 1..=plan.seeds {
            for &way in &plan.ways {
                let row = one(plan, channel, way, seed, &own)?;
                progress(&row);
                rows.push(row);
            }
        }
    }
    Ok(Comparison { provenance: begun.end(), rows })
}

/// Time before the flow starts, in which the modem's first reports arrive.
const HEAD_START: Duration = Duration::from_millis(500);

fn one(
    plan: &Plan,
    channel: Channel,
    way: Signalling,
    seed: u32,
    own: &OwnCgroup,
) -> Result<Row, Failed> {
    let scene = Scene::start(&plan.program, channel, seed, own)?;
    let send = |congestion: &str| {
        TcpFlow {
            congestion: Some(congestion.into()),
            connect_at: Some(monotonic_now() + HEAD_START),
            duration: Some(plan.duration),
            ..TcpFlow::new(Direction::Downlink)
        }
        .start(scene.emulation())?
        .wait()
    };
    let (flow, said) = if let Some(law) = way.law() {
        let (name, server) = scene.start_on_server(law)?;
        let device = scene.start_reporter(law, &[])?;
        let flow = send(&name)?;
        drop(device);
        (flow, Some(server.stop()))
    } else {
        let device = (way == Signalling::Clamped).then(|| scene.start_on_device("window"));
        let device = device.transpose()?;
        let flow = send(if way == Signalling::Bbr { "bbr" } else { "cubic" })?;
        drop(device);
        (flow, None)
    };
    let report = scene.stop()?.report;
    let mut row = measure(&report, &flow, (channel, way), seed);
    row.fallback_percent = said.map(|said| fallback_percent(&said, (warm(&flow), flow.ended)));
    Ok(row)
}

/// When the part of a flow begins that is measured.
fn warm(flow: &TcpResult) -> sounding_units::HostInstant {
    flow.began + (flow.ended - flow.began) / 5
}

fn measure(
    report: &Report,
    flow: &TcpResult,
    (channel, way): (Channel, Signalling),
    seed: u32,
) -> Row {
    let (from, to) = (warm(flow), flow.ended);
    let (mut carried, mut delays) = (Bytes::ZERO, Vec::new());
    let its = |record: &&sounding_emu::PacketRecord| {
        record.direction == Direction::Downlink && record.flow == flow.flow
    };
    for record in report.records.iter().filter(its) {
        if let Outcome::Delivered { written, .. } = record.outcome
            && written >= from
            && written < to
        {
            carried += record.size;
            delays.push(written - record.entered);
        }
    }
    let least = delays.iter().min().copied().unwrap_or_default();
    let queueing = delays.iter().map(|delay| *delay - least).collect();
    let lasted = (flow.ended - flow.began).as_secs_f64();
    Row {
        channel,
        way,
        seed,
        throughput_mbit_per_sec: carried.per(to - from).mbit_per_sec(),
        one_way_ms: Spread::of(Delays::of(delays)),
        queueing_ms: Spread::of(Delays::of(queueing)),
        retransmitted: flow.last.retransmitted_segments,
        window_limited_percent: 100.0 * flow.last.receive_window_limited.as_secs_f64() / lasted,
        fallback_percent: None,
        times_behind: report.pace.times_behind,
    }
}

impl Comparison {
    /// Throughput and 95th percentile of queueing, relative to the same download without a clamp.
    fn of_unclamped(&self, row: &Row) -> Option<(f64, f64)> {
        let alike = |other: &&Row| {
            (other.channel, other.seed, other.way) == (row.channel, row.seed, Signalling::Unclamped)
        };
        let unclamped = self.rows.iter().find(alike)?;
        let throughput = row.throughput_mbit_per_sec / unclamped.throughput_mbit_per_sec;
        let queueing = row.queueing_ms.p95 / unclamped.queueing_ms.p95;
        (row.way != Signalling::Unclamped).then_some((throughput, queueing))
    }
}

impl fmt::Display for Comparison {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut table = Table::new()
            .left_within([("radio", 8), ("sender", 11)])
            .right_within([("seed", 5), ("Mbit/s", 9), ("of it", 6), ("queue mean", 11)])
            .right_within([("p50", 9), ("p95", 9), ("of it", 6), ("p99 ms", 9), ("resent", 8)])
            .right_within([("window %", 10), ("fallback %", 11), ("behind", 8)]);
        for row in &self.rows {
            let of_it = self.of_unclamped(row);
            let part = |part: Option<f64>| part.map_or("-".into(), |part| format!("{part:.2}"));
            let tenths = |value: f64| format!("{value:.1}");
            table.row([
                row.channel.name().to_owned(),
                row.way.name().to_owned(),
                row.seed.to_string(),
                format!("{:.2}", row.throughput_mbit_per_sec),
                part(of_it.map(|(throughput, _)| throughput)),
                tenths(row.queueing_ms.mean),
                tenths(row.queueing_ms.p50),
                tenths(row.queueing_ms.p95),
                part(of_it.map(|(_, queueing)| queueing)),
                tenths(row.queueing_ms.p99),
                row.retransmitted.to_string(),
                tenths(row.window_limited_percent),
                row.fallback_percent.map_or("-".into(), tenths),
                row.times_behind.to_string(),
            ]);
        }
        table.note("of it: of the unclamped download with the same radio and seed");
        f.write_str(&table.text())
    }
}
