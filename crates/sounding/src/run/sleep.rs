use std::time::Duration;

use sounding_host::{boottime_now, monotonic_now};
use sounding_units::HostInstant;

/// Notices that the machine slept: CLOCK_BOOTTIME went on, and CLOCK_MONOTONIC, by which everything
/// here and in the kernel is stamped, stood still. Old reports of the modem would be taken for new.
#[derive(Debug, Default)]
pub(super) struct Sleep {
    /// How far the first clock was ahead of the second, in nanoseconds.
    ahead: Option<i64>,
}

/// Less is no sleep: an estimate may be a fifth of this old.
const LEAST: Duration = Duration::from_secs(1);

impl Sleep {
    /// How long the machine slept since the last call, if it did.
    pub(super) fn look(&mut self) -> Option<Duration> {
        // In this order a pause between the two makes a sleep shorter, and never makes one.
        let boottime = boottime_now();
        self.handle(boottime, monotonic_now())
    }

    fn handle(&mut self, boottime: HostInstant, monotonic: HostInstant) -> Option<Duration> {
        let ahead = (boottime.as_nanos() as i64).wrapping_sub(monotonic.as_nanos() as i64);
        let before = self.ahead.unwrap_or(ahead);
        // The most that was seen: a look that was held up in the middle is no sleep later.
        self.ahead = Some(ahead.max(before));
        let slept = Duration::from_nanos(u64::try_from(ahead - before).unwrap_or(0));
        (slept >= LEAST).then_some(slept)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(millis: u64) -> HostInstant {
        HostInstant::from_nanos(millis * 1_000_000)
    }

    #[test]
    fn a_machine_that_slept_for_minutes_is_reported_once() {
        let mut sleep = Sleep::default();
        assert_eq!(sleep.handle(at(900_000), at(500_000)), None);
        assert_eq!(sleep.handle(at(900_005), at(500_005)), None);
        let slept = sleep.handle(at(1_080_010), at(500_010));
        assert_eq!(slept, Some(Duration::from_secs(180)));
        assert_eq!(sleep.handle(at(1_080_015), at(500_015)), None);
    }

    #[test]
    fn a_look_that_was_held_up_is_no_sleep() {
        let mut sleep = Sleep::default();
        assert_eq!(sleep.handle(at(1_000), at(1_000)), None);
        assert_eq!(sleep.handle(at(1_005), at(6_005)), None);
        assert_eq!(sleep.handle(at(6_010), at(6_010)), None);
    }

    #[test]
    fn this_machine_does_not_sleep_meanwhile() {
        let mut sleep = Sleep::default();
        assert_eq!((sleep.look(), sleep.look()), (None, None));
    }
}
