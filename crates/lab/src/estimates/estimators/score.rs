//! The agreement of an estimate with goodput.

use std::time::Duration;

use serde::Serialize;
use sounding_experiment::metrics::{nearest_rank, sorted};

use super::run::{STEP, Series};

/// The score of one method.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Score {
    /// Pearson's correlation with the goodput of the same span; `None` where one of them never
    /// changes.
    pub pearson_r: Option<f64>,
    /// Medians and 80th percentiles of the error relative to the goodput of the same span.
    pub error_p50: f64,
    /// See `error_p50`.
    pub error_p80: f64,
    /// The same relative to the goodput of the next span, which the estimate predicts.
    pub next_error_p50: f64,
    /// See `next_error_p50`.
    pub next_error_p80: f64,
    /// See `error_p50`.
    pub next_error_p90: f64,
    /// Mean of the estimates over mean of the goodput, less one.
    pub bias: f64,
    /// Spans compared.
    pub spans: u32,
    /// Of the spans whose estimate says that it is the capacity; `None` if there is none.
    pub capacity: Option<Known>,
}

/// Spans whose estimate says that it is the capacity.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Known {
    /// Their part of all spans.
    pub share: f64,
    /// The median of their errors relative to the goodput of the same span.
    pub error_p50: f64,
    /// The 80th percentile.
    pub error_p80: f64,
}

/// The part of a run that the raw KPIs learn from, without comparisons, and a little more for its
/// last records.
const LEARNING_STEPS: usize = 2_200;

/// Steps by which goodput may be later than its grants, because of decoding, repetitions and
/// reordering.
const MAX_LATE: usize = 6;

/// Steps that a window has.
const fn steps(window: Duration) -> usize {
    (window.as_nanos() / STEP.as_nanos()) as usize
}

impl Series {
    /// Bits a second that were carried in the span of `width` steps that ends after step `end`.
    fn goodput(&self, end: usize, width: usize) -> f64 {
        let bytes: u64 = self.carried[end + 1 - width..=end].iter().sum();
        bytes as f64 * 8.0 / (STEP.as_secs_f64() * width as f64)
    }

    /// Goodput of the whole run, in Mbit/s.
    pub(super) fn mean_mbit(&self) -> f64 {
        let bytes: u64 = self.carried.iter().sum();
        bytes as f64 * 8e-6 / (STEP.as_secs_f64() * self.carried.len() as f64)
    }

    /// Pairs of estimate and goodput, one for each span, the goodput `late` steps after the
    /// estimate.
    fn pairs(&self, trial: usize, width: usize, late: isize) -> Vec<(f64, f64)> {
        self.pairs_where(trial, width, late, |_| true)
    }

    /// The same of estimates at steps of a kind.
    fn pairs_where(
        &self,
        trial: usize,
        width: usize,
        late: isize,
        is: impl Fn(usize) -> bool,
    ) -> Vec<(f64, f64)> {
        let ends = (LEARNING_STEPS..self.carried.len()).step_by(width);
        let pair = |end: usize| {
            let estimate = self.estimates[trial][end]?;
            let carried = end.checked_add_signed(late).filter(|at| *at < self.carried.len())?;
            Some((estimate, self.goodput(carried, width)))
        };
        ends.filter(|end| is(*end)).filter_map(pair).collect()
    }

    /// Number of steps by which records are earlier (or, if negative, later) than the goodput that
    /// they describe: the shift with the best correlation of one trial. Propagation and
    /// reporting delay are removed as in BISCAY §5.2.
    pub(crate) fn lateness(&self, trial: usize, window: Duration) -> isize {
        let most = MAX_LATE as isize;
        let r = |late: &isize| pearson(&self.pairs(trial, steps(window), *late)).unwrap_or(-1.0);
        (-most..=most).max_by(|a, b| r(a).total_cmp(&r(b))).unwrap_or(0)
    }
}

