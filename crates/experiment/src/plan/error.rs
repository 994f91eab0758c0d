//! Errors of a plan, with their place.

use std::fmt;
use std::ops::Range;

use sounding_baselines::NameError;
use sounding_cc::ChoiceError;
use thiserror::Error;

/// A plan that cannot be run: the fault, its key, and the place of the key.
#[derive(Clone, Debug, Error, PartialEq, Eq)]
pub struct PlanError {
    /// The file, or the `--set`, with the key.
    pub name: String,
    /// Its text.
    pub text: String,
    /// The bytes of the text that it is about; `None` if it is about the whole.
    pub span: Option<Range<usize>>,
    /// The key by its dotted path; empty where it is about the whole.
    pub key: String,
    /// The fault.
    pub message: String,
}

impl PlanError {
    /// Line and column, both counted from 1; columns in characters.
    pub fn position(&self) -> Option<(usize, usize)> {
        let before = self.text.get(..self.span.as_ref()?.start)?;
        let line = before.rsplit('\n').next().unwrap_or(before);
        Some((before.matches('\n').count() + 1, line.chars().count() + 1))
    }
}

impl fmt::Display for PlanError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.name)?;
        if let Some((line, column)) = self.position() {
            write!(f, ":{line}:{column}")?;
        }
        if !self.key.is_empty() {
            write!(f, ": {}", self.key)?;
        }
        write!(f, ": {}", self.message)
    }
}

/// A key of a plan with an impossible value, before its line is known.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error("{key}{}{message}", if key.is_empty() { "" } else { ": " })]
pub struct Wrong {
    /// Its dotted path, if it is known.
    pub key: String,
    /// The fault.
    pub message: String,
}

impl Wrong {
    /// A fault of the value of a key.
    pub fn new(key: impl Into<String>, message: impl Into<String>) -> Self {
        Self { key: key.into(), message: message.into() }
    }
}

/// A controller that cannot have its name.
impl From<NameError> for Wrong {
    fn from(error: NameError) -> Self {
        Self::new("", error.to_string())
    }
}

/// A controller that cannot be made.
impl From<ChoiceError> for Wrong {
    fn from(error: ChoiceError) -> Self {
        Self::new("", error.to_string())
    }
}

impl From<PlanError> for Wrong {
    fn from(error: PlanError) -> Self {
        Self::new("", error.to_string())
    }
}
