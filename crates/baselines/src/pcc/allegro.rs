use rand_chacha::ChaCha8Rng;
use sounding_cc::parameter::{Kind, Parameter, Values};
use sounding_units::Rate;

use super::{Law, Outcome, between, coin, scaled};

/// The steps in which rates are tried and changed, and the largest one if smaller ones did not show
/// a difference.
const MIN_STEP: f64 = 0.01;
const MAX_STEP: f64 = 0.05;
/// Steepness of the sigmoid (the paper's α of at least 100).
const STEEPNESS: f64 = 100.0;
/// Its place.
const TOLERATED_LOSS: Parameter = Parameter {
    name: "tolerated_loss",
    kind: Kind::number(0.05, 0.0, 0.5),
    unit: "",
    about: "the loss above which a rate has no utility",
    source: "the paper's 5 %",
};

/// Parameters of Allegro.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Config {
    /// The part of lost packets above which a rate has no utility.
    pub tolerated_loss: f64,
}

impl Config {
    pub(crate) const PARAMETERS: &[Parameter] = &[TOLERATED_LOSS];

    pub(crate) fn of(values: &Values) -> Self {
        Self { tolerated_loss: values.number(&TOLERATED_LOSS) }
    }
}

impl Default for Config {
    fn default() -> Self {
        Self::of(&Values::default())
    }
}

/// The utility: the rate in Mbit/s that arrives, with a penalty above the tolerated loss, minus the
/// lost rate.
fn utility(config: &Config, outcome: &Outcome) -> f64 {
    let rate = outcome.rate.mbit_per_sec();
    let cliff = 1.0 / (1.0 + libm::exp(STEEPNESS * (outcome.loss - config.tolerated_loss)));
    rate * (1.0 - outcome.loss) * cliff - rate * outcome.loss
}

/// How Allegro learns.
///
/// ```text
/// Starting ──(less utility)──▶ Deciding ──(both pairs agree)──▶ Adjusting
///                              │  ▲  ▲                              │
///              (they do not: larger steps)  └────(less utility)─────┘
/// ```
#[derive(Clone, Debug)]
pub struct AllegroLaw {
    config: Config,
    rate: Rate,
    phase: Phase,
    step: f64,
    /// Intervals of other phases are void.
    epoch: u64,
    /// The outcome of the last step is not known.
    waiting: bool,
}

#[derive(Clone, Copy, Debug)]
enum Phase {
    Starting { last: Option<(Rate, f64)> },
    Deciding(Trials),
    Adjusting { up: bool, steps: u32, last: Option<(Rate, f64)> },
}

/// Two pairs of a higher and a lower rate, each in random order.
#[derive(Clone, Copy, Debug)]
struct Trials {
    higher: [bool; 4],
    begun: usize,
    utilities: [Option<f64>; 4],
}

impl Trials {
    fn new(lots: &mut ChaCha8Rng) -> Self {
        let (first, second) = (coin(lots), coin(lots));
        let higher = [first, !first, second, !second];
        Self { higher, begun: 0, utilities: [None; 4] }
    }

    /// Whether the higher rate of a pair was the better.
    fn verdict(&self, pair: usize) -> Option<bool> {
        let (one, other) = (self.utilities[2 * pair]?, self.utilities[2 * pair + 1]?);
        Some((one > other) == self.higher[2 * pair])
    }
}

/// The purpose of an interval's rate.
#[derive(Clone, Copy, Debug)]
pub struct Purpose {
    epoch: u64,
    trial: Option<usize>,
    /// A rate that is not kept only until the outcome of another is known.
    is_step: bool,
}

impl AllegroLaw {
    fn decide(&mut self, lots: &mut ChaCha8Rng) {
        self.epoch += 1;
        self.waiting = false;
        self.phase = Phase::Deciding(Trials::new(lots));
    }

    fn adjust(&mut self, up: bool) {
        self.epoch += 1;
        self.waiting = false;
        self.step = MIN_STEP;
        self.phase = Phase::Adjusting { up, steps: 0, last: None };
    }
}

impl Law for AllegroLaw {
    type Purpose = Purpose;
    type Config = Config;

