//! The modem's clock, by the stamps of its records.

use alloc::vec::Vec;
use core::time::Duration;

use sounding_diag::{LogCode, LogRecord};
use sounding_units::{Axis, Earlier, HostInstant, ModemInstant, Placing};

/// Follows the modem's clock, and keeps records until it is known whether their stamps are right.
///
/// Records that an estimator reads move the clock ([`Axis`]). Other records show that the modem is alive, near the time of those that are
/// read. They never set the clock. Before the first record that is read, the others are all there is.
#[derive(Clone, Debug, Default)]
pub(crate) struct RecordClock {
    axis: Axis,
    /// Whether a record that is read has moved it.
    is_read: bool,
    /// The newest time of any record that counts.
    newest: Option<ModemInstant>,
    /// When the record came that moved the axis last, by the host's clock.
    came: Option<HostInstant>,
    waiting: Vec<Waiting>,
}

/// A record that waits for the next ones.
#[derive(Clone, Debug)]
pub(crate) struct Waiting {
    /// When it came, if not as stamped.
    pub(crate) came: Option<HostInstant>,
    code: LogCode,
    at: ModemInstant,
    stamp: u64,
    radio: Option<u32>,
    body: Vec<u8>,
}

/// What becomes of a record that is read, and of those that waited.
#[derive(Debug, Default)]
pub(crate) struct Turn {
    /// These count now, in this order, before the record.
    pub(crate) believed: Vec<Waiting>,
    /// How many do not count.
    pub(crate) misdated: u64,
    /// Whether the record counts now. Otherwise it waits.
    pub(crate) is_now: bool,
}

/// Other records show that the modem is alive for so long after the newest one that is read. The rest is a pause.
const ALIVE: Duration = Duration::from_secs(10);

impl RecordClock {
    /// The newest time of any record that counts.
    pub(crate) fn newest(&self) -> Option<ModemInstant> {
        self.newest
    }

    /// A record that an estimator reads, and when it came by the host's clock.
    pub(crate) fn handle_read(
        &mut self,
        at: ModemInstant,
        came: Option<HostInstant>,
        record: &LogRecord<'_>,
    ) -> Turn {
        let before = self.axis.newest();
        if !self.is_read {
            // It knows better than the others.
            let goes_on = self.axis.newest().filter(|newest| is_near(*newest, at, self.passed(came)));
            self.axis = goes_on.map_or(Axis::default(), Axis::since);
            self.is_read = true;
        }
        let placed = self.axis.handle_stamp(at, self.passed(came));
        self.moved_from(before);
        let mut turn = Turn { is_now: placed.this == Placing::Believed, ..Turn::default() };
        self.settle(placed.waiting, &mut turn);
        if turn.is_now {
            self.came = came;
        } else {
            let LogRecord { code, stamp, radio, .. } = *record;
            let body = record.body.to_vec();
            self.waiting.push(Waiting { came, code, at, stamp, radio, body });
        }
        turn
    }

    /// The input has ended.
    pub(crate) fn handle_end(&mut self) -> Turn {
        let mut turn = Turn::default();
        let waiting = self.axis.handle_end();
        self.settle(waiting, &mut turn);
        turn
    }

    fn settle(&mut self, waiting: Earlier, turn: &mut Turn) {
        match waiting {
            Earlier::Wait => {}
            Earlier::Believed => {
                self.came = self.waiting.last().and_then(|record| record.came);
                turn.believed = core::mem::take(&mut self.waiting);
            }
            Earlier::Misdated => {
                turn.misdated = self.waiting.len() as u64;
                self.waiting.clear();
            }
        }
    }

    /// A record that no estimator reads; whether it shows that the modem is alive.
    pub(crate) fn handle_other(&mut self, at: ModemInstant, came: Option<HostInstant>) -> bool {
        let passed = self.passed(came);
        if !self.is_read {
            let before = self.axis.newest();
            let placed = self.axis.handle_stamp(at, passed);
            self.moved_from(before);
            let counts = placed.this == Placing::Believed;
            if counts {
                self.came = came;
            }
            return counts;
        }
        let (Some(newest), Some(read)) = (self.newest, self.axis.newest()) else { return false };
        is_near(newest, at, passed) && at <= read + ALIVE.saturating_add(passed)
    }

