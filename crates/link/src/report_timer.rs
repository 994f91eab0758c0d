//! How often a device reports its uplink buffer while data waits.

use alloc::collections::VecDeque;
use alloc::vec::Vec;
use core::time::Duration;

use sounding_kpi::BufferStatus;
use sounding_phy::lte::timing::PERIODIC_BSR;
use sounding_units::{Bytes, ModemInstant};

/// periodicBSR-Timer as the reports of a device show it (TS 36.321 §5.4.5, TS 38.321 §5.4.5).
///
/// A report that leaves data behind starts the timer, and the next one comes when it ends. A report
/// that has room in a block comes sooner. So three of four intervals are at most the timer's.
#[derive(Clone, Debug, Default)]
pub(crate) struct ReportTimer {
    newest: Option<ModemInstant>,
    /// The newest report left data behind.
    is_left: bool,
    /// Each with the value that it fits.
    intervals: VecDeque<(Duration, Option<Duration>)>,
    usual: Option<Duration>,
    value: Option<Duration>,
}

impl ReportTimer {
    /// Intervals that are kept.
    const KEPT: usize = 32;
    /// Fewer show nothing.
    const FEWEST: usize = 4;
    /// Times of blocks are rounded by so much.
    const ROUNDED: Duration = Duration::from_micros(500);
    /// A pause between reports that is no interval of a timer: the device had nothing to send.
    const PAUSE: Duration = Duration::from_millis(100);

    /// A report that a block of `at` carried.
    pub(crate) fn handle_report(&mut self, at: ModemInstant, report: BufferStatus) {
        if let Some(newest) = self.newest
            && self.is_left
            && at > newest
            && at - newest < Self::PAUSE
        {
            if self.intervals.len() == Self::KEPT {
                self.intervals.pop_front();
            }
            let interval = at - newest;
            // A report comes with the first block after the timer ran out.
            let fits = timers().rfind(|timer| *timer <= interval + Self::ROUNDED);
            self.intervals.push_back((interval, fits));
            if self.intervals.len() >= Self::FEWEST {
                self.usual = quantile(self.intervals.iter().map(|of| of.0), (3, 4));
                self.value = self.most_fit();
            }
        }
        self.newest = self.newest.max(Some(at));
        self.is_left = report.least > Bytes::ZERO;
    }

    /// Whether the device reports.
    pub(crate) const fn is_running(&self) -> bool {
        self.newest.is_some()
    }

    /// The usual interval; `None` before enough reports came.
    pub(crate) const fn interval(&self) -> Option<Duration> {
        self.usual
    }

    /// The timer's value (TS 36.331 §6.3.2, TS 38.331 §6.3.2): the one that most of the last
    /// intervals fit. `None` before enough reports came.
    pub(crate) const fn value(&self) -> Option<Duration> {
        self.value
    }

    /// The same, once so many intervals are known that it hardly changes.
    pub(crate) fn sure_value(&self) -> Option<Duration> {
        self.value.filter(|_| self.intervals.len() >= Self::KEPT / 2)
    }

    fn most_fit(&self) -> Option<Duration> {
        let count = |timer: &Duration| {
            self.intervals.iter().filter(|(_, fits)| *fits == Some(*timer)).count()
        };
        // Of two that as many fit the shorter.
        timers().rev().max_by_key(count).filter(|timer| count(timer) > 0)
    }
}

/// The standard's values, from the shortest on.
fn timers() -> impl DoubleEndedIterator<Item = Duration> {
    PERIODIC_BSR.values.iter().map(|ms| Duration::from_millis((*ms).into()))
}

/// The value that this part of all does not exceed; `None` without any.
pub(crate) fn quantile(
    values: impl Iterator<Item = Duration>,
    part: (usize, usize),
) -> Option<Duration> {
    let mut sorted: Vec<Duration> = values.collect();
    sorted.sort_unstable();
    sorted.get(sorted.len() * part.0 / part.1).copied()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The interval after reports at these times, in milliseconds, each with the bytes left behind.
    fn after(reports: &[(u64, u64)]) -> Option<Duration> {
        let mut timer = ReportTimer::default();
        for &(ms, left) in reports {
            let [least, most] = [Bytes::new(left), Bytes::new(left)];
            timer.handle_report(
                ModemInstant::from_nanos(ms * 1_000_000),
                BufferStatus { least, most },
            );
        }
        timer.interval()
    }

    #[test]
    fn reports_that_had_room_do_not_shorten_the_timer() {
        let reports = [(0, 9), (20, 9), (40, 9), (47, 9), (67, 9), (87, 9), (107, 9)];
        assert_eq!(after(&reports), Some(Duration::from_millis(20)));
    }

    #[test]
    fn no_timer_runs_after_a_report_of_an_empty_buffer() {
        assert_eq!(after(&[(0, 0), (50, 0), (90, 0), (140, 0), (170, 0), (200, 0)]), None);
    }
}