    fn new(rate: Rate, config: Config, _lots: &mut ChaCha8Rng) -> Self {
        Self {
            config,
            rate,
            phase: Phase::Starting { last: None },
            step: MIN_STEP,
            epoch: 0,
            waiting: false,
        }
    }

    /// A random length, so that flows are not synchronised.
    fn interval(&self, lots: &mut ChaCha8Rng) -> f64 {
        between(lots, 1.7, 2.2)
    }

    fn next(&mut self) -> (Rate, Purpose) {
        let (epoch, mut trial) = (self.epoch, None);
        let is_step = !core::mem::replace(&mut self.waiting, true);
        match &mut self.phase {
            Phase::Starting { last: Some(_) } if is_step => self.rate = scaled(self.rate, 2.0),
            Phase::Adjusting { up, steps, .. } if is_step => {
                *steps += 1;
                let step = f64::from(*steps) * MIN_STEP;
                self.rate = scaled(self.rate, if *up { 1.0 + step } else { (1.0 - step).max(0.5) });
            }
            Phase::Deciding(trials) if trials.begun < trials.higher.len() => {
                trial = Some(trials.begun);
                let step = if trials.higher[trials.begun] { self.step } else { -self.step };
                trials.begun += 1;
                return (scaled(self.rate, 1.0 + step), Purpose { epoch, trial, is_step });
            }
            _ => {}
        }
        (self.rate, Purpose { epoch, trial, is_step })
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
            // No result: the same again, from a rate that had one.
            match &mut self.phase {
                Phase::Starting { last } => {
                    *last = None;
                    self.waiting = false;
                    return false;
                }
                Phase::Adjusting { last: Some((rate, _)), .. } => self.rate = *rate,
                _ => {}
            }
            self.decide(lots);
            return true;
        };
        let worth = utility(&self.config, outcome);
        match &mut self.phase {
            Phase::Starting { .. } | Phase::Adjusting { .. } if !purpose.is_step => false,
            Phase::Starting { last } | Phase::Adjusting { last, .. } => match *last {
                Some((rate, before)) if worth < before => {
                    self.rate = rate;
                    self.decide(lots);
                    true
                }
                _ => {
                    *last = Some((outcome.rate, worth));
                    self.waiting = false;
                    true
                }
            },
            Phase::Deciding(trials) => {
                if let Some(trial) = purpose.trial {
                    trials.utilities[trial] = Some(worth);
                }
                let (Some(one), Some(other)) = (trials.verdict(0), trials.verdict(1)) else {
                    return false;
                };
                if one == other {
                    self.adjust(one);
                } else {
                    self.step = (self.step + MIN_STEP).min(MAX_STEP);
                    self.decide(lots);
                }
                true
            }
        }
    }

    fn restart(&mut self, rate: Rate) {
        self.epoch += 1;
        self.waiting = false;
        self.rate = rate;
        self.phase = Phase::Starting { last: None };
    }

    fn state(&self) -> &'static str {
        match self.phase {
            Phase::Starting { .. } => "starting",
            Phase::Deciding(_) => "deciding",
            Phase::Adjusting { up: true, .. } => "adjusting up",
            Phase::Adjusting { up: false, .. } => "adjusting down",
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(mbit: f64, loss: f64) -> f64 {
        let rate = Rate::from_bits_per_sec((mbit * 1e6) as u64);
        utility(&Config::default(), &Outcome { rate, loss, rtt_slope: 0.0, rtt_deviation: 0.0 })
    }

    #[test]
    fn more_is_worth_more_up_to_five_percent_of_loss_and_less_from_there() {
        // A link of ten: what does not fit is lost.
        let sent = |mbit: f64| at(mbit, (1.0 - 10.0 / mbit).max(0.0));
        assert!(sent(9.0) < sent(10.0) && sent(10.6) < sent(10.2) && sent(11.0) < 0.0);
        // And of loss by chance as well.
        assert!(at(10.0, 0.03) > at(9.0, 0.03) && at(10.0, 0.06) < at(9.0, 0.04));
    }

    #[test]
    fn beyond_the_cliff_nothing_is_worth_sending() {
        assert!(at(10.0, 0.08) < 0.0 && at(10.0, 0.045) > 0.0);
    }
}
