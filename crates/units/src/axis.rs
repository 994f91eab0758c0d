use core::time::Duration;

use crate::ModemInstant;

/// Places records on one axis of time by their stamps, though some stamps are wrong.
///
/// A stamp is believed at once if it is at most a second before the newest, or a second after it.
/// Another one waits for the records that come next, because one record alone is more often wrong
/// than the clock:
///
/// | stamp | it is believed if | meaning |
/// |---|---|---|
/// | up to a minute ahead | the next record is not before it | a pause |
/// | up to 30 days ahead | the next three are not before it | a long pause |
/// | further ahead, or more than a second back | the next three stay with it | the clock was set |
///
/// Give it the stamps of the records that count, and keep those records that [`Placing::Waits`] is
/// answered for: at most [`MOST_WAITING`](Self::MOST_WAITING).
#[derive(Clone, Copy, Debug, Default)]
pub struct Axis {
    /// The newest stamp that is believed.
    newest: Option<ModemInstant>,
    /// Of the records that wait.
    waiting: Option<Waiting>,
}

/// Records whose stamps may be of a pause's end, of a new clock or of nothing.
#[derive(Clone, Copy, Debug)]
struct Waiting {
    newest: ModemInstant,
    kind: Kind,
    count: usize,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    /// Less than a minute.
    Pause,
    LongPause,
    ClockSet,
}

/// A record's place.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Placed {
    /// What becomes of the records that wait.
    pub waiting: Earlier,
    /// What becomes of this one, after them.
    pub this: Placing,
}

/// What becomes of records that wait.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Earlier {
    /// They wait on, or there are none.
    Wait,
    /// They are believed, in their order.
    Believed,
    /// Their stamps are wrong.
    Misdated,
}

/// What becomes of a record.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Placing {
    /// Its stamp is believed.
    Believed,
    /// It waits for the records after it.
    Waits,
}

impl Axis {
    /// Records overtake each other by less than half of this in public captures.
    pub const OVERTAKEN: Duration = Duration::from_secs(1);

    /// Longer pauses are rarer than wrong stamps. Chosen.
    pub const PAUSE: Duration = Duration::from_secs(60);

    /// A clock that went ahead by more than this was set: modems start in 1980, and captures do not
    /// pause for a month. Chosen.
    pub const SET_AHEAD: Duration = Duration::from_secs(30 * 24 * 3600);

    /// Records that stay with a stamp until it is believed, beside the one that has it.
    pub const MOST_WAITING: usize = 3;

    /// Records of one clock are no further apart, where it was set.
    const TOGETHER: Duration = Duration::from_secs(10);

    /// An axis that goes on from a moment.
    pub const fn since(newest: ModemInstant) -> Self {
        Self { newest: Some(newest), waiting: None }
    }

    /// The newest stamp that is believed.
    pub const fn newest(&self) -> Option<ModemInstant> {
        self.newest
    }

    /// The place of the next record. `passed` is the time since the newest believed record came, by
    /// a clock that is not the modem's; zero if there is none.
    pub fn handle_stamp(&mut self, at: ModemInstant, passed: Duration) -> Placed {
        let Some(newest) = self.newest else {
            return self.believe(at, Earlier::Wait);
        };
        let in_order =
            at + Self::OVERTAKEN >= newest && at <= newest + Self::OVERTAKEN.saturating_add(passed);
        let Some(waiting) = self.waiting else {
            if in_order {
                return self.believe(at, Earlier::Wait);
            }
            return self.wait(at, newest, Earlier::Wait);
        };
        let not_before = at + Self::OVERTAKEN >= waiting.newest;
        let stays = not_before
            && match waiting.kind {
                Kind::Pause | Kind::LongPause => at - waiting.newest <= Self::SET_AHEAD,
                Kind::ClockSet => at - waiting.newest <= Self::TOGETHER,
            };
        // A late record and the next one in order are a few seconds apart too.
        let is_back = waiting.kind == Kind::ClockSet && waiting.newest < newest;
        if !stays || (is_back && in_order) {
            return match in_order {
                true => self.believe(at, Earlier::Misdated),
                false => self.wait(at, newest, Earlier::Misdated),
            };
        }
        let needed = if waiting.kind == Kind::Pause { 1 } else { Self::MOST_WAITING };
        if waiting.count < needed {
            let newest = waiting.newest.max(at);
            self.waiting = Some(Waiting { newest, count: waiting.count + 1, ..waiting });
            return Placed { waiting: Earlier::Wait, this: Placing::Waits };
        }
        self.newest = Some(waiting.newest);
        if at <= waiting.newest + Self::OVERTAKEN.saturating_add(passed) {
            return self.believe(at, Earlier::Believed);
        }
        self.wait(at, waiting.newest, Earlier::Believed)
    }

    /// The input has ended: what becomes of the records that wait. No clock was set, but the last
    /// of records may come after a pause.
    pub fn handle_end(&mut self) -> Earlier {
        let Some(waiting) = self.waiting.take() else { return Earlier::Wait };
        if waiting.kind == Kind::ClockSet {
            return Earlier::Misdated;
        }
        self.newest = self.newest.max(Some(waiting.newest));
        Earlier::Believed
    }

    fn believe(&mut self, at: ModemInstant, waiting: Earlier) -> Placed {
        self.newest = self.newest.max(Some(at));
        self.waiting = None;
        Placed { waiting, this: Placing::Believed }
    }

