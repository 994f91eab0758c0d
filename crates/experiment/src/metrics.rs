//! Figures of many values: distributions of delay, quantiles and fairness, by one definition for
//! every report.
//!
//! Quantiles are nearest-rank.

use std::borrow::Borrow;
use std::time::Duration;

/// The distribution of a delay.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Delays {
    /// Mean.
    pub mean: Duration,
    /// Median.
    pub p50: Duration,
    /// 95th percentile.
    pub p95: Duration,
    /// 99th percentile.
    pub p99: Duration,
    /// The longest.
    pub max: Duration,
}

impl Delays {
    /// The distribution of these; `None` without values.
    pub fn of(mut delays: Vec<Duration>) -> Option<Self> {
        delays.sort_unstable();
        let max = *delays.last()?;
        let total: u128 = delays.iter().map(Duration::as_nanos).sum();
        let mean = total / delays.len() as u128;
        Some(Self {
            mean: Duration::from_nanos(u64::try_from(mean).unwrap_or(u64::MAX)),
            p50: nearest_rank(&delays, 0.50),
            p95: nearest_rank(&delays, 0.95),
            p99: nearest_rank(&delays, 0.99),
            max,
        })
    }
}

/// The smallest value that at least `quantile` of all values do not exceed.
///
/// # Panics
///
/// If `sorted` is empty.
pub fn nearest_rank<T: Copy>(sorted: &[T], quantile: f64) -> T {
    let rank = (quantile * sorted.len() as f64).ceil() as usize;
    sorted[rank.clamp(1, sorted.len()) - 1]
}

/// The same of values in any order; `None` without values.
pub fn quantile(values: &[f64], part: f64) -> Option<f64> {
    let sorted = sorted(values.iter().copied());
    (!sorted.is_empty()).then(|| nearest_rank(&sorted, part))
}

/// Values in their order.
pub fn sorted(values: impl IntoIterator<Item = f64>) -> Vec<f64> {
    let mut values: Vec<f64> = values.into_iter().collect();
    values.sort_by(f64::total_cmp);
    values
}

/// The mean of values; not a number without any.
pub fn mean(values: impl IntoIterator<Item: Borrow<f64>>) -> f64 {
    let (mut sum, mut count) = (0.0, 0_u64);
    for value in values {
        sum += value.borrow();
        count += 1;
    }
    sum / count as f64
}

/// Jain's fairness index of several shares (Jain, Chiu and Hawe 1984; PBE-CC §6.4): 1 if all are
/// equal, 1 ÷ their number if one has the whole; `None` if all are zero.
pub fn jain(shares: &[f64]) -> Option<f64> {
    let sum: f64 = shares.iter().sum();
    let squares: f64 = shares.iter().map(|share| share * share).sum();
    (squares > 0.0).then(|| sum * sum / (shares.len() as f64 * squares))
}

/// Jain's index of this many packets that are dealt out among `flows` as evenly as whole packets
/// can be: one packet for two flows is a half, whichever flow gets it.
pub fn jain_of_whole(packets: usize, flows: usize) -> Option<f64> {
    let flows = flows.max(1);
    let (each, more) = (packets / flows, packets % flows);
    let shares: Vec<f64> =
        (0..flows).map(|flow| (each + usize::from(flow < more)) as f64).collect();
    jain(&shares)
}

/// The signal delay of every slot from the first to the last in which a packet was sent, sorted;
/// `None` without values.
///
/// `packets` are pairs of slot and delay in any order; an empty slot has the delay of the next and
/// `step` more.
pub fn signal_delays(packets: &[(u64, u64)], step: u64) -> Option<Vec<u64>> {
    let mut packets = packets.to_vec();
    // The least delay of a slot comes first, and only that one counts.
    packets.sort_unstable();
    packets.dedup_by_key(|(slot, _)| *slot);
    let mut delays = Vec::new();
    let (mut slot, mut delay) = *packets.last()?;
    delays.push(delay);
    for &(earlier, least) in packets.iter().rev().skip(1) {
        while slot - 1 > earlier {
            slot -= 1;
            delay += step;
            delays.push(delay);
        }
        (slot, delay) = (earlier, least);
        delays.push(delay);
    }
    delays.sort_unstable();
    Some(delays)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_nearest_rank_is_a_value_that_occurs() {
        let values: Vec<u64> = (1..=10).collect();
        let ranks = [0.0, 0.05, 0.5, 0.51, 0.95, 1.0].map(|q| nearest_rank(&values, q));
        assert_eq!(ranks, [1, 1, 5, 6, 10, 10]);
    }

    #[test]
    fn shares_are_fair_to_the_degree_that_they_are_equal() {
        assert_eq!(jain(&[2.0, 2.0, 2.0]), Some(1.0));
        assert_eq!(jain(&[0.0, 5.0]), Some(0.5));
        // (1 + 3)² / (2 × (1 + 9))
        assert_eq!(jain(&[1.0, 3.0]), Some(0.8));
        assert_eq!(jain(&[0.0, 0.0]), None);
        assert_eq!(jain_of_whole(6, 3), Some(1.0));
        assert_eq!(jain_of_whole(1, 3), jain(&[0.0, 1.0, 0.0]));
        assert_eq!(jain_of_whole(5, 3), jain(&[2.0, 2.0, 1.0]));
        assert_eq!(jain_of_whole(0, 3), None);
    }

    #[test]
    fn a_word_written_in_a_silent_slot_waits_for_the_next_packet() {
        // Slot 3 has two packets; slots 1 and 2 wait for it; slot 0 has its own.
        let delays = signal_delays(&[(3, 9), (3, 5), (0, 2)], 1).unwrap();
        assert_eq!(delays, [2, 5, 6, 7]);
    }
}
