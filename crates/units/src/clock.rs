use core::fmt;
use core::ops::{Add, Sub};
use core::time::Duration;

/// A moment on the host's monotonic clock, in nanoseconds from an origin the caller chose.
///
/// Live code uses CLOCK_MONOTONIC, because the kernel side reads the same clock; simulations start
/// at zero.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct HostInstant(u64);

/// A moment on the modem's clock, in nanoseconds since 1980-01-06 00:00 UTC (the GPS epoch) without
/// leap seconds.
///
/// A modem that has not yet found a network counts from 1980 at power-up. So only differences
/// between instants of one modem are meaningful. Some records have no time: their stamp is zero,
/// the clock's origin ([`is_known`](ModemInstant::is_known)).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ModemInstant(u64);

macro_rules! instant {
    ($name:ident) => {
        impl $name {
            /// From nanoseconds since the clock's origin.
            pub const fn from_nanos(nanos: u64) -> Self {
                Self(nanos)
            }

            /// Nanoseconds since the clock's origin.
            pub const fn as_nanos(self) -> u64 {
                self.0
            }

            /// The time since `earlier`, or zero if `earlier` is the later of the two.
            pub const fn saturating_since(self, earlier: Self) -> Duration {
                Duration::from_nanos(self.0.saturating_sub(earlier.0))
            }

            /// The moment `span` before this one, or the clock's origin.
            pub const fn saturating_before(self, span: Duration) -> Self {
                Self(self.0.saturating_sub(saturating_nanos(span)))
            }
        }

        impl Add<Duration> for $name {
            type Output = $name;
            fn add(self, span: Duration) -> $name {
                Self(self.0.saturating_add(saturating_nanos(span)))
            }
        }

        impl Sub<$name> for $name {
            type Output = Duration;
            fn sub(self, earlier: $name) -> Duration {
                self.saturating_since(earlier)
            }
        }

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                write!(f, "{}.{:06} s", self.0 / 1_000_000_000, self.0 / 1_000 % 1_000_000)
            }
        }
    };
}

instant!(HostInstant);
instant!(ModemInstant);

const fn saturating_nanos(span: Duration) -> u64 {
    let nanos = span.as_nanos();
    if nanos > u64::MAX as u128 { u64::MAX } else { nanos as u64 }
}

impl ModemInstant {
    /// From the 64-bit time stamp of a Diag log record.
    ///
    /// The high 48 bits count units of 1.25 ms. The low 16 bits count 1/32 chip, 49152 of them to a
    /// unit. Larger values of the low bits are accepted and carried over.
    pub const fn from_diag(stamp: u64) -> Self {
        let units = stamp >> 16;
        let chips = stamp & 0xFFFF;
        // 2^48 units are more nanoseconds than fit; a stamp that absurd stops at the end of time.
        Self(units.saturating_mul(1_250_000).saturating_add(chips * 1_250_000 / 49_152))
    }

    /// The time stamp a modem would write for this moment; [`from_diag`](Self::from_diag) of it is
    /// at most 26 ns earlier.
    pub const fn to_diag(self) -> u64 {
        let units = self.0 / 1_250_000;
        let chips = (self.0 % 1_250_000) * 49_152 / 1_250_000;
        units << 16 | chips
    }

    /// Whether a record has this time; a stamp of zero means that the modem knew none.
    pub const fn is_known(self) -> bool {
        self.0 != 0
    }

    /// As [`unix_nanos`](Self::unix_nanos), of a moment that [is known](Self::is_known).
    pub const fn known_unix_nanos(self) -> Option<u64> {
        if self.is_known() { Some(self.unix_nanos()) } else { None }
    }

    /// The moment on the Unix clock, in nanoseconds.
    pub const fn unix_nanos(self) -> u64 {
        // Ten years and five days, two of them leap days, lie between the two epochs.
        const GPS_EPOCH_SECS: u64 = 315_964_800;
        self.0.saturating_add(GPS_EPOCH_SECS * 1_000_000_000)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_real_time_stamp_is_the_time_in_its_file_name() {
        // First record of a capture named 20211220_004729 in Korea, nine hours ahead of UTC.
        let at = ModemInstant::from_diag(69_413_845_523_963_414);
        let unix_secs = at.unix_nanos() / 1_000_000_000;
        // 2021-12-19T15:47:13Z
        assert_eq!(unix_secs, 1_639_928_833);
    }

    #[test]
    fn diag_stamps_survive_the_round_trip_to_a_chip() {
        for chips in [0, 1, 17, 24_576, 49_151] {
            let stamp = 55_000_000_000 << 16 | chips;
            let back = ModemInstant::from_diag(stamp).to_diag();
            assert!(stamp - back <= 1, "{chips}");
        }
    }

    #[test]
    fn the_largest_stamp_does_not_overflow() {
        let at = ModemInstant::from_diag(u64::MAX);
        assert_eq!(at + Duration::MAX, ModemInstant::from_nanos(u64::MAX));
        assert_eq!(ModemInstant::default() - at, Duration::ZERO);
    }
}
