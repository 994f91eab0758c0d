//! The interval at which a port is read.
//!
//! A single record is read at once. If records arrive all the time, a wake-up for each costs more
//! than reading them. Then the port is polled once a millisecond, as a buffer is drained. A reader
//! that does not need fresh records polls a busy port every twenty milliseconds.

use std::ops::RangeInclusive;
use std::time::Duration;

use sounding_units::HostInstant;

use crate::drains::PERIOD;

/// Reads that follow each other at once make a busy port.
#[derive(Clone, Debug)]
pub(crate) struct PollInterval {
    /// From one look at a busy port to the next.
    every: Duration,
    last: HostInstant,
    /// Reads in a row with little between them.
    streak: u32,
    /// Bytes of the last.
    count: usize,
}

/// Chosen: a fifth of the 100 ms that a recording may lose. The buffers of a tty, 64 KiB, hold 100
/// ms of 5 Mbit/s.
const SELDOM: Duration = Duration::from_millis(20);

/// After this many reads in a row the port counts as busy. Chosen.
const BUSY: u32 = 8;

/// A read that returned a tty's maximum is followed by another at once.
const FULL: RangeInclusive<usize> = 4095..=4096;

impl Default for PollInterval {
    fn default() -> Self {
        Self { every: PERIOD, last: HostInstant::default(), streak: 0, count: 0 }
    }
}

impl PollInterval {
    /// The interval of a reader that does not need fresh records.
    pub(crate) fn seldom() -> Self {
        Self { every: SELDOM, ..Self::default() }
    }

    /// Longer than this without bytes, and a port is not busy: twice the time between looks.
    fn at_once(&self) -> Duration {
        self.every * 2
    }

    /// Bytes were read.
    pub(crate) fn handle_read(&mut self, now: HostInstant, count: usize) {
        self.streak =
            if now - self.last <= self.at_once() { self.streak.saturating_add(1) } else { 0 };
        self.last = now;
        self.count = count;
    }

    /// Time until the next read: some time after the last bytes, or until the next drain, if the
    /// previous one was answered.
    pub(crate) fn rest(&self, now: HostInstant, drain: Option<HostInstant>) -> Duration {
        let busy = self.streak >= BUSY && now - self.last <= self.at_once();
        match drain {
            Some(drain) if busy => drain - now,
            None if busy && !FULL.contains(&self.count) => self.last + self.every - now,
            _ => Duration::ZERO,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(us: u64) -> HostInstant {
        HostInstant::from_nanos(1_000_000_000 + us * 1_000)
    }

    fn reads(every_us: u64, count: usize) -> PollInterval {
        let mut pace = PollInterval::default();
        (0..20).for_each(|n| pace.handle_read(at(every_us * n), count));
        pace
    }

    #[test]
    fn a_record_that_comes_alone_is_waited_for() {
        let pace = reads(10_000, 300);
        assert_eq!(pace.rest(at(190_050), None), Duration::ZERO);
        assert_eq!(pace.rest(at(190_050), Some(at(190_900))), Duration::ZERO);
    }

    #[test]
    fn a_busy_port_is_looked_at_once_a_millisecond() {
        let pace = reads(500, 300);
        assert_eq!(pace.rest(at(9_510), None), Duration::from_micros(990));
        assert_eq!(pace.rest(at(9_510), Some(at(10_000))), Duration::from_micros(490));
        // It has fallen silent.
        assert_eq!(pace.rest(at(12_000), None), Duration::ZERO);
    }

    #[test]
    fn a_reader_in_no_hurry_looks_less_often() {
        let mut pace = PollInterval::seldom();
        (0..20).for_each(|n| pace.handle_read(at(20_000 * n), 300));
        assert_eq!(pace.rest(at(381_000), None), Duration::from_millis(19));
    }

    #[test]
    fn a_port_that_may_run_over_is_not_left_waiting() {
        assert_eq!(reads(500, 4095).rest(at(9_510), None), Duration::ZERO);
    }
}
