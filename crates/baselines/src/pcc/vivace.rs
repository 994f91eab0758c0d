use rand_chacha::ChaCha8Rng;
use sounding_cc::parameter::{Kind, Parameter, Values};
use sounding_units::Rate;

use super::usual::Usual;
use super::{Law, Outcome, coin, scaled};

const EXPONENT: Parameter = Parameter {
    name: "exponent",
    kind: Kind::number(0.9, 0.01, 0.99),
    unit: "",
    about: "the utility's exponent of the rate in Mbit/s, below 1 for fairness",
    source: "the paper's t",
};
const RTT_WEIGHT: Parameter = Parameter {
    name: "rtt_weight",
    kind: Kind::number(900.0, 0.0, 100_000.0),
    unit: "",
    about: "weight of a growing RTT in the utility; 0: Vivace-Loss",
    source: "the paper's b",
};
const LOSS_WEIGHT: Parameter = Parameter {
    name: "loss_weight",
    kind: Kind::number(11.35, 0.0, 10_000.0),
    unit: "",
    about: "weight of loss in the utility",
    source: "the paper's c",
};
const STEP: Parameter = Parameter {
    name: "step",
    kind: Kind::number(0.05, 0.001, 0.5),
    unit: "",
    about: "distance of the two compared rates from the current rate, as a part of it",
    source: "the paper's ε",
};
const CONVERSION: Parameter = Parameter {
    name: "conversion",
    kind: Kind::number(1.0, 0.001, 1_000.0),
    unit: "Mbit/s",
    about: "change of the rate per unit of the utility's gradient",
    source: "the paper's θ0",
};

const SURE: Parameter = Parameter {
    name: "sure",
    kind: Kind::number(super::SURE, 0.0, 10.0),
    unit: "standard errors",
    about: "a slope of the RTT counts from so many on; 0: each slope counts",
    source: "chosen; the paper only says that noise is ignored",
};

/// Parameters of Vivace.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Config {
    /// Exponent of the rate in Mbit/s, in the utility (the paper's t).
    pub exponent: f64,
    /// Weight of growing RTTs in it (the paper's b).
    pub rtt_weight: f64,
    /// Factor of loss in it (the paper's c).
    pub loss_weight: f64,
    /// Distance of the two compared rates from the current rate, as a part of it (the paper's ε).
    pub step: f64,
    /// Mbit/s for each of the utility's gradient (the paper's θ0).
    pub conversion: f64,
    /// A slope of the RTT counts from so many standard errors on.
    pub sure: f64,
    /// Weight of the RTT's deviation, in seconds; 0: it costs nothing, and a queue that drains is
    /// worth something. Else it is Proteus' scavenger.
    pub deviation_weight: f64,
}

impl Config {
    pub(crate) const EXPONENT: Parameter = EXPONENT;
    pub(crate) const RTT_WEIGHT: Parameter = RTT_WEIGHT;
    pub(crate) const LOSS_WEIGHT: Parameter = LOSS_WEIGHT;
    pub(crate) const STEP: Parameter = STEP;
    pub(crate) const CONVERSION: Parameter = CONVERSION;
    pub(crate) const SURE: Parameter = SURE;

    pub(crate) const PARAMETERS: &[Parameter] =
        &[EXPONENT, RTT_WEIGHT, LOSS_WEIGHT, STEP, CONVERSION, SURE];
    /// Those of a flow that takes each slope for real.
    pub(crate) const PUBLISHED: &[Parameter] =
        &[EXPONENT, RTT_WEIGHT, LOSS_WEIGHT, STEP, CONVERSION];

    pub(crate) fn of(values: &Values) -> Self {
        Self {
            exponent: values.number(&EXPONENT),
            rtt_weight: values.number(&RTT_WEIGHT),
            loss_weight: values.number(&LOSS_WEIGHT),
            step: values.number(&STEP),
            conversion: values.number(&CONVERSION),
            sure: values.number(&SURE),
            deviation_weight: 0.0,
        }
    }

    /// As the paper has it, without a test whether a slope is more than noise.
    pub(crate) fn published(self) -> Self {
        Self { sure: 0.0, ..self }
    }
}

impl Default for Config {
    fn default() -> Self {
        Self::of(&Values::default())
    }
}

/// A smaller change of the RTT is noise.
const RTT_NOISE: f64 = 0.01;
/// Pairs that are compared before the rate changes. The paper compares one. In a buffer of one BDP,
/// where losses come in bursts, two flows then never find their shares. The authors' later program
/// (PCC-Uspace) compares three; two must agree. Here the third is skipped if the first two agree.
const PAIRS: usize = 3;
/// The largest change, as a share of the rate, and its growth each time that it was not enough (the
/// paper's ω0 and δ).
const MIN_BOUND: f64 = 0.05;
const BOUND_STEP: f64 = 0.1;
/// The amplifier grows by one with each change in one direction up to here, and by two from there.
const SLOW_AMPLIFICATION: u32 = 3;

