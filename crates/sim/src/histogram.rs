use alloc::vec;
use alloc::vec::Vec;
use core::time::Duration;

/// Significant bits of a bucket: values in one differ by less than 1 part in 128.
const BITS: u32 = 7;

/// A distribution of durations, in constant memory.
///
/// Counts whole microseconds in buckets that get wider with the value, up to 0.8 %. The mean, the
/// minimum and the maximum are exact.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Histogram {
    buckets: Vec<u64>,
    count: u64,
    total: u128,
    least: Duration,
    most: Duration,
}

impl Histogram {
    /// Counts a value.
    pub fn record(&mut self, value: Duration) {
        // Longer durations than u64 holds do not occur in a run.
        let index = match value.as_secs() {
            secs if secs < u64::MAX / 2_000_000 => {
                bucket(secs * 1_000_000 + u64::from(value.subsec_micros()))
            }
            _ => bucket(u64::MAX),
        };
        if index >= self.buckets.len() {
            self.buckets.resize(index + 1, 0);
        }
        self.buckets[index] += 1;
        if value < self.least || self.count == 0 {
            self.least = value;
        }
        if value > self.most {
            self.most = value;
        }
        self.count += 1;
        self.total += value.as_nanos();
    }

    /// Number of values.
    pub fn count(&self) -> u64 {
        self.count
    }

    /// The mean; `None` without values.
    pub fn mean(&self) -> Option<Duration> {
        let mean = self.total.checked_div(u128::from(self.count))?;
        Some(Duration::from_nanos(u64::try_from(mean).unwrap_or(u64::MAX)))
    }

    /// The smallest value; `None` without values.
    pub fn least(&self) -> Option<Duration> {
        (self.count > 0).then_some(self.least)
    }

    /// The largest value; `None` without values.
    pub fn most(&self) -> Option<Duration> {
        (self.count > 0).then_some(self.most)
    }

    /// The quantile by nearest rank: a part of at least `quantile` of the values does not exceed
    /// it. `None` without values.
    pub fn quantile(&self, quantile: f64) -> Option<Duration> {
        self.ranked(libm::ceil(quantile * self.count as f64) as u64)
    }

    /// The value of this rank. The smallest has rank 1. A rank outside the range means the nearest.
    /// `None` without values.
    pub fn ranked(&self, rank: u64) -> Option<Duration> {
        let rank = rank.clamp(1, self.count.max(1));
        let mut passed = 0;
        let index = self.buckets.iter().position(|&count| {
            passed += count;
            passed >= rank
        })?;
        Some(Duration::from_micros(middle(index)).clamp(self.least, self.most))
    }

    /// Adds all values of another.
    pub fn add(&mut self, other: &Self) {
        if other.count == 0 {
            return;
        }
        if self.buckets.len() < other.buckets.len() {
            self.buckets.append(&mut vec![0; other.buckets.len() - self.buckets.len()]);
        }
        self.buckets.iter_mut().zip(&other.buckets).for_each(|(sum, count)| *sum += count);
        self.least = if self.count == 0 { other.least } else { self.least.min(other.least) };
        self.most = self.most.max(other.most);
        self.count += other.count;
        self.total += other.total;
    }
}

/// Values below 2^BITS have a bucket each; above, each doubling has 2^(BITS−1).
fn bucket(value: u64) -> usize {
    let shift = (u64::BITS - value.leading_zeros()).saturating_sub(BITS);
    ((u64::from(shift) << (BITS - 1)) + (value >> shift)) as usize
}

/// The middle of a bucket's values.
fn middle(index: usize) -> u64 {
    let half = 1_usize << (BITS - 1);
    let shift = (index / half).saturating_sub(1);
    let first = ((index - shift * half) as u64) << shift;
    first + ((1_u64 << shift) - 1) / 2
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn nothing_has_no_quantile() {
        let histogram = Histogram::default();
        assert_eq!((histogram.quantile(0.5), histogram.mean()), (None, None));
    }

    #[test]
    fn two_halves_are_the_whole() {
        let (mut first, mut second, mut whole) = Default::default();
        for value in 1..=1000 {
            let value = Duration::from_micros(value * 7);
            let half: &mut Histogram =
                if value.as_micros().is_multiple_of(2) { &mut first } else { &mut second };
            half.record(value);
            Histogram::record(&mut whole, value);
        }
        first.add(&second);
        assert_eq!(first, whole);
    }

    proptest! {
        #[test]
        fn a_quantile_is_within_a_hundredth_of_the_value_of_that_rank(
            mut values in proptest::collection::vec(0..100_000_000_u64, 1..300),
            quantile in 0.0..1.0_f64,
        ) {
            let mut histogram = Histogram::default();
            values.iter().for_each(|&value| histogram.record(Duration::from_micros(value)));
            values.sort_unstable();
            let rank = ((quantile * values.len() as f64).ceil() as usize).clamp(1, values.len());
            let exact = values[rank - 1];
            let found = histogram.quantile(quantile).unwrap().as_micros() as u64;
            prop_assert!(found.abs_diff(exact) * 100 <= exact + 100, "{} for {}", found, exact);
        }
    }
}
