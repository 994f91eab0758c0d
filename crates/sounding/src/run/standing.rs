//! When the daemon says how its modem stands: at each change of the link's state, and each minute.

use std::time::Duration;

use sounding_link::{LinkEstimate, State};
use sounding_units::HostInstant;

use super::events::Events;

/// Between two looks.
const LOOK_EVERY: Duration = Duration::from_millis(100);

/// A state that lasts less is not said: a device that sleeps between two packets changes its state
/// many times a second.
const SETTLED: Duration = Duration::from_secs(1);

/// Without a change it is said this often.
const EVERY: Duration = Duration::from_secs(60);

/// How a modem stands.
#[derive(Debug, Default)]
pub(super) struct Standing {
    looked: HostInstant,
    /// The state that was said last, if any line was.
    said: Option<Option<State>>,
    /// The state now, and since when.
    state: Option<(Option<State>, HostInstant)>,
    /// When the last line was, and how many records there were.
    last: Option<(HostInstant, u64)>,
}

/// Why a line is due.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Due {
    Change,
    Minute,
}

impl Standing {
    /// What is due at this time. `records` is how many have come so far.
    pub(super) fn attend(
        &mut self,
        now: HostInstant,
        estimate: impl FnOnce() -> Option<LinkEstimate>,
        records: impl FnOnce() -> u64,
        events: &mut Events,
    ) {
        if now - self.looked < LOOK_EVERY {
            return;
        }
        self.looked = now;
        let estimate = estimate();
        let state = estimate.as_ref().and_then(LinkEstimate::known_state);
        let Some(due) = self.due(now, state) else { return };
        let records = records();
        let (since, before) = self.last.unwrap_or((now, records));
        let span = (now - since).as_secs_f64();
        let records_per_sec = (span > 0.0).then(|| (records - before.min(records)) as f64 / span);
        if events.standing(now, estimate.as_ref(), records_per_sec, due == Due::Minute) {
            self.said = Some(state);
            self.last = Some((now, records));
        }
    }

    fn due(&mut self, now: HostInstant, state: Option<State>) -> Option<Due> {
        let (before, since) = *self.state.get_or_insert((state, now));
        if before != state {
            self.state = Some((state, now));
            return None;
        }
        // The first line counts records from here on.
        let (last, _) = *self.last.get_or_insert((now, 0));
        if now - since >= SETTLED && self.said != Some(state) {
            return Some(Due::Change);
        }
        (now - last >= EVERY).then_some(Due::Minute)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(ms: u64) -> HostInstant {
        HostInstant::from_nanos(ms * 1_000_000)
    }

    /// When a line is due, if each one is said.
    fn lines(state: impl Fn(u64) -> Option<State>, until: u64) -> Vec<(u64, Due)> {
        let mut standing = Standing::default();
        let mut lines = Vec::new();
        for ms in (0..until).step_by(100) {
            if let Some(due) = standing.due(at(ms), state(ms)) {
                standing.said = Some(state(ms));
                standing.last = Some((at(ms), 0));
                lines.push((ms, due));
            }
        }
        lines
    }

    #[test]
    fn a_state_is_said_once_it_has_lasted_a_second_and_again_each_minute() {
        let found = lines(|_| Some(State::Active), 130_000);
        assert_eq!(found, [(1_000, Due::Change), (61_000, Due::Minute), (121_000, Due::Minute)]);
        let changing = |ms| Some(if ms < 5_000 { State::Active } else { State::Silent });
        assert_eq!(lines(changing, 30_000), [(1_000, Due::Change), (6_000, Due::Change)]);
    }

    #[test]
    fn a_state_that_flaps_is_not_said_more_than_once_a_minute() {
        let flapping = |ms| Some(if ms / 500 % 2 == 0 { State::Active } else { State::Idle });
        let found = lines(flapping, 200_000);
        assert!(found.iter().all(|(_, due)| *due == Due::Minute), "{found:?}");
        assert!((2..=3).contains(&found.len()), "{found:?}");
    }
}
