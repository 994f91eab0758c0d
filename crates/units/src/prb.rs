use core::fmt;

/// Physical resource blocks: 12 subcarriers for one slot. Range 0..=275 (TS 36.101 §5.6, TS
/// 38.101-1 §5.3.2).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Prb(u16);

impl Prb {
    /// Wraps a count of resource blocks.
    pub const fn new(count: u16) -> Self {
        Self(count)
    }

    /// The count itself.
    pub const fn count(self) -> u16 {
        self.0
    }
}

impl fmt::Display for Prb {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} PRB", self.0)
    }
}
