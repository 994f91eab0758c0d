use std::time::Duration;

use serde::{Deserialize, Serialize};
use sounding_experiment::metrics::signal_delays;
use sounding_units::Bytes;

/// mm-link counts the 4-byte header of its TUN device.
const TUN_HEADER: u64 = 4;

/// Packets from here on are data: the reference left out all below 1000 bytes as mm-link logs them.
const DATA: u64 = 1000 - TUN_HEADER;

/// One packet that passed a link, in the whole milliseconds mm-link logs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Passage {
    /// When it joined the queue.
    pub arrived_ms: u64,
    /// When it left the link.
    pub departed_ms: u64,
    /// Bytes of IP.
    pub size: Bytes,
}

/// The reference's values for each repetition, under its names and by its definitions.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Figures {
    /// Bytes of IP in data packets that left in the window, in Mbit/s.
    #[serde(rename = "tput")]
    pub throughput_mbit: f64,
    /// Opportunities of the window, 1500 bytes each, in Mbit/s.
    #[serde(rename = "cap")]
    pub capacity_mbit: f64,
    /// Throughput over capacity.
    #[serde(rename = "util")]
    pub utilisation: f64,
    /// Queueing delay of data packets, in ms: mean,
    #[serde(rename = "mean")]
    pub mean_ms: f64,
    /// median,
    #[serde(rename = "p50")]
    pub p50_ms: u64,
    /// 95th percentile,
    #[serde(rename = "p95")]
    pub p95_ms: u64,
    /// 99th percentile,
    #[serde(rename = "p99")]
    pub p99_ms: u64,
    /// maximum.
    #[serde(rename = "max")]
    pub max_ms: u64,
    /// 95th percentile over milliseconds of the signal delay, in ms.
    #[serde(rename = "sig95")]
    pub signal_p95_ms: u64,
    /// When the first data packet arrived, in ms from the beginning of the trace.
    #[serde(rename = "start")]
    pub start_ms: u64,
}

impl Figures {
    /// Figures of the packets of one direction over `window` from the first data packet's arrival
    /// on; `None` if no data left in it. `opportunities` counts those in milliseconds of both
    /// bounds and between.
    pub fn of(
        passages: &[Passage],
        window: Duration,
        opportunities: impl Fn(u64, u64) -> u64,
    ) -> Option<Self> {
        let data = passages.iter().filter(|passage| passage.size.count() >= DATA);
        let start = data.clone().map(|passage| passage.arrived_ms).min()?;
        let end = start + u64::try_from(window.as_millis()).ok()?;
        let inside: Vec<&Passage> = data.filter(|passage| passage.departed_ms <= end).collect();
        let mut delays: Vec<u64> =
            inside.iter().map(|passage| passage.departed_ms - passage.arrived_ms).collect();
        delays.sort_unstable();
        let max_ms = *delays.last()?;
        // mm-throughput-graph's percentile: the value at the rank rounded down, counted from zero.
        let percentile =
            |percent: usize| delays[(delays.len() * percent / 100).min(delays.len() - 1)];
        let bytes: u64 = inside.iter().map(|passage| passage.size.count()).sum();
        let mbit = |bytes: u64| bytes as f64 * 8.0 / 1e6 / window.as_secs_f64();
        let throughput_mbit = mbit(bytes);
        let capacity_mbit = mbit(opportunities(start, end) * 1500);
        let sent: Vec<(u64, u64)> = inside
            .iter()
            .map(|passage| (passage.arrived_ms, passage.departed_ms - passage.arrived_ms))
            .collect();
        let signal = signal_delays(&sent, 1)?;
        Some(Self {
            throughput_mbit,
            capacity_mbit,
            utilisation: throughput_mbit / capacity_mbit,
            mean_ms: delays.iter().sum::<u64>() as f64 / delays.len() as f64,
            p50_ms: percentile(50),
            p95_ms: percentile(95),
            p99_ms: percentile(99),
            max_ms,
            signal_p95_ms: signal[signal.len() * 95 / 100],
            start_ms: start,
        })
    }
}

#[cfg(test)]
impl Figures {
    /// Figures of a flow that got this much of 10 Mbit/s.
    pub(crate) fn example(throughput_mbit: f64, p95_ms: u64) -> Self {
        Self {
            throughput_mbit,
            capacity_mbit: 10.0,
            utilisation: throughput_mbit / 10.0,
            mean_ms: 0.0,
            p50_ms: 0,
            p95_ms,
            p99_ms: 0,
            max_ms: 0,
            signal_p95_ms: 0,
            start_ms: 0,
        }
    }
}
