use core::fmt;
use core::iter::Sum;
use core::ops::{Add, AddAssign, Sub};
use core::time::Duration;

use crate::Rate;

/// A number of bytes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Bytes(u64);

impl Bytes {
    /// No bytes at all.
    pub const ZERO: Bytes = Bytes(0);

    /// Wraps a count of bytes.
    pub const fn new(count: u64) -> Self {
        Self(count)
    }

    /// The count itself.
    pub const fn count(self) -> u64 {
        self.0
    }

    /// The rate that moves these bytes in `span`; zero for an empty span.
    ///
    /// Saturates at [`Rate::MAX`].
    pub fn per(self, span: Duration) -> Rate {
        let nanos = span.as_nanos();
        if nanos == 0 {
            return Rate::ZERO;
        }
        let bits = u128::from(self.0) * 8 * 1_000_000_000 / nanos;
        Rate::from_bits_per_sec(u64::try_from(bits).unwrap_or(u64::MAX))
    }

    /// The time these bytes take at `rate`, rounded up; `None` at a rate of zero.
    pub fn time_at(self, rate: Rate) -> Option<Duration> {
        let bits_per_sec = u128::from(rate.bits_per_sec());
        if bits_per_sec == 0 {
            return None;
        }
        let nanos = (u128::from(self.0) * 8 * 1_000_000_000).div_ceil(bits_per_sec);
        Some(Duration::from_nanos(u64::try_from(nanos).unwrap_or(u64::MAX)))
    }

    /// Subtraction that stops at zero.
    pub const fn saturating_sub(self, other: Bytes) -> Bytes {
        Bytes(self.0.saturating_sub(other.0))
    }
}

impl Add for Bytes {
    type Output = Bytes;
    fn add(self, other: Bytes) -> Bytes {
        Bytes(self.0.saturating_add(other.0))
    }
}

impl AddAssign for Bytes {
    fn add_assign(&mut self, other: Bytes) {
        *self = *self + other;
    }
}

impl Sub for Bytes {
    type Output = Bytes;
    fn sub(self, other: Bytes) -> Bytes {
        self.saturating_sub(other)
    }
}

impl Sum for Bytes {
    fn sum<I: Iterator<Item = Bytes>>(iter: I) -> Bytes {
        iter.fold(Bytes::ZERO, Add::add)
    }
}

impl fmt::Display for Bytes {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} B", self.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rate_times_time_gives_the_bytes_back() {
        let rate = Bytes::new(125_000).per(Duration::from_millis(100));
        assert_eq!(rate, Rate::from_bits_per_sec(10_000_000));
        assert_eq!(rate * Duration::from_millis(100), Bytes::new(125_000));
        assert_eq!(Bytes::new(125_000).time_at(rate), Some(Duration::from_millis(100)));
    }

    #[test]
    fn nothing_divides_by_zero() {
        assert_eq!(Bytes::new(1).per(Duration::ZERO), Rate::ZERO);
        assert_eq!(Bytes::new(1).time_at(Rate::ZERO), None);
    }

    #[test]
    fn extremes_saturate_instead_of_wrapping() {
        let all = Bytes::new(u64::MAX);
        assert_eq!(all + all, all);
        assert_eq!(all.per(Duration::from_nanos(1)), Rate::MAX);
        assert_eq!(Bytes::ZERO - all, Bytes::ZERO);
    }
}
