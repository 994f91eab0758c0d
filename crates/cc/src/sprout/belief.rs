use alloc::boxed::Box;
use core::time::Duration;

use super::counts::{Counts, MOST_TICKS};

/// How often the link is observed (the paper's τ), in seconds.
pub(super) const TICK: f64 = 0.02;
pub(super) const TICK_SPAN: Duration = Duration::from_millis(20);
/// Rates told apart, from none to [`MOST_RATE`].
pub(super) const BINS: usize = 256;
/// In packets a second. The paper's links stay below 11 Mbit/s, and no faster link is believed in.
const MOST_RATE: f64 = 1000.0;
/// How a rate wanders: packets a second, for each square root of a second (the paper's σ).
const VOLATILITY: f64 = 200.0;
/// Outages end at this rate a second (the paper's λz).
const OUTAGE_ENDS: f64 = 1.0;
/// Bins to each side that a rate may wander to in a tick: four standard deviations.
const REACH: usize = 29;
/// Of what is forecast, the part that is delivered with a probability of 95 %.
const CAUTION: f64 = 0.05;
/// More than this is not forecast for a tick.
const MOST_PACKETS: u32 = (MOST_RATE * TICK) as u32;
/// All bins of less together are far from the caution.
const NEGLIGIBLE: f64 = 1e-6;
/// What is not believed at all is never believed again.
const LEAST_BELIEF: f64 = 1e-12;

/// How fast a link delivers, as a probability of each rate: what a Bayesian filter makes of packets counted in ticks
/// (the paper's model).
#[derive(Clone, Debug)]
pub(super) struct Belief {
    bins: Box<[f64; BINS]>,
    /// As it wanders, with room beyond both ends.
    wandered: Box<[f64; BINS + 2 * REACH]>,
    wandering: Wandering,
    counts: Counts,
}

/// Where a rate is a tick later.
#[derive(Clone, Debug)]
pub(super) struct Wandering {
    /// How likely it is in the bins around.
    kernel: [f64; 2 * REACH + 1],
    /// How likely an outage goes on.
    outage_stays: f64,
}

impl Wandering {
    fn new() -> Self {
        let deviation = VOLATILITY * libm::sqrt(TICK);
        let mut kernel = [0.0; 2 * REACH + 1];
        for (at, weight) in kernel.iter_mut().enumerate() {
            let away = (at as f64 - REACH as f64) * rate(1) / deviation;
            *weight = libm::exp(-away * away / 2.0);
        }
        let sum: f64 = kernel.iter().sum();
        kernel.iter_mut().for_each(|weight| *weight /= sum);
        Self { kernel, outage_stays: libm::exp(-OUTAGE_ENDS * TICK) }
    }

    /// What is expected a tick later, from each bin, of what each bin then has.
    pub(super) fn expected(&self, of: &[f64; BINS]) -> Box<[f64; BINS]> {
        let mut expected = Box::new([0.0; BINS]);
        for (bin, sum) in expected.iter_mut().enumerate() {
            for (at, weight) in self.kernel.iter().enumerate() {
                *sum += weight * of[(bin + at).saturating_sub(REACH).min(BINS - 1)];
            }
        }
        expected[0] = self.outage_stays * of[0] + (1.0 - self.outage_stays) * expected[0];
        expected
    }
}

pub(super) fn rate(bin: usize) -> f64 {
    MOST_RATE * bin as f64 / (BINS - 1) as f64
}

impl Belief {
    /// All rates are as likely.
    pub(super) fn new() -> Self {
        let wandering = Wandering::new();
        Self {
            bins: Box::new([1.0 / BINS as f64; BINS]),
            wandered: Box::new([0.0; BINS + 2 * REACH]),
            counts: Counts::new(&wandering),
            wandering,
        }
    }

    /// Nothing is known any longer.
    pub(super) fn forget(&mut self) {
        self.bins.fill(1.0 / BINS as f64);
    }

