//! Parameters of controllers: a table for each controller, and values parsed from text.

mod choice;

use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;
use core::fmt;
use core::time::Duration;

pub use choice::{Choice, ChoiceError};

/// One parameter of a controller.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Parameter {
    /// Its name in plans.
    pub name: &'static str,
    /// Its kind, its default and its range.
    pub kind: Kind,
    /// Unit of a number; empty for a number without a unit, for times and for words.
    pub unit: &'static str,
    /// Its effect, in a line.
    pub about: &'static str,
    /// Source of its default.
    pub source: &'static str,
}

/// The valid values of a parameter. Ranges include both ends.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Kind {
    /// A number.
    Number {
        /// The default.
        default: f64,
        /// The least.
        least: f64,
        /// The most.
        most: f64,
    },
    /// A whole number.
    Count {
        /// The default.
        default: u32,
        /// The least.
        least: u32,
        /// The most.
        most: u32,
    },
    /// A time with its unit, in `us`, `ms` or `s`.
    Time {
        /// The default.
        default: Duration,
        /// The least.
        least: Duration,
        /// The most.
        most: Duration,
    },
    /// One of some words.
    Word {
        /// The default.
        default: &'static str,
        /// All of them.
        words: &'static [&'static str],
    },
}

/// A value of a parameter.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Value {
    /// A number.
    Number(f64),
    /// A whole number.
    Count(u32),
    /// A time.
    Time(Duration),
    /// A word.
    Word(&'static str),
}

impl Kind {
    /// A number with these limits.
    pub const fn number(default: f64, least: f64, most: f64) -> Self {
        Self::Number { default, least, most }
    }

    /// A whole number with these limits.
    pub const fn count(default: u32, least: u32, most: u32) -> Self {
        Self::Count { default, least, most }
    }

    /// A time with these limits, all in milliseconds.
    pub const fn millis(default: u64, least: u64, most: u64) -> Self {
        let [default, least, most] = [
            Duration::from_millis(default),
            Duration::from_millis(least),
            Duration::from_millis(most),
        ];
        Self::Time { default, least, most }
    }

    /// A time with these limits, all in microseconds.
    pub const fn micros(default: u64, least: u64, most: u64) -> Self {
        let [default, least, most] = [
            Duration::from_micros(default),
            Duration::from_micros(least),
            Duration::from_micros(most),
        ];
        Self::Time { default, least, most }
    }

    /// The value unless one is stated.
    pub const fn default(&self) -> Value {
        match *self {
            Self::Number { default, .. } => Value::Number(default),
            Self::Count { default, .. } => Value::Count(default),
            Self::Time { default, .. } => Value::Time(default),
            Self::Word { default, .. } => Value::Word(default),
        }
    }

    /// Parses a value; `None` if it has another kind, or is out of range.
    fn read(&self, text: &str) -> Option<Value> {
        match *self {
            Self::Number { least, most, .. } => {
                let number: f64 = text.parse().ok()?;
                (least..=most).contains(&number).then_some(Value::Number(number))
            }
            Self::Count { least, most, .. } => {
                // A plan may write 3.0.
                let number: f64 = text.parse().ok()?;
                let is_within = (f64::from(least)..=f64::from(most)).contains(&number);
                let count = number as u32;
                (is_within && f64::from(count) == number).then_some(Value::Count(count))
            }
            Self::Time { least, most, .. } => {
                let time = time(text)?;
                (least..=most).contains(&time).then_some(Value::Time(time))
            }
            Self::Word { words, .. } => {
                words.iter().find(|word| **word == text).map(|&word| Value::Word(word))
            }
        }
    }

    /// Its range in words.
    pub fn range(&self) -> String {
        match *self {
            Self::Number { least, most, .. } => format!("{least} to {most}"),
            Self::Count { least, most, .. } => format!("{least} to {most}, whole"),
            Self::Time { least, most, .. } => {
                format!("{} to {}", Value::Time(least), Value::Time(most))
            }
            Self::Word { words, .. } => {
                words.iter().map(|word| format!("`{word}`")).collect::<Vec<_>>().join(" or ")
            }
        }
    }
}

