//! CoDel, Controlled Delay (RFC 8289 §5, the annotated pseudocode).

use core::time::Duration;

use sounding_units::{Bytes, HostInstant};

use crate::opportunity::OPPORTUNITY;

/// The state of CoDel (RFC 8289 §5.2).
#[derive(Debug)]
pub(super) struct CoDel {
    target: Duration,
    interval: Duration,
    /// When a delay that is above the target now will have been so for an interval.
    above_until: Option<HostInstant>,
    is_dropping: bool,
    next_drop: HostInstant,
    /// Drops since this time of dropping began.
    count: u32,
    /// The count with which it began.
    first_count: u32,
    /// The largest packet so far: a queue of one packet is short at any rate (§5.6).
    largest: Bytes,
}

/// A packet that was taken from the queue.
pub(super) struct Taken<P> {
    pub(super) packet: P,
    pub(super) cost: Bytes,
    pub(super) waited: Duration,
    /// The bytes still in the queue.
    pub(super) left: Bytes,
}

impl CoDel {
    pub(super) fn new(target: Duration, interval: Duration) -> Self {
        Self {
            target,
            interval,
            above_until: None,
            is_dropping: false,
            next_drop: HostInstant::default(),
            count: 0,
            first_count: 0,
            largest: OPPORTUNITY,
        }
    }

    /// The packet that leaves the queue now; those before it are dropped (§5.5).
    pub(super) fn dequeue<P>(
        &mut self,
        now: HostInstant,
        mut take: impl FnMut() -> Option<Taken<P>>,
        mut drop: impl FnMut(P),
    ) -> Option<P> {
        let (mut packet, mut may_drop) = self.judge(now, take());
        if self.is_dropping {
            self.is_dropping = may_drop;
            while self.is_dropping && now >= self.next_drop {
                packet.take().into_iter().for_each(&mut drop);
                self.count = self.count.saturating_add(1);
                (packet, may_drop) = self.judge(now, take());
                self.is_dropping = may_drop;
                if may_drop {
                    self.next_drop = self.after(self.next_drop);
                }
            }
        } else if may_drop {
            packet.take().into_iter().for_each(&mut drop);
            (packet, _) = self.judge(now, take());
            self.is_dropping = true;
            // The rate of drops that held the queue lately is a good beginning.
            let drops = self.count.saturating_sub(self.first_count);
            let is_recent = now.saturating_since(self.next_drop) < self.interval.saturating_mul(16);
            self.count = if drops > 1 && is_recent { drops } else { 1 };
            self.next_drop = self.after(now);
            self.first_count = self.count;
        }
        packet
    }

    /// Whether a packet may be dropped: the delay was above the target for an interval (§5.6).
    fn judge<P>(&mut self, now: HostInstant, taken: Option<Taken<P>>) -> (Option<P>, bool) {
        let Some(Taken { packet, cost, waited, left }) = taken else {
            self.above_until = None;
            return (None, false);
        };
        self.largest = self.largest.max(cost);
        if waited < self.target || left <= self.largest {
            self.above_until = None;
            return (Some(packet), false);
        }
        let until = *self.above_until.get_or_insert(now + self.interval);
        (Some(packet), now >= until)
    }

    /// The control law: drops come closer with the square root of their count (§5.6).
    fn after(&self, at: HostInstant) -> HostInstant {
        let root = libm::sqrt(f64::from(self.count.max(1)));
        at + Duration::from_nanos((self.interval.as_nanos() as f64 / root) as u64)
    }
}

#[cfg(test)]
mod tests {
    use std::collections::VecDeque;
    use std::vec::Vec;

    use super::*;

    const PACKET: Bytes = Bytes::new(1500);

    fn millis(millis: u64) -> HostInstant {
        HostInstant::from_nanos(millis * 1_000_000)
    }

    /// A queue that is served once a millisecond. Each packet has waited for `waited` when it is
    /// looked at, with `left` others behind it. Returns the milliseconds of the drops.
    fn drops(codel: &mut CoDel, from: u64, to: u64, waited: u64, left: u64) -> Vec<u64> {
        let mut drops = Vec::new();
        for now in from..to {
            let take = || {
                let waited = Duration::from_millis(waited);
                let left = Bytes::new(PACKET.count() * left);
                Some(Taken { packet: (), cost: PACKET, waited, left })
            };
            codel.dequeue(millis(now), take, |()| drops.push(now)).expect("a packet is served");
        }
        drops
    }

