use std::time::Duration;

use sounding_units::HostInstant;

/// When a source that has closed is tried again.
///
/// A modem that was unplugged has worked before, and is looked for at once when it is gone. A
/// bridge that accepts a connection and closes it, because its own modem is gone, is tried less and
/// less often: every attempt costs both ends something and adds lines to logs.
///
/// ```text
///   open ── closes within 2 s ──▶ left alone for 5 ms, 10 ms, 20 ms … 5 s, then tried
///     └──── works for longer ───▶ tried at once
/// ```
#[derive(Clone, Copy, Debug)]
pub struct Retry {
    opened: HostInstant,
    wait: Duration,
    due: HostInstant,
}

/// A source that was open for this long did not close at once. Chosen.
const WORKED: Duration = Duration::from_secs(2);
/// The pause after a source first closes at once. Chosen: a modem that starts may close once.
const LEAST: Duration = Duration::from_millis(5);
/// The longest pause. Chosen: a bridge that is back is found within it.
const MOST: Duration = Duration::from_secs(5);

impl Retry {
    /// For a source that was opened at `now`.
    pub fn new(now: HostInstant) -> Self {
        Self { opened: now, wait: Duration::ZERO, due: now }
    }

    /// It opened again.
    pub fn handle_opened(&mut self, now: HostInstant) {
        self.opened = now;
    }

    /// It closed; how long it is left alone.
    pub fn handle_closed(&mut self, now: HostInstant) -> Duration {
        self.wait = if now - self.opened >= WORKED {
            Duration::ZERO
        } else {
            (self.wait * 2).clamp(LEAST, MOST)
        };
        self.due = now + self.wait;
        self.wait
    }

    /// Whether it may be tried.
    pub fn is_due(&self, now: HostInstant) -> bool {
        now >= self.due
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MS: Duration = Duration::from_millis(1);

    #[test]
    fn what_closes_at_once_is_tried_less_and_less_often() {
        let mut now = HostInstant::from_nanos(1_000_000_000);
        let mut retry = Retry::new(now);
        let mut attempts = 0;
        let end = now + Duration::from_secs(60);
        while now < end {
            let wait = retry.handle_closed(now + MS);
            assert!(!retry.is_due(now + MS) && retry.is_due(now + MS + wait));
            now = now + MS + wait;
            retry.handle_opened(now);
            attempts += 1;
        }
        assert!((15..=30).contains(&attempts), "{attempts} in a minute");
        assert_eq!(retry.handle_closed(now), MOST);
    }

    #[test]
    fn what_has_worked_is_looked_for_at_once() {
        let now = HostInstant::from_nanos(1_000_000_000);
        let mut retry = Retry::new(now);
        for _ in 0..9 {
            retry.handle_closed(now);
        }
        let later = now + Duration::from_secs(3);
        assert_eq!(retry.handle_closed(later), Duration::ZERO);
        assert!(retry.is_due(later));
        retry.handle_opened(later);
        assert_eq!(retry.handle_closed(later), LEAST, "and what was before is forgotten");
    }
}
