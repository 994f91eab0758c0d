use sounding_units::HostInstant;

use super::window::MAX_CWND;
use super::{MAX_RATE, micros};

/// The smallest RTTs of consecutive slots are compared. A slot lasts at least this time and at
/// least an RTT. It is longer than the effect of a cell's grant and report intervals on single
/// packets.
const SLOT_US: u64 = 12_000;
/// See [`SLOT_US`]. At 1 Mbit/s acknowledgements of two segments are 24 ms apart.
const SAMPLES: u32 = 3;
/// The smallest RTT must grow by at least this part of the time between them: a queue grows this
/// fast if less than three quarters of the sent bytes arrive.
const STEEP: u64 = 4;
/// Number of slots in a row with such growth. Chosen with [`SLOT_US`]: with four, wires of 15
/// Mbit/s are found after up to 1.2 s instead of 0.8. With either, fading cells are not mistaken
/// for a wire.
const SLOTS: u32 = 3;

/// Detects a growing queue: packets arrive steadily, and at a lower rate than they were sent.
///
/// A radio's repetitions and missing grants delay all packets behind them. Then all arrive at once,
/// and each packet has waited less than the previous one, so the smallest RTT of a slot hardly
/// grows. Before a wire that carries less than the radio, each packet waits longer than the
/// previous one. This shows long before the round ends.
#[derive(Clone, Copy, Debug)]
pub(super) struct QueueGrowth {
    /// When the growth began, and the bytes acknowledged since.
    since: HostInstant,
    acked: u64,
    slots: u32,
    slot_since: HostInstant,
    /// RTTs of this slot, microseconds.
    smallest: Option<u64>,
    samples: u32,
    /// The smallest RTT of the slot before, microseconds.
    last: Option<u64>,
}

impl QueueGrowth {
    /// Starts a new detection.
    pub(super) const fn new(now: HostInstant) -> Self {
        Self {
            since: now,
            acked: 0,
            slots: 0,
            slot_since: now,
            smallest: None,
            samples: 0,
            last: None,
        }
    }

    /// Says whether a slot has ended with which the queue is known to grow.
    pub(super) fn handle_ack(&mut self, now: HostInstant, rtt: Option<u64>, acked: u64) -> bool {
        self.count(acked);
        if let Some(rtt) = rtt {
            self.smallest = Some(self.smallest.map_or(rtt, |smallest| smallest.min(rtt)));
            self.samples = self.samples.saturating_add(1);
        }
        let elapsed = micros(now - self.slot_since).unwrap_or_default();
        let Some(smallest) =
            self.smallest.filter(|_| elapsed >= SLOT_US && self.samples >= SAMPLES)
        else {
            return false;
        };
        if self.last.is_some_and(|last| smallest >= last + elapsed / STEEP) {
            self.slots = self.slots.saturating_add(1);
        } else {
            (self.since, self.acked, self.slots) = (now, 0, 0);
        }
        self.slot_since = now;
        (self.last, self.smallest, self.samples) = (Some(smallest), None, 0);
        self.slots >= SLOTS
    }

    /// More has arrived.
    pub(super) fn count(&mut self, acked: u64) {
        self.acked = (self.acked + acked).min(MAX_CWND);
    }

    /// Rate of arrivals since the detection began, bytes/s.
    pub(super) fn rate(&self, now: HostInstant) -> u64 {
        let elapsed = micros(now - self.since).unwrap_or(1);
        (self.acked * 1_000_000 / elapsed).min(MAX_RATE)
    }

    /// The smallest RTT of the last slot, microseconds.
    pub(super) fn rtt(&self) -> u64 {
        self.last.unwrap_or_default()
    }
}

#[cfg(test)]
mod tests {
    use core::time::Duration;

    use super::*;

    /// Whether any of these, each this many milliseconds after the one before, ends a queue_growth;
    /// 1200 bytes each.
    fn rises(acks: impl IntoIterator<Item = (u64, u64)>) -> Option<u64> {
        let mut now = HostInstant::from_nanos(1_000_000_000);
        let mut queue_growth = QueueGrowth::new(now);
        acks.into_iter().find_map(|(after, rtt)| {
            now = now + Duration::from_millis(after);
            queue_growth.handle_ack(now, Some(rtt * 1_000), 1_200).then(|| queue_growth.rate(now))
        })
    }

    #[test]
    fn a_queue_that_grows_from_packet_to_packet_is_one_and_tells_what_arrives() {
        assert_eq!(rises((0..100).map(|at| (4, 50 + 2 * at))), Some(300_000));
        assert_eq!(rises((0..100).map(|at| (4, 50 + at * 4 / 5))), None);
        assert_eq!(rises((0..100).map(|_| (4, 50))), None);
    }

    #[test]
    fn what_is_held_up_and_then_arrives_at_once_is_none() {
        let held_up = |gap: u64| {
            let late =
                (0..gap / 2).map(move |at| (if at == 0 { gap } else { 0 }, 50 + gap - 2 * at));
            (0..30).map(|_| (2, 50)).chain(late)
        };
        for gap in [8, 16, 60, 200] {
            assert_eq!(rises((0..20).flat_map(|_| held_up(gap))), None, "{gap} ms");
        }
    }
}
