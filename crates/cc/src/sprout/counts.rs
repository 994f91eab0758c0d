use alloc::boxed::Box;
use core::f64::consts::SQRT_2;

use super::belief::{BINS, TICK, Wandering, rate};

/// How far a forecast goes: a way back of five ticks, five more of look-ahead, and the tick in hand.
pub(super) const MOST_TICKS: usize = 11;

/// How many packets come in so many ticks, for each rate that the link may have now: what the paper has in tables of
/// probabilities is a mean and a variance here.
///
/// Ticks are added up as if a rate that wandered in one told nothing of the next, as the authors' program does.
#[derive(Clone, Debug)]
pub(super) struct Counts(Box<[[Count; BINS]; MOST_TICKS]>);

#[derive(Clone, Copy, Debug, Default)]
struct Count {
    mean: f64,
    variance: f64,
}

impl Counts {
    pub(super) fn new(wandering: &Wandering) -> Self {
        let mut counts = Box::new([[Count::default(); BINS]; MOST_TICKS]);
        let mut rates = Box::new(core::array::from_fn(rate));
        let mut squares = Box::new(rates.map(|rate| rate * rate));
        let mut sums = [Count::default(); BINS];
        for after in counts.iter_mut() {
            for (bin, sum) in sums.iter_mut().enumerate() {
                let wandered = (squares[bin] - rates[bin] * rates[bin]).max(0.0);
                // Poisson's, of a rate that is not known.
                sum.mean += rates[bin] * TICK;
                sum.variance += rates[bin] * TICK + wandered * TICK * TICK;
            }
            *after = sums;
            rates = wandering.expected(&rates);
            squares = wandering.expected(&squares);
        }
        Self(counts)
    }

    /// How likely no more than these come in so many ticks from a rate's bin on.
    pub(super) fn at_most(&self, ticks: usize, bin: usize, packets: f64) -> f64 {
        let Count { mean, variance } = self.0[ticks - 1][bin];
        if mean <= 0.0 {
            return 1.0;
        }
        // Counts that vary more than Poisson's are Poisson's in larger units; its sum is a gamma's tail, and that is
        // Wilson and Hilferty's normal one.
        let unit = variance / mean;
        let (shape, mean) = (packets / unit + 1.0, mean / unit);
        let away = libm::cbrt(mean / shape) - 1.0 + 1.0 / (9.0 * shape);
        libm::erfc(away * 3.0 * libm::sqrt(shape) / SQRT_2) / 2.0
    }
}
