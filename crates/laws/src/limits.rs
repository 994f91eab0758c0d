//! Limits on the values of laws, so that their products stay below 2^64.

use core::time::Duration;

/// Ten seconds: no path is this long.
pub(crate) const MAX_RTT_US: u64 = 10_000_000;

/// Whole microseconds, [`MAX_RTT_US`] at most.
pub(crate) fn micros(span: Duration) -> u64 {
    u64::try_from(span.as_micros()).unwrap_or(u64::MAX).min(MAX_RTT_US)
}
