use alloc::vec::Vec;
use core::time::Duration;

use sounding_cc::Stamp;
use sounding_units::HostInstant;

use super::flow::{Acks, Receipt};
use super::segment::{Acknowledgement, BLOCKS, Block, Data};

/// The longest a lone segment waits for its acknowledgement (Linux `TCP_DELACK_MIN`; RFC 9293
/// §3.8.6.3 allows 500 ms).
pub(super) const DELAY: Duration = Duration::from_millis(40);
/// Segments acknowledged one by one at the beginning, so that slow start is not halved (Linux
/// `TCP_MAX_QUICKACKS`).
const QUICK: u32 = 16;

/// The receiving end of a byte stream.
#[derive(Debug)]
pub(super) struct Receiver {
    receipt: Receipt,
    /// The clock's reading at the beginning of the world.
    clock: Duration,
    /// All segments before this one are here.
    next: u64,
    /// Segments beyond a gap, as ranges in order that do not touch.
    beyond: Vec<(u64, u64)>,
    /// Not acknowledged yet.
    waiting: u32,
    quick: u32,
    newest: Option<(Data, HostInstant)>,
    acknowledge_at: Option<HostInstant>,
}

/// The result of a segment at the receiver.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Arrival {
    /// It was not here before.
    pub(super) is_new: bool,
    /// The acknowledgement to send now.
    pub(super) acknowledgement: Option<Acknowledgement>,
}

impl Receiver {
    /// `seed` sets the clock: where a connection's time stamps begin is random (RFC 7323 §7.1).
    pub(super) fn new(receipt: Receipt, seed: u64) -> Self {
        // 2^51 ns of a clock of 1 ms: half of what its 32 bits count.
        let clock = Duration::from_nanos(seed.wrapping_mul(0x9E37_79B9_7F4A_7C15) >> 13);
        Self {
            receipt,
            clock,
            next: 0,
            beyond: Vec::new(),
            waiting: 0,
            quick: QUICK,
            newest: None,
            acknowledge_at: None,
        }
    }

    pub(super) fn handle_data(&mut self, now: HostInstant, data: Data) -> Arrival {
        self.newest = Some((data, now));
        let in_order = data.number == self.next && self.beyond.is_empty();
        let is_new = if in_order {
            self.next += 1;
            true
        } else {
            self.insert(data.number)
        };
        self.waiting += 1;
        let every = match self.receipt.acks {
            Acks::EveryPacket => 1,
            Acks::Delayed => 2,
            Acks::Every(count) => count,
        };
        let at_once = !in_order || self.waiting >= every || self.quick > 0;
        self.quick = self.quick.saturating_sub(1);
        let batch_ends = self.batch_ends(now);
        let acknowledgement =
            (at_once && batch_ends == now).then(|| self.acknowledge(data, now, now));
        if acknowledgement.is_none() {
            let at = if at_once { batch_ends } else { now + DELAY };
            self.acknowledge_at = Some(self.acknowledge_at.map_or(at, |before| before.min(at)));
        }
        Arrival { is_new, acknowledgement }
    }

    pub(super) fn handle_time(&mut self, now: HostInstant) -> Option<Acknowledgement> {
        self.acknowledge_at.filter(|&at| at <= now)?;
        let (data, at) = self.newest?;
        Some(self.acknowledge(data, at, now))
    }

    pub(super) fn wakeup(&self) -> Option<HostInstant> {
        self.acknowledge_at
    }

    /// Takes in a segment at or beyond a gap; whether it is new.
    fn insert(&mut self, number: u64) -> bool {
        if number < self.next {
            return false;
        }
        // The first range that ends at the segment or after it.
        let at = self.beyond.partition_point(|&(_, end)| end < number);
        match self.beyond.get_mut(at) {
            Some((start, end)) if *start <= number && number < *end => return false,
            Some((start, _)) if *start == number + 1 => *start = number,
            Some((_, end)) if *end == number => {
                *end = number + 1;
                let joined = *end;
                if let Some(&(start, end)) = self.beyond.get(at + 1)
                    && start == joined
                {
                    self.beyond[at].1 = end;
                    self.beyond.remove(at + 1);
                }
            }
            _ => self.beyond.insert(at, (number, number + 1)),
        }
        if let Some(&(start, end)) = self.beyond.first()
            && start == self.next
        {
            self.next = end;
            self.beyond.remove(0);
        }
        true
    }

    /// When what arrived by `now` is processed.
    fn batch_ends(&self, now: HostInstant) -> HostInstant {
        let batch = self.receipt.batch.as_nanos() as u64;
        let into = now.as_nanos().checked_rem(batch).unwrap_or(0);
        if into == 0 { now } else { now + Duration::from_nanos(batch - into) }
    }