    fn codel() -> CoDel {
        CoDel::new(Duration::from_millis(5), Duration::from_millis(100))
    }

    #[test]
    fn a_delay_under_the_target_drops_nothing_however_long_it_lasts() {
        assert_eq!(drops(&mut codel(), 0, 60_000, 4, 10), []);
        assert_ne!(drops(&mut codel(), 0, 60_000, 5, 10), []);
    }

    #[test]
    fn a_delay_above_the_target_is_allowed_for_an_interval() {
        let first = drops(&mut codel(), 50, 60_000, 20, 10)[0];
        assert_eq!(first, 150);
        // One short look under the target begins the interval anew.
        let mut interrupted = codel();
        assert_eq!(drops(&mut interrupted, 0, 99, 20, 10), []);
        assert_eq!(drops(&mut interrupted, 99, 100, 1, 10), []);
        assert_eq!(drops(&mut interrupted, 100, 300, 20, 10), [200]);
    }

    #[test]
    fn a_queue_of_one_packet_is_short_at_any_rate() {
        assert_eq!(drops(&mut codel(), 0, 10_000, 500, 1), []);
        assert_ne!(drops(&mut codel(), 0, 10_000, 500, 2), []);
    }

    #[test]
    fn drops_come_closer_with_the_square_root_of_their_count() {
        let drops = drops(&mut codel(), 0, 3_000, 50, 100);
        // The first at the end of the interval, the next after interval/sqrt(1), then /sqrt(2).
        let mut at = 100.0;
        let mut wanted = Vec::from([100]);
        for count in 1..drops.len() {
            at += 100.0 / libm::sqrt(count as f64);
            wanted.push(libm::ceil(at - 1e-5) as u64);
        }
        assert_eq!(drops, wanted);
        assert!(drops.len() > 150, "{}", drops.len());
    }

    #[test]
    fn dropping_ends_with_the_first_packet_under_the_target() {
        let mut codel = codel();
        assert_eq!(drops(&mut codel, 0, 150, 50, 10), [100]);
        assert_eq!(drops(&mut codel, 150, 151, 4, 10), []);
        assert!(!codel.is_dropping);
        assert_eq!(drops(&mut codel, 151, 250, 50, 10), []);
    }

    #[test]
    fn a_queue_that_comes_back_soon_is_dropped_from_at_its_last_rate() {
        let mut soon = codel();
        let before = drops(&mut soon, 0, 1_000, 50, 10).len() as u32;
        assert!(before > 10, "{before}");
        drops(&mut soon, 1_000, 1_001, 0, 10);
        let mut late = codel();
        drops(&mut late, 0, 1_000, 50, 10);
        drops(&mut late, 1_000, 1_001, 0, 10);
        // Within 16 intervals the count goes on, less the one with which it began.
        drops(&mut soon, 1_001, 1_102, 50, 10);
        assert_eq!(soon.count, before - 1);
        drops(&mut late, 5_000, 5_101, 50, 10);
        assert_eq!(late.count, 1);
    }

    #[test]
    fn a_large_backlog_has_several_drops_at_one_departure() {
        let mut codel = codel();
        drops(&mut codel, 0, 2_000, 50, 100);
        let mut waiting: VecDeque<u64> = (0..100).collect();
        let mut count = 0;
        // Nothing was served for a second, so many drops are due.
        let take = || {
            let packet = waiting.pop_front()?;
            let left = Bytes::new(PACKET.count() * waiting.len() as u64);
            Some(Taken { packet, cost: PACKET, waited: Duration::from_secs(1), left })
        };
        let served = codel.dequeue(millis(3_000), take, |_| count += 1);
        assert!(count > 50, "{count}");
        assert_eq!(served, Some(count));
    }

    #[test]
    fn the_last_packet_of_a_queue_is_always_served() {
        let mut codel = codel();
        drops(&mut codel, 0, 2_000, 50, 100);
        let mut waiting: VecDeque<u64> = (0..3).collect();
        let take = || {
            let packet = waiting.pop_front()?;
            let left = Bytes::new(PACKET.count() * waiting.len() as u64);
            Some(Taken { packet, cost: PACKET, waited: Duration::from_secs(1), left })
        };
        assert!(codel.dequeue(millis(90_000), take, |_| ()).is_some());
    }
}
