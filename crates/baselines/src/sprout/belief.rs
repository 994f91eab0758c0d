use alloc::boxed::Box;
use core::time::Duration;

/// How often the link is observed (the paper's τ), in seconds.
pub(super) const TICK: f64 = 0.02;
pub(super) const TICK_SPAN: Duration = Duration::from_millis(20);
/// Number of distinct rates, from zero to [`MAX_RATE`].
const BINS: usize = 256;
/// In packets per second. The paper's links stay below 11 Mbit/s, and faster ones have no belief.
const MAX_RATE: f64 = 1000.0;
/// Volatility of the rate: packets per second, per square root of a second (the paper's σ).
const VOLATILITY: f64 = 200.0;
/// Outages end at this rate a second (the paper's λz).
const OUTAGE_ENDS: f64 = 1.0;
/// Bins to each side that a rate may wander to in a tick: four standard deviations.
const REACH: usize = 29;
/// A forecast is looked up to a packet's tenth: of 2^11 steps.
const HALVINGS: u32 = 11;
/// All bins of less together are far from any risk.
const NEGLIGIBLE: f64 = 1e-6;
/// Minimum of a belief, because a belief of zero never rises again.
const MIN_BELIEF: f64 = 1e-12;

/// A link's delivery rate, as a probability of each rate: a Bayesian filter of packets counted in
/// ticks (the paper's model).
#[derive(Clone, Debug)]
pub(super) struct Belief {
    bins: Box<[f64; BINS]>,
    /// As it wanders, with room beyond both ends.
    wandered: Box<[f64; BINS + 2 * REACH]>,
    kernel: [f64; 2 * REACH + 1],
}

fn rate(bin: usize) -> f64 {
    MAX_RATE * bin as f64 / (BINS - 1) as f64
}

impl Belief {
    /// All rates are as likely.
    pub(super) fn new() -> Self {
        let deviation = VOLATILITY * libm::sqrt(TICK);
        let mut kernel = [0.0; 2 * REACH + 1];
        for (at, weight) in kernel.iter_mut().enumerate() {
            let away = (at as f64 - REACH as f64) * rate(1) / deviation;
            *weight = libm::exp(-away * away / 2.0);
        }
        let sum: f64 = kernel.iter().sum();
        kernel.iter_mut().for_each(|weight| *weight /= sum);
        let even = Box::new([1.0 / BINS as f64; BINS]);
        Self { wandered: Box::new([0.0; BINS + 2 * REACH]), bins: even, kernel }
    }

    /// A tick passes: rates change at random, and outages last about a second.
    pub(super) fn wander(&mut self) {
        let outage = self.bins[0] * libm::exp(-OUTAGE_ENDS * TICK);
        self.bins[0] -= outage;
        self.wandered.fill(0.0);
        for (bin, &belief) in self.bins.iter().enumerate() {
            if belief >= MIN_BELIEF {
                let reached = self.wandered[bin..].iter_mut().zip(&self.kernel);
                reached.for_each(|(to, weight)| *to += belief * weight);
            }
        }
        self.bins.copy_from_slice(&self.wandered[REACH..REACH + BINS]);
        // Rates beyond either end are set to that end.
        self.bins[0] += outage + self.wandered[..REACH].iter().sum::<f64>();
        self.bins[BINS - 1] += self.wandered[REACH + BINS..].iter().sum::<f64>();
    }

    /// Applies the packets of a tick in which the link was always busy: each rate is as likely as
    /// Poisson gives.
    pub(super) fn observe(&mut self, packets: f64) {
        let likelihood = |bin: usize| {
            let expected = rate(bin) * TICK;
            match bin {
                0 if packets > 0.0 => f64::NEG_INFINITY,
                0 => 0.0,
                _ => packets * libm::log(expected) - expected,
            }
        };
        let most = (0..BINS).map(likelihood).fold(f64::NEG_INFINITY, f64::max);
        self.weigh(|bin| libm::exp(likelihood(bin) - most));
    }

    /// `packets` arrived, and more could have arrived if they had been sent.
    pub(super) fn observe_at_least(&mut self, packets: f64) {
        if packets <= 0.0 {
            return;
        }
        self.weigh(|bin| {
            let expected = rate(bin) * TICK;
            match bin {
                0 => 0.0,
                // Poisson's tail as a normal one.
                _ => libm::erfc((packets - 0.5 - expected) / libm::sqrt(2.0 * expected)) / 2.0,
            }
        });
    }

