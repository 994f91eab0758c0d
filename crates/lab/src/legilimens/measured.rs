//! Figures of one run.

use sounding_experiment::metrics::nearest_rank;

/// Figures by their heads, in no order.
pub(super) type Figures = Vec<(String, f64)>;

/// A figure.
pub(super) fn figure(head: &str, value: f64) -> (String, f64) {
    (head.to_owned(), value)
}

/// Mean and 95th percentile; not numbers of nothing.
pub(super) fn spread(mut values: Vec<f64>) -> [f64; 2] {
    if values.is_empty() {
        return [f64::NAN; 2];
    }
    values.sort_by(f64::total_cmp);
    [values.iter().sum::<f64>() / values.len() as f64, nearest_rank(&values, 0.95)]
}
