use alloc::collections::BTreeMap;
use alloc::vec::Vec;
use core::time::Duration;

use sounding_units::HostInstant;

use crate::LogCode;

/// Bytes are counted over this long before they are judged (the radio's bursts last tens of
/// milliseconds).
const WINDOW: Duration = Duration::from_secs(1);

/// After a change of the mask the modem still sends buffered records: batches arrive about once a
/// second (BISCAY §5.1).
const GRACE: Duration = Duration::from_secs(1);

/// Counts received bytes, by code.
#[derive(Clone, Debug, Default)]
pub(super) struct Budget {
    since: Option<HostInstant>,
    by_code: BTreeMap<LogCode, u64>,
    others: u64,
}

/// Received bytes of one window.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Flood {
    /// All bytes, per second.
    pub(super) bytes_per_sec: u64,
    /// Bytes that are not log records.
    pub(super) others_per_sec: u64,
    /// The bytes of each code.
    pub(super) by_code: BTreeMap<LogCode, u64>,
}

impl Budget {
    /// Restarts the counts after buffered records have arrived.
    pub(super) fn restart(&mut self, now: HostInstant) {
        *self = Self { since: Some(now + GRACE), ..Self::default() };
    }

    pub(super) fn handle(&mut self, now: HostInstant, code: Option<LogCode>, len: usize) {
        if *self.since.get_or_insert(now) > now {
            return;
        }
        let counter = match code {
            Some(code) => self.by_code.entry(code).or_default(),
            None => &mut self.others,
        };
        *counter += len as u64;
    }

    /// The received bytes of the last window, if they exceeded `limit` bytes per second.
    pub(super) fn poll(&mut self, now: HostInstant, limit: u64) -> Option<Flood> {
        let span = now - self.since?;
        if span < WINDOW {
            return None;
        }
        let window = core::mem::take(self);
        self.since = Some(now);
        let per_sec = |bytes: u64| (u128::from(bytes) * 1_000_000_000 / span.as_nanos()) as u64;
        let flood = Flood {
            bytes_per_sec: per_sec(window.by_code.values().sum::<u64>() + window.others),
            others_per_sec: per_sec(window.others),
            by_code: window
                .by_code
                .into_iter()
                .map(|(code, bytes)| (code, per_sec(bytes)))
                .collect(),
        };
        (flood.bytes_per_sec > limit).then_some(flood)
    }
}

impl Flood {
    /// Takes the bytes of some codes out of the counts.
    pub(super) fn leave_out(&mut self, is_out: impl Fn(LogCode) -> bool) {
        let bytes_per_sec = &mut self.bytes_per_sec;
        self.by_code.retain(|code, bytes| {
            let is_out = is_out(*code);
            if is_out {
                *bytes_per_sec = bytes_per_sec.saturating_sub(*bytes);
            }
            !is_out
        });
    }

    /// Removes the least important codes from `on`, which begins with the most important, until the
    /// rest is within `limit`. Returns the removed codes, most important first. The first `kept`
    /// codes always stay, and codes without bytes stay.
    pub(super) fn relieve(&self, on: &mut Vec<LogCode>, kept: usize, limit: u64) -> Vec<LogCode> {
        let mut left = self.bytes_per_sec;
        let mut off = Vec::new();
        for at in (kept..on.len()).rev() {
            if left <= limit {
                break;
            }
            if let Some(bytes) = self.by_code.get(&on[at]).filter(|bytes| **bytes > 0) {
                left -= bytes;
                off.insert(0, on.remove(at));
            }
        }
        off
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::vec;

    const FIRST: LogCode = LogCode::new(0xB139);
    const SECOND: LogCode = LogCode::new(0xB064);
    const SILENT: LogCode = LogCode::new(0xB193);
    const LAST: LogCode = LogCode::new(0xB0C0);

    fn at(ms: u64) -> HostInstant {
        HostInstant::from_nanos(ms * 1_000_000)
    }

    /// Two seconds of 100 bytes of the first, 300 of the second and 600 of the last each 100 ms.
    fn flood(limit: u64) -> Option<Flood> {
        let mut budget = Budget::default();
        for tick in 0..20 {
            for (code, len) in [(FIRST, 100), (SECOND, 300), (LAST, 600)] {
                budget.handle(at(tick * 100), Some(code), len);
            }
        }
        budget.poll(at(2000), limit)
    }

    #[test]
    fn what_stays_within_the_budget_is_left_alone() {
        assert_eq!(flood(10_000), None);
        let flood = flood(9_999).expect("one byte too many");
        assert_eq!((flood.bytes_per_sec, flood.others_per_sec), (10_000, 0));
    }

    #[test]
    fn the_least_important_goes_first_and_no_more_than_needed() {
        let mut on = vec![FIRST, SECOND, SILENT, LAST];
        assert_eq!(flood(9_000).expect("too much").relieve(&mut on, 1, 9_000), [LAST]);
        assert_eq!(on, [FIRST, SECOND, SILENT]);
        let mut on = vec![FIRST, SECOND, SILENT, LAST];
        assert_eq!(flood(2_000).expect("too much").relieve(&mut on, 1, 2_000), [SECOND, LAST]);
        assert_eq!(on, [FIRST, SILENT]);
    }

    #[test]
    fn the_most_important_is_never_switched_off() {
        let mut on = vec![FIRST];
        assert!(flood(1).expect("too much").relieve(&mut on, 1, 1).is_empty());
        assert_eq!(on, [FIRST]);
    }

    #[test]
    fn what_was_buffered_before_a_change_does_not_count() {
        let mut budget = Budget::default();
        budget.restart(at(0));
        budget.handle(at(500), Some(LAST), 1_000_000);
        budget.handle(at(1500), Some(FIRST), 100);
        assert_eq!(budget.poll(at(1900), 1), None, "the window is not over");
        let flood = budget.poll(at(2000), 99).expect("one byte too many");
        assert_eq!(flood.bytes_per_sec, 100);
    }

    #[test]
    fn a_window_is_a_second_long_however_often_it_is_asked_for() {
        let mut budget = Budget::default();
        budget.handle(at(0), None, 5000);
        for ms in 1..1000 {
            assert_eq!(budget.poll(at(ms), 1), None);
        }
        assert_eq!(budget.poll(at(1000), 1).map(|flood| flood.others_per_sec), Some(5000));
        assert_eq!(budget.poll(at(2000), 1), None, "the next window is empty");
    }
}
