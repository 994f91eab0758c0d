//! Certainty of a figure: intervals for means and medians, and a test for pairs.

use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;
use serde::Serialize;
use statrs::distribution::{ContinuousCDF, Normal, StudentsT};

/// Probability outside every interval, both sides together.
const ALPHA: f64 = 0.05;

/// A figure and the interval that holds the true one in 95 of 100 cases.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Estimate {
    /// The figure, in the unit of the values.
    pub value: f64,
    /// Lower end of the interval, if there is one, in the same unit.
    pub low: Option<f64>,
    /// Upper end, in the same unit.
    pub high: Option<f64>,
    /// Number of values.
    pub of: usize,
}

/// The mean with Student's interval, which takes two values; `None` without values.
pub fn mean(values: &[f64]) -> Option<Estimate> {
    let count = values.len() as f64;
    let mean = values.iter().sum::<f64>() / count;
    if values.is_empty() {
        return None;
    }
    let squares: f64 = values.iter().map(|value| (value - mean).powi(2)).sum();
    let student = StudentsT::new(0.0, 1.0, count - 1.0).ok();
    let half = student.map(|student| {
        student.inverse_cdf(1.0 - ALPHA / 2.0) * (squares / (count - 1.0) / count).sqrt()
    });
    let (low, high) = (half.map(|half| mean - half), half.map(|half| mean + half));
    Some(Estimate { value: mean, low, high, of: values.len() })
}

/// The middle value, or the mean of the two in the middle; `None` without values.
pub fn middle(values: &[f64]) -> Option<f64> {
    let mut sorted = values.to_vec();
    sorted.sort_unstable_by(f64::total_cmp);
    let half = sorted.len() / 2;
    let upper = *sorted.get(half)?;
    Some(if sorted.len().is_multiple_of(2) {
        f64::midpoint(sorted[half - 1], upper)
    } else {
        upper
    })
}

/// Number of bootstrap draws.
const DRAWS: usize = 2_000;
/// A bootstrap of fewer values is meaningless. Chosen.
const FEWEST: usize = 4;

/// The median with the interval of a bootstrap by percentiles, with the same random numbers every
/// time; `None` without values.
pub fn median(values: &[f64]) -> Option<Estimate> {
    let value = middle(values)?;
    let of = values.len();
    if of < FEWEST {
        return Some(Estimate { value, low: None, high: None, of });
    }
    let mut lots = ChaCha8Rng::seed_from_u64(of as u64);
    let mut drawn = vec![0.0; of];
    let mut medians: Vec<f64> = (0..DRAWS)
        .filter_map(|_| {
            drawn.fill_with(|| values[lots.random_range(0..of)]);
            middle(&drawn)
        })
        .collect();
    medians.sort_unstable_by(f64::total_cmp);
    let at = |part: f64| medians.get((part * DRAWS as f64) as usize).copied();
    Some(Estimate { value, low: at(ALPHA / 2.0), high: at(1.0 - ALPHA / 2.0), of })
}

/// Result of Wilcoxon's signed-rank test of pairs.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Paired {
    /// Number of pairs that differ.
    pub pairs: usize,
    /// The middle of the differences, the second of a pair taken from the first; those of no
    /// difference included.
    pub difference: f64,
    /// Two-sided probability of ranks at least as uneven, if neither tends to be larger.
    pub p: f64,
}

/// Up to this many pairs all ways of giving signs are counted; above, the normal distribution is as
/// good as exact.
const COUNTED: usize = 60;

/// Wilcoxon's signed-rank test (F. Wilcoxon, 1945): pairs without a difference are left out, equal
/// differences share their ranks. `None` where no pair differs.
pub fn paired(pairs: &[(f64, f64)]) -> Option<Paired> {
    let all: Vec<f64> = pairs.iter().map(|(one, other)| one - other).collect();
    let mut differences: Vec<f64> = all.iter().copied().filter(|&by| by != 0.0).collect();
    differences.sort_unstable_by(|one, other| one.abs().total_cmp(&other.abs()));
    if differences.is_empty() {
        return None;
    }
    // Twice the rank, so that a shared one is whole.
    let mut ranks: Vec<usize> = Vec::new();
    let mut ties = 0.0;
    for equal in differences.chunk_by(|one, other| one.abs() == other.abs()) {
        let first = ranks.len() + 1;
        ranks.extend(std::iter::repeat_n(2 * first + equal.len() - 1, equal.len()));
        let count = equal.len() as f64;
        ties += count.powi(3) - count;
    }
    let positive: usize =
        ranks.iter().zip(&differences).filter(|(_, by)| **by > 0.0).map(|(rank, _)| rank).sum();
    let p = if ranks.len() <= COUNTED {
        exact(&ranks, positive)
    } else {
        normal(&ranks, positive, ties)
    };
    Some(Paired { pairs: ranks.len(), difference: middle(&all)?, p: p.min(1.0) })
}

/// Probability of a sum of ranks at least as far from the middle as `positive`, if both signs are
/// equally likely.
fn exact(ranks: &[usize], positive: usize) -> f64 {
    let most: usize = ranks.iter().sum();
    let mut likely = vec![0.0; most + 1];
    likely[0] = 1.0;
    for rank in ranks {
        for sum in (0..=most).rev() {
            let with = sum.checked_sub(*rank).map_or(0.0, |without| likely[without]);
            likely[sum] = f64::midpoint(likely[sum], with);
        }
    }
    let least = positive.min(most - positive);
    2.0 * likely[..=least].iter().sum::<f64>()
}

