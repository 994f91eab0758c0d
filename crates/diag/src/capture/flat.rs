//! Records that lie one after another, each saying how long it is: `.hdf`, `.dlf` and the framing
//! without HDLC.
//!
//! Nothing marks the beginning of a record and nothing checks its bytes, so damage shows only where
//! a header makes no sense. From there the stream is searched for the next one that does:
//!
//! ```text
//!            header is one ┌──────────┐ header is none
//!          ┌──────────────▶│ in step  │──────────────┐
//!          │               └──────────┘              ▼
//!          │          a header is found        ┌──────────┐
//!          └───────────────────────────────────│ searching│
//!                                              └──────────┘
//! ```

use alloc::vec::Vec;

use super::Format;
use super::header::{Header, Tail, Verdict};
use crate::hdlc::{BadFrame, BadFrameReason, FrameCounts};

/// Cuts a stream without terminators into records. The stream may arrive in any chunks.
///
/// It holds at most the bytes of two longest records.
#[derive(Clone, Debug)]
pub(super) struct Flat {
    header: Header,
    /// From `start` on: the beginning of a (possible) record that the last chunk did not complete.
    held: Vec<u8>,
    start: usize,
    /// Bytes passed over since the stream was last in step.
    passed: u64,
    counts: FrameCounts,
}

/// Consumed bytes are removed from `held` when there are this many: one move for many records.
const COMPACT: usize = 1 << 16;

/// A record, or other bytes.
pub(super) enum Found<'c> {
    /// It lies whole in the input.
    Whole(u64, &'c [u8]),
    /// It ends in `held` before `start`.
    Held(u64, usize),
    /// Bytes that belong to no record.
    Bad(BadFrame),
}

impl Flat {
    pub(super) const fn new(format: Format) -> Self {
        Self {
            header: Header::new(format),
            held: Vec::new(),
            start: 0,
            passed: 0,
            counts: FrameCounts { bytes: 0, good: 0, bad: 0, padding: 0 },
        }
    }

    pub(super) const fn counts(&self) -> FrameCounts {
        self.counts
    }

    /// Counts a payload that came without a frame; its offset.
    pub(super) fn count_payload(&mut self, payload: &[u8]) -> u64 {
        self.counts.add_payload(payload)
    }

    /// Takes bytes up to the end of the next record, or of a gap without a record.
    pub(super) fn advance<'c>(&mut self, input: &mut &'c [u8]) -> Option<Found<'c>> {
        self.compact();
        loop {
            if self.rest().is_empty()
                && let Verdict::Record(len) = self.header.judge(input, Tail::Open)
            {
                if let Some(bad) = self.leave_gap() {
                    return Some(Found::Bad(bad));
                }
                let (record, rest) = input.split_at(len);
                *input = rest;
                return Some(Found::Whole(self.take(record), record));
            }
            match self.header.judge(self.rest(), Tail::Open) {
                Verdict::Record(len) => return Some(self.take_held(len)),
                Verdict::Nothing => self.pass_over(Tail::Open),
                Verdict::Needs(_) if input.is_empty() => return None,
                Verdict::Needs(len) => {
                    let more = (len - self.rest().len()).min(input.len());
                    let (more, rest) = input.split_at(more);
                    self.held.extend_from_slice(more);
                    *input = rest;
                }
            }
        }
    }

    /// The end of the stream. Returns the records that waited for later bytes, and an incomplete
    /// rest; `None` after the last.
    pub(super) fn poll_end(&mut self) -> Option<Found<'static>> {
        while !self.rest().is_empty() {
            let tail = if self.passed == 0 { Tail::Ended } else { Tail::EndedInGap };
            match self.header.judge(self.rest(), tail) {
                Verdict::Record(len) => return Some(self.take_held(len)),
                Verdict::Nothing => self.pass_over(Tail::EndedInGap),
                Verdict::Needs(_) => {
                    let len = self.rest().len();
                    self.pass_over(Tail::EndedInGap);
                    if self.rest().is_empty() && self.passed == len as u64 {
                        return self.leave_gap_as(BadFrameReason::Unterminated).map(Found::Bad);
                    }
                }
            }
        }
        self.leave_gap().map(Found::Bad)
    }

    /// The bytes of the record.
    pub(super) fn record<'s, 'c: 's>(
        &'s self,
        found: Found<'c>,
    ) -> Result<(u64, &'s [u8]), BadFrame> {
        match found {
            Found::Whole(offset, record) => Ok((offset, record)),
            Found::Held(offset, len) => Ok((offset, &self.held[self.start - len..self.start])),
            Found::Bad(bad) => Err(bad),
        }
    }

    /// Bytes that are no part of the stream go before it.
    pub(super) fn handle_preamble(&mut self, len: u64) {
        self.counts.bytes += len;
    }

    fn rest(&self) -> &[u8] {
        &self.held[self.start..]
    }

    fn compact(&mut self) {
        if self.start == self.held.len() || self.start >= COMPACT {
            self.held.drain(..self.start);
            self.start = 0;
        }
    }

    /// Counts a record. Returns its offset.
    fn take(&mut self, record: &[u8]) -> u64 {
        self.header.handle_record(record);
        let offset = self.counts.bytes;
        self.counts.bytes += record.len() as u64;
        self.counts.good += 1;
        offset
    }

    fn take_held(&mut self, len: usize) -> Found<'static> {
        if let Some(bad) = self.leave_gap() {
            return Found::Bad(bad);
        }
        self.header.handle_record(&self.held[self.start..self.start + len]);
        let offset = self.counts.bytes;
        self.counts.bytes += len as u64;
        self.counts.good += 1;
        self.start += len;
        Found::Held(offset, len)
    }

    /// Skips bytes up to the next possible header. At the end of the stream, a header without its
    /// record does not count.
    fn pass_over(&mut self, tail: Tail) {
        let rest = &self.held[self.start..];
        let next = (1..rest.len()).find(|&at| match self.header.judge(&rest[at..], tail) {
            Verdict::Record(_) => true,
            Verdict::Needs(_) => tail == Tail::Open,
            Verdict::Nothing => false,
        });
        let len = next.unwrap_or(rest.len());
        self.start += len;
        self.passed += len as u64;
        self.counts.bytes += len as u64;
        self.compact();
    }

    /// The skipped bytes, when the gap has ended.
    fn leave_gap(&mut self) -> Option<BadFrame> {
        self.leave_gap_as(BadFrameReason::Header)
    }

    fn leave_gap_as(&mut self, reason: BadFrameReason) -> Option<BadFrame> {
        let len = core::mem::take(&mut self.passed);
        if len == 0 {
            return None;
        }
        self.counts.bad += 1;
        let offset = self.counts.bytes - len;
        Some(BadFrame { offset, len, reason })
    }
}
