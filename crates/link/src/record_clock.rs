//! The modem's clock, by the stamps of its records.

use alloc::vec::Vec;
use core::time::Duration;

use sounding_diag::{LogCode, LogRecord};
use sounding_units::{Axis, Earlier, HostInstant, ModemInstant, Placing};

/// Follows the modem's clock, and keeps records until it is known whether their stamps are right.
///
/// Records that an estimator reads move the clock ([`Axis`]). Other records show that the modem is
/// alive, for a minute after those that are read, if they fit between two of them. They never set
/// the clock. Before the first record that is read, the others are all there is.
#[derive(Clone, Debug, Default)]
pub(crate) struct RecordClock {
    axis: Axis,
    /// Whether a record that is read has moved it.
    is_read: bool,
    /// The newest time of any record that counts.
    newest: Option<ModemInstant>,
    /// When the record came that moved the axis last, by the host's clock.
    came: Option<HostInstant>,
    /// In the order in which they came.
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
    /// Empty if it is not read.
    body: Vec<u8>,
    is_read: bool,
}

/// What becomes of a record, and of those that waited.
#[derive(Debug, Default)]
pub(crate) struct Turn {
    /// These count now, in this order, before the record.
    pub(crate) believed: Vec<Waiting>,
    /// How many do not count although they are read.
    pub(crate) misdated: u64,
    /// Whether the record counts now. Otherwise it waits, or never does.
    pub(crate) is_now: bool,
}

/// Other records show that the modem is alive for so long after the newest one that is read. The
/// rest is a pause.
const ALIVE: Duration = Axis::PAUSE;