fn utility(config: &Config, outcome: &Outcome, usual: &mut Usual) -> f64 {
    let Config { exponent, rtt_weight, loss_weight, deviation_weight, .. } = *config;
    let rate = outcome.rate.mbit_per_sec();
    let mut slope = if outcome.rtt_slope.abs() < RTT_NOISE { 0.0 } else { outcome.rtt_slope };
    let mut deviation = 0.0;
    if deviation_weight > 0.0 {
        let is_unusual = usual.handle(outcome.rtt_deviation);
        if is_unusual || slope != 0.0 {
            deviation = outcome.rtt_deviation;
        }
        slope = slope.max(0.0);
    }
    libm::pow(rate, exponent)
        - rtt_weight * rate * slope
        - loss_weight * rate * outcome.loss
        - deviation_weight * rate * deviation
}

/// The utility gain of the higher rate over the lower: the mean over the majority of these pairs;
/// `None` while there is no such majority.
fn gained(higher_first: &[bool], worths: &[f64]) -> Option<f64> {
    let pairs = worths.chunks_exact(2).zip(higher_first);
    let gains = pairs.map(|(pair, first)| (pair[0] - pair[1]) * if *first { 1.0 } else { -1.0 });
    let up = gains.clone().filter(|gain| *gain >= 0.0).count();
    let count = worths.len() / 2;
    let is_up = up > PAIRS / 2;
    (is_up || count - up > PAIRS / 2)
        .then(|| gains.filter(|gain| (*gain >= 0.0) == is_up).sum::<f64>() / count as f64)
}

/// How Vivace learns: by the gradient of the utility between two rates around the current one.
#[derive(Clone, Debug)]
pub struct VivaceLaw {
    config: Config,
    rate: Rate,
    phase: Phase,
    /// Intervals of other phases are void.
    epoch: u64,
    /// Changes in one direction, and which.
    changes: u32,
    up: bool,
    /// Times in a row that the change was bounded.
    bounded: u32,
    /// Deviations of the RTT on this path.
    usual: Usual,
}

#[derive(Clone, Copy, Debug)]
enum Phase {
    /// Waits for the outcome of the last doubling, or not.
    Starting { last: Option<(Rate, f64)>, waiting: bool },
    Comparing {
        /// For each pair, whether the higher rate comes first.
        higher_first: [bool; PAIRS],
        begun: usize,
        worths: [f64; 2 * PAIRS],
    },
}

/// The purpose of an interval's rate.
#[derive(Clone, Copy, Debug)]
pub struct Purpose {
    epoch: u64,
    trial: Option<usize>,
}

impl VivaceLaw {
    fn compare(&mut self, lots: &mut ChaCha8Rng) {
        self.epoch += 1;
        let higher_first = core::array::from_fn(|_| coin(lots));
        self.phase = Phase::Comparing { higher_first, begun: 0, worths: [0.0; 2 * PAIRS] };
    }

    /// Changes the rate by the gradient, amplified and bounded.
    fn climb(&mut self, gradient: f64) {
        let up = gradient >= 0.0;
        self.changes = if up == self.up { self.changes.saturating_add(1) } else { 1 };
        if up != self.up {
            self.bounded = 0;
        }
        self.up = up;
        let amplifier = if self.changes <= SLOW_AMPLIFICATION {
            self.changes
        } else {
            self.changes.saturating_mul(2) - SLOW_AMPLIFICATION
        };
        let wanted = f64::from(amplifier) * self.config.conversion * gradient.abs();
        let rate = self.rate.mbit_per_sec();
        let most = rate * (MIN_BOUND + f64::from(self.bounded) * BOUND_STEP);
        // The bound that just holds this change is the next one's.
        let needed = ((wanted / rate.max(1e-9) - MIN_BOUND) / BOUND_STEP).max(0.0);
        self.bounded =
            if wanted > most { self.bounded.saturating_add(1) } else { libm::ceil(needed) as u32 };
        let change = wanted.min(most) / rate.max(1e-9);
        self.rate = scaled(self.rate, if up { 1.0 + change } else { (1.0 - change).max(0.5) });
    }
}

impl Law for VivaceLaw {
    type Purpose = Purpose;
    type Config = Config;

    fn new(rate: Rate, config: Config, _lots: &mut ChaCha8Rng) -> Self {
        let phase = Phase::Starting { last: None, waiting: false };
        let usual = Usual::default();
        Self { config, rate, phase, epoch: 0, changes: 0, up: true, bounded: 0, usual }
    }

    fn sure(config: &Config) -> f64 {
        config.sure
    }

    /// One round.
    fn interval(&self, _lots: &mut ChaCha8Rng) -> f64 {
        1.0
    }

