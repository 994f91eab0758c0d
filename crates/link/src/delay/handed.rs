use alloc::collections::VecDeque;
use core::time::Duration;

use sounding_units::{Bytes, ModemInstant};

use super::overhead::{Overhead, PARTS};

/// Packets that wait in the modem; of more, the oldest count as gone.
const KEPT: usize = 8_192;
/// Packets that the host handed over at one time count as so far apart, in order: a block may take
/// the first and leave the others.
const APART: Duration = Duration::from_micros(1);
/// Packets are handed over in order of time, but for what clocks differ.
const TOGETHER: Duration = Duration::from_millis(1);
/// A packet that entered so shortly before a block may not be in its report: host and modem do not
/// agree better.
const NEAR: Duration = Duration::from_millis(1);
/// Without a packet for so long the host no longer tells of them.
const SILENT: Duration = Duration::from_secs(2);

/// The packets that the host handed to its modem and that are not known to have left, in order.
///
/// Blocks carry bytes, so packets are counted off by bytes. Two things keep the count right. A
/// block that could have carried more leaves nothing behind. And a report says within a range how
/// much is left.
#[derive(Clone, Debug, Default)]
pub(super) struct Handed {
    waiting: VecDeque<(ModemInstant, i64)>,
    /// Bytes of IP in `waiting`.
    bytes: i64,
    /// 16ths of a byte that blocks carried beyond whole packets; negative where packets were
    /// counted off too early.
    credit: i64,
    overhead: Overhead,
    /// Since the buffer was empty: what left, in how many blocks, and packets and their bytes.
    left: i64,
    blocks: i64,
    gone: (i64, i64),
    newest: Option<ModemInstant>,
}

/// Packets that a block completed: when the first of them entered, and when the first that it did
/// not.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Completed {
    pub(super) from: ModemInstant,
    pub(super) until: Option<ModemInstant>,
}

impl Handed {
    pub(super) fn handle_entered(&mut self, at: ModemInstant, size: Bytes) {
        if self.waiting.len() == KEPT {
            self.pop();
        }
        let at = match self.newest {
            Some(newest) if at <= newest && newest - at < TOGETHER => newest + APART,
            _ => at,
        };
        let size = i64::try_from(size.count()).unwrap_or(i64::MAX >> 32).min(i64::MAX >> 32);
        self.waiting.push_back((at, size));
        self.bytes += size;
        self.newest = Some(at);
    }

    /// Whether the host tells of its packets.
    pub(super) fn is_told(&self, now: ModemInstant) -> bool {
        self.newest.is_some_and(|newest| now - newest <= SILENT)
    }

    fn pop(&mut self) -> Option<ModemInstant> {
        let (at, size) = self.waiting.pop_front()?;
        self.bytes -= size;
        self.gone = (self.gone.0 + 1, self.gone.1 + size);
        Some(at)
    }

    /// A block at this time carried so many bytes, and left behind what is in this range, if it
    /// says that.
    pub(super) fn handle_block(
        &mut self,
        at: ModemInstant,
        carried: u64,
        waiting: Option<(u64, u64)>,
    ) -> Option<Completed> {
        let carried = i64::try_from(carried).unwrap_or(0).min(i64::MAX >> 32);
        self.left += carried;
        self.blocks += 1;
        self.credit += carried * PARTS - self.overhead.of_block();
        let mut first = None;
        let is_empty = waiting.is_some_and(|(_, most)| most == 0);
        while let Some((_, size)) = self.waiting.front().copied() {
            let whole = size * PARTS + self.overhead.of_packet();
            if !is_empty && self.credit < whole {
                break;
            }
            self.credit -= whole;
            let entered = self.pop();
            first = first.or(entered);
        }
        if is_empty {
            self.learn();
            self.credit = 0;
        } else if let Some((least, most)) = waiting {
            let counted = self.waiting.len() as i64 * self.overhead.of_packet();
            let rest = self.bytes + (counted - self.credit) / PARTS;
            let bound = |of: u64| i64::try_from(of).unwrap_or(i64::MAX >> 32).min(i64::MAX >> 32);
            // The last range has no upper end.
            let (least, most) = (bound(least), if most > least { bound(most) } else { rest });
            if rest < least {
                self.credit -= (least - rest) * PARTS;
            } else {
                self.credit += (rest - self.perhaps_later(at) - most).max(0) * PARTS;
            }
        }
        first.map(|from| Completed { from, until: self.waiting.front().map(|(at, _)| *at) })
    }