    /// A tick passes: rates wander, and outages stay what they are for about a second.
    pub(super) fn wander(&mut self) {
        let outage = self.bins[0] * self.wandering.outage_stays;
        self.bins[0] -= outage;
        self.wandered.fill(0.0);
        for (bin, &belief) in self.bins.iter().enumerate() {
            if belief >= LEAST_BELIEF {
                let reached = self.wandered[bin..].iter_mut().zip(&self.wandering.kernel);
                reached.for_each(|(to, weight)| *to += belief * weight);
            }
        }
        self.bins.copy_from_slice(&self.wandered[REACH..REACH + BINS]);
        // What would wander beyond either end is there.
        self.bins[0] += outage + self.wandered[..REACH].iter().sum::<f64>();
        self.bins[BINS - 1] += self.wandered[REACH + BINS..].iter().sum::<f64>();
    }

    /// So many packets came in a tick: each rate is as likely as Poisson says it brings them.
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

    fn weigh(&mut self, weight: impl Fn(usize) -> f64) {
        for (bin, belief) in self.bins.iter_mut().enumerate() {
            *belief = belief.max(LEAST_BELIEF) * weight(bin);
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

    /// Packets that will have come in so many ticks, with a probability of 95 %: the least number that no more than
    /// come with the rest.
    pub(super) fn forecast(&self, ticks: usize) -> f64 {
        if ticks == 0 {
            return 0.0;
        }
        let ticks = ticks.min(MOST_TICKS);
        let is_cautious = |packets: u32| {
            let bins = self.bins.iter().enumerate().filter(|(_, belief)| **belief > NEGLIGIBLE);
            let fewer =
                bins.map(|(bin, belief)| belief * self.counts.at_most(ticks, bin, packets.into()));
            fewer.sum::<f64>() < CAUTION
        };
        let (mut least, mut most) = (0, MOST_PACKETS * ticks as u32);
        while least < most {
            let middle = least.midpoint(most);
            if is_cautious(middle) { least = middle + 1 } else { most = middle }
        }
        least.into()
    }

    /// The mean rate, in packets a second.
    pub(super) fn mean(&self) -> f64 {
        self.bins.iter().enumerate().map(|(bin, belief)| rate(bin) * belief).sum()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

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
            let sum: f64 = belief.bins.iter().sum();
            assert!((sum - 1.0).abs() < 1e-9, "{packets}: {sum}");
        }
    }

    #[test]
    fn forecasts_are_those_of_the_authors_program() {
        // By its tables, after a hundred ticks of so many packets: in one to eight ticks.
        let theirs = [
            (2.0, [0, 1, 2, 2, 4, 5, 6, 7]),
            (4.0, [1, 3, 5, 8, 10, 13, 15, 18]),
            (8.0, [3, 9, 15, 21, 27, 33, 39, 45]),
            (12.0, [6, 15, 25, 34, 44, 54, 63, 73]),
            (16.0, [9, 22, 35, 48, 62, 75, 89, 102]),
        ];
        for (packets, theirs) in theirs {
            let belief = settled(packets);
            for (ticks, theirs) in (1..).zip(theirs) {
                let ours = belief.forecast(ticks);
                assert!((ours - f64::from(theirs)).abs() <= 1.0, "{packets}, {ticks}: {ours}");
            }
        }
    }

    #[test]
    fn a_forecast_is_less_than_the_mean_and_the_more_so_the_farther() {
        let belief = settled(8.0);
        let parts = [2, 5, 8].map(|ticks| belief.forecast(ticks) / (8.0 * ticks as f64));
        assert!(parts.iter().all(|part| (0.3..0.9).contains(part)), "{parts:?}");
        assert!(belief.forecast(5) < belief.forecast(6));
        let mut later = belief.clone();
        (0..20).for_each(|_| later.wander());
        assert!(later.forecast(5) < belief.forecast(5));
    }

    #[test]
    fn nothing_is_expected_of_an_outage_until_something_comes() {
        let mut belief = settled(0.0);
        assert!(belief.forecast(5) < 0.1);
        for _ in 0..10 {
            belief.wander();
            belief.observe(8.0);
        }
        assert!(belief.forecast(5) > 10.0, "{}", belief.forecast(5));
    }
}