    fn next(&mut self) -> (Rate, Purpose) {
        let step = self.config.step;
        let (epoch, mut trial) = (self.epoch, None);
        let rate = match &mut self.phase {
            Phase::Starting { last, waiting } => {
                if !core::mem::replace(waiting, true) {
                    trial = Some(0);
                    self.rate = scaled(self.rate, if last.is_some() { 2.0 } else { 1.0 });
                }
                self.rate
            }
            Phase::Comparing { higher_first, begun, .. } if *begun < 2 * PAIRS => {
                trial = Some(*begun);
                let higher = higher_first[*begun / 2] == begun.is_multiple_of(2);
                *begun += 1;
                scaled(self.rate, if higher { 1.0 + step } else { 1.0 - step })
            }
            Phase::Comparing { .. } => self.rate,
        };
        (rate, Purpose { epoch, trial })
    }

    fn judge(
        &mut self,
        purpose: Purpose,
        outcome: Option<&Outcome>,
        lots: &mut ChaCha8Rng,
    ) -> bool {
        if purpose.epoch != self.epoch {
            return false;
        }
        let Some(outcome) = outcome else {
            // No result: the same again.
            if let Phase::Starting { last, waiting } = &mut self.phase {
                (*last, *waiting) = (None, false);
                return false;
            }
            self.compare(lots);
            return true;
        };
        let worth = utility(&self.config, outcome, &mut self.usual);
        match (&mut self.phase, purpose.trial) {
            (Phase::Starting { last, waiting }, Some(_)) => {
                match *last {
                    Some((rate, before)) if worth < before => {
                        self.rate = rate;
                        self.compare(lots);
                    }
                    _ => (*last, *waiting) = (Some((outcome.rate, worth)), false),
                }
                true
            }
            (Phase::Comparing { higher_first, worths, .. }, Some(trial)) => {
                worths[trial] = worth;
                let Some(gained) = gained(higher_first, &worths[..=trial]) else { return false };
                self.climb(gained / (2.0 * self.config.step * self.rate.mbit_per_sec().max(1e-9)));
                self.compare(lots);
                true
            }
            _ => false,
        }
    }

    fn restart(&mut self, rate: Rate) {
        self.epoch += 1;
        self.rate = rate;
        (self.changes, self.bounded) = (0, 0);
        self.phase = Phase::Starting { last: None, waiting: false };
    }

    fn state(&self) -> &'static str {
        match self.phase {
            Phase::Starting { .. } => "starting",
            Phase::Comparing { .. } if self.up => "climbing",
            Phase::Comparing { .. } => "descending",
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(mbit: f64, rtt_slope: f64, loss: f64) -> f64 {
        let rate = Rate::from_bits_per_sec((mbit * 1e6) as u64);
        let outcome = Outcome { rate, loss, rtt_slope, rtt_deviation: 0.05 };
        utility(&Config::default(), &outcome, &mut Usual::default())
    }

    #[test]
    fn more_is_worth_more_unless_the_rtt_grows_with_it() {
        assert!(at(11.0, 0.0, 0.0) > at(10.0, 0.0, 0.0));
        assert!(at(11.0, 0.009, 0.0) > at(10.0, 0.0, 0.0), "noise");
        assert!(at(11.0, 0.05, 0.0) < at(10.0, 0.0, 0.0));
        assert!(at(10.0, -0.05, 0.0) > at(10.0, 0.0, 0.0), "a queue that drains");
    }

    /// At 12 Mbit/s a tenth of a Mbit/s more is worth 0.07: this much and no more of it may be
    /// lost.
    #[test]
    fn loss_by_chance_is_borne_up_to_a_few_percent() {
        let gain = |loss| at(12.1, 0.0, loss) - at(12.0, 0.0, loss);
        assert!(gain(0.05) > 0.0 && gain(0.07) < 0.0, "{} {}", gain(0.05), gain(0.07));
    }

    #[test]
    fn most_pairs_have_to_agree() {
        // A pair each: 3 for the higher rate, 1 for it, 10 against it.
        let worths = [4.0, 1.0, 1.0, 2.0, 0.0, 10.0];
        let near = |gained: Option<f64>, to: f64| (gained.unwrap() - to).abs() < 1e-9;
        assert!(near(gained(&[true, false, true], &worths), 4.0 / 3.0));
        assert!(near(gained(&[false, true, false], &worths), -4.0 / 3.0));
        assert!(near(gained(&[true, false, true], &worths[..4]), 2.0), "two of three agree");
        assert_eq!(gained(&[true, true, true], &worths[..4]), None);
        assert_eq!(gained(&[true, true, true], &worths[..2]), None);
    }

    #[test]
    fn changes_in_one_direction_grow_within_bounds_that_grow() {
        let mut law = VivaceLaw::new(
            Rate::from_bits_per_sec(10_000_000),
            Config::default(),
            &mut super::super::tests::lots(),
        );
        let mut before = 10.0;
        let mut growths = [0.0; 3];
        for growth in &mut growths {
            law.climb(100.0);
            *growth = law.rate.mbit_per_sec() / before - 1.0;
            before = law.rate.mbit_per_sec();
        }
        for (growth, bound) in growths.iter().zip([0.05, 0.15, 0.25]) {
            assert!((growth - bound).abs() < 1e-6, "{growths:?}");
        }
        law.climb(-0.01);
        assert!((before - law.rate.mbit_per_sec() - 0.01).abs() < 1e-6);
    }
}
