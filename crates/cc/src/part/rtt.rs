use core::time::Duration;

use crate::controller::Ack;

/// The least RTO. RFC 6298 §2.4 has a second and every stack less; 200 ms is Linux's, which adds it
/// to the smoothed RTT in place of a smaller variation, so that a steady path never times out for a
/// delayed acknowledgement.
const MIN_VARIATION: Duration = Duration::from_millis(200);
/// RFC 6298 §2.1.
const FIRST_RTO: Duration = Duration::from_secs(1);
/// Linux's `TCP_RTO_MAX`; RFC 6298 §2.5 allows any from 60 s on.
const MAX_RTO: Duration = Duration::from_secs(120);

/// Smoothed RTT, its variation, its minimum, and the timeout that follows (RFC 6298).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct RttEstimator {
    smoothed: Option<Duration>,
    variation: Duration,
    least: Option<Duration>,
    backoff: u32,
}

impl RttEstimator {
    /// Folds a sample in.
    #[inline]
    pub fn handle_sample(&mut self, rtt: Duration) {
        self.least = Some(self.least.map_or(rtt, |least| least.min(rtt)));
        match &mut self.smoothed {
            None => {
                self.smoothed = Some(rtt);
                self.variation = rtt / 2;
            }
            Some(smoothed) => {
                let error = smoothed.abs_diff(rtt);
                self.variation = (self.variation * 3 + error) / 4;
                *smoothed = (*smoothed * 7 + rtt) / 8;
            }
        }
        self.backoff = 0;
    }

    /// Folds in the sample of an acknowledgement, if it has one. A clock that did not move measured
    /// nothing.
    #[inline]
    pub fn handle_ack(&mut self, ack: &Ack) {
        if let Some(rtt) = ack.rtt.filter(|rtt| !rtt.is_zero()) {
            self.handle_sample(rtt);
        }
    }

    /// A timeout fired: the next comes after twice as long (RFC 6298 §5.5).
    pub fn handle_timeout(&mut self) {
        self.backoff += 1;
    }

    /// SRTT; `None` before the first sample.
    #[inline]
    pub fn smoothed(&self) -> Option<Duration> {
        self.smoothed
    }

    /// The smallest sample.
    #[inline]
    pub fn least(&self) -> Option<Duration> {
        self.least
    }

    /// How long to wait for an acknowledgement.
    #[inline]
    pub fn timeout(&self) -> Duration {
        let base = self
            .smoothed
            .map_or(FIRST_RTO, |smoothed| smoothed + (self.variation * 4).max(MIN_VARIATION));
        base.saturating_mul(1 << self.backoff.min(16)).min(MAX_RTO)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn millis(millis: u64) -> Duration {
        Duration::from_millis(millis)
    }

    #[test]
    fn the_first_sample_is_the_smoothed_rtt_and_half_of_it_the_variation() {
        let mut rtt = RttEstimator::default();
        assert_eq!(rtt.timeout(), millis(1000));
        rtt.handle_sample(millis(400));
        assert_eq!((rtt.smoothed(), rtt.timeout()), (Some(millis(400)), millis(400 + 4 * 200)));
    }

    #[test]
    fn a_steady_path_times_out_a_fifth_of_a_second_late() {
        let mut rtt = RttEstimator::default();
        for _ in 0..100 {
            rtt.handle_sample(millis(40));
        }
        assert_eq!(rtt.timeout(), millis(240));
    }

    #[test]
    fn timeouts_double_until_a_sample_comes() {
        let mut rtt = RttEstimator::default();
        rtt.handle_sample(millis(100));
        let first = rtt.timeout();
        rtt.handle_timeout();
        rtt.handle_timeout();
        assert_eq!(rtt.timeout(), first * 4);
        rtt.handle_sample(millis(100));
        assert!(rtt.timeout() < first * 2);
    }

    #[test]
    fn no_timeout_is_longer_than_two_minutes() {
        let mut rtt = RttEstimator::default();
        rtt.handle_sample(millis(100));
        (0..100).for_each(|_| rtt.handle_timeout());
        assert_eq!(rtt.timeout(), MAX_RTO);
    }
}
