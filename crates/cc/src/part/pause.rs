use core::ops::Range;
use core::time::Duration;

use sounding_units::{Bytes, HostInstant};

use super::Round;
use crate::controller::Ack;

/// BBR draft §2: ProbeRTTDuration.
const LASTS: Duration = Duration::from_millis(200);

/// BBR's ProbeRTT: a flight so small that no queue is left, for a while and a round (BBR draft
/// §5.3.4.3).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Pause {
    /// Once the flight is small enough: when it is over, and whether a round has passed since.
    until: Option<(HostInstant, bool)>,
}

impl Pause {
    /// Processes an acknowledgement. A flight of `small` is small enough, and `starved` is what was
    /// delivered meanwhile. Returns whether the pause is over.
    #[inline]
    pub fn handle_ack(
        &mut self,
        ack: &Ack,
        round: &mut Round,
        round_began: bool,
        small: Bytes,
        starved: &mut Range<Bytes>,
    ) -> bool {
        let from = if self.until.is_none() { ack.delivered } else { starved.start };
        *starved = from..ack.delivered + ack.in_flight + Bytes::new(1);
        match &mut self.until {
            None if ack.in_flight <= small => {
                round.restart(ack.delivered);
                self.until = Some((ack.now + LASTS, false));
            }
            Some((_, round_passed)) => *round_passed |= round_began,
            None => {}
        }
        matches!(self.until, Some((at, true)) if ack.now > at)
    }

    /// It has lasted long enough by `now`, whether a round has passed or not.
    #[inline]
    pub fn has_lasted(&self, now: HostInstant) -> bool {
        self.until.is_some_and(|(at, _)| now > at)
    }

    /// It is over with the next acknowledgement later than `now`.
    #[inline]
    pub fn end(&mut self, now: HostInstant) {
        self.until = Some((now, true));
    }
}
