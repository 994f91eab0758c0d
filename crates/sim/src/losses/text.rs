//! Losses as text: `0.01`, `5s,1s`, `fixed:5s,1s`.

use alloc::string::String;
use core::fmt;
use core::str::FromStr;
use core::time::Duration;

use sounding_trace::parse_time;

use super::Losses;

/// Shorter cycles would cost a processor and no packet would see them. Chosen.
const SHORTEST_CYCLE: Duration = Duration::from_millis(1);

/// Why a text says nothing about losses.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ParseLossesError {
    /// It is neither a share nor two times.
    #[error("{0:?} is no share of packets from 0 to 1, as 0.01")]
    Share(String),
    /// It is not two times.
    #[error("{0:?} is not two times with a comma, as `5s,1s` or `fixed:5s,1s`")]
    Shape(String),
    /// One of the times is none.
    #[error("{0:?} is no time; a time ends in us, ms, s or min, as in 500ms")]
    Time(String),
    /// The times are too short.
    #[error("the times with and without losses are at least 1ms together")]
    TooShort,
}

impl Losses {
    /// Reads the two times of outages: `5s,1s` are means, `fixed:5s,1s` are the times themselves.
    ///
    /// # Errors
    ///
    /// [`ParseLossesError`] if they are not two times that are at least 1 ms together.
    pub fn outages(text: &str) -> Result<Self, ParseLossesError> {
        let quoted = |text: &str| text.chars().take(40).collect::<String>();
        let times = text.trim();
        let (times, is_fixed) = match times.strip_prefix("fixed:") {
            Some(times) => (times, true),
            None => (times, false),
        };
        let shape = || ParseLossesError::Shape(quoted(text));
        let (on, off) = times.split_once(',').ok_or_else(shape)?;
        let time = |text: &str| {
            let text = text.trim();
            parse_time(text).ok_or_else(|| ParseLossesError::Time(quoted(text)))
        };
        let (on, off) = (time(on)?, time(off)?);
        if on.saturating_add(off) < SHORTEST_CYCLE {
            return Err(ParseLossesError::TooShort);
        }
        Ok(if is_fixed { Self::FixedOutages { on, off } } else { Self::Outages { on, off } })
    }

    /// A share of packets.
    ///
    /// # Errors
    ///
    /// [`ParseLossesError`] if it is not from 0 to 1.
    pub fn share(text: &str) -> Result<Self, ParseLossesError> {
        match text.trim().parse::<f64>() {
            Ok(share) if (0.0..=1.0).contains(&share) => Ok(Self::Share(share)),
            _ => Err(ParseLossesError::Share(text.chars().take(40).collect())),
        }
    }
}

impl FromStr for Losses {
    type Err = ParseLossesError;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        match text.contains([',', ':']) {
            true => Self::outages(text),
            false => Self::share(text),
        }
    }
}

impl fmt::Display for Losses {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // A text's finest unit is the microsecond.
        match self {
            Self::None => f.write_str("0"),
            Self::Share(share) => write!(f, "{share}"),
            Self::Outages { on, off } => write!(f, "{}us,{}us", on.as_micros(), off.as_micros()),
            Self::FixedOutages { on, off } => {
                write!(f, "fixed:{}us,{}us", on.as_micros(), off.as_micros())
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use std::string::ToString as _;

    use super::*;

    #[test]
    fn losses_are_shares_or_times() {
        let (on, off) = (Duration::from_secs(5), Duration::from_millis(500));
        for (text, losses) in [
            ("0.25", Losses::Share(0.25)),
            ("0", Losses::Share(0.0)),
            ("1", Losses::Share(1.0)),
            ("5s,0.5s", Losses::Outages { on, off }),
            ("5s, 500ms", Losses::Outages { on, off }),
            ("fixed:5s,0.5s", Losses::FixedOutages { on, off }),
        ] {
            assert_eq!(text.parse(), Ok(losses), "{text}");
            assert_eq!(losses.to_string().parse(), Ok(losses), "{text}");
        }
    }

    #[test]
    fn what_is_neither_is_refused_with_its_fault() {
        use ParseLossesError::{Shape, Share, Time, TooShort};
        for (text, error) in [
            ("1.5", Share("1.5".into())),
            ("-0.1", Share("-0.1".into())),
            ("NaN", Share("NaN".into())),
            ("", Share("".into())),
            ("fixed:5s", Shape("fixed:5s".into())),
            ("5s,1", Time("1".into())),
            ("-1s,1s", Time("-1s".into())),
            ("0s,0s", TooShort),
            ("fixed:0.5ms,0.4ms", TooShort),
        ] {
            assert_eq!(text.parse::<Losses>(), Err(error), "{text}");
        }
        assert_eq!(Losses::outages("0.5"), Err(Shape("0.5".into())));
        assert_eq!(Losses::share("5s,1s"), Err(Share("5s,1s".into())));
    }
}
