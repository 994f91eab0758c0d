//! A spread over seeds.

use serde::Serialize;
use sounding_experiment::metrics::quantile;

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
