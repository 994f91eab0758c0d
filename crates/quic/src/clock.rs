use std::time::Instant;

use sounding_host::monotonic_now;
use sounding_units::HostInstant;

/// Converts the stack's times to the clock of estimates.
///
/// On Linux both are CLOCK_MONOTONIC. But an [`Instant`] does not show its value, only differences
/// to another one.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Clock {
    instant: Instant,
    host: HostInstant,
}

impl Clock {
    /// Anchored at a recent time.
    pub(crate) fn anchored(at: Instant) -> Self {
        let since = at.elapsed();
        Self { instant: at, host: monotonic_now().saturating_before(since) }
    }

    pub(crate) fn host(&self, at: Instant) -> HostInstant {
        match at.checked_duration_since(self.instant) {
            Some(after) => self.host + after,
            None => self.host.saturating_before(self.instant.saturating_duration_since(at)),
        }
    }

    /// The stack's time of a later one of estimates. A time before the anchor is the anchor.
    pub(crate) fn instant(&self, at: HostInstant) -> Instant {
        self.instant + (at - self.host)
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    #[test]
    fn distances_are_the_same_on_both_clocks_before_and_after_the_anchor() {
        let anchor = Instant::now();
        let clock = Clock::anchored(anchor);
        let span = Duration::from_millis(250);
        assert_eq!(clock.host(anchor + span) - clock.host(anchor), span);
        assert_eq!(clock.host(anchor) - clock.host(anchor - span), span);
        assert_eq!(clock.instant(clock.host(anchor + span)), anchor + span);
        assert!(clock.host(anchor) <= monotonic_now());
    }
}