/// The same by the normal distribution, corrected for equal differences; `ties` is the sum of `t³ -
/// t` over the sizes `t` of groups of equal differences.
fn normal(ranks: &[usize], positive: usize, ties: f64) -> f64 {
    let count = ranks.len() as f64;
    let mean = count * (count + 1.0) / 4.0;
    let variance = count * (count + 1.0) * (2.0 * count + 1.0) / 24.0 - ties / 48.0;
    let away = (positive as f64 / 2.0 - mean).abs() / variance.sqrt();
    2.0 * Normal::standard().sf(away)
}

/// The likelihoods, corrected for multiple tests (S. Holm, 1979).
pub fn holm(likelihoods: &[f64]) -> Vec<f64> {
    let mut order: Vec<usize> = (0..likelihoods.len()).collect();
    order.sort_by(|&one, &other| likelihoods[one].total_cmp(&likelihoods[other]));
    let mut corrected = vec![0.0; likelihoods.len()];
    let mut least = 0.0_f64;
    for (rank, &at) in order.iter().enumerate() {
        least = least.max((likelihoods.len() - rank) as f64 * likelihoods[at]).min(1.0);
        corrected[at] = least;
    }
    corrected
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_mean_of_five_has_the_interval_of_students_table() {
        // 2.776 for four degrees of freedom; the deviation of 1 to 5 is the root of 2.5.
        let Estimate { value, low, high, .. } = mean(&[1.0, 2.0, 3.0, 4.0, 5.0]).expect("values");
        let half = 2.776 * (2.5_f64 / 5.0).sqrt();
        assert!((value - 3.0).abs() < 1e-12);
        assert!((high.expect("an end") - value - half).abs() < 1e-3);
        assert!((value - low.expect("a beginning") - half).abs() < 1e-3);
        assert_eq!(mean(&[7.0]).expect("a value").low, None);
    }

    #[test]
    fn a_median_lies_in_its_interval_which_narrows_with_more_values() {
        let width = |count: usize| {
            let values: Vec<f64> =
                (0..count).map(|at| (at * 37 % count) as f64 / count as f64).collect();
            let Estimate { value, low, high, .. } = median(&values).expect("values");
            let (low, high) = (low.expect("a beginning"), high.expect("an end"));
            assert!(low <= value && value <= high);
            high - low
        };
        // The deviation of the median of a uniform distribution is half over the root of the
        // number.
        let expected = 2.0 * 1.96 * 0.5 / 400.0_f64.sqrt();
        assert!((width(400) / expected - 1.0).abs() < 0.15, "{}", width(400));
        assert!(width(40) > 2.0 * width(400));
    }

    #[test]
    fn the_test_counts_all_ways_of_giving_signs() {
        let differences = [0.3, -0.1, 0.9, 0.4, -0.4, 1.5, 0.2];
        let pairs: Vec<(f64, f64)> = differences.iter().map(|&by| (by, 0.0)).collect();
        // Ranks of the sizes: 0.1 is 1, 0.2 is 2, 0.3 is 3, both 0.4 are 4.5, 0.9 is 6, 1.5 is 7.
        let ranks = [3.0, 1.0, 6.0, 4.5, 4.5, 7.0, 2.0];
        let sum = |signs: u32| -> f64 {
            ranks
                .iter()
                .enumerate()
                .filter(|(at, _)| signs >> at & 1 == 1)
                .map(|(_, rank)| rank)
                .sum()
        };
        let far = |sum: f64| (sum - 14.0_f64).abs();
        let found = far(3.0 + 6.0 + 4.5 + 7.0 + 2.0);
        let ways = (0..128).filter(|&signs| far(sum(signs)) >= found).count();
        let test = paired(&pairs).expect("differences");
        assert!((test.p - ways as f64 / 128.0).abs() < 1e-12, "{test:?} {ways}");
        assert_eq!((test.pairs, test.difference), (7, 0.3));
    }

    #[test]
    fn counting_and_the_normal_distribution_meet() {
        let ranks: Vec<usize> = (1..=COUNTED).map(|rank| 2 * rank).collect();
        let most: usize = ranks.iter().sum();
        for positive in [most / 2, most / 3, most / 4] {
            let (exact, normal) = (exact(&ranks, positive), normal(&ranks, positive, 0.0));
            assert!((exact - normal).abs() < 0.02 * exact + 0.01, "{exact} {normal}");
        }
    }

    #[test]
    fn many_pairs_that_lean_one_way_are_no_chance() {
        let pairs: Vec<(f64, f64)> = (1..=COUNTED + 20)
            .map(|at| (if at % 4 == 0 { -1.0 } else { 1.0 } * at as f64, 0.0))
            .collect();
        let test = paired(&pairs).expect("differences");
        assert!(test.p < 0.001 && test.difference > 0.0, "{test:?}");
    }

    #[test]
    fn equal_pairs_say_nothing() {
        assert_eq!(paired(&[(1.0, 1.0), (2.0, 2.0)]), None);
    }

    #[test]
    fn the_more_is_looked_at_the_less_likely_a_find_has_to_be() {
        let corrected = holm(&[0.01, 0.04, 0.03, 0.9]);
        for (found, expected) in corrected.iter().zip([0.04, 0.09, 0.09, 0.9]) {
            assert!((found - expected).abs() < 1e-12, "{corrected:?}");
        }
    }
}
