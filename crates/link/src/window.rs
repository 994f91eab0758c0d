//! Bytes granted in the last stretch of modem time, whatever order the records came in.

use alloc::collections::VecDeque;
use core::time::Duration;

use sounding_units::{Bytes, ModemInstant};

/// Longest history kept, in transport blocks: five carriers of two blocks a subframe for two seconds.
const CAPACITY: usize = 20_000;

#[derive(Clone, Copy, Debug)]
struct Entry {
    at: ModemInstant,
    size: Bytes,
}

/// Granted bytes by subframe, sorted by time, bounded in time and number.
#[derive(Clone, Debug)]
pub(crate) struct Window {
    span: Duration,
    entries: VecDeque<Entry>,
}

impl Window {
    pub(crate) fn new(span: Duration) -> Self {
        Self { span, entries: VecDeque::new() }
    }

    pub(crate) fn newest(&self) -> Option<ModemInstant> {
        self.entries.back().map(|entry| entry.at)
    }

    pub(crate) fn push(&mut self, at: ModemInstant, size: Bytes) {
        // Records of different modem tasks overtake each other by a few milliseconds, so the place is near the end.
        let place = self.entries.iter().rposition(|entry| entry.at <= at).map_or(0, |i| i + 1);
        self.entries.insert(place, Entry { at, size });
        let oldest = self.newest().unwrap_or(at).saturating_before(self.span * 2);
        while self.entries.len() > CAPACITY
            || self.entries.front().is_some_and(|entry| entry.at < oldest)
        {
            self.entries.pop_front();
        }
    }

    /// Nothing up to `at` counts any more.
    pub(crate) fn forget_until(&mut self, at: ModemInstant) {
        self.entries.retain(|entry| entry.at > at);
    }

    /// What was granted in `span` that ends at `end`, `end` included.
    pub(crate) fn granted(&self, end: ModemInstant, span: Duration) -> Bytes {
        let start = end.saturating_before(span);
        self.entries
            .iter()
            .rev()
            .skip_while(|entry| entry.at > end)
            .take_while(|entry| entry.at > start)
            .map(|entry| entry.size)
            .sum()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ms(ms: u64) -> ModemInstant {
        ModemInstant::from_nanos(ms * 1_000_000)
    }

    fn filled(times: &[u64]) -> Window {
        let mut window = Window::new(Duration::from_millis(100));
        for &t in times {
            window.push(ms(t), Bytes::new(10));
        }
        window
    }

    const SPAN: Duration = Duration::from_millis(100);

    #[test]
    fn only_the_last_span_counts() {
        let window = filled(&[1000, 1050, 1100, 1150]);
        assert_eq!(window.granted(ms(1150), SPAN), Bytes::new(20));
        assert_eq!(window.granted(ms(1100), SPAN), Bytes::new(20));
        assert_eq!(window.granted(ms(1149), SPAN), Bytes::new(20));
        assert_eq!(window.granted(ms(1150), SPAN / 4), Bytes::new(10));
        assert_eq!(window.granted(ms(2000), SPAN), Bytes::ZERO);
    }

    #[test]
    fn records_out_of_order_count_where_they_belong() {
        let window = filled(&[1000, 1100, 1050, 1150]);
        assert_eq!(window.granted(ms(1100), SPAN), Bytes::new(20));
        assert_eq!(window.newest(), Some(ms(1150)));
    }

    #[test]
    fn what_is_forgotten_does_not_count() {
        let mut window = filled(&[1000, 1050, 1100]);
        window.forget_until(ms(1050));
        assert_eq!(window.granted(ms(1100), SPAN), Bytes::new(10));
    }

    #[test]
    fn memory_stays_bounded_however_many_blocks_share_a_subframe() {
        let mut window = Window::new(Duration::from_millis(100));
        for _ in 0..CAPACITY + 10 {
            window.push(ms(5), Bytes::new(1));
        }
        assert_eq!(window.entries.len(), CAPACITY);
    }

    #[test]
    fn what_is_older_than_two_spans_is_forgotten() {
        let window = filled(&[1000, 5000]);
        assert_eq!(window.entries.len(), 1);
    }
}
