//! A rate that changes at given times: `0s 20Mbit, 5s 5Mbit`, or `20Mbit` alone for a constant one.

use alloc::string::{String, ToString};
use alloc::vec;
use alloc::vec::Vec;
use core::fmt;
use core::str::FromStr;
use core::time::Duration;

use sounding_units::{ParseRateError, Rate, scaled_decimal};

/// Maximum number of steps of a text. Chosen: a step every millisecond for a quarter of an hour.
pub const MAX_STEPS: usize = 1_000_000;

/// A change of the link's rate.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Step {
    /// Time of the change, from the beginning.
    pub at: Duration,
    /// The rate of IP packets; zero is an outage.
    pub rate: Rate,
}

/// A rate over time. The first step is at zero, the others follow in strictly rising order, and the
/// last one has no end.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Steps {
    steps: Vec<Step>,
}

/// Why a text or a list is not a sequence of rate steps. Steps count from 1.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ParseStepsError {
    /// There is no step.
    #[error("no rate: write one as 20Mbit, or steps as `0s 20Mbit, 5s 5Mbit`")]
    Empty,
    /// A step is not a time and a rate.
    #[error("step {step}: {text:?} is not a time and a rate, as in `5s 20Mbit`")]
    Shape {
        /// Which step.
        step: usize,
        /// The text there.
        text: String,
    },
    /// A step's time cannot be read.
    #[error("step {step}: {text:?} is not a time; a time ends in us, ms, s or min, as in 500ms")]
    Time {
        /// Which step.
        step: usize,
        /// The text there.
        text: String,
    },
    /// A step's rate cannot be read.
    #[error("step {step}: {text:?}: {source}")]
    Rate {
        /// Which step.
        step: usize,
        /// The text there.
        text: String,
        /// Why it is not a rate.
        source: ParseRateError,
    },
    /// The first step is not at zero.
    #[error("the first step is at {at:?}: the rate before it is unknown, begin at 0s")]
    FirstNotZero {
        /// Its time.
        at: Duration,
    },
    /// A step is not after the previous one.
    #[error("step {step} is at {at:?}, not after the previous one at {previous:?}")]
    NotRising {
        /// Which step.
        step: usize,
        /// Its time.
        at: Duration,
        /// Time of the previous one.
        previous: Duration,
    },
    /// There are more than [`MAX_STEPS`].
    #[error("more than {MAX_STEPS} steps")]
    TooMany,
}

impl Steps {
    /// A constant rate.
    pub fn constant(rate: Rate) -> Self {
        Self { steps: vec![Step { at: Duration::ZERO, rate }] }
    }

    /// These steps, if the first is at zero and the others rise.
    ///
    /// # Errors
    ///
    /// [`ParseStepsError`] if there is no step or too many, the first is not at zero, or the others
    /// do not rise.
    pub fn new(steps: Vec<Step>) -> Result<Self, ParseStepsError> {
        let first = steps.first().ok_or(ParseStepsError::Empty)?;
        if !first.at.is_zero() {
            return Err(ParseStepsError::FirstNotZero { at: first.at });
        }
        if steps.len() > MAX_STEPS {
            return Err(ParseStepsError::TooMany);
        }
        for (index, pair) in steps.windows(2).enumerate() {
            if pair[1].at <= pair[0].at {
                return Err(ParseStepsError::NotRising {
                    step: index + 2,
                    at: pair[1].at,
                    previous: pair[0].at,
                });
            }
        }
        Ok(Self { steps })
    }

    /// The steps in order; at least one, the first at zero.
    pub fn steps(&self) -> &[Step] {
        &self.steps
    }

    /// The rate at `at` after the beginning.
    pub fn rate_at(&self, at: Duration) -> Rate {
        let after = self.steps.partition_point(|step| step.at <= at);
        self.steps[after.saturating_sub(1)].rate
    }
}

impl fmt::Display for Steps {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let [only] = self.steps.as_slice() {
            return write!(f, "{}bit", only.rate.bits_per_sec());
        }
        for (index, step) in self.steps.iter().enumerate() {
            let comma = if index == 0 { "" } else { ", " };
            // A text's finest unit is the microsecond.
            let (micros, nanos) = (step.at.as_micros(), step.at.as_nanos() % 1000);
            write!(f, "{comma}{micros}")?;
            if nanos > 0 {
                write!(f, ".{nanos:03}")?;
            }
            write!(f, "us {}bit", step.rate.bits_per_sec())?;
        }
        Ok(())
    }
}

impl FromStr for Steps {
    type Err = ParseStepsError;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let text = text.trim();
        if text.is_empty() {
            return Err(ParseStepsError::Empty);
        }
        if let Ok(rate) = text.parse() {
            return Ok(Self::constant(rate));
        }
        let mut steps = Vec::new();
        for (index, part) in text.split(',').enumerate() {
            if index == MAX_STEPS {
                return Err(ParseStepsError::TooMany);
            }
            steps.push(parse_step(index + 1, part.trim())?);
        }
        Self::new(steps)
    }
}