    fn stamp(&self, now: HostInstant) -> Stamp {
        let tick = self.receipt.tick;
        let since = self.clock + Duration::from_nanos(now.as_nanos());
        // It wraps, as the option's 32 bits do.
        let value = (since.as_nanos() / tick.as_nanos().max(1)) as u32;
        Stamp { value, tick }
    }

    fn acknowledge(
        &mut self,
        data: Data,
        received_at: HostInstant,
        now: HostInstant,
    ) -> Acknowledgement {
        self.waiting = 0;
        self.acknowledge_at = None;
        Acknowledgement {
            next: self.next,
            blocks: self.blocks(data.number),
            echo: data.sent_at,
            received_at,
            stamp: self.stamp(now),
            report: None,
        }
    }

    fn blocks(&self, last: u64) -> [Block; BLOCKS] {
        let mut blocks = [Block::default(); BLOCKS];
        if self.beyond.is_empty() {
            return blocks;
        }
        let holds_last = self.beyond.partition_point(|&(_, end)| end <= last);
        let first = self.beyond.get(holds_last).filter(|(start, _)| *start <= last);
        let others = self.beyond.iter().enumerate().rev().filter(|(at, _)| *at != holds_last);
        let all = first.into_iter().chain(others.map(|(_, range)| range));
        for (block, &(start, end)) in blocks.iter_mut().zip(all) {
            // A window is far from 2^32 segments.
            *block = Block { start: (start - self.next) as u32, end: (end - self.next) as u32 };
        }
        blocks
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::collections::BTreeSet;
    use std::vec::Vec;

    fn data(number: u64) -> Data {
        Data { number, size: 1448, sent_at: HostInstant::from_nanos(number) }
    }

    fn millis(millis: u64) -> HostInstant {
        HostInstant::from_nanos(millis * 1_000_000)
    }

    fn settled() -> Receiver {
        let mut receiver = Receiver::new(Receipt::default(), 1);
        (0..u64::from(QUICK)).for_each(|number| {
            receiver.handle_data(millis(0), data(number));
        });
        receiver
    }

    #[test]
    fn every_second_segment_is_acknowledged() {
        let mut receiver = settled();
        let said: Vec<bool> = (16..22)
            .map(|number| receiver.handle_data(millis(1), data(number)).acknowledgement.is_some())
            .collect();
        assert_eq!(said, [false, true, false, true, false, true]);
    }

    #[test]
    fn a_lone_segment_is_acknowledged_after_forty_milliseconds() {
        let mut receiver = settled();
        receiver.handle_data(millis(5), data(16));
        assert_eq!(receiver.wakeup(), Some(millis(45)));
        assert!(receiver.handle_time(millis(44)).is_none());
        let said = receiver.handle_time(millis(45)).unwrap();
        assert_eq!((said.next, said.received_at), (17, millis(5)));
        assert_eq!(receiver.wakeup(), None);
    }

    #[test]
    fn a_gap_is_reported_at_once_with_the_newest_block_first() {
        let mut receiver = settled();
        receiver.handle_data(millis(1), data(20));
        receiver.handle_data(millis(1), data(24));
        let said = receiver.handle_data(millis(1), data(21)).acknowledgement.unwrap();
        assert_eq!(said.next, 16);
        assert_eq!(said.blocks[..2], [Block { start: 4, end: 6 }, Block { start: 8, end: 9 }]);
        assert_eq!(said.size().count(), 52 + 20);
    }

    #[test]
    fn what_came_twice_is_not_new() {
        let mut receiver = settled();
        assert!(receiver.handle_data(millis(1), data(18)).is_new);
        assert!(!receiver.handle_data(millis(1), data(18)).is_new);
        assert!(!receiver.handle_data(millis(1), data(3)).is_new);
    }

    proptest! {
        #[test]
        fn a_receiver_has_exactly_what_came(numbers in proptest::collection::vec(0..60_u64, 1..200)) {
            let mut receiver = Receiver::new(Receipt { acks: Acks::EveryPacket, ..Receipt::default() }, 1);
            let mut here = BTreeSet::new();
            for number in numbers {
                let arrival = receiver.handle_data(millis(0), data(number));
                prop_assert_eq!(arrival.is_new, here.insert(number));
                let next = (0..).find(|number| !here.contains(number)).unwrap();
                let said = arrival.acknowledgement.unwrap();
                prop_assert_eq!(said.next, next);
                for block in said.blocks.iter().filter(|block| block.start < block.end) {
                    for number in block.start..block.end {
                        prop_assert!(here.contains(&(next + u64::from(number))));
                    }
                    prop_assert!(!here.contains(&(next + u64::from(block.end))));
                }
                let first = said.blocks[0];
                if number > next {
                    let at = (number - next) as u32;
                    prop_assert!(first.start <= at && at < first.end);
                }
            }
        }
    }
}
