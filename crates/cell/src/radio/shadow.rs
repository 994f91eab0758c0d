//! Shadowing: what large obstacles add to the path loss, a Gaussian in dB whose correlation falls
//! exponentially with the way travelled (TR 38.901 §7.4.4, Gudmundson 1991).

use rand_chacha::ChaCha8Rng;

use super::random::normal;

/// Draws a correlation distance: between them the value is interpolated, because a device that
/// moves by millimetres a step must not see its signal jump.
const DRAWS_PER_DISTANCE: f64 = 16.0;

/// A Gaussian of mean 0 and variance 1 along a way.
#[derive(Clone, Debug)]
pub(super) struct Shadow {
    before: f64,
    after: f64,
    /// Share of the way from `before` to `after`, 0..1.
    share: f64,
}

impl Shadow {
    pub(super) fn new(rng: &mut ChaCha8Rng) -> Self {
        let before = normal(rng);
        Self { before, after: next(before, rng), share: 0.0 }
    }

    /// The device moved by this many metres; values `correlation_m` apart are correlated by 1/e.
    pub(super) fn advance(&mut self, metres: f64, correlation_m: f64, rng: &mut ChaCha8Rng) {
        self.share += metres * DRAWS_PER_DISTANCE / correlation_m;
        // After this many draws the first has no effect.
        if self.share > 10.0 * DRAWS_PER_DISTANCE {
            *self = Self { share: libm::fmod(self.share, 1.0), ..Self::new(rng) };
        }
        while self.share >= 1.0 {
            self.share -= 1.0;
            self.before = self.after;
            self.after = next(self.before, rng);
        }
    }

    /// The value here, in standard deviations.
    pub(super) fn value(&self) -> f64 {
        let (a, b) = (1.0 - self.share, self.share);
        // Between two draws a plain mean would vary less than they do.
        let variance = a * a + b * b + 2.0 * a * b * correlation();
        (a * self.before + b * self.after) / libm::sqrt(variance)
    }
}

/// Correlation of two neighbouring draws.
fn correlation() -> f64 {
    libm::exp(-1.0 / DRAWS_PER_DISTANCE)
}

fn next(value: f64, rng: &mut ChaCha8Rng) -> f64 {
    let rho = correlation();
    rho * value + libm::sqrt(1.0 - rho * rho) * normal(rng)
}

#[cfg(test)]
mod tests {
    use super::*;
    use rand::SeedableRng as _;
    use std::vec::Vec;

    const CORRELATION_M: f64 = 50.0;

    /// Values a metre apart.
    fn walk(metres: usize) -> Vec<f64> {
        let mut rng = ChaCha8Rng::seed_from_u64(11);
        let mut shadow = Shadow::new(&mut rng);
        (0..metres)
            .map(|_| {
                shadow.advance(1.0, CORRELATION_M, &mut rng);
                shadow.value()
            })
            .collect()
    }

    #[test]
    fn correlation_falls_exponentially_with_the_way() {
        let values = walk(2_000_000);
        let mean = values.iter().sum::<f64>() / values.len() as f64;
        assert!(mean.abs() < 0.03, "{mean}");
        for (metres, want) in [(0, 1.0), (10, 0.819), (25, 0.607), (50, 0.368), (100, 0.135)] {
            let pairs = values.iter().zip(&values[metres..]);
            let have = pairs.map(|(a, b)| a * b).sum::<f64>() / (values.len() - metres) as f64;
            assert!((have - want).abs() < 0.03, "{metres} m apart: {have}, not {want}");
        }
    }

    #[test]
    fn a_short_step_is_a_small_change() {
        let mut rng = ChaCha8Rng::seed_from_u64(12);
        let mut shadow = Shadow::new(&mut rng);
        let mut before = shadow.value();
        for _ in 0..100_000 {
            shadow.advance(0.01, CORRELATION_M, &mut rng);
            assert!((shadow.value() - before).abs() < 0.02);
            before = shadow.value();
        }
    }

    #[test]
    fn a_leap_across_the_map_is_a_fresh_draw_at_once() {
        let mut rng = ChaCha8Rng::seed_from_u64(13);
        let mut shadow = Shadow::new(&mut rng);
        shadow.advance(1e12, CORRELATION_M, &mut rng);
        assert!((0.0..1.0).contains(&shadow.share) && shadow.value().is_finite());
    }
}
