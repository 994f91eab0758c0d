//! The log data that waits in a modem until its host can read it.
//!
//! A modem collects log records. It sends them when its buffer is filled to a mark, when they have
//! waited long enough, or on a drain command (Gandalf §4.2.1, BISCAY §4). The modem of a modelled
//! cell and the simulated one on a pty use the same code.

use alloc::collections::VecDeque;
use core::time::Duration;

use sounding_units::HostInstant;

/// When records leave a modem of themselves.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// Send once this many bytes wait; 0 sends each record at once.
    pub high_water: usize,
    /// Send once the oldest record has waited for this time.
    pub release: Duration,
}

impl Limits {
    /// Each record at once.
    pub const AT_ONCE: Self = Self { high_water: 0, release: Duration::MAX };

    /// Nothing leaves unless it is drained.
    pub const DRAINED: Self = Self { high_water: usize::MAX, release: Duration::MAX };
}

/// Records in the order in which they were made: first those that have left, then those that wait.
///
/// ```text
/// handle_record ──▶ waiting ──high water, age or drain──▶ left ──▶ poll_record
/// ```
#[derive(Clone, Debug)]
pub struct Buffer<T> {
    limits: Limits,
    left: VecDeque<T>,
    waiting: VecDeque<T>,
    bytes: usize,
    /// When the oldest of those that wait was made.
    since: HostInstant,
}

impl<T> Buffer<T> {
    /// An empty one.
    pub const fn new(limits: Limits) -> Self {
        Self {
            limits,
            left: VecDeque::new(),
            waiting: VecDeque::new(),
            bytes: 0,
            since: HostInstant::from_nanos(0),
        }
    }

    /// A record of `size` bytes is made at `now`. A drain at the same moment includes it.
    pub fn handle_record(&mut self, now: HostInstant, record: T, size: usize) {
        if self.wakeup().is_some_and(|at| at < now) {
            self.handle_drain();
        }
        if self.waiting.is_empty() {
            self.since = now;
        }
        self.waiting.push_back(record);
        self.bytes = self.bytes.saturating_add(size);
        if self.bytes >= self.limits.high_water {
            self.handle_drain();
        }
    }

    /// A drain command: the modem sends all it has.
    pub fn handle_drain(&mut self) {
        self.left.append(&mut self.waiting);
        self.bytes = 0;
    }

    /// Time has reached `now`.
    pub fn handle_time(&mut self, now: HostInstant) {
        if self.wakeup().is_some_and(|at| at <= now) {
            self.handle_drain();
        }
    }

    /// The modem restarts: waiting records are lost.
    pub fn handle_restart(&mut self) {
        self.waiting.clear();
        self.bytes = 0;
    }

    /// The next record that has left.
    pub fn poll_record(&mut self) -> Option<T> {
        self.left.pop_front()
    }

    /// When the waiting records leave, if there is no other event.
    pub fn wakeup(&self) -> Option<HostInstant> {
        self.oldest().map(|since| since + self.limits.release)
    }

    /// When the oldest of those that wait was made.
    pub fn oldest(&self) -> Option<HostInstant> {
        (!self.waiting.is_empty()).then_some(self.since)
    }

    /// True if no record waits and all that left were taken.
    pub fn is_empty(&self) -> bool {
        self.waiting.is_empty() && self.left.is_empty()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::vec::Vec;

    fn at(millis: u64) -> HostInstant {
        HostInstant::from_nanos(millis * 1_000_000)
    }

    fn left(buffer: &mut Buffer<u32>) -> Vec<u32> {
        core::iter::from_fn(|| buffer.poll_record()).collect()
    }

    fn buffer(high_water: usize, release_ms: u64) -> Buffer<u32> {
        Buffer::new(Limits { high_water, release: Duration::from_millis(release_ms) })
    }

    #[test]
    fn without_a_mark_each_record_leaves_at_once() {
        let mut buffer = Buffer::new(Limits::AT_ONCE);
        buffer.handle_record(at(1), 1, 0);
        assert_eq!(left(&mut buffer), [1]);
    }

    #[test]
    fn records_leave_together_once_they_reach_the_mark() {
        let mut buffer = buffer(100, 1_000);
        buffer.handle_record(at(1), 1, 60);
        assert_eq!(left(&mut buffer), []);
        buffer.handle_record(at(2), 2, 40);
        assert_eq!((left(&mut buffer), buffer.is_empty()), ([1, 2].into(), true));
    }

    #[test]
    fn records_leave_once_the_oldest_is_old_enough() {
        let mut buffer = buffer(100, 10);
        buffer.handle_record(at(1), 1, 1);
        buffer.handle_record(at(5), 2, 1);
        assert_eq!(buffer.wakeup(), Some(at(11)));
        buffer.handle_time(at(10));
        buffer.handle_record(at(11), 3, 1);
        assert_eq!(left(&mut buffer), []);
        buffer.handle_time(at(11));
        assert_eq!(left(&mut buffer), [1, 2, 3]);
        assert_eq!(buffer.wakeup(), None);
    }

    #[test]
    fn a_record_made_after_the_age_was_reached_waits_for_itself() {
        let mut buffer = buffer(100, 10);
        buffer.handle_record(at(1), 1, 1);
        buffer.handle_record(at(20), 2, 1);
        assert_eq!((left(&mut buffer), buffer.oldest()), ([1].into(), Some(at(20))));
    }

    #[test]
    fn a_drain_empties_it_and_a_restart_forgets() {
        let mut buffer = Buffer::new(Limits::DRAINED);
        buffer.handle_record(at(1), 1, 1);
        buffer.handle_drain();
        buffer.handle_record(at(2), 2, 1);
        buffer.handle_restart();
        buffer.handle_time(at(1_000_000));
        assert_eq!(left(&mut buffer), [1]);
    }
}