fn parse_step(step: usize, text: &str) -> Result<Step, ParseStepsError> {
    let quoted = |text: &str| text.chars().take(40).collect::<String>();
    let Some((at, rate)) = text.split_once(char::is_whitespace) else {
        // A lone word is most likely a rate without its time, or a rate that was mistyped.
        return match text.parse::<Rate>() {
            Err(source) if step == 1 => {
                Err(ParseStepsError::Rate { step, text: quoted(text), source })
            }
            _ => Err(ParseStepsError::Shape { step, text: quoted(text) }),
        };
    };
    let at = parse_time(at).ok_or_else(|| ParseStepsError::Time { step, text: quoted(at) })?;
    let rate = rate.trim().parse().map_err(|source| ParseStepsError::Rate {
        step,
        text: quoted(rate.trim()),
        source,
    })?;
    Ok(Step { at, rate })
}

/// A time as steps have it: a number and us, ms, s or min. `None` if the text is none.
pub fn parse_time(text: &str) -> Option<Duration> {
    let split = text.find(|c: char| !c.is_ascii_digit() && c != '.')?;
    let (number, unit) = text.split_at(split);
    let scale = match unit {
        "us" => 1_000,
        "ms" => 1_000_000,
        "s" => 1_000_000_000,
        "min" => 60_000_000_000,
        _ => return None,
    };
    scaled_decimal(number, scale).map(Duration::from_nanos)
}

impl From<Rate> for Steps {
    fn from(rate: Rate) -> Self {
        Self::constant(rate)
    }
}

impl From<Steps> for String {
    fn from(steps: Steps) -> String {
        steps.to_string()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn mbit(mbit: u64) -> Rate {
        Rate::from_bits_per_sec(mbit * 1_000_000)
    }

    #[test]
    fn a_rate_alone_is_constant() {
        let steps: Steps = "20Mbit".parse().unwrap();
        assert_eq!(steps, Steps::constant(mbit(20)));
        assert_eq!(steps.rate_at(Duration::from_secs(1_000_000)), mbit(20));
    }

    #[test]
    fn each_step_holds_until_the_next() {
        let steps: Steps = "0s 20Mbit, 5s 5 Mbit,7500ms 0bit".parse().unwrap();
        for (millis, rate) in [(0, 20), (4999, 20), (5000, 5), (7499, 5), (7500, 0), (99_999, 0)] {
            assert_eq!(steps.rate_at(Duration::from_millis(millis)), mbit(rate), "{millis} ms");
        }
    }

    #[test]
    fn decimal_times_are_not_rounded_down() {
        let steps: Steps = "0s 1Mbit, 0.3s 2Mbit".parse().unwrap();
        assert_eq!(steps.steps()[1].at, Duration::from_millis(300));
    }

    #[test]
    fn every_fault_is_named_with_its_step() {
        let text = |text: &str| String::from(text);
        for (input, error) in [
            ("", ParseStepsError::Empty),
            ("0s 1Mbit, 2Mbit", ParseStepsError::Shape { step: 2, text: text("2Mbit") }),
            ("0h 1Mbit", ParseStepsError::Time { step: 1, text: text("0h") }),
            ("1s 1Mbit", ParseStepsError::FirstNotZero { at: Duration::from_secs(1) }),
            (
                "0s 1Mbit, 5s 2",
                ParseStepsError::Rate { step: 2, text: text("2"), source: ParseRateError::Unit },
            ),
            (
                "20Mb",
                ParseStepsError::Rate { step: 1, text: text("20Mb"), source: ParseRateError::Unit },
            ),
            (
                "0s 1Mbit, 2s 1Mbit, 2s 2Mbit",
                ParseStepsError::NotRising {
                    step: 3,
                    at: Duration::from_secs(2),
                    previous: Duration::from_secs(2),
                },
            ),
        ] {
            assert_eq!(input.parse::<Steps>(), Err(error), "{input:?}");
        }
    }

    proptest! {
        #[test]
        fn what_is_shown_is_read_back(
            gaps in proptest::collection::vec((1..100_000_u64, 0..10_000_000_000_u64), 1..20),
        ) {
            let mut at = Duration::ZERO;
            let mut steps = Vec::new();
            for (gap, bits) in gaps {
                steps.push(Step { at, rate: Rate::from_bits_per_sec(bits) });
                at += Duration::from_micros(gap);
            }
            let steps = Steps::new(steps).unwrap();
            prop_assert_eq!(steps.to_string().parse(), Ok(steps));
        }

        #[test]
        fn arbitrary_text_never_panics(text in "\\PC{0,60}") {
            let _ = text.parse::<Steps>();
        }
    }
}