/// Records that wait, at most: a thousand a second for as long as they show that the modem is
/// alive.
const MOST: usize = 60_000;

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
        let passed = self.passed(came);
        if !self.is_read {
            // It knows better than the others.
            let goes_on = before.filter(|newest| is_near(*newest, at, passed));
            self.axis = goes_on.map_or(Axis::default(), Axis::since);
            self.is_read = true;
        }
        let placed = self.axis.handle_stamp(at, passed);
        self.forget_if_set_back(before);
        let mut turn = Turn { is_now: placed.this == Placing::Believed, ..Turn::default() };
        self.settle(placed.waiting, before, &mut turn);
        if turn.is_now {
            self.came = came;
            let others = core::mem::take(&mut self.waiting);
            let since = turn.believed.iter().rfind(|waited| waited.is_read);
            let since = since.map(|waited| waited.at).or(before);
            turn.believed.extend(fitting(others, since, Some(at)));
        } else {
            self.waiting.push(Waiting::of(record, came, record.body, true));
        }
        turn
    }

    /// The input has ended.
    pub(crate) fn handle_end(&mut self) -> Turn {
        let mut turn = Turn::default();
        let before = self.axis.newest();
        let waiting = self.axis.handle_end();
        self.settle(waiting, before, &mut turn);
        let mut newest = self.newest.max(self.axis.newest());
        let others = fitting(core::mem::take(&mut self.waiting), self.axis.newest(), None);
        turn.believed.extend(others.into_iter().filter(|other| {
            let fits = newest.is_some_and(|newest| is_near(newest, other.at, Duration::ZERO));
            newest = newest.max(Some(other.at).filter(|_| fits));
            fits
        }));
        turn
    }

    /// Those that are read count or do not. The others stay if they came later.
    fn settle(&mut self, what: Earlier, mut since: Option<ModemInstant>, turn: &mut Turn) {
        match what {
            Earlier::Wait => {}
            Earlier::Believed => {
                let mut others = Vec::new();
                for waited in core::mem::take(&mut self.waiting) {
                    if !waited.is_read {
                        others.push(waited);
                        continue;
                    }
                    let before = core::mem::take(&mut others);
                    turn.believed.extend(fitting(before, since, Some(waited.at)));
                    since = Some(waited.at);
                    self.came = waited.came;
                    turn.believed.push(waited);
                }
                self.waiting = others;
            }
            Earlier::Misdated => {
                let count = self.waiting.len();
                self.waiting.retain(|waited| !waited.is_read);
                turn.misdated = (count - self.waiting.len()) as u64;
            }
        }
    }

    /// A record that no estimator reads.
    pub(crate) fn handle_other(
        &mut self,
        at: ModemInstant,
        came: Option<HostInstant>,
        record: &LogRecord<'_>,
    ) -> Turn {
        let passed = self.passed(came);
        let mut turn = Turn::default();
        if !self.is_read {
            let before = self.axis.newest();
            turn.is_now = self.axis.handle_stamp(at, passed).this == Placing::Believed;
            self.forget_if_set_back(before);
            if turn.is_now {
                self.came = came;
            }
        } else if came.is_none() {
            // The next one that is read shows whether it fits.
            if self.waiting.len() < MOST {
                self.waiting.push(Waiting::of(record, came, &[], false));
            }
        } else if let (Some(newest), Some(read)) = (self.newest, self.axis.newest()) {
            let until = read + ALIVE.saturating_add(passed);
            turn.is_now = is_near(newest, at, passed) && at <= until;
        }
        turn
    }

    /// A record counts, and was stamped then.
    pub(crate) fn advance(&mut self, at: ModemInstant) {
        self.newest = self.newest.max(Some(at));
    }

    /// The axis was moved from here: forgets what others have shown if the clock was set back.
    fn forget_if_set_back(&mut self, before: Option<ModemInstant>) {
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

/// Those of other records that fit between two that are read, or after the last.
fn fitting(
    mut others: Vec<Waiting>,
    since: Option<ModemInstant>,
    until: Option<ModemInstant>,
) -> Vec<Waiting> {
    let Some(since) = since else { return Vec::new() };
    let alive = since + ALIVE;
    let until = until.map_or(alive, |until| alive.min(until + Axis::OVERTAKEN));
    others
        .retain(|other| !other.is_read && other.at + Axis::OVERTAKEN >= since && other.at <= until);
    others
}

impl Waiting {
    fn of(record: &LogRecord<'_>, came: Option<HostInstant>, body: &[u8], is_read: bool) -> Self {
        let LogRecord { code, at, stamp, radio, .. } = *record;
        Self { came, code, at, stamp, radio, body: body.to_vec(), is_read }
    }

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

    fn record(ms: u64) -> LogRecord<'static> {
        LogRecord { code: CODE, at: at(ms), stamp: 1, radio: None, body: &[7] }
    }

    fn advance(clock: &mut RecordClock, ms: u64, turn: Turn) -> Turn {
        turn.believed.iter().for_each(|waited| clock.advance(waited.record().at));
        if turn.is_now {
            clock.advance(at(ms));
        }
        turn
    }

    fn read(clock: &mut RecordClock, ms: u64) -> Turn {
        let turn = clock.handle_read(at(ms), None, &record(ms));
        advance(clock, ms, turn)
    }

    fn other(clock: &mut RecordClock, ms: u64) -> bool {
        let turn = clock.handle_other(at(ms), None, &record(ms));
        advance(clock, ms, turn).is_now
    }

    #[test]
    fn other_records_never_set_the_clock() {
        let mut clock = RecordClock::default();
        read(&mut clock, 0);
        for ms in [300_000, 300_001, 3_000, 3_001, 300_004] {
            assert!(!other(&mut clock, ms));
        }
        assert!(read(&mut clock, 10).is_now);
        assert_eq!(clock.newest(), Some(at(10)));
    }

    #[test]
    fn other_records_show_life_for_a_minute_between_those_that_are_read() {
        let mut clock = RecordClock::default();
        read(&mut clock, 0);
        (0..1_000).for_each(|record| assert!(!other(&mut clock, record * 100)));
        assert!(!read(&mut clock, 50_000).is_now, "after a pause");
        let turn = read(&mut clock, 50_010);
        assert_eq!(turn.believed.len(), 511 + 1, "up to a second late, and the one that is read");
        let ends = read(&mut clock, 50_020).believed.len();
        assert_eq!(ends, 0);
    }

    #[test]
    fn after_the_last_record_that_is_read_others_show_life() {
        let mut clock = RecordClock::default();
        read(&mut clock, 0);
        for ms in [500, 900_000, 1_400, 2_300, 30_000] {
            other(&mut clock, ms);
        }
        let stamps: Vec<_> = clock.handle_end().believed.iter().map(|other| other.at).collect();
        assert_eq!(stamps, [at(500), at(1_400), at(2_300)]);
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
        let record = record(0);
        let mut clock = RecordClock::default();
        assert!(clock.handle_read(at(0), host(5), &record).is_now);
        assert!(clock.handle_read(at(8_000), host(8_100), &record).is_now);
        assert!(!clock.handle_read(at(16_000), host(8_200), &record).is_now);
    }
}
