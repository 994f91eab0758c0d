//! The values of the last span of modem time; records may arrive in any order.

use alloc::collections::VecDeque;
use core::time::Duration;

use sounding_units::ModemInstant;

/// Longest history kept: five carriers of two blocks per subframe for two seconds.
const CAPACITY: usize = 20_000;

/// Values by the time they are of, sorted by it, bounded in time and number.
#[derive(Clone, Debug)]
pub(crate) struct Recent<T> {
    keep: Duration,
    entries: VecDeque<(ModemInstant, T)>,
}

impl<T> Recent<T> {
    /// Keeps values that are at most this much older than the newest.
    pub(crate) const fn new(keep: Duration) -> Self {
        Self { keep, entries: VecDeque::new() }
    }

    /// From now on keeps values for this time, if it is longer than before.
    pub(crate) fn keep_for(&mut self, keep: Duration) {
        self.keep = self.keep.max(keep);
    }

    pub(crate) fn newest(&self) -> Option<ModemInstant> {
        self.entries.back().map(|(at, _)| *at)
    }

    pub(crate) fn push(&mut self, at: ModemInstant, value: T) {
        // Records of different modem tasks overtake each other by a few milliseconds, so the place
        // is near the end.
        let place = self.entries.iter().rposition(|(of, _)| *of <= at).map_or(0, |i| i + 1);
        self.entries.insert(place, (at, value));
        let oldest = self.newest().unwrap_or(at).saturating_before(self.keep);
        while self.entries.len() > CAPACITY
            || self.entries.front().is_some_and(|(of, _)| *of < oldest)
        {
            self.entries.pop_front();
        }
    }

    /// Values up to `at` no longer count.
    pub(crate) fn forget_until(&mut self, at: ModemInstant) {
        self.entries.retain(|(of, _)| *of > at);
    }

    /// The values of exactly this time, the latest first.
    pub(crate) fn at_mut(&mut self, at: ModemInstant) -> impl Iterator<Item = &mut T> {
        let later = self.entries.iter_mut().rev().skip_while(move |(of, _)| *of > at);
        later.take_while(move |(of, _)| *of == at).map(|(_, value)| value)
    }

    /// The values of the span that ends at `end`, `end` included, the latest first.
    pub(crate) fn within(&self, end: ModemInstant, span: Duration) -> impl Iterator<Item = &T> {
        let start = end.saturating_before(span);
        self.until(end).take_while(move |(at, _)| *at > start).map(|(_, value)| value)
    }

    /// The values up to a time, the latest first.
    pub(crate) fn until(&self, end: ModemInstant) -> impl Iterator<Item = &(ModemInstant, T)> {
        self.entries.iter().rev().skip_while(move |(at, _)| *at > end)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::vec::Vec;

    fn ms(ms: u64) -> ModemInstant {
        ModemInstant::from_nanos(ms * 1_000_000)
    }

    fn filled(times: &[u64]) -> Recent<u64> {
        let mut recent = Recent::new(Duration::from_millis(200));
        for &t in times {
            recent.push(ms(t), t);
        }
        recent
    }

    fn within(recent: &Recent<u64>, end: u64) -> Vec<u64> {
        recent.within(ms(end), Duration::from_millis(100)).copied().collect()
    }

    #[test]
    fn only_the_last_span_counts_and_its_begin_does_not() {
        let recent = filled(&[1000, 1050, 1100, 1150]);
        assert_eq!(within(&recent, 1150), [1150, 1100]);
        assert_eq!(within(&recent, 1149), [1100, 1050]);
        assert_eq!(within(&recent, 2000), []);
    }

    #[test]
    fn what_comes_late_counts_where_it_belongs() {
        let mut recent = filled(&[1000, 1100, 1050, 1150, 1050]);
        assert_eq!(within(&recent, 1100), [1100, 1050, 1050]);
        assert_eq!(recent.newest(), Some(ms(1150)));
        assert_eq!(recent.at_mut(ms(1050)).count(), 2);
        assert_eq!(recent.at_mut(ms(1051)).count(), 0);
    }

    #[test]
    fn memory_stays_bounded_in_time_and_number() {
        let mut recent = filled(&[1000, 5000]);
        assert_eq!(recent.entries.len(), 1);
        for _ in 0..CAPACITY + 10 {
            recent.push(ms(5000), 1);
        }
        assert_eq!(recent.entries.len(), CAPACITY);
    }
}
