//! Draws from the distributions the channel needs, by `libm` alone, so that a seed gives the same
//! bits everywhere.

use rand::RngExt as _;
use rand_chacha::ChaCha8Rng;

/// Uniform in 0..1.
pub(super) fn uniform(rng: &mut ChaCha8Rng) -> f64 {
    rng.random()
}

/// Uniform in (0, 1]: safe under a logarithm.
fn positive(rng: &mut ChaCha8Rng) -> f64 {
    1.0 - uniform(rng)
}

/// A normal number with mean 0 and variance 1 (Box and Muller 1958). The second of the pair is
/// dropped, so that every draw consumes the same part of the stream.
pub(super) fn normal(rng: &mut ChaCha8Rng) -> f64 {
    let radius = libm::sqrt(-2.0 * libm::log(positive(rng)));
    radius * libm::cos(core::f64::consts::TAU * uniform(rng))
}

/// Exponential with the given mean.
pub(super) fn exponential(rng: &mut ChaCha8Rng, mean: f64) -> f64 {
    -mean * libm::log(positive(rng))
}

#[cfg(test)]
mod tests {
    use super::*;
    use rand::SeedableRng as _;

    fn moments(mut draw: impl FnMut() -> f64) -> (f64, f64) {
        const DRAWS: u32 = 100_000;
        let (mut sum, mut squares) = (0.0, 0.0);
        for _ in 0..DRAWS {
            let value = draw();
            sum += value;
            squares += value * value;
        }
        let mean = sum / f64::from(DRAWS);
        (mean, squares / f64::from(DRAWS) - mean * mean)
    }

    #[test]
    fn normal_draws_have_mean_zero_and_variance_one() {
        let mut rng = ChaCha8Rng::seed_from_u64(1);
        let (mean, variance) = moments(|| normal(&mut rng));
        assert!(mean.abs() < 0.02, "{mean}");
        assert!((variance - 1.0).abs() < 0.03, "{variance}");
    }

    #[test]
    fn exponential_draws_have_their_mean_and_its_square_as_variance() {
        let mut rng = ChaCha8Rng::seed_from_u64(2);
        let (mean, variance) = moments(|| exponential(&mut rng, 3.0));
        assert!((mean - 3.0).abs() < 0.05, "{mean}");
        assert!((variance - 9.0).abs() < 0.4, "{variance}");
    }
}