impl Score {
    /// Score of one trial; `None` if it never had an estimate.
    pub(crate) fn of(
        series: &[Series],
        trial: usize,
        window: Duration,
        late: &[isize],
    ) -> Option<Self> {
        let width = steps(window);
        let of = |ahead: isize| -> Vec<(f64, f64)> {
            let each = series.iter().zip(late);
            each.flat_map(|(series, late)| series.pairs(trial, width, late + ahead)).collect()
        };
        let (now, next) = (of(0), of(width as isize));
        let known: Vec<(f64, f64)> = series
            .iter()
            .zip(late)
            .flat_map(|(series, late)| {
                series.pairs_where(trial, width, *late, |end| series.is_capacity[trial][end])
            })
            .collect();
        let known = errors(&known).map(|errors| Known {
            share: known.len() as f64 / now.len() as f64,
            error_p50: nearest_rank(&errors, 0.5),
            error_p80: nearest_rank(&errors, 0.8),
        });
        let (errors, next_errors) = (errors(&now)?, errors(&next)?);
        let sum = |pick: fn(&(f64, f64)) -> f64| now.iter().map(pick).sum::<f64>();
        Some(Self {
            pearson_r: pearson(&now),
            error_p50: nearest_rank(&errors, 0.5),
            error_p80: nearest_rank(&errors, 0.8),
            next_error_p50: nearest_rank(&next_errors, 0.5),
            next_error_p80: nearest_rank(&next_errors, 0.8),
            next_error_p90: nearest_rank(&next_errors, 0.9),
            bias: sum(|pair| pair.0) / sum(|pair| pair.1) - 1.0,
            spans: now.len() as u32,
            capacity: known,
        })
    }
}

/// Relative errors, sorted; spans without goodput have none.
fn errors(pairs: &[(f64, f64)]) -> Option<Vec<f64>> {
    let carried = pairs.iter().filter(|(_, carried)| *carried > 0.0);
    let errors = sorted(carried.map(|(rate, real)| (rate / real - 1.0).abs()));
    (!errors.is_empty()).then_some(errors)
}

/// Pearson's correlation; `None` where one side never changes.
pub(crate) fn pearson(pairs: &[(f64, f64)]) -> Option<f64> {
    let n = pairs.len() as f64;
    let mean = |pick: fn(&(f64, f64)) -> f64| pairs.iter().map(pick).sum::<f64>() / n;
    let (x, y) = (mean(|pair| pair.0), mean(|pair| pair.1));
    let (mut xx, mut yy, mut xy) = (0.0, 0.0, 0.0);
    for pair in pairs {
        let (dx, dy) = (pair.0 - x, pair.1 - y);
        (xx, yy, xy) = (xx + dx * dx, yy + dy * dy, xy + dx * dy);
    }
    (xx > 0.0 && yy > 0.0).then(|| xy / (xx * yy).sqrt())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_straight_line_correlates_fully_and_a_constant_not_at_all() {
        let line: Vec<(f64, f64)> = (0..9).map(|x| (f64::from(x), 7.0 - f64::from(x))).collect();
        assert!((pearson(&line).unwrap() + 1.0).abs() < 1e-12);
        assert_eq!(pearson(&[(1.0, 2.0), (1.0, 3.0)]), None);
    }

    #[test]
    fn a_rate_that_is_a_tenth_too_high_errs_by_a_tenth_over_any_one_span() {
        let carried: Vec<u64> = (0..4_000).map(|step| 1_000 + step / 10 % 7 * 100).collect();
        // Every other span says that it knows the capacity.
        let is_capacity = vec![(0..4_000).map(|end| end / 10 % 2 == 0).collect()];
        let mut series =
            Series { carried, estimates: vec![Vec::new()], is_capacity, rates: Vec::new() };
        // Each estimate covers ten steps that ended three steps before it.
        series.estimates[0] = (0..4_000_usize)
            .map(|end| end.checked_sub(13).map(|_| series.goodput(end - 3, 10) * 1.1))
            .collect();
        let window = Duration::from_millis(100);
        let late = series.lateness(0, window);
        assert_eq!(late, -3);
        let score = Score::of(&[series], 0, window, &[late]).unwrap();
        assert!(score.pearson_r.unwrap() > 0.999_999);
        assert!((score.error_p80 - 0.1).abs() < 1e-9 && (score.bias - 0.1).abs() < 1e-9);
        let known = score.capacity.unwrap();
        assert!((known.share - 0.5).abs() < 0.01 && (known.error_p50 - 0.1).abs() < 1e-9);
        // From one span to the next there is mostly a tenth more, or nearly: as a forecast it is
        // better.
        assert!(score.next_error_p50 < 0.05 && score.next_error_p80 > score.next_error_p50);
    }
}
