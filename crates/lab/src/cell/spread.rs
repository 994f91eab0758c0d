//! Quantiles, and a spread over seeds.

use serde::Serialize;

/// Nearest-rank quantile; `None` without values.
pub(super) fn quantile(values: &[f64], part: f64) -> Option<f64> {
    let mut sorted = values.to_vec();
    sorted.sort_by(f64::total_cmp);
    let rank = (part * sorted.len() as f64).ceil() as usize;
    sorted.get(rank.saturating_sub(1)).copied()
}

/// A figure over seeds.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Spread {
    /// The least.
    pub least: f64,
    /// The median.
    pub median: f64,
    /// The most.
    pub most: f64,
}

impl Spread {
    /// Summary of these values; `None` without any.
    pub fn of(values: &[f64]) -> Option<Self> {
        let at = |part| quantile(values, part);
        Some(Self { least: at(0.0)?, median: at(0.5)?, most: at(1.0)? })
    }
}
