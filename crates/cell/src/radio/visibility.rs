//! Line of sight: there or not, drawn by its probability at the place and drawn again as the device
//! moves on.

use rand_chacha::ChaCha8Rng;

use super::random::{exponential, uniform};

/// Metres over which one state becomes the other: a device does not fall by 20 dB between two steps
/// (the transition of TR 38.901 §7.6.3.3 in its plainest form; the length is chosen).
const TRANSITION_M: f64 = 5.0;

/// Whether the device sees the site.
#[derive(Clone, Debug)]
pub(super) struct SiteVisibility {
    clear: bool,
    /// Share of line of sight in the state, 0..=1, during a transition.
    share: f64,
    /// Metres to the next draw.
    left_m: f64,
}

impl SiteVisibility {
    pub(super) fn new(probability: f64, correlation_m: f64, rng: &mut ChaCha8Rng) -> Self {
        let clear = uniform(rng) < probability;
        let left_m = exponential(rng, correlation_m);
        Self { clear, share: if clear { 1.0 } else { 0.0 }, left_m }
    }

    /// The device moved by this many metres, to a place with this probability. Exponentially
    /// distributed ways between the draws make the state's correlation fall exponentially with
    /// the way.
    pub(super) fn advance(
        &mut self,
        metres: f64,
        probability: f64,
        correlation_m: f64,
        rng: &mut ChaCha8Rng,
    ) {
        self.left_m -= metres;
        if self.left_m <= 0.0 {
            self.clear = uniform(rng) < probability;
            self.left_m = exponential(rng, correlation_m);
        }
        let towards = metres / TRANSITION_M;
        self.share = if self.clear {
            (self.share + towards).min(1.0)
        } else {
            (self.share - towards).max(0.0)
        };
    }

    pub(super) fn share(&self) -> f64 {
        self.share
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use rand::SeedableRng as _;
    use std::vec::Vec;

    #[test]
    fn state_has_its_probability_and_forgets_over_its_correlation_length() {
        let (probability, correlation_m) = (0.3, 50.0);
        let mut rng = ChaCha8Rng::seed_from_u64(21);
        let mut sight = SiteVisibility::new(probability, correlation_m, &mut rng);
        let states: Vec<f64> = (0..2_000_000)
            .map(|_| {
                sight.advance(1.0, probability, correlation_m, &mut rng);
                f64::from(u8::from(sight.clear))
            })
            .collect();
        let count = states.len() as f64;
        let mean = states.iter().sum::<f64>() / count;
        assert!((mean - probability).abs() < 0.01, "{mean}");
        let variance = mean * (1.0 - mean);
        for (metres, want) in [(10, 0.82), (50, 0.37), (150, 0.05)] {
            let product = states.iter().zip(&states[metres..]).map(|(a, b)| a * b).sum::<f64>();
            let have = (product / count - mean * mean) / variance;
            assert!((have - want).abs() < 0.04, "{metres} m apart: {have}, not {want}");
        }
    }

    #[test]
    fn one_state_becomes_the_other_over_metres_not_at_once() {
        let mut rng = ChaCha8Rng::seed_from_u64(22);
        let mut sight = SiteVisibility::new(0.5, 20.0, &mut rng);
        let mut before = sight.share();
        for _ in 0..100_000 {
            sight.advance(0.1, 0.5, 20.0, &mut rng);
            assert!((sight.share() - before).abs() < 0.021);
            before = sight.share();
        }
    }
}
