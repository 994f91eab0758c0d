//! Distribution of a trace's throughput, and comparison of one kind of traces with another.

use std::time::Duration;

use serde::{Deserialize, Serialize};
use sounding_trace::Trace;

use crate::metrics::nearest_rank;

/// Throughput by the second, in Mbit/s.
#[derive(Clone, Copy, Debug, PartialEq, Deserialize, Serialize)]
pub struct Statistics {
    /// Mean.
    pub mean_mbit_per_sec: f64,
    /// Standard deviation.
    pub std_mbit_per_sec: f64,
    /// 5th percentile over all seconds, by nearest rank.
    pub p5_mbit_per_sec: f64,
    /// Half of them.
    pub p50_mbit_per_sec: f64,
    /// 95 % of them.
    pub p95_mbit_per_sec: f64,
    /// The longest time without an opportunity.
    pub longest_gap_ms: u64,
}

impl Statistics {
    /// Statistics of a trace over this duration; the part of a second at its end does not count.
    pub fn of(trace: &Trace, duration: Duration) -> Self {
        let seconds = (duration.as_secs() as usize).max(1);
        let mut counts = vec![0_u64; seconds];
        let (mut before, mut longest) = (0, 0);
        for &at in trace.millis() {
            longest = longest.max(at - before);
            before = at;
            if let Some(count) = counts.get_mut(at as usize / 1_000) {
                *count += 1;
            }
        }
        let mut rates: Vec<f64> =
            counts.iter().map(|&count| count as f64 * 12_000.0 / 1e6).collect();
        let mean = rates.iter().sum::<f64>() / seconds as f64;
        let variance = rates.iter().map(|rate| (rate - mean) * (rate - mean)).sum::<f64>();
        rates.sort_by(f64::total_cmp);
        Self {
            mean_mbit_per_sec: mean,
            std_mbit_per_sec: (variance / seconds as f64).sqrt(),
            p5_mbit_per_sec: nearest_rank(&rates, 0.05),
            p50_mbit_per_sec: nearest_rank(&rates, 0.50),
            p95_mbit_per_sec: nearest_rank(&rates, 0.95),
            longest_gap_ms: longest.into(),
        }
    }
}

/// Statistics of the traces of one kind.
#[derive(Clone, Copy, Debug)]
pub struct Figures {
    /// Mean, Mbit/s.
    pub mean: f64,
    /// 5th percentile of a second over the mean.
    pub low: f64,
    /// The same ratio of the 95th percentile.
    pub high: f64,
}

/// A row of a comparison.
#[derive(Clone, Debug, Serialize)]
pub struct Comparison {
    /// The kind of traces.
    pub kind: String,
    /// Their number.
    pub traces: usize,
    /// Minimum, median and maximum of their means, Mbit/s.
    pub means_mbit_per_sec: [f64; 3],
    /// Median over the traces of the 5th percentile of a trace's rates per second, divided by the
    /// trace's mean.
    pub p5_over_mean: f64,
    /// The same ratio for the 95th percentile.
    pub p95_over_mean: f64,
}

/// Statistics of the traces of one kind; `None` without traces.
pub fn comparison(kind: String, traces: &[Figures]) -> Option<Comparison> {
    let sorted = |of: fn(&Figures) -> f64| {
        let mut values: Vec<f64> = traces.iter().map(of).collect();
        values.sort_by(f64::total_cmp);
        values
    };
    let means = sorted(|trace| trace.mean);
    let (&least, &most) = (means.first()?, means.last()?);
    Some(Comparison {
        kind,
        traces: traces.len(),
        means_mbit_per_sec: [least, nearest_rank(&means, 0.5), most],
        p5_over_mean: nearest_rank(&sorted(|trace| trace.low), 0.5),
        p95_over_mean: nearest_rank(&sorted(|trace| trace.high), 0.5),
    })
}

impl From<&Statistics> for Figures {
    fn from(of: &Statistics) -> Self {
        let mean = of.mean_mbit_per_sec;
        let over = |value: f64| if mean > 0.0 { value / mean } else { 0.0 };
        Self { mean, low: over(of.p5_mbit_per_sec), high: over(of.p95_mbit_per_sec) }
    }
}
