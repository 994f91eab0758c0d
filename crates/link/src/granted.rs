//! The network's grants according to a modem's records, with each block counted once.

use alloc::collections::VecDeque;
use alloc::vec::Vec;
use core::time::Duration;

use sounding_diag::LogCode;
use sounding_kpi::{Direction, Grant, grant_codes};
use sounding_units::{Bytes, ModemInstant};

/// If several kinds of records list the same blocks, the most trusted kind counts.
///
/// A record counts unless a record of a more trusted kind was stamped within half a second of it.
/// The order of trust is that of [`grant_codes`]: in the uplink 0xB139 before 0xB064 in LTE and
/// 0xB883 before 0xB872 in NR; in the downlink 0xB173, 0xB063, 0xB126 in LTE and 0xB887 before
/// 0xB857 in NR. Repeats and blocks that did not arrive do not count.
///
/// Call [`handle_grant`](Self::handle_grant) for each block, [`handle_time`](Self::handle_time)
/// when the clock advances, and then [`poll`](Self::poll).
#[derive(Clone, Debug)]
pub struct Granted {
    direction: Direction,
    waiting: VecDeque<Record>,
    /// When records of each kind were stamped, as far back as it matters.
    stamps: Vec<(LogCode, VecDeque<ModemInstant>)>,
    settled: VecDeque<(ModemInstant, Bytes)>,
}

/// Blocks of one record.
#[derive(Clone, Debug)]
struct Record {
    stamped: ModemInstant,
    code: LogCode,
    blocks: Vec<(ModemInstant, Bytes)>,
}

/// Two kinds of records that list the same blocks are written within this: at most 300 ms lie
/// between two of one kind.
const SAME_BLOCKS: Duration = Duration::from_millis(500);

/// Records are late by up to 0.49 s in public captures.
const LATE: Duration = Duration::from_millis(500);

/// Stamps that are kept of one kind: one a millisecond for as long as they matter.
const MAX_STAMPS: usize = 4_000;

/// Maximum number of waiting records: if the clock does not advance, the oldest are settled early.
const MAX_WAITING: usize = 20_000;

impl Granted {
    /// For one direction.
    pub const fn new(direction: Direction) -> Self {
        Self { direction, waiting: VecDeque::new(), stamps: Vec::new(), settled: VecDeque::new() }
    }

    /// Its direction.
    pub const fn direction(&self) -> Direction {
        self.direction
    }

    /// A block of a record that was stamped then.
    pub fn handle_grant(&mut self, stamped: ModemInstant, grant: &Grant) {
        if grant.direction != self.direction {
            return;
        }
        let same = |record: &&mut Record| (record.stamped, record.code) == (stamped, grant.code);
        if self.waiting.back_mut().filter(same).is_none() {
            self.remember(stamped, grant.code);
            if self.waiting.len() >= MAX_WAITING {
                self.settle();
            }
            self.waiting.push_back(Record { stamped, code: grant.code, blocks: Vec::new() });
        }
        let is_new = grant.decoded.unwrap_or(!grant.retransmission);
        if let Some(record) = self.waiting.back_mut().filter(|_| is_new) {
            record.blocks.push((grant.at, grant.size));
        }
    }

    fn remember(&mut self, stamped: ModemInstant, code: LogCode) {
        let place = match self.stamps.iter().position(|(kind, _)| *kind == code) {
            Some(place) => place,
            None => {
                self.stamps.push((code, VecDeque::new()));
                self.stamps.len() - 1
            }
        };
        let stamps = &mut self.stamps[place].1;
        let oldest = stamped.saturating_before(2 * (SAME_BLOCKS + LATE));
        while stamps.len() >= MAX_STAMPS || stamps.front().is_some_and(|at| *at < oldest) {
            stamps.pop_front();
        }
        stamps.push_back(stamped);
    }

    /// The modem's clock is at `now`: settles everything that no later record can change.
    pub fn handle_time(&mut self, now: ModemInstant) {
        let due = now.saturating_before(SAME_BLOCKS + LATE);
        while self.waiting.front().is_some_and(|record| record.stamped <= due) {
            self.settle();
        }
    }

    /// The input has ended, or the clock was set: settles everything.
    pub fn handle_end(&mut self) {
        while !self.waiting.is_empty() {
            self.settle();
        }
        self.stamps.clear();
    }