    fn weigh(&mut self, weight: impl Fn(usize) -> f64) {
        for (bin, belief) in self.bins.iter_mut().enumerate() {
            *belief = belief.max(MIN_BELIEF) * weight(bin);
        }
        let sum: f64 = self.bins.iter().sum();
        if sum > 0.0 {
            self.bins.iter_mut().for_each(|belief| *belief /= sum);
        } else {
            // More came than any rate brings.
            self.bins.fill(0.0);
            self.bins[BINS - 1] = 1.0;
        }
    }

    /// Packets that will have arrived after this time, with this risk that fewer do.
    ///
    /// The paper sums tables of Poisson's distribution made beforehand. Here counts are normal: of
    /// a rate that wanders from λ for T seconds, with a mean of λT and a variance of λT + σ²T³
    /// ÷ 3.
    pub(super) fn forecast(&self, seconds: f64, risk: f64) -> f64 {
        let wandering = VOLATILITY * VOLATILITY * seconds * seconds * seconds / 3.0;
        let fewer = |packets: f64| {
            let bins = self.bins.iter().enumerate().filter(|(_, belief)| **belief > NEGLIGIBLE);
            bins.map(|(bin, belief)| {
                let mean = rate(bin) * seconds;
                let deviation = libm::sqrt(mean + wandering);
                let normal = libm::erf((packets - mean) / (deviation * core::f64::consts::SQRT_2));
                belief * if bin == 0 { 1.0 } else { (1.0 + normal) / 2.0 }
            })
            .sum::<f64>()
        };
        let (mut least, mut most) = (0.0, MAX_RATE * seconds);
        for _ in 0..HALVINGS {
            let middle = (least + most) / 2.0;
            if fewer(middle) < risk { least = middle } else { most = middle }
        }
        least
    }

    /// The mean rate, in packets per second.
    pub(super) fn mean(&self) -> f64 {
        self.bins.iter().enumerate().map(|(bin, belief)| rate(bin) * belief).sum()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const RISK: f64 = 0.05;

    fn settled(packets: f64) -> Belief {
        let mut belief = Belief::new();
        for _ in 0..100 {
            belief.wander();
            belief.observe(packets);
        }
        belief
    }

    #[test]
    fn what_is_counted_is_believed() {
        for rate in [100.0, 400.0, 800.0] {
            let mean = settled(rate * TICK).mean();
            assert!((mean / rate - 1.0).abs() < 0.2, "{rate}: {mean}");
        }
    }

    #[test]
    fn a_belief_is_a_probability_whatever_comes() {
        let mut belief = Belief::new();
        for packets in [0.0, 0.0, 1e9, 3.5, 0.0, 1e-3] {
            belief.wander();
            belief.observe(packets);
            belief.observe_at_least(packets);
            let sum: f64 = belief.bins.iter().sum();
            assert!((sum - 1.0).abs() < 1e-9, "{packets}: {sum}");
        }
    }

    #[test]
    fn what_came_of_a_link_that_ran_dry_bounds_its_rate_from_below_only() {
        let mut belief = Belief::new();
        for _ in 0..50 {
            belief.wander();
            belief.observe_at_least(4.0);
        }
        let mean = belief.mean();
        assert!(mean > 300.0, "{mean}");
        belief.observe_at_least(0.0);
        assert!((belief.mean() - mean).abs() < 1e-6);
    }

    #[test]
    fn a_forecast_is_less_than_the_mean_and_the_more_so_the_farther() {
        let belief = settled(8.0);
        let parts =
            [0.04, 0.1, 0.16].map(|seconds| belief.forecast(seconds, RISK) / (400.0 * seconds));
        assert!(parts.iter().all(|part| (0.3..0.9).contains(part)), "{parts:?}");
        assert!(belief.forecast(0.1, RISK) < belief.forecast(0.12, RISK));
        let mut later = belief.clone();
        (0..20).for_each(|_| later.wander());
        assert!(later.forecast(0.1, RISK) < belief.forecast(0.1, RISK));
    }

    #[test]
    fn nothing_is_expected_of_an_outage_until_something_comes() {
        let mut belief = settled(0.0);
        assert!(belief.forecast(0.1, RISK) < 0.1);
        for _ in 0..10 {
            belief.wander();
            belief.observe(8.0);
        }
        assert!(belief.forecast(0.1, RISK) > 10.0, "{}", belief.forecast(0.1, RISK));
    }
}
