//! A part of a sweep, for one of several machines.

use std::fmt;
use std::str::FromStr;

use crate::plan::Run;

/// Every `of`th run, beginning with the `number`th.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Part {
    /// Counted from 1.
    pub number: usize,
    /// Their number.
    pub of: usize,
}

/// The whole text.
impl Default for Part {
    fn default() -> Self {
        Self { number: 1, of: 1 }
    }
}

impl Part {
    /// Whether a run is in it. Runs that lie next to each other in a plan take about as long, so
    /// each part gets some of all kinds.
    pub fn has(&self, run: &Run) -> bool {
        (run.number - 1) % self.of == self.number - 1
    }

    /// Whether it is all of it.
    pub fn is_whole(&self) -> bool {
        self.of == 1
    }
}

impl fmt::Display for Part {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/{}", self.number, self.of)
    }
}

/// Why a text is no part.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0:?} is no part of a sweep: write 1/8 for the first of eight")]
pub struct InvalidPart(String);

impl FromStr for Part {
    type Err = InvalidPart;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let wrong = || InvalidPart(text.into());
        let (number, of) = text.split_once('/').ok_or_else(wrong)?;
        let (number, of) = (number.trim().parse(), of.trim().parse());
        let (Ok(number), Ok(of)) = (number, of) else { return Err(wrong()) };
        if number == 0 || number > of {
            return Err(wrong());
        }
        Ok(Self { number, of })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_part_is_counted_from_one() {
        assert_eq!("3/8".parse(), Ok(Part { number: 3, of: 8 }));
        for text in ["0/8", "9/8", "3", "a/b", "1/0", "-1/2"] {
            assert_eq!(text.parse::<Part>(), Err(InvalidPart(text.into())));
        }
    }
}
