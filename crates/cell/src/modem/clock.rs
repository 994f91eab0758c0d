//! The modem's own clock.

use core::time::Duration;

use sounding_units::{HostInstant, ModemInstant};

/// The relation of a modem's clock to the network's time.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ClockConfig {
    /// The clock's time when the network begins.
    pub begins: ModemInstant,
    /// Clock drift against the host's clock, ppm. Range −100..=100, as of quartz.
    pub drift_ppm: f64,
    /// Time after the network's start in which the clock is unset: until then it counts from 1980,
    /// as after a restart.
    pub unset_for: Duration,
}

impl Default for ClockConfig {
    /// A clock without faults, at midnight of 2022-01-01 in the time of GPS.
    fn default() -> Self {
        let begins = ModemInstant::from_nanos(1_325_030_418_000_000_000);
        Self { begins, drift_ppm: 0.0, unset_for: Duration::ZERO }
    }
}

/// A modem counts from 1980 until it has met a network, some seconds after it was switched on.
const UNSET: ModemInstant = ModemInstant::from_nanos(5_000_000_000);

impl ClockConfig {
    /// The clock's reading at `now`, in a network that began at `origin`.
    pub(super) fn stamp(&self, origin: HostInstant, now: HostInstant) -> ModemInstant {
        let elapsed = now - origin;
        let nanos = elapsed.as_nanos() as u64;
        let drift = (nanos as f64 * self.drift_ppm * 1e-6) as i64;
        let shown = Duration::from_nanos(nanos.saturating_add_signed(drift));
        let begins = if elapsed < self.unset_for { UNSET } else { self.begins };
        begins + shown
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_fast_clock_that_is_set_late_counts_from_1980_before() {
        let unset_for = Duration::from_secs(2);
        let clock = ClockConfig { drift_ppm: 20.0, unset_for, ..ClockConfig::default() };
        let origin = HostInstant::from_nanos(77);
        let shown = |seconds| clock.stamp(origin, origin + Duration::from_secs(seconds));
        assert_eq!(shown(1).as_nanos(), 6_000_020_000);
        assert_eq!(shown(100) - clock.begins, Duration::from_micros(100_002_000));
    }
}
