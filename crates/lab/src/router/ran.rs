//! The result of a run, as its file has it.

use serde::{Deserialize, Serialize};

use super::case::Rat;
use super::rule::Rule;

/// A run that ended.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct Ran {
    /// The case's name.
    pub(super) case: String,
    /// The radio.
    pub(super) rat: Rat,
    /// The rule.
    pub(super) rule: Rule,
    /// The seed of the cell.
    pub(super) seed: u64,
    /// How long there was load, in seconds.
    pub(super) load_s: f64,
    /// CAKE's interval, in seconds.
    pub(super) interval_s: f64,
    /// How long the run took with all its preparation, in seconds.
    pub(super) took_s: f64,
    /// Time of all processors of this machine in it that was not idle, in seconds: of other
    /// programs too.
    pub(super) busy_s: f64,
    /// How often the network fell behind the clock.
    pub(super) times_behind: u64,
    /// The figures.
    pub(super) figures: Figures,
    /// Time of a processor that the router took, in seconds.
    pub(super) guest_s: f64,
    /// What cake-autorate's log counts.
    pub(super) autorate: Option<AutorateLog>,
    /// The end of the log of the program that set the rate.
    pub(super) log: String,
    /// Everything over time.
    pub(super) series: Series,
}

/// Counts of cake-autorate's log.
#[derive(Clone, Copy, Debug, Default, Serialize, Deserialize)]
pub(super) struct AutorateLog {
    /// Changes of a rate.
    pub(super) changes: u64,
    /// Answers to pings that it took more than half a second later, and did not use: it lacked
    /// time of a processor.
    pub(super) late: u64,
    /// How long before the load it had started, in seconds; none if its log does not say. Below
    /// zero it lacked that part of the run.
    #[serde(default)]
    pub(super) ahead_s: Option<f64>,
}

/// Figures of a run. Unknown is none.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(super) struct Figures {
    /// Mean of what the cell grants a sender that always has data, in the measured time.
    pub(super) truth_mbit_per_sec: f64,
    /// The same downwards, in a case with downloads.
    pub(super) truth_down_mbit_per_sec: Option<f64>,
    /// Acknowledged IP bytes of all uploads.
    pub(super) up_mbit_per_sec: f64,
    /// The same of downloads, pages aside.
    pub(super) down_mbit_per_sec: Option<f64>,
    /// Round trips of probes.
    pub(super) probe: Option<Spread>,
    /// Their way to the far end.
    #[serde(default)]
    pub(super) probe_up: Option<Spread>,
    /// Probes without an answer, percent.
    pub(super) probes_lost_percent: f64,
    /// Smoothed round trips of the uploads' own connections.
    pub(super) bulk_rtt: Option<Spread>,
    /// One-way delays of a call's packets, upwards.
    pub(super) call_up: Option<Spread>,
    /// The same downwards.
    pub(super) call_down: Option<Spread>,
    /// Packets of a call that were lost, percent.
    pub(super) call_lost_percent: Option<f64>,
    /// Completion of pages.
    pub(super) pages: Option<Spread>,
    /// Pages that were asked for and not complete at the end.
    pub(super) pages_open: Option<u64>,
    /// Distinct rates of CAKE upwards, as they were seen.
    pub(super) rates_seen: u64,
}

/// Quantiles in milliseconds.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
pub(super) struct Spread {
    /// Median.
    pub(super) p50_ms: f64,
    /// 95th percentile.
    pub(super) p95_ms: f64,
    /// 99th percentile.
    pub(super) p99_ms: f64,
    /// Number of values.
    pub(super) count: u64,
}

impl Spread {
    /// Of durations; `None` without any.
    pub(super) fn of(values: Vec<std::time::Duration>) -> Option<Self> {
        let count = values.len() as u64;
        let delays = sounding_experiment::metrics::Delays::of(values)?;
        let ms = |span: std::time::Duration| span.as_secs_f64() * 1e3;
        Some(Self { p50_ms: ms(delays.p50), p95_ms: ms(delays.p95), p99_ms: ms(delays.p99), count })
    }
}

/// Pairs of the network's time in seconds and a value.
pub(super) type Line = Vec<(f64, Option<f64>)>;

/// From and until when in the network's time, in seconds, and why the rate was what it was.
pub(super) type Held = Vec<(f64, f64, String)>;

/// Quantities over the network's time.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(super) struct Series {
    /// What the cell grants, Mbit/s.
    pub(super) truth_mbit: Line,
    /// CAKE's rate upwards, Mbit/s; none where it is unlimited or absent.
    pub(super) set_mbit: Line,
    /// CAKE's rate downwards.
    pub(super) set_down_mbit: Line,
    /// CAKE's queue upwards, kB.
    pub(super) backlog_kbyte: Line,
    /// Acknowledged rate of uploads, Mbit/s.
    pub(super) sent_mbit: Line,
    /// The slowest probe of each tenth of a second, ms; none if no answer came.
    pub(super) probe_ms: Line,
    /// The longest smoothed round trip of an upload, ms.
    pub(super) bulk_rtt_ms: Line,
    /// The reasons of `sounding shape`; empty for other rules.
    pub(super) reasons: Held,
}
