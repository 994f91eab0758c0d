use core::time::Duration;

use crate::{HostInstant, ModemInstant};

/// Converts modem time to host time.
///
/// A record reaches the host some time after the modem stamped it, never before. The smallest
/// recent delay is the best estimate of the offset between the clocks. It is renewed every ten
/// seconds, so that the drift of two quartz clocks stays below a millisecond.
#[derive(Clone, Debug, Default)]
pub struct ClockMap {
    current: Option<Offset>,
    next: Option<Offset>,
}

/// Host nanoseconds at modem time zero; negative where the modem's clock is ahead.
#[derive(Clone, Copy, Debug)]
struct Offset {
    since: HostInstant,
    nanos: i128,
}

const RENEW: Duration = Duration::from_secs(10);

/// A step of the offset beyond this is a modem whose clock was set, not a slow record.
const STEP: i128 = 10_000_000_000;

impl ClockMap {
    /// A record that the modem stamped `at` arrived `now`.
    pub fn handle_record(&mut self, now: HostInstant, at: ModemInstant) {
        let seen =
            Offset { since: now, nanos: i128::from(now.as_nanos()) - i128::from(at.as_nanos()) };
        let stepped = self.current.is_some_and(|c| (c.nanos - seen.nanos).abs() > STEP);
        if stepped {
            *self = Self::default();
        }
        for slot in [&mut self.current, &mut self.next] {
            match slot {
                Some(offset) => offset.nanos = offset.nanos.min(seen.nanos),
                None => *slot = Some(seen),
            }
        }
        if self.next.is_some_and(|next| now - next.since > RENEW) {
            self.current = self.next.replace(seen);
        }
    }

    /// The host time of a moment of the modem, once a record has been seen.
    pub fn host(&self, at: ModemInstant) -> Option<HostInstant> {
        let nanos = self.current?.nanos + i128::from(at.as_nanos());
        Some(HostInstant::from_nanos(u64::try_from(nanos.max(0)).unwrap_or(u64::MAX)))
    }

    /// The modem's time of a moment of the host, once a record has been seen.
    pub fn modem(&self, at: HostInstant) -> Option<ModemInstant> {
        let nanos = i128::from(at.as_nanos()) - self.current?.nanos;
        Some(ModemInstant::from_nanos(u64::try_from(nanos.max(0)).unwrap_or(u64::MAX)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn host(ms: u64) -> HostInstant {
        HostInstant::from_nanos(ms * 1_000_000)
    }

    fn modem(ms: u64) -> ModemInstant {
        ModemInstant::from_nanos(1_000_000_000_000_000 + ms * 1_000_000)
    }

    #[test]
    fn the_fastest_record_sets_the_offset() {
        let mut map = ClockMap::default();
        for (ms, delay) in [(0, 30), (100, 2), (200, 50)] {
            map.handle_record(host(ms + delay), modem(ms));
        }
        assert_eq!(map.host(modem(300)), Some(host(302)));
        assert_eq!(map.modem(host(302)), Some(modem(300)));
    }

    #[test]
    fn drift_is_followed_within_two_renewals() {
        let mut map = ClockMap::default();
        map.handle_record(host(0), modem(0));
        // From now on the modem's clock is five milliseconds later than before.
        for ms in (1000..30_000).step_by(100) {
            map.handle_record(host(ms + 5), modem(ms));
        }
        assert_eq!(map.host(modem(30_000)), Some(host(30_005)));
    }

    #[test]
    fn a_clock_that_is_set_starts_afresh() {
        let mut map = ClockMap::default();
        map.handle_record(host(1000), ModemInstant::from_nanos(5));
        map.handle_record(host(1001), modem(0));
        assert_eq!(map.host(modem(0)), Some(host(1001)));
    }

    #[test]
    fn nothing_is_known_before_the_first_record() {
        assert_eq!(ClockMap::default().host(modem(0)), None);
    }
}
