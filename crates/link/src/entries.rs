//! When the bytes of a device's uplink entered its buffer, by its blocks and its reports.

use alloc::collections::VecDeque;
use core::time::Duration;

use sounding_units::ModemInstant;

/// A byte that no report has shown entered so long after the newest report. Chosen with modelled
/// cells of seeds 3000 to 3799; docs/results/bound.md has those that judge.
const UNREPORTED: Duration = Duration::from_millis(2);

/// Two curves of bytes over time. Blocks show the bytes that have left. A report, or padding, shows
/// what has entered by then: what has left and what waits. Between two of these points data is
/// taken to enter evenly.
#[derive(Clone, Debug, Default)]
pub(crate) struct Entries {
    /// Bytes that have left.
    left: u64,
    /// Points of the curve of entries: time and bytes. Both grow.
    entered: VecDeque<(ModemInstant, u64)>,
    /// No report has shown more.
    highest: u64,
    /// The newest report of the open-ended range: at least so much had entered.
    open_until: u64,
}

impl Entries {
    /// Points that are kept.
    const KEPT: usize = 256;

    /// A block took so many bytes. Returns how many of them no report can have shown.
    pub(crate) fn handle_sent(&mut self, bytes: u64) -> u64 {
        let known = self.highest.max(self.left);
        self.left += bytes;
        self.left.saturating_sub(known)
    }

    /// A block of `at` left so much behind, no less than `least` and at most `most`; of that range
    /// `read` counts.
    pub(crate) fn handle_left(&mut self, at: ModemInstant, least: u64, most: u64, read: u64) {
        // No more can have entered before. The reading of earlier reports may have been too high.
        let highest = self.left + most;
        self.highest = highest;
        if least == most && most > 0 {
            self.open_until = highest;
            self.highest = u64::MAX;
        }
        for (_, bytes) in self.entered.iter_mut().rev().take_while(|(_, bytes)| *bytes > highest) {
            *bytes = highest;
        }
        let entered = self.left + read;
        let entered = self.entered.back().map_or(entered, |(_, before)| entered.max(*before));
        if self.entered.len() == Self::KEPT {
            self.entered.pop_front();
        }
        self.entered.push_back((at, entered));
    }

    /// Bytes that have left.
    pub(crate) const fn left(&self) -> u64 {
        self.left
    }

    /// When the byte after the first `bytes` entered, as far as is known at `now`.
    pub(crate) fn entry(&self, bytes: u64, now: ModemInstant) -> Option<ModemInstant> {
        let place = self.entered.partition_point(|(_, entered)| *entered <= bytes);
        let (since, low) = *self.entered.get(place.checked_sub(1)?)?;
        let (until, high) =
            self.entered.get(place).copied().unwrap_or((now, self.left.max(bytes + 1)));
        let part = (bytes - low) as f64 / high.saturating_sub(low).max(1) as f64;
        Some(since + (until - since).mul_f64(part.clamp(0.0, 1.0)))
    }

    /// When the oldest waiting byte entered. Unknown behind a report of the open-ended range.
    pub(crate) fn oldest(&self, now: ModemInstant) -> Option<ModemInstant> {
        if self.left < self.open_until {
            return None;
        }
        let place = self.entered.partition_point(|(_, entered)| *entered <= self.left);
        let (since, _) = *self.entered.get(place.checked_sub(1)?)?;
        if place == self.entered.len() {
            // No report has shown it, so that it entered after the newest.
            return Some(since + UNREPORTED);
        }
        self.entry(self.left, now)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(ms: u64) -> ModemInstant {
        ModemInstant::from_nanos(ms * 1_000_000)
    }

    fn oldest_ms(entries: &Entries, now: u64) -> Option<f64> {
        entries.oldest(at(now)).map(|oldest| (oldest - at(0)).as_secs_f64() * 1_000.0)
    }

    #[test]
    fn the_oldest_waiting_byte_is_dated_between_the_reports_around_it() {
        let mut entries = Entries::default();
        entries.handle_left(at(0), 900, 1_100, 1_000);
        entries.handle_sent(1_000);
        assert_eq!(oldest_ms(&entries, 15), Some(2.0), "after the newest report");
        entries.handle_left(at(20), 900, 1_100, 1_000);
        assert_eq!(oldest_ms(&entries, 20), Some(0.0));
        entries.handle_sent(500);
        assert_eq!(oldest_ms(&entries, 25), Some(10.0));
    }

    #[test]
    fn behind_a_report_of_the_open_range_nothing_is_dated() {
        let mut entries = Entries::default();
        entries.handle_left(at(0), 150_000, 150_000, 150_000);
        assert_eq!(entries.handle_sent(149_999), 0);
        assert_eq!(entries.oldest(at(10)), None);
        entries.handle_sent(1);
        assert_eq!(oldest_ms(&entries, 11), Some(2.0));
    }

    #[test]
    fn bytes_that_no_report_has_shown_are_counted() {
        let mut entries = Entries::default();
        assert_eq!(entries.handle_sent(100), 100);
        entries.handle_left(at(0), 900, 1_100, 1_000);
        assert_eq!([1_000, 100, 50].map(|bytes| entries.handle_sent(bytes)), [0, 0, 50]);
        entries.handle_left(at(5), 0, 0, 0);
        assert_eq!(entries.handle_sent(70), 70);
    }
}
