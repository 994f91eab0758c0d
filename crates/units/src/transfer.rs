//! Conversions between bytes, rates and times.

use core::ops::Mul;
use core::time::Duration;

use crate::ratio::{ratio, saturated, wide_ratio};
use crate::{Bytes, Rate};

/// Bits in a byte, times nanoseconds in a second.
const BITS_NANOS: u64 = 8_000_000_000;

impl Bytes {
    /// The rate that moves these bytes in `span`; zero for an empty span.
    ///
    /// Saturates at [`Rate::MAX`].
    #[inline]
    pub fn per(self, span: Duration) -> Rate {
        let nanos = span.as_nanos();
        Rate::from_bits_per_sec(match u64::try_from(nanos) {
            Ok(0) => 0,
            Ok(nanos) => ratio(self.count(), BITS_NANOS, nanos),
            Err(_) => wide_ratio(self.count(), BITS_NANOS.into(), nanos),
        })
    }

    /// The time these bytes take at `rate`, rounded up; `None` at a rate of zero.
    #[inline]
    pub fn time_at(self, rate: Rate) -> Option<Duration> {
        let bits_per_sec = rate.bits_per_sec();
        if bits_per_sec == 0 {
            return None;
        }
        let nanos = match self.count().checked_mul(BITS_NANOS) {
            Some(product) => product.div_ceil(bits_per_sec),
            None => {
                let product = u128::from(self.count()) * u128::from(BITS_NANOS);
                saturated(product.div_ceil(bits_per_sec.into()))
            }
        };
        Some(Duration::from_nanos(nanos))
    }
}

impl Mul<Duration> for Rate {
    type Output = Bytes;
    #[inline]
    fn mul(self, span: Duration) -> Bytes {
        let nanos = span.as_nanos();
        Bytes::new(match u64::try_from(nanos) {
            Ok(nanos) => ratio(self.bits_per_sec(), nanos, BITS_NANOS),
            Err(_) => wide_ratio(self.bits_per_sec(), nanos, BITS_NANOS.into()),
        })
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
    fn conversions_are_exact_on_both_sides_of_64_bits() {
        let edge = u64::MAX / BITS_NANOS;
        let counts = [0, 1, 1448, edge - 1, edge, edge + 1, 1 << 60, u64::MAX];
        let spans = [Duration::from_nanos(1), Duration::from_millis(40), Duration::from_secs(3)]
            .into_iter()
            .chain([u64::MAX - 1, u64::MAX].map(Duration::from_nanos))
            .chain([Duration::from_nanos(u64::MAX) + Duration::from_nanos(1), Duration::MAX]);
        let scale = u128::from(BITS_NANOS);
        for (count, span) in
            counts.iter().flat_map(|&count| spans.clone().map(move |span| (count, span)))
        {
            let (bytes, rate) = (Bytes::new(count), Rate::from_bits_per_sec(count));
            let (wide, nanos) = (u128::from(count), span.as_nanos());
            assert_eq!(bytes.per(span).bits_per_sec(), saturated(wide * scale / nanos));
            assert_eq!((rate * span).count(), saturated(wide.saturating_mul(nanos) / scale));
            let bits_per_sec = nanos.min(u64::MAX.into()) as u64;
            let time = bytes.time_at(Rate::from_bits_per_sec(bits_per_sec)).unwrap();
            let wanted = (wide * scale).div_ceil(bits_per_sec.into());
            assert_eq!(time, Duration::from_nanos(saturated(wanted)));
            for (numerator, denominator) in [(1, 1), (2885, 1000), (u32::MAX, 7)] {
                let wanted = wide * u128::from(numerator) / u128::from(denominator);
                let scaled = rate.scaled(numerator, denominator).bits_per_sec();
                assert_eq!(scaled, saturated(wanted));
            }
        }
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