    /// Bytes of packets that came too late for a report at this time, perhaps.
    fn perhaps_later(&self, at: ModemInstant) -> i64 {
        let new = self.waiting.iter().rev().take_while(|(entered, _)| at - *entered < NEAR);
        new.map(|(_, size)| size + self.overhead.of_packet() / PARTS).sum()
    }

    /// Nothing is left: what was carried beyond the packets themselves is headers.
    fn learn(&mut self) {
        let (packets, bytes) = self.gone;
        self.overhead.learn(packets, self.blocks, self.left - bytes);
        (self.left, self.blocks, self.gone) = (0, 0, (0, 0));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(ms: u64) -> ModemInstant {
        ModemInstant::from_nanos(1_000_000_000 + ms * 1_000_000)
    }

    fn of(packets: &[(u64, u64)]) -> Handed {
        let mut handed = Handed::default();
        for (ms, size) in packets {
            handed.handle_entered(at(*ms), Bytes::new(*size));
        }
        handed
    }

    #[test]
    fn a_packet_belongs_to_the_block_with_its_last_byte() {
        let mut handed = of(&[(0, 100), (3, 100), (6, 100)]);
        let first = handed.handle_block(at(20), 150, Some((150, 180)));
        assert_eq!(first, Some(Completed { from: at(0), until: Some(at(3)) }));
        let rest = handed.handle_block(at(25), 200, Some((0, 0)));
        assert_eq!(rest, Some(Completed { from: at(3), until: None }));
        assert_eq!(handed.handle_block(at(30), 20, Some((0, 0))), None);
    }

    #[test]
    fn headers_are_learned_where_the_buffer_is_empty() {
        let mut handed = of(&[(0, 100), (1, 100)]);
        handed.handle_block(at(5), 232, Some((0, 0)));
        assert_eq!(handed.overhead.of_packet(), 16 * PARTS);
        // From then on a block with the bytes of two packets has one of them.
        handed.handle_entered(at(10), Bytes::new(100));
        handed.handle_entered(at(11), Bytes::new(100));
        let found = handed.handle_block(at(20), 225, None);
        assert_eq!(found, Some(Completed { from: at(10), until: Some(at(11)) }));
    }

    #[test]
    fn a_report_corrects_the_count() {
        // More left than the host told of; the report says that one packet is still there.
        let mut handed = of(&[(0, 100), (1, 100), (2, 100)]);
        let found = handed.handle_block(at(5), 120, Some((90, 110)));
        assert_eq!(found, Some(Completed { from: at(0), until: Some(at(1)) }));
        let found = handed.handle_block(at(10), 5, None);
        assert_eq!(found, Some(Completed { from: at(1), until: Some(at(2)) }));
    }
    #[test]
    fn packets_of_one_time_that_leave_in_two_blocks_are_two_events() {
        let mut handed = of(&[(0, 100), (0, 100), (0, 100)]);
        let apart = |count: u32| at(0) + APART * count;
        let first = handed.handle_block(at(4), 220, None);
        assert_eq!(first, Some(Completed { from: at(0), until: Some(apart(2)) }));
        let rest = handed.handle_block(at(9), 108, Some((0, 0)));
        assert_eq!(rest, Some(Completed { from: apart(2), until: None }));
    }

    #[test]
    fn a_report_may_be_without_what_entered_just_before_it() {
        let mut handed = of(&[(0, 100), (1, 100), (4, 100)]);
        // One packet of two is left; a third may have come too late for the report.
        let first = handed.handle_block(at(4), 110, Some((100, 120)));
        assert_eq!(first, Some(Completed { from: at(0), until: Some(at(1)) }));
        assert_eq!(handed.handle_block(at(6), 60, None), None);
    }
}
