use core::time::Duration;

use sounding_cc::Ack;
use sounding_cc::part::{Gap, Slot, Slots};

/// Weight of a new rate in the capacity (Algorithm 1, lines 15 and 19).
const WEIGHT: f64 = 0.2;

/// The capacity of a cell, and whether others use it: Algorithm 1, line by line, and the busy slots
/// of the last eight (interpretation 5).
///
/// Rates are bytes a tick of the receiver's clock, which stands for the paper's TTI.
#[derive(Clone, Debug)]
pub(super) struct Estimator {
    lambda: f64,
    slots: Slots,
    capacity: Option<f64>,
    tick: Duration,
    /// So many busy slots make the cell busy.
    busy: u32,
    /// The last eight slots, a bit for each: whether it was busy.
    recent: u8,
}

impl Estimator {
    pub(super) fn new(lambda: f64, busy: u32) -> Self {
        Self {
            lambda,
            slots: Slots::default(),
            capacity: None,
            tick: Duration::ZERO,
            busy,
            recent: 0,
        }
    }

    /// Forgets the last slots: a new burst is judged by its own.
    pub(super) fn forget(&mut self) {
        self.recent = 0;
    }

    /// Whether the cell is busy; `None` for an acknowledgement that shows nothing of it.
    pub(super) fn handle_ack(&mut self, ack: &Ack) -> Option<bool> {
        let is_busy = self.slot(ack)?;
        self.recent = (self.recent << 1) | u8::from(is_busy);
        Some(is_busy && self.recent.count_ones() >= self.busy)
    }

    /// Whether the slot that this acknowledgement ends was busy.
    fn slot(&mut self, ack: &Ack) -> Option<bool> {
        let Slot { bytes, tick, after: Gap { ticks, backlogged }, .. } =
            self.slots.handle_ack(ack)?;
        // A gap without waiting data is the sender's (interpretation 3).
        if !backlogged {
            return None;
        }
        self.tick = tick;
        let rate = bytes.count() as f64 / f64::from(ticks);
        // The paper begins with no capacity; the first rate is it (interpretation 1).
        let capacity = *self.capacity.get_or_insert(rate);
        let learnt = (1.0 - WEIGHT) * capacity + WEIGHT * rate;
        if ticks > 1 {
            if rate > capacity {
                self.capacity = Some(learnt);
            }
            Some(rate < self.lambda * capacity)
        } else {
            self.capacity = Some(learnt);
            Some(false)
        }
    }

    /// What the cell carries in this time.
    pub(super) fn carries(&self, time: Duration) -> Option<f64> {
        let ticks = time.as_secs_f64() / self.tick.as_secs_f64();
        self.capacity.filter(|_| !self.tick.is_zero()).map(|capacity| capacity * ticks)
    }
}

#[cfg(test)]
mod tests {
    use std::vec::Vec;

    use sounding_units::{Bytes, HostInstant};

    use super::*;
    use sounding_cc::Stamp;

    /// Everything leaves at once; each reading of the clock brings so many segments of 1000 bytes.
    fn run(lambda: f64, schedule: &[(u32, u64)]) -> Vec<Option<bool>> {
        judge(lambda, 1, schedule)
    }

    fn judge(lambda: f64, busy: u32, schedule: &[(u32, u64)]) -> Vec<Option<bool>> {
        let mut estimator = Estimator::new(lambda, busy);
        let answers = schedule.iter().map(|&(value, segments)| {
            let stamp = Some(Stamp { value, tick: Duration::from_millis(1) });
            let now = HostInstant::from_nanos(u64::from(value) * 1_000_000);
            let acked = Bytes::new(segments * 1000);
            estimator.handle_ack(&Ack { now, acked, stamp, ..Ack::default() })
        });
        answers.collect()
    }

    #[test]
    fn back_to_back_slots_are_not_busy() {
        // Figure 5(a).
        let answers = run(0.5, &[(1, 4), (2, 4), (3, 4), (4, 4)]);
        assert_eq!(answers, [None, Some(false), Some(false), Some(false)]);
    }

    #[test]
    fn a_gap_without_the_data_of_two_slots_is_busy() {
        // Figure 5(b): a turn for each of three senders.
        let answers = run(0.5, &[(1, 4), (2, 4), (5, 4), (8, 4)]);
        assert_eq!(answers, [None, Some(false), Some(true), Some(true)]);
    }

    #[test]
    fn batches_of_two_slots_are_not_busy() {
        // Figure 5(c): twice the data at every second reading.
        let answers = run(0.5, &[(1, 4), (2, 4), (4, 8), (6, 8), (8, 8)]);
        assert_eq!(answers[3..], [Some(false), Some(false)]);
    }

    #[test]
    fn strict_turns_of_two_are_not_seen_at_one_half() {
        let turns = [(1, 4), (2, 4), (4, 4), (6, 4), (8, 4)];
        assert_eq!(run(0.5, &turns)[2..], [Some(false); 3]);
        assert_eq!(run(0.55, &turns)[2..], [Some(true); 3]);
    }

    #[test]
    fn one_hole_of_harq_is_a_rival_to_the_paper_and_not_to_two_of_eight() {
        // Eight subframes late, and then all that waited for it.
        let hole = [(1, 4), (2, 4), (3, 4), (11, 32), (12, 4), (13, 4)];
        let said = |busy| judge(0.5, busy, &hole).contains(&Some(true));
        assert_eq!([1, 2, 3].map(said), [true, false, false]);
        // A rival makes such slots in a row.
        let turns = [(1, 4), (2, 4), (5, 4), (8, 4), (11, 4), (14, 4)];
        assert_eq!(judge(0.5, 2, &turns)[2..], [false, true, true, true].map(Some));
    }

    #[test]
    fn a_wait_forgets_the_busy_slots_before_it() {
        let mut estimator = Estimator::new(0.5, 2);
        let mut judge = |value: u32| {
            let stamp = Some(Stamp { value, tick: Duration::from_millis(1) });
            let now = HostInstant::from_nanos(u64::from(value) * 1_000_000);
            let ack = Ack { now, acked: Bytes::new(4000), stamp, ..Ack::default() };
            let said = estimator.handle_ack(&ack);
            if value == 8 {
                estimator.forget();
            }
            said
        };
        let said = [1, 2, 5, 8, 11, 14].map(&mut judge);
        assert_eq!(said[2..], [Some(false), Some(true), Some(false), Some(true)]);
    }

    #[test]
    fn the_ends_of_lambda_see_everything_and_nothing() {
        let turns = [(1, 4), (2, 4), (30, 4), (60, 4)];
        assert_eq!(run(0.0, &turns)[2..], [Some(false); 2]);
        assert_eq!(run(1.0, &[(1, 4), (2, 4), (4, 7)])[2], Some(true));
    }
}
