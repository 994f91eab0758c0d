use core::fmt;
use core::ops::Add;
use core::str::FromStr;

use crate::ratio::ratio;
use crate::scaled_decimal;

/// A data rate, kept in bits per second.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Rate(u64);

impl Rate {
    /// Nothing moves.
    pub const ZERO: Rate = Rate(0);
    /// The largest rate that can be written down; never a measurement.
    pub const MAX: Rate = Rate(u64::MAX);

    /// From bits per second.
    pub const fn from_bits_per_sec(bits: u64) -> Self {
        Self(bits)
    }

    /// From bytes per second, saturating.
    pub const fn from_bytes_per_sec(bytes: u64) -> Self {
        Self(bytes.saturating_mul(8))
    }

    /// In bits per second.
    pub const fn bits_per_sec(self) -> u64 {
        self.0
    }

    /// In bytes per second, rounded down.
    pub const fn bytes_per_sec(self) -> u64 {
        self.0 / 8
    }

    /// In Mbit/s, for people and plots only.
    pub fn mbit_per_sec(self) -> f64 {
        self.0 as f64 / 1e6
    }

    /// `self × numerator ÷ denominator`, rounded down and saturating; zero for a zero denominator.
    #[inline]
    pub fn scaled(self, numerator: u32, denominator: u32) -> Rate {
        if denominator == 0 {
            return Rate::ZERO;
        }
        Rate(ratio(self.0, numerator.into(), denominator.into()))
    }
}

impl Add for Rate {
    type Output = Rate;
    fn add(self, other: Rate) -> Rate {
        Rate(self.0.saturating_add(other.0))
    }
}

impl fmt::Display for Rate {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0 {
            0..1_000 => write!(f, "{} bit/s", self.0),
            1_000..1_000_000 => write!(f, "{:.1} kbit/s", self.0 as f64 / 1e3),
            1_000_000..1_000_000_000 => write!(f, "{:.2} Mbit/s", self.0 as f64 / 1e6),
            _ => write!(f, "{:.3} Gbit/s", self.0 as f64 / 1e9),
        }
    }
}

/// The reason why a text is not a rate.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ParseRateError {
    /// The part before the unit is not a non-negative decimal number, or is more than fits.
    Number,
    /// The unit is not `bit`, `kbit`, `Mbit` or `Gbit`, in one of their spellings.
    Unit,
}

impl fmt::Display for ParseRateError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Number => {
                "a rate starts with a number that is not negative and below 2^64 bit, as in 20Mbit"
            }
            Self::Unit => "a rate ends in bit, kbit, Mbit or Gbit, as in 20Mbit",
        })
    }
}

impl core::error::Error for ParseRateError {}

impl FromStr for Rate {
    type Err = ParseRateError;

    /// Reads `12Mbit`, `1.5 Gbit`, `800kbit/s`, `0bit`, and as other tools write them `12Mbps` and
    /// `12M`. Upper and lower case of the unit are equal, but `Bps`, which is bytes elsewhere, is
    /// refused.
    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let text = text.trim();
        let split =
            text.find(|c: char| !c.is_ascii_digit() && c != '.').ok_or(ParseRateError::Unit)?;
        let (number, unit) = text.split_at(split);
        if number.is_empty() {
            return Err(ParseRateError::Number);
        }
        let unit = unit.trim();
        let (prefix, rest) = match unit.split_at_checked(1).unwrap_or_default() {
            ("k" | "K", rest) => (1_000, rest),
            ("m" | "M", rest) => (1_000_000, rest),
            ("g" | "G", rest) => (1_000_000_000, rest),
            _ => (1, unit),
        };
        let is_bits = match rest {
            // A number alone could be in any unit.
            "" => prefix > 1,
            "bps" => true,
            rest => rest.strip_suffix("/s").unwrap_or(rest).eq_ignore_ascii_case("bit"),
        };
        let scale = is_bits.then_some(prefix).ok_or(ParseRateError::Unit)?;
        scaled_decimal(number, scale).map(Rate).ok_or(ParseRateError::Number)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::string::ToString;

    #[test]
    fn texts_with_units_are_rates() {
        for (text, bits) in [
            ("20Mbit", 20_000_000),
            ("1.5 Gbit", 1_500_000_000),
            ("800kbit/s", 800_000),
            ("0bit", 0),
            ("12Mbps", 12_000_000),
            ("1.5G", 1_500_000_000),
            ("64k", 64_000),
            ("9600bps", 9_600),
        ] {
            assert_eq!(text.parse(), Ok(Rate::from_bits_per_sec(bits)), "{text}");
        }
    }

    #[test]
    fn texts_without_units_or_with_signs_are_refused() {
        assert_eq!("20".parse::<Rate>(), Err(ParseRateError::Unit));
        assert_eq!("-1Mbit".parse::<Rate>(), Err(ParseRateError::Number));
        assert_eq!("99999999999Gbit".parse::<Rate>(), Err(ParseRateError::Number));
        assert_eq!("20MB".parse::<Rate>(), Err(ParseRateError::Unit));
        assert_eq!("20MBps".parse::<Rate>(), Err(ParseRateError::Unit));
        assert_eq!("20\u{fffd}".parse::<Rate>(), Err(ParseRateError::Unit));
        assert_eq!("1.2.3Mbit".parse::<Rate>(), Err(ParseRateError::Number));
    }

    #[test]
    fn people_read_the_largest_unit_that_fits() {
        assert_eq!(Rate::from_bits_per_sec(12_340_000).to_string(), "12.34 Mbit/s");
        assert_eq!(Rate::from_bits_per_sec(999).to_string(), "999 bit/s");
    }
}