/// `60ms`, `1.5s` or `800us`.
fn time(text: &str) -> Option<Duration> {
    let nanos = |unit: &str| match unit.trim() {
        "us" | "µs" => Some(1e3),
        "ms" => Some(1e6),
        "s" => Some(1e9),
        _ => None,
    };
    let unit = text.find(|c: char| !c.is_ascii_digit() && c != '.')?;
    let (number, unit) = text.split_at(unit);
    let number: f64 = number.parse().ok()?;
    Some(Duration::from_nanos(libm::round(number * nanos(unit)?) as u64))
}

impl fmt::Display for Value {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Number(number) => number.fmt(f),
            Self::Count(count) => count.fmt(f),
            Self::Time(time) if time.subsec_nanos() == 0 => write!(f, "{}s", time.as_secs()),
            Self::Time(time) if *time < Duration::from_millis(1) => {
                write!(f, "{}us", time.as_nanos() as f64 / 1e3)
            }
            Self::Time(time) => write!(f, "{}ms", time.as_nanos() as f64 / 1e6),
            Self::Word(word) => f.write_str(word),
        }
    }
}

/// The parameters of a flow's controller: those that were stated, and otherwise the defaults.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Values(Vec<(&'static str, Value)>);

/// Why a parameter cannot have a value.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ParameterError {
    /// No parameter has this name.
    #[error("unknown parameter `{name}`, there are {}", quoted(known))]
    Unknown {
        /// The given text.
        name: String,
        /// The known names.
        known: Vec<&'static str>,
    },
    /// It was stated before.
    #[error("`{name}` has a value already")]
    Twice {
        /// The parameter.
        name: String,
    },
    /// The value has another kind, or is out of range.
    #[error("`{name}` is {range}, not {value:?}")]
    Range {
        /// The parameter.
        name: String,
        /// The given text.
        value: String,
        /// The valid values, with their unit.
        range: String,
    },
}

impl ParameterError {
    /// The parameter that it is about.
    pub fn parameter(&self) -> &str {
        match self {
            Self::Unknown { name, .. } | Self::Twice { name } | Self::Range { name, .. } => name,
        }
    }
}

fn quoted<'a>(names: impl IntoIterator<Item = &'a &'a str>) -> String {
    names.into_iter().map(|name| format!("`{name}`")).collect::<Vec<_>>().join(", ")
}

