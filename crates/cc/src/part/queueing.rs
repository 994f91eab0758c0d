use core::time::Duration;

use sounding_units::HostInstant;

/// RFC 6817: BASE_HISTORY, in minutes.
const BASE_MINUTES: usize = 10;
const MINUTE: Duration = Duration::from_secs(60);
/// RFC 6817: CURRENT_FILTER, whose length is left open; chosen.
const CURRENT: usize = 4;

/// Separates the queueing delay from the path's: it is the minimum of the newest samples minus the
/// minimum of ten minutes.
#[derive(Clone, Copy, Debug)]
pub struct QueueingDelay {
    minutes: [Duration; BASE_MINUTES],
    minute_began: HostInstant,
    current: [Duration; CURRENT],
    next: usize,
    /// The least of all minutes.
    base: Option<Duration>,
}

impl QueueingDelay {
    /// Without samples.
    pub fn new(now: HostInstant) -> Self {
        Self {
            minutes: [Duration::MAX; BASE_MINUTES],
            minute_began: now,
            current: [Duration::MAX; CURRENT],
            next: 0,
            base: None,
        }
    }

    /// Adds a sample. Returns the new queueing delay.
    #[inline]
    pub fn handle_sample(&mut self, now: HostInstant, delay: Duration) -> Duration {
        if now - self.minute_began >= MINUTE {
            self.minute_began = now;
            self.minutes.rotate_right(1);
            self.minutes[0] = delay;
            self.base = self.minutes.iter().min().copied();
        }
        self.minutes[0] = self.minutes[0].min(delay);
        let base = self.base.map_or(delay, |base| base.min(delay));
        self.base = Some(base);
        self.current[self.next] = delay;
        self.next = (self.next + 1) % CURRENT;
        let current = self.current.iter().min().copied().unwrap_or(delay);
        current.saturating_sub(base)
    }

    /// The delay without queue; `None` before the first sample.
    #[inline]
    pub fn base(&self) -> Option<Duration> {
        self.base
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn millis(millis: u64) -> Duration {
        Duration::from_millis(millis)
    }

    #[test]
    fn one_slow_packet_is_no_queue() {
        let mut delay = QueueingDelay::new(HostInstant::default());
        let delays = [20, 20, 90, 20, 30, 30, 30, 30];
        let queueing =
            delays.map(|ms| delay.handle_sample(HostInstant::default(), millis(ms)).as_millis());
        assert_eq!(queueing, [0, 0, 0, 0, 0, 0, 0, 10]);
    }

    #[test]
    fn a_path_that_grew_longer_is_known_after_ten_minutes() {
        let mut delay = QueueingDelay::new(HostInstant::default());
        delay.handle_sample(HostInstant::default(), millis(20));
        let mut bases = (1..=11_u32).map(|minute| {
            delay.handle_sample(HostInstant::default() + MINUTE * minute, millis(50));
            delay.base().map(|base| base.as_millis())
        });
        assert_eq!(bases.nth(8), Some(Some(20)));
        assert_eq!(bases.next(), Some(Some(50)));
    }
}
