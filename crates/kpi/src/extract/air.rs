//! When a subframe or slot was, on the modem's clock.

use core::time::Duration;

use sounding_units::ModemInstant;

/// The offset between subframe or slot numbers and the modem's clock.
///
/// A record is stamped when it is complete: between zero and one writing interval after its newest
/// block. All records of a RAT share the frame boundaries. The record with the shortest delay after
/// its newest block shows them best, and dates the others.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Air {
    anchor: Option<Anchor>,
}

#[derive(Clone, Copy, Debug)]
struct Anchor {
    /// When cycle 0 of the system frame number began, within a cycle of the modem's clock.
    phase: u64,
    /// When the newest record was stamped.
    seen: ModemInstant,
}

/// The period of the system frame number (TS 36.331 §6.2.2, TS 38.331 §6.2.2), in nanoseconds.
const CYCLE: u64 = 10_240_000_000;

/// The longest interval at which records are written is 300 ms; a record that seems to be later
/// comes from a cell whose frames begin elsewhere.
const MAX_NS: u64 = 400_000_000;

/// Orders for the uplink are for subframes and slots that come, by so much at most. Chosen; pinned
/// by `orders_for_a_subframe_that_comes_are_dated_after_their_record`.
const AHEAD_NS: u64 = 40_000_000;

/// The network's time and the modem's stamps may drift apart by one nanosecond in this many
/// nanoseconds.
const DRIFT: u64 = 20_000;

impl Air {
    /// Whether a record has shown when frames begin.
    pub(super) fn is_known(&self) -> bool {
        self.anchor.is_some()
    }

    /// A record was stamped, and its newest subframe or slot began so long after cycle 0 did: when
    /// that was.
    pub(super) fn date(&mut self, stamped: ModemInstant, within: Duration) -> ModemInstant {
        let late = self.lateness(stamped, within);
        stamped.saturating_before(Duration::from_nanos(late))
    }

    /// As [`date`](Self::date), of a record that dates no other. `None` if its newest subframe or
    /// slot does not fit the frames that are known: those of another cell, or an old number.
    pub(super) fn place(&self, stamped: ModemInstant, within: Duration) -> Option<ModemInstant> {
        let Some(anchor) = self.anchor else { return Some(stamped) };
        match Self::late(anchor.crept(stamped), Self::phase(stamped, within)) {
            late @ ..=MAX_NS => Some(stamped.saturating_before(Duration::from_nanos(late))),
            late if CYCLE - late <= AHEAD_NS => Some(stamped + Duration::from_nanos(CYCLE - late)),
            _ => None,
        }
    }

    /// When cycle 0 began if the newest subframe or slot began at the stamp.
    fn phase(stamped: ModemInstant, within: Duration) -> u64 {
        let within = within.as_nanos() as u64 % CYCLE;
        (stamped.as_nanos() % CYCLE + CYCLE - within) % CYCLE
    }

    /// By how much one phase is later than another.
    const fn late(earlier: u64, phase: u64) -> u64 {
        (phase + CYCLE - earlier) % CYCLE
    }

    /// By how many nanoseconds a stamp is later than the record's newest block, as far as is known.
    fn lateness(&mut self, stamped: ModemInstant, within: Duration) -> u64 {
        let phase = Self::phase(stamped, within);
        let anchor = match self.anchor {
            Some(anchor) => {
                let crept = anchor.crept(stamped);
                // Earlier than any before: by less than a cycle, so it seems to be late by nearly
                // one.
                if Self::late(crept, phase) > MAX_NS { phase } else { crept }
            }
            None => phase,
        };
        self.anchor = Some(Anchor { phase: anchor, seen: stamped });
        Self::late(anchor, phase)
    }
}

impl Anchor {
    /// Its phase at a later stamp, as late as drift can make it.
    fn crept(self, stamped: ModemInstant) -> u64 {
        let elapsed = (stamped - self.seen).as_nanos() as u64;
        (self.phase + (elapsed / DRIFT).min(MAX_NS)) % CYCLE
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Equal to a hundredth of a millisecond, because of the clock's drift.
    fn same(found: ModemInstant, wanted: ModemInstant) {
        const DRIFTED: Duration = Duration::from_micros(10);
        assert!(found - wanted <= DRIFTED && wanted - found <= DRIFTED, "{found:?} {wanted:?}");
    }

    const fn at(ms: u64) -> ModemInstant {
        ModemInstant::from_nanos(ms * 1_000_000 + 123_456)
    }

    fn within(ms: u64) -> Duration {
        Duration::from_millis(ms % 10_240)
    }

    #[test]
    fn a_record_that_was_written_late_is_dated_by_one_that_was_not() {
        let mut air = Air::default();
        same(air.date(at(50_000), within(777)), at(50_000));
        same(air.date(at(50_100), within(777 + 40)), at(50_040));
        same(air.date(at(60_240), within(777 + 10_240)), at(60_240));
    }

    #[test]
    fn the_soonest_record_dates_those_after_it() {
        let mut air = Air::default();
        air.date(at(50_080), within(0));
        same(air.date(at(50_100), within(100)), at(50_100));
        same(air.date(at(50_200), within(120)), at(50_120));
    }

    #[test]
    fn orders_for_a_subframe_that_comes_are_dated_after_their_record() {
        let mut air = Air::default();
        air.date(at(50_000), within(0));
        same(air.place(at(50_100), within(108)).expect("it is near"), at(50_108));
        same(air.place(at(50_100), within(40)).expect("it is near"), at(50_040));
        assert_eq!(air.place(at(50_100), within(200)), None);
        assert_eq!(air.place(at(50_700), within(0)), None);
    }

    #[test]
    fn frames_that_begin_elsewhere_are_those_of_another_cell() {
        let mut air = Air::default();
        air.date(at(50_000), within(0));
        same(air.date(at(51_000), within(6_000)), at(51_000));
        same(air.date(at(51_050), within(6_010)), at(51_010));
    }
}