impl Values {
    /// Reads names and values by a table, and keeps them in its order.
    ///
    /// # Errors
    ///
    /// [`ParameterError`] if a name is not in the table or stated twice, or a value is outside its
    /// range.
    pub fn parse<'a>(
        table: &'static [Parameter],
        stated: impl IntoIterator<Item = (&'a str, &'a str)>,
    ) -> Result<Self, ParameterError> {
        let mut values: Vec<(usize, &str, Value)> = Vec::new();
        for (name, text) in stated {
            let place = table.iter().position(|parameter| parameter.name == name);
            let place = place.ok_or_else(|| ParameterError::Unknown {
                name: name.into(),
                known: table.iter().map(|parameter| parameter.name).collect(),
            })?;
            let Parameter { name, kind, unit, .. } = table[place];
            if values.iter().any(|&(other, ..)| other == place) {
                return Err(ParameterError::Twice { name: name.into() });
            }
            let value = kind.read(text.trim()).ok_or_else(|| ParameterError::Range {
                name: name.into(),
                value: text.into(),
                range: format!("{} {unit}", kind.range()).trim_end().to_string(),
            })?;
            values.push((place, name, value));
        }
        values.sort_unstable_by_key(|&(place, ..)| place);
        Ok(Self(values.into_iter().map(|(_, name, value)| (name, value)).collect()))
    }

    /// The given parameters, in the order of the table.
    pub fn stated(&self) -> impl Iterator<Item = (&'static str, Value)> {
        self.0.iter().copied()
    }

    fn value(&self, parameter: &Parameter) -> Value {
        let stated = self.0.iter().find(|(name, _)| *name == parameter.name);
        stated.map_or(parameter.kind.default(), |&(_, value)| value)
    }

    /// The value as a number; zero for another kind.
    pub fn number(&self, parameter: &Parameter) -> f64 {
        match self.value(parameter) {
            Value::Number(number) => number,
            Value::Count(count) => f64::from(count),
            Value::Time(_) | Value::Word(_) => 0.0,
        }
    }

    /// The value as a whole number; zero for another kind.
    pub fn count(&self, parameter: &Parameter) -> u32 {
        match self.value(parameter) {
            Value::Count(count) => count,
            Value::Number(_) | Value::Time(_) | Value::Word(_) => 0,
        }
    }

    /// The value as a time; zero for another kind.
    pub fn time(&self, parameter: &Parameter) -> Duration {
        match self.value(parameter) {
            Value::Time(time) => time,
            Value::Number(_) | Value::Count(_) | Value::Word(_) => Duration::ZERO,
        }
    }

    /// The value as a word; empty for another kind.
    pub fn word(&self, parameter: &Parameter) -> &'static str {
        match self.value(parameter) {
            Value::Word(word) => word,
            Value::Number(_) | Value::Count(_) | Value::Time(_) => "",
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const PLAIN: Parameter = Parameter {
        name: "plain",
        kind: Kind::number(0.5, 0.001, 10.0),
        unit: "",
        about: "",
        source: "",
    };
    const ROUNDS: Parameter =
        Parameter { name: "rounds", kind: Kind::count(3, 1, 9), unit: "rounds", ..PLAIN };
    const SPAN: Parameter = Parameter { name: "span", kind: Kind::millis(60, 1, 2_000), ..PLAIN };
    const MODE: Parameter = Parameter {
        name: "mode",
        kind: Kind::Word { default: "one", words: &["one", "other"] },
        ..PLAIN
    };
    const TABLE: &[Parameter] = &[PLAIN, ROUNDS, SPAN, MODE];

    #[test]
    fn what_is_stated_is_read_and_the_rest_has_its_default() {
        let values =
            Values::parse(TABLE, [("span", "1.5s"), ("plain", "0.10"), ("rounds", "4.0")]).unwrap();
        assert_eq!((values.number(&PLAIN), values.count(&ROUNDS)), (0.1, 4));
        assert_eq!((values.time(&SPAN).as_millis(), values.word(&MODE)), (1_500, "one"));
        let shown: Vec<_> =
            values.stated().map(|(name, value)| format!("{name}={value}")).collect();
        assert_eq!(shown, ["plain=0.1", "rounds=4", "span=1500ms"]);
    }

    #[test]
    fn every_default_is_read_back_from_its_text() {
        for parameter in TABLE {
            let default = parameter.kind.default();
            assert_eq!(parameter.kind.read(&default.to_string()), Some(default), "{parameter:?}");
        }
    }

    #[test]
    fn what_cannot_be_is_refused_with_what_can() {
        let wrong = [
            (
                &[("pain", "1")][..],
                "unknown parameter `pain`, there are `plain`, `rounds`, `span`, `mode`",
            ),
            (&[("plain", "20")], "`plain` is 0.001 to 10, not \"20\""),
            (&[("plain", "NaN")], "`plain` is 0.001 to 10, not \"NaN\""),
            (&[("rounds", "1.5")], "`rounds` is 1 to 9, whole rounds, not \"1.5\""),
            (&[("span", "60")], "`span` is 1ms to 2s, not \"60\""),
            (&[("span", "3s")], "`span` is 1ms to 2s, not \"3s\""),
            (&[("span", "-3s")], "`span` is 1ms to 2s, not \"-3s\""),
            (&[("mode", "both")], "`mode` is `one` or `other`, not \"both\""),
            (&[("plain", "1"), ("plain", "2")], "`plain` has a value already"),
        ];
        for (stated, said) in wrong {
            let error = Values::parse(TABLE, stated.iter().copied()).unwrap_err();
            assert_eq!(error.to_string(), said);
        }
    }
}
