//! Times and sizes in scenarios: `"5ms"`, `"1.5s"`, `"inf"`; `1500`, `"100kB"`, `"2MB"`.

use alloc::string::String;
use alloc::vec::Vec;
use core::fmt;
use core::time::Duration;

use serde::de::{Deserialize, Deserializer, Error, Visitor};
use sounding_units::Bytes;

/// A time, for `deserialize_with`.
///
/// # Errors
///
/// The deserializer's, if the value is no time with a unit.
pub fn duration<'de, D: Deserializer<'de>>(input: D) -> Result<Duration, D::Error> {
    TimeText::deserialize(input).map(|text| text.0)
}

/// A time that may be left out.
///
/// # Errors
///
/// The deserializer's, if the value is no time with a unit.
pub fn optional_duration<'de, D: Deserializer<'de>>(
    input: D,
) -> Result<Option<Duration>, D::Error> {
    duration(input).map(Some)
}

/// A size that may be left out.
///
/// # Errors
///
/// The deserializer's, if the value is no size.
pub fn optional_bytes<'de, D: Deserializer<'de>>(input: D) -> Result<Option<Bytes>, D::Error> {
    bytes(input).map(Some)
}

/// The minimum and the maximum of a time.
///
/// # Errors
///
/// The deserializer's, unless the value is two times with units.
pub fn durations<'de, D: Deserializer<'de>>(input: D) -> Result<[Duration; 2], D::Error> {
    <[TimeText; 2]>::deserialize(input).map(|texts| texts.map(|text| text.0))
}

/// Times.
///
/// # Errors
///
/// The deserializer's, unless the value is a list of times with units.
pub fn list<'de, D: Deserializer<'de>>(input: D) -> Result<Vec<Duration>, D::Error> {
    Vec::<TimeText>::deserialize(input).map(|texts| texts.into_iter().map(|text| text.0).collect())
}

/// A span of time in text form.
struct TimeText(Duration);

impl<'de> Deserialize<'de> for TimeText {
    fn deserialize<D: Deserializer<'de>>(input: D) -> Result<Self, D::Error> {
        let text = input.deserialize_any(TIME)?;
        if text == "inf" {
            return Ok(Self(Duration::MAX));
        }
        scaled(&text, &[("us", 1e3), ("ms", 1e6), ("s", 1e9)])
            .map(|nanos| Self(Duration::from_nanos(nanos)))
            .ok_or_else(|| {
                D::Error::custom(format_args!("{text:?} is no time; write 5ms, 1.5s or inf"))
            })
    }
}

/// The text of a quantity, for `Deserializer::deserialize_any`. A number without a unit is refused,
/// and the error writes the number with a unit.
#[derive(Clone, Copy, Debug)]
pub struct Text {
    /// The quantity, with its article.
    pub noun: &'static str,
    /// Two units, the likely one first.
    pub examples: [&'static str; 2],
}

/// The text of a time.
pub const TIME: Text = Text { noun: "a time", examples: ["s", "ms"] };

impl Text {
    fn unitless<E: Error>(self, number: impl fmt::Display, is_positive: bool) -> E {
        let Self { noun, examples: [first, second] } = self;
        if !is_positive {
            return E::custom(format_args!("{number} is not {noun}; write \"5{first}\""));
        }
        E::custom(format_args!(
            "{number} is {noun} without a unit; write \"{number}{first}\" or \"{number}{second}\""
        ))
    }
}

impl Visitor<'_> for Text {
    type Value = String;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { noun, examples: [first, _] } = self;
        write!(f, "{noun}, as \"5{first}\"")
    }

    fn visit_str<E: Error>(self, text: &str) -> Result<String, E> {
        Ok(text.into())
    }

    fn visit_u64<E: Error>(self, number: u64) -> Result<String, E> {
        Err(self.unitless(number, true))
    }

    fn visit_i64<E: Error>(self, number: i64) -> Result<String, E> {
        Err(self.unitless(number, number >= 0))
    }

    fn visit_f64<E: Error>(self, number: f64) -> Result<String, E> {
        Err(self.unitless(number, number.is_finite() && number >= 0.0))
    }
}

/// A size. A whole number is one of bytes.
///
/// # Errors
///
/// The deserializer's, if the value is no size.
pub fn bytes<'de, D: Deserializer<'de>>(input: D) -> Result<Bytes, D::Error> {
    struct Size;

    impl Visitor<'_> for Size {
        type Value = Bytes;

        fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
            f.write_str("a size, as 1500 or \"100kB\"")
        }

        fn visit_u64<E: Error>(self, count: u64) -> Result<Bytes, E> {
            Ok(Bytes::new(count))
        }

        fn visit_i64<E: Error>(self, count: i64) -> Result<Bytes, E> {
            let negative = || E::custom(format_args!("{count} is negative, and a size is not"));
            u64::try_from(count).map(Bytes::new).map_err(|_| negative())
        }

        fn visit_f64<E: Error>(self, count: f64) -> Result<Bytes, E> {
            Err(E::custom(format_args!(
                "{count} is a size without a unit; write \"{count}kB\" or \"{count}MB\""
            )))
        }

        fn visit_str<E: Error>(self, text: &str) -> Result<Bytes, E> {
            scaled(text, &[("kB", 1e3), ("MB", 1e6), ("B", 1.0)]).map(Bytes::new).ok_or_else(|| {
                E::custom(format_args!("{text:?} is no size; write 1500, 100kB or 2MB"))
            })
        }
    }

    input.deserialize_any(Size)
}

/// A number with one of `units`, as a whole number of the smallest.
fn scaled(text: &str, units: &[(&str, f64)]) -> Option<u64> {
    let digits = text.find(|c: char| c != '.' && !c.is_ascii_digit())?;
    let (number, unit) = text.split_at(digits);
    let (_, scale) = units.iter().find(|(name, _)| *name == unit.trim_start())?;
    let value = number.parse::<f64>().ok()? * scale;
    (value < u64::MAX as f64).then_some(value as u64)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quantities_have_units() {
        const TIME: &[(&str, f64)] = &[("ms", 1e6), ("s", 1e9)];
        assert_eq!(scaled("5ms", TIME), Some(5_000_000));
        assert_eq!(scaled("1.5 s", TIME), Some(1_500_000_000));
        for text in ["5", "ms", "-5ms", "5 min", "1e9s", "99999999999999s", "", "1.1.1s"] {
            assert_eq!(scaled(text, TIME), None, "{text}");
        }
    }
}
