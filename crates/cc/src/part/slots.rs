use core::time::Duration;

use sounding_units::{Bytes, HostInstant};

use super::Windowed;
use crate::controller::{Ack, Stamp};

/// How long the fastest way to the receiver is remembered: a handover changes it.
const REMEMBERED: Duration = Duration::from_secs(10);

/// What a receiver got until its clock's next reading, rebuilt from the time stamps of its
/// acknowledgements.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Slot {
    /// What it acknowledged at this reading.
    pub bytes: Bytes,
    /// The length of a tick.
    pub tick: Duration,
    /// From the reading before to this one; `None` for the first.
    pub before: Option<Gap>,
    /// From this reading to the next.
    pub after: Gap,
}

/// The time between two readings of a receiver's clock.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Gap {
    /// At least one.
    pub ticks: u32,
    /// Data was waiting at the bottleneck. Otherwise the gap is the sender's own.
    pub backlogged: bool,
}

/// The schedule of a cell as a sender sees it: which ticks of the receiver's clock brought how much
/// (Legilimens §III-A).
///
/// Whether data was waiting is found from the way of each packet. Way and clock have an unknown
/// offset, so the fastest way of the last ten seconds is taken for the way without a queue. A
/// packet that left early enough to be at the bottleneck before the first reading was waiting until
/// the second.
#[derive(Clone, Copy, Debug, Default)]
pub struct Slots {
    current: Option<Current>,
    /// The fastest way, in nanoseconds of the two clocks' difference, shifted to be positive.
    way: Option<Windowed<u64>>,
}

#[derive(Clone, Copy, Debug)]
struct Current {
    value: u32,
    /// The reading in nanoseconds since the clock's zero, counted beyond its 32 bits.
    nanos: u64,
    bytes: Bytes,
    before: Option<Gap>,
}

/// Sender's clocks begin at zero, receivers' anywhere: this keeps differences positive.
const SHIFT: u64 = 1 << 62;

impl Slots {
    /// Takes in an acknowledgement; the slot that it ends, if it ends one.
    #[inline]
    pub fn handle_ack(&mut self, ack: &Ack) -> Option<Slot> {
        let Stamp { value, tick } = ack.stamp?;
        let nanos = tick.as_nanos() as u64;
        let Some(mut current) = self.current else {
            let at = u64::from(value) * nanos;
            self.learn(ack, at);
            self.current = Some(Current { value, nanos: at, bytes: ack.acked, before: None });
            return None;
        };
        let ticks = value.wrapping_sub(current.value);
        if ticks == 0 || ticks > u32::MAX / 2 {
            // The same reading, or an acknowledgement that was overtaken.
            current.bytes += ack.acked;
            self.current = Some(current);
            return None;
        }
        let at = current.nanos + u64::from(ticks) * nanos;
        self.learn(ack, at);
        let backlogged = self.was_waiting(ack.sent.at, current.nanos);
        let after = Gap { ticks, backlogged };
        let Current { bytes, before, .. } = current;
        self.current = Some(Current { value, nanos: at, bytes: ack.acked, before: Some(after) });
        Some(Slot { bytes, tick, before, after })
    }

    /// Forgets the path's way, as after a handover.
    pub fn reset(&mut self) {
        *self = Self::default();
    }

    fn learn(&mut self, ack: &Ack, at: u64) {
        let Some(way) = (SHIFT + at).checked_sub(ack.sent.at.as_nanos()) else { return };
        let now = ack.now.as_nanos();
        match &mut self.way {
            Some(least) => least.update(now, way),
            None => self.way = Some(Windowed::min(REMEMBERED.as_nanos() as u64, now, way)),
        }
    }

    /// Whether what left then was at the bottleneck by this reading of the receiver's clock.
    fn was_waiting(&self, left: HostInstant, reading: u64) -> bool {
        let Some(way) = &self.way else { return false };
        left.as_nanos() + way.best() <= SHIFT + reading
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MS: u64 = 1_000_000;

    /// Segments that left at these milliseconds and were acknowledged together at this reading.
    fn ack(sent_ms: u64, value: u32, segments: u64) -> Ack {
        let at = HostInstant::from_nanos(sent_ms * MS);
        Ack {
            now: HostInstant::from_nanos((sent_ms + 60) * MS),
            acked: Bytes::new(segments * 1448),
            stamp: Some(Stamp { value, tick: Duration::from_millis(1) }),
            sent: crate::controller::Departure { at, ..crate::controller::Departure::default() },
            ..Ack::default()
        }
    }

    #[test]
    fn a_gap_while_data_waits_is_one_of_the_schedule() {
        let mut slots = Slots::default();
        assert_eq!(slots.handle_ack(&ack(0, u32::MAX - 1, 2)), None);
        assert_eq!(slots.handle_ack(&ack(0, u32::MAX - 1, 2)), None);
        let slot = slots.handle_ack(&ack(0, u32::MAX, 2)).expect("the reading changed");
        assert_eq!((slot.bytes.count(), slot.before, slot.after.ticks), (4 * 1448, None, 1));
        // All left together: what came 3 ticks later, with a clock that wrapped, was waiting.
        let slot = slots.handle_ack(&ack(0, 2, 2)).expect("the reading changed");
        assert_eq!(slot.bytes.count(), 2 * 1448);
        assert_eq!(slot.after, Gap { ticks: 3, backlogged: true });
        assert_eq!(slot.before.map(|gap| gap.ticks), Some(1));
    }

    #[test]
    fn a_gap_of_the_sender_is_not() {
        let mut slots = Slots::default();
        slots.handle_ack(&ack(0, 100, 2));
        let slot = slots.handle_ack(&ack(250, 350, 2)).expect("the reading changed");
        assert_eq!(slot.after, Gap { ticks: 250, backlogged: false });
    }

    #[test]
    fn without_stamps_there_are_no_slots() {
        let mut slots = Slots::default();
        let bare = Ack { stamp: None, ..ack(0, 1, 2) };
        assert_eq!(slots.handle_ack(&bare), None);
        assert_eq!(slots.handle_ack(&Ack { stamp: None, ..ack(9, 9, 2) }), None);
    }
}
