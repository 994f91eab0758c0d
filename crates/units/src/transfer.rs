//! Conversions between bytes, rates and times.

use core::ops::Mul;
use core::time::Duration;

use crate::{Bytes, Rate};

impl Bytes {
    /// The rate that moves these bytes in `span`; zero for an empty span.
    ///
    /// Saturates at [`Rate::MAX`].
    pub fn per(self, span: Duration) -> Rate {
        let nanos = span.as_nanos();
        if nanos == 0 {
            return Rate::ZERO;
        }
        let bits = u128::from(self.count()) * 8 * 1_000_000_000 / nanos;
        Rate::from_bits_per_sec(u64::try_from(bits).unwrap_or(u64::MAX))
    }

    /// The time these bytes take at `rate`, rounded up; `None` at a rate of zero.
    pub fn time_at(self, rate: Rate) -> Option<Duration> {
        let bits_per_sec = u128::from(rate.bits_per_sec());
        if bits_per_sec == 0 {
            return None;
        }
        let nanos = (u128::from(self.count()) * 8 * 1_000_000_000).div_ceil(bits_per_sec);
        Some(Duration::from_nanos(u64::try_from(nanos).unwrap_or(u64::MAX)))
    }
}

impl Mul<Duration> for Rate {
    type Output = Bytes;
    fn mul(self, span: Duration) -> Bytes {
        // A rate of 2^64 bit/s over 2^64 ns stays below 2^128; only the result can be too large.
        let bytes = u128::from(self.bits_per_sec()) * span.as_nanos() / 8_000_000_000;
        Bytes::new(u64::try_from(bytes).unwrap_or(u64::MAX))
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
