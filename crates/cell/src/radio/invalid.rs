//! Settings that are not possible.

use core::fmt;

/// A setting outside its range.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct InvalidConfig {
    /// Its name in the scenario.
    pub what: &'static str,
    /// The valid values.
    pub must: &'static str,
}

impl InvalidConfig {
    /// The error, unless the condition holds; an unordered comparison (a NaN) does not hold.
    pub(crate) fn unless(
        holds: bool,
        what: &'static str,
        must: &'static str,
    ) -> Result<(), InvalidConfig> {
        if holds { Ok(()) } else { Err(Self { what, must }) }
    }
}

impl fmt::Display for InvalidConfig {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.what, self.must)
    }
}

impl core::error::Error for InvalidConfig {}