    fn settle(&mut self) {
        let Some(record) = self.waiting.pop_front() else { return };
        if !self.is_listed_elsewhere(&record) {
            self.settled.extend(record.blocks);
        }
    }

    /// Whether a more trusted kind of record lists the same blocks.
    fn is_listed_elsewhere(&self, record: &Record) -> bool {
        let kinds = grant_codes(self.direction).iter().find(|kinds| kinds.contains(&record.code));
        let more_trusted = kinds.into_iter().flat_map(|kinds| kinds.iter());
        more_trusted.take_while(|code| **code != record.code).any(|code| {
            self.stamps.iter().filter(|(kind, _)| kind == code).any(|(_, stamps)| {
                let near = |at: &ModemInstant| {
                    (*at - record.stamped).max(record.stamped - *at) <= SAME_BLOCKS
                };
                stamps.iter().rev().any(near)
            })
        })
    }

    /// The next block that counts: when it was granted, on the modem's clock, and its bytes.
    pub fn poll(&mut self) -> Option<(ModemInstant, Bytes)> {
        self.settled.pop_front()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use sounding_kpi::Layer;

    const PUSCH: LogCode = LogCode::new(0xB139);
    const MAC: LogCode = LogCode::new(0xB064);

    fn at(ms: u64) -> ModemInstant {
        ModemInstant::from_nanos(ms * 1_000_000)
    }

    fn block(code: LogCode, ms: u64, size: u64) -> Grant {
        Grant {
            at: at(ms),
            direction: Direction::Uplink,
            carrier: 0,
            harq: None,
            ndi: None,
            layer: Layer::Mac,
            code,
            size: Bytes::new(size),
            padding: None,
            retransmission: false,
            decoded: None,
            allocation: None,
            report: None,
        }
    }

    fn sum(granted: &mut Granted) -> u64 {
        core::iter::from_fn(|| granted.poll()).map(|(_, bytes)| bytes.count()).sum()
    }

    #[test]
    fn a_block_that_two_kinds_of_records_list_counts_once() {
        let mut granted = Granted::new(Direction::Uplink);
        for record in 1..=20 {
            granted.handle_grant(at(record * 100), &block(PUSCH, record * 100, 10));
            granted.handle_grant(at(record * 100 + 50), &block(MAC, record * 100, 11));
        }
        granted.handle_end();
        assert_eq!(sum(&mut granted), 200);
    }

    #[test]
    fn a_kind_that_stops_is_replaced_by_the_next() {
        let mut granted = Granted::new(Direction::Uplink);
        granted.handle_grant(at(1_000), &block(PUSCH, 1_000, 10));
        for record in 0..20 {
            granted.handle_grant(at(1_000 + record * 100), &block(MAC, 1_000 + record * 100, 1));
        }
        granted.handle_end();
        // Blocks of the first half second belong to the other kind.
        assert_eq!(sum(&mut granted), 10 + 14);
    }

    #[test]
    fn a_kind_that_begins_late_counts_from_then_on() {
        let mut granted = Granted::new(Direction::Uplink);
        for record in 0..10 {
            granted.handle_grant(at(1_000 + record * 100), &block(MAC, 1_000 + record * 100, 1));
            granted.handle_time(at(1_000 + record * 100));
        }
        granted.handle_grant(at(2_000), &block(PUSCH, 2_000, 100));
        granted.handle_end();
        assert_eq!(sum(&mut granted), 5 + 100);
    }

    #[test]
    fn repeats_and_the_other_direction_count_nothing() {
        let mut granted = Granted::new(Direction::Uplink);
        granted.handle_grant(at(1), &Grant { retransmission: true, ..block(PUSCH, 1, 7) });
        granted.handle_grant(at(1), &Grant { decoded: Some(false), ..block(PUSCH, 1, 7) });
        granted
            .handle_grant(at(1), &Grant { direction: Direction::Downlink, ..block(PUSCH, 1, 7) });
        granted.handle_end();
        assert_eq!(sum(&mut granted), 0);
    }

    #[test]
    fn nothing_is_settled_before_it_can_be() {
        let mut granted = Granted::new(Direction::Uplink);
        granted.handle_grant(at(1_000), &block(MAC, 1_000, 5));
        granted.handle_time(at(1_999));
        assert_eq!(granted.poll(), None);
        granted.handle_time(at(2_000));
        assert_eq!(granted.poll(), Some((at(1_000), Bytes::new(5))));
    }
}