    /// A record counts, and was stamped then. Returns the modem's clock as an estimator may see it.
    ///
    /// Other records may have shown a later time than a record that is read. For an estimator the clock is then not set back.
    pub(crate) fn advance(&mut self, at: ModemInstant) -> ModemInstant {
        let shown = self.newest.map_or(at, |newest| newest.saturating_before(Axis::OVERTAKEN));
        self.newest = self.newest.max(Some(at));
        at.max(shown)
    }

    /// The axis was moved from here: forgets what others have shown if the clock was set back.
    fn moved_from(&mut self, before: Option<ModemInstant>) {
        let is_back = |(before, now)| now + Axis::OVERTAKEN < before;
        if before.zip(self.axis.newest()).is_some_and(is_back) {
            self.newest = None;
        }
    }

    /// The time since the axis was moved.
    fn passed(&self, came: Option<HostInstant>) -> Duration {
        came.zip(self.came).map_or(Duration::ZERO, |(now, came)| now - came)
    }
}

fn is_near(newest: ModemInstant, at: ModemInstant, passed: Duration) -> bool {
    at + Axis::OVERTAKEN >= newest && at <= newest + Axis::OVERTAKEN.saturating_add(passed)
}

impl Waiting {
    pub(crate) fn record(&self) -> LogRecord<'_> {
        let Self { code, at, stamp, radio, .. } = *self;
        LogRecord { code, at, stamp, radio, body: &self.body }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const CODE: LogCode = LogCode::new(0xB064);

    fn at(ms: u64) -> ModemInstant {
        ModemInstant::from_nanos((1_000_000_000 + ms) * 1_000_000)
    }

    fn read(clock: &mut RecordClock, ms: u64) -> Turn {
        let record = LogRecord { code: CODE, at: at(ms), stamp: 1, radio: None, body: &[7] };
        let turn = clock.handle_read(at(ms), None, &record);
        turn.believed.iter().for_each(|waited| drop(clock.advance(waited.record().at)));
        if turn.is_now {
            clock.advance(at(ms));
        }
        turn
    }

    fn other(clock: &mut RecordClock, ms: u64) -> bool {
        let counts = clock.handle_other(at(ms), None);
        if counts {
            clock.advance(at(ms));
        }
        counts
    }

    #[test]
    fn other_records_never_set_the_clock() {
        let mut clock = RecordClock::default();
        read(&mut clock, 0);
        for ms in [300_000, 300_001, 300_002, 300_003, 300_004] {
            assert!(!other(&mut clock, ms));
        }
        assert!(read(&mut clock, 10).is_now);
        assert_eq!(clock.newest(), Some(at(10)));
    }

    #[test]
    fn other_records_show_life_for_ten_seconds_and_no_clock_is_set_back_after_them() {
        let mut clock = RecordClock::default();
        read(&mut clock, 0);
        let alive = (0..200).filter(|record| other(&mut clock, record * 100)).count();
        assert_eq!(alive, 101);
        assert!(read(&mut clock, 50).is_now);
        assert_eq!(clock.newest(), Some(at(10_000)));
        assert_eq!(clock.advance(at(60)), at(9_000), "not before what an estimator has seen");
    }

    #[test]
    fn the_first_record_that_is_read_knows_better_than_others() {
        let mut clock = RecordClock::default();
        assert!(other(&mut clock, 900_000));
        assert!(read(&mut clock, 0).is_now);
        assert_eq!(clock.newest(), Some(at(0)));
    }

    #[test]
    fn a_clock_that_was_set_back_gives_the_records_that_waited_in_their_order() {
        let mut clock = RecordClock::default();
        read(&mut clock, 60_000);
        for ms in [10, 20, 30] {
            assert!(!read(&mut clock, ms).is_now);
        }
        let turn = read(&mut clock, 40);
        let stamps: Vec<_> = turn.believed.iter().map(|waited| waited.record().at).collect();
        assert_eq!((stamps, turn.is_now), ([at(10), at(20), at(30)].to_vec(), true));
        assert_eq!(clock.newest(), Some(at(40)));
    }

    #[test]
    fn a_pause_of_the_host_s_clock_is_one_of_the_modem_s() {
        let host = |ms: u64| Some(HostInstant::from_nanos(ms * 1_000_000));
        let record = LogRecord { code: CODE, at: at(0), stamp: 1, radio: None, body: &[] };
        let mut clock = RecordClock::default();
        assert!(clock.handle_read(at(0), host(5), &record).is_now);
        assert!(clock.handle_read(at(8_000), host(8_100), &record).is_now);
        assert!(!clock.handle_read(at(16_000), host(8_200), &record).is_now);
    }
}