    fn wait(&mut self, at: ModemInstant, newest: ModemInstant, waiting: Earlier) -> Placed {
        let ahead = at - newest;
        let kind = match ahead {
            Duration::ZERO => Kind::ClockSet,
            _ if ahead <= Self::PAUSE => Kind::Pause,
            _ if ahead <= Self::SET_AHEAD => Kind::LongPause,
            _ => Kind::ClockSet,
        };
        self.waiting = Some(Waiting { newest: at, kind, count: 1 });
        Placed { waiting, this: Placing::Waits }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::vec::Vec;

    const SECOND: i64 = 1_000;
    const HOUR: i64 = 3600 * SECOND;
    const YEAR: i64 = 365 * 24 * HOUR;
    const NOW: i64 = 40 * YEAR;

    fn at(ms: i64) -> ModemInstant {
        ModemInstant::from_nanos((NOW + ms) as u64 * 1_000_000)
    }

    /// The stamps that are believed, in the order in which they are, and those that are not.
    fn read(stamps: &[i64], end: bool) -> (Vec<i64>, Vec<i64>) {
        let (mut believed, mut wrong, mut waiting) = (Vec::new(), Vec::new(), Vec::new());
        let mut axis = Axis::default();
        for &ms in stamps {
            let placed = axis.handle_stamp(at(ms), Duration::ZERO);
            match placed.waiting {
                Earlier::Wait => {}
                Earlier::Believed => believed.append(&mut waiting),
                Earlier::Misdated => wrong.append(&mut waiting),
            }
            match placed.this {
                Placing::Believed => believed.push(ms),
                Placing::Waits => waiting.push(ms),
            }
            assert!(waiting.len() <= Axis::MOST_WAITING);
        }
        match axis.handle_end() {
            Earlier::Believed if end => believed.append(&mut waiting),
            Earlier::Misdated if end => wrong.append(&mut waiting),
            _ => {}
        }
        (believed, wrong)
    }

    #[test]
    fn records_that_overtake_each_other_are_believed_at_once() {
        let stamps = [0, 400, 10, 900, 1_800, 850, 1_900];
        assert_eq!(read(&stamps, false), (stamps.to_vec(), Vec::new()));
    }

    #[test]
    fn one_wrong_stamp_moves_nothing() {
        for wrong in [-203 * SECOND, -2 * SECOND, 2 * SECOND, HOUR, 10 * YEAR, -30 * YEAR] {
            let (believed, misdated) = read(&[0, 10, wrong, 20, 30, 40, 50], false);
            assert_eq!((believed, misdated), ([0, 10, 20, 30, 40, 50].to_vec(), [wrong].to_vec()));
        }
    }

    #[test]
    fn three_records_with_wrong_stamps_move_nothing_either() {
        for wrong in [-203 * SECOND, 10 * YEAR, HOUR] {
            let stamps = [0, 10, wrong, wrong + 5, wrong + 9, 20, 30];
            assert_eq!(read(&stamps, false).0, [0, 10, 20, 30], "{wrong}");
        }
    }

    #[test]
    fn a_clock_is_set_when_the_next_three_records_stay_with_it() {
        for set in [-2 * SECOND, -203 * SECOND, -30 * YEAR, 10 * YEAR] {
            let stamps = [0, 10, set, set + 10, set + 20, set + 30];
            assert_eq!(read(&stamps[..5], false).0, [0, 10], "{set}");
            assert_eq!(read(&stamps[..5], true).1.len(), 3, "{set}: no clock is set at the end");
            assert_eq!(read(&stamps, false), (stamps.to_vec(), Vec::new()));
        }
    }

    #[test]
    fn wrong_stamps_that_differ_do_not_support_each_other() {
        let years = [10 * YEAR, 20 * YEAR, -10 * YEAR, 5 * YEAR, 30 * YEAR];
        let stamps = [&[0][..], &years, &[10, 20]].concat();
        assert_eq!(read(&stamps, false), ([0, 10, 20].to_vec(), years.to_vec()));
    }

    #[test]
    fn a_pause_of_seconds_ends_with_the_next_record() {
        assert_eq!(read(&[0, 5 * SECOND], false).0, [0]);
        let stamps = [0, 5 * SECOND, 5 * SECOND + 10, 5 * SECOND + 20];
        assert_eq!(read(&stamps, false), (stamps.to_vec(), Vec::new()));
        assert_eq!(read(&stamps[..2], true).0, stamps[..2]);
    }

    #[test]
    fn records_that_are_all_hours_apart_are_all_believed() {
        let stamps: Vec<i64> = (0..50).map(|record| record * 5 * HOUR).collect();
        assert_eq!(read(&stamps, true), (stamps, Vec::new()));
    }

    #[test]
    fn time_that_passed_elsewhere_is_no_pause() {
        let mut axis = Axis::since(at(0));
        let placed = axis.handle_stamp(at(HOUR), Duration::from_secs(3600));
        assert_eq!(placed.this, Placing::Believed);
    }

    #[test]
    fn the_end_of_time_is_a_stamp_like_others() {
        let end = ModemInstant::from_nanos(u64::MAX);
        let mut axis = Axis::default();
        for _ in 0..9 {
            assert_eq!(axis.handle_stamp(end, Duration::MAX).this, Placing::Believed);
        }
        for _ in 0..4 {
            axis.handle_stamp(at(0), Duration::ZERO);
        }
        assert_eq!(axis.newest(), Some(at(0)));
    }
}
