//! Figures of one run.

use sounding_experiment::metrics::{mean, nearest_rank, sorted};

/// Mean and 95th percentile; not numbers of nothing.
pub(super) fn spread(values: Vec<f64>) -> [f64; 2] {
    let values = sorted(values);
    let tail = if values.is_empty() { f64::NAN } else { nearest_rank(&values, 0.95) };
    [mean(values), tail]
}
