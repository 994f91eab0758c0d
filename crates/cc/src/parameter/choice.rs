use alloc::string::{String, ToString};
use alloc::vec::Vec;
use core::fmt;
use core::str::FromStr;

use super::{ParameterError, quoted};

/// A controller by its name, with the given parameters: `copa:delta=0.1` in commands, and
/// `copa(delta=0.1)` in tables.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Choice {
    name: String,
    stated: Vec<(String, String)>,
}

/// Why a controller cannot be made.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ChoiceError {
    /// No controller has this name.
    #[error("unknown controller `{name}`, there are {}", quoted(&known.iter().map(String::as_str).collect::<Vec<_>>()))]
    Controller {
        /// The given text.
        name: String,
        /// The known names.
        known: Vec<String>,
    },
    /// It cannot be tuned.
    #[error("{controller} takes no parameters, and `{name}` is one")]
    Untunable {
        /// The controller.
        controller: String,
        /// The first parameter that was stated.
        name: String,
    },
    /// One of its parameters cannot be.
    #[error("{controller}: {source}")]
    Parameter {
        /// The controller.
        controller: String,
        /// The fault.
        source: ParameterError,
    },
    /// Its parameters do not go together.
    #[error("{controller}: {why}")]
    Together {
        /// The controller.
        controller: String,
        /// The fault.
        why: &'static str,
    },
    /// A parameter without a value.
    #[error("{text:?} has no value for `{name}`, as copa:delta=0.1 has")]
    Form {
        /// The whole text.
        text: String,
        /// The parameter.
        name: String,
    },
}

impl ChoiceError {
    /// The parameter that it is about, if it is about one.
    pub fn parameter(&self) -> Option<&str> {
        match self {
            Self::Controller { .. } | Self::Together { .. } | Self::Form { .. } => None,
            Self::Untunable { name, .. } => Some(name),
            Self::Parameter { source, .. } => Some(source.parameter()),
        }
    }
}

impl Choice {
    /// A controller as published.
    pub fn plain(name: impl Into<String>) -> Self {
        Self { name: name.into(), stated: Vec::new() }
    }

    /// The same with these parameters.
    #[must_use]
    pub fn with(self, stated: impl IntoIterator<Item = (String, String)>) -> Self {
        Self { stated: self.stated.into_iter().chain(stated).collect(), ..self }
    }

    /// The controller's name, without parameters.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The given parameters.
    pub fn stated(&self) -> impl Iterator<Item = (&str, &str)> {
        self.stated.iter().map(|(name, value)| (name.as_str(), value.as_str()))
    }

    /// Whether no parameter is given.
    pub fn is_plain(&self) -> bool {
        self.stated.is_empty()
    }
}

/// `NAME`, or `NAME:PARAMETER=VALUE` with any number of these, each behind a colon.
impl FromStr for Choice {
    type Err = ChoiceError;

    fn from_str(text: &str) -> Result<Self, ChoiceError> {
        let mut parts = text.split(':');
        let name = parts.next().unwrap_or_default();
        let stated = parts.map(|part| {
            let missing = || ChoiceError::Form { text: text.into(), name: part.trim().into() };
            let (name, value) = part.split_once('=').ok_or_else(missing)?;
            Ok((name.trim().to_string(), value.trim().to_string()))
        });
        Ok(Self::plain(name).with(stated.collect::<Result<Vec<_>, _>>()?))
    }
}

/// As tables have it.
impl fmt::Display for Choice {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.name)?;
        for (at, (name, value)) in self.stated().enumerate() {
            write!(f, "{}{name}={value}", if at == 0 { "(" } else { "," })?;
        }
        f.write_str(if self.is_plain() { "" } else { ")" })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_choice_is_read_from_a_command_and_shown_in_a_table() {
        let choice: Choice = "copa:delta=0.1:mode=default".parse().unwrap();
        assert_eq!(choice.name(), "copa");
        assert_eq!(choice.stated().collect::<Vec<_>>(), [("delta", "0.1"), ("mode", "default")]);
        assert_eq!(choice.to_string(), "copa(delta=0.1,mode=default)");
        let plain: Choice = "ledbat++".parse().unwrap();
        assert!(plain.is_plain());
        assert_eq!(plain.to_string(), "ledbat++");
        assert_eq!(
            "copa:delta".parse::<Choice>().unwrap_err().to_string(),
            "\"copa:delta\" has no value for `delta`, as copa:delta=0.1 has"
        );
    }
}
