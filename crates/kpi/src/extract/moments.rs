//! When the items of any record were on the air, by their frame numbers.

use core::time::Duration;

use sounding_diag::LogRecord;
use sounding_diag::radio::{Slot, Tti};
use sounding_units::ModemInstant;

use super::{Extractor, nr};

/// The place of an item in the frames of its cell.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Moment {
    /// A subframe of LTE.
    Subframe(Tti),
    /// A slot of NR.
    Slot {
        /// System frame number.
        frame: u16,
        /// Slot within the frame.
        slot: u8,
        /// The length of slots, if the record has it: see [`Slot::numerology`].
        numerology: Option<u8>,
    },
}

/// The times of one record's moments.
#[derive(Clone, Copy, Debug, Default)]
pub struct Moments {
    /// When the newest was; `None` if the modem knew no time or the frames are of another cell.
    at: Option<ModemInstant>,
    tti: Option<Tti>,
    slot: Option<Slot>,
    /// The length of slots of a record that does not have it.
    numerology: Option<u8>,
}

/// Records hold a second of subframes at most. More is a number out of order.
const LONGEST: Duration = Duration::from_secs(2);
/// Half of the subframes after which frame numbers begin anew.
const HALF_A_TURN: u16 = Tti::CYCLE / 2;

impl Extractor {
    /// Dates the moments of a record.
    ///
    /// Records that [`extract`](Self::extract) reads show when frames begin, and should be passed
    /// to it first. All others are dated by them, and change no date.
    pub fn moments(
        &self,
        log: &LogRecord<'_>,
        moments: impl Iterator<Item = Moment> + Clone,
    ) -> Moments {
        let mut dated = Moments::default();
        if log.at.known_unix_nanos().is_none() {
            return dated;
        }
        let last = moments.clone().filter_map(|moment| match moment {
            Moment::Slot { slot, .. } => Some(u16::from(slot)),
            Moment::Subframe(_) => None,
        });
        let frames = if self.nr.is_known() { &self.nr } else { &self.rlc_nr };
        dated.numerology = last.max().and_then(|last| frames.numerology_for(last));
        for moment in moments {
            match moment {
                Moment::Subframe(tti) => {
                    let newest = dated.tti.filter(|newest| tti.since(*newest) >= HALF_A_TURN);
                    dated.tti = newest.or(Some(tti));
                }
                Moment::Slot { .. } => {
                    let Some(slot) = dated.slot_of(moment) else { continue };
                    let is_older = |newest: &Slot| slot.since(*newest) >= nr::HALF_A_CYCLE;
                    dated.slot = dated.slot.filter(is_older).or(Some(slot));
                }
            }
        }
        let lte = if self.lte.is_known() { &self.lte } else { &self.rlc_lte };
        dated.at = match (dated.tti, dated.slot) {
            (Some(_), _) => lte.place(log.at, dated.within()),
            (None, Some(_)) => frames.place(log.at, dated.within()),
            (None, None) => None,
        };
        dated
    }
}

impl Moments {
    /// When that moment was; `None` if it is not known.
    pub fn of(&self, moment: Moment) -> Option<ModemInstant> {
        let before = match moment {
            Moment::Subframe(tti) => Duration::from_millis(self.tti?.since(tti).into()),
            Moment::Slot { .. } => self.slot?.since(self.slot_of(moment)?),
        };
        let at = self.at.filter(|_| before <= LONGEST)?;
        Some(at.saturating_before(before))
    }

    fn slot_of(&self, moment: Moment) -> Option<Slot> {
        let Moment::Slot { frame, slot, numerology } = moment else { return None };
        Slot::new(frame, slot, numerology.or(self.numerology))
    }

    /// From the begin of cycle 0 to the newest moment.
    fn within(&self) -> Duration {
        match (self.tti, self.slot) {
            (Some(tti), _) => Duration::from_millis(tti.count().into()),
            (None, Some(slot)) => {
                Slot::new(0, 0, slot.numerology()).map_or(Duration::ZERO, |begin| slot.since(begin))
            }
            (None, None) => Duration::ZERO,
        }
    }
}
