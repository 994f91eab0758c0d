//! The HDLC-like framing of a Diag byte stream.
//!
//! A frame is its payload and a CRC-16 (X-25, little-endian) of it, with 0x7E and 0x7D written as
//! 0x7D and the byte XOR 0x20, and ends with 0x7E. A further 0x7E between frames has no meaning.
//! Source: notes, Diag §5; RFC 1662 §4 and appendix C describe the same escape and check.
//!
//! Some modems put a run of one byte before a frame (Quectel EG25-G: up to hundreds of 0x10). If a
//! check is wrong, the frame is therefore checked once more from where a log header behind such a
//! run announces exactly the rest. Only a right check makes it a frame.

use alloc::vec::Vec;

use crc::{CRC_16_IBM_SDLC, Crc, Table};
use memchr::{memchr, memchr2};

use crate::packet;

const TERMINATOR: u8 = 0x7E;
const ESCAPE: u8 = 0x7D;
const FLIP: u8 = 0x20;
const CHECK_LEN: usize = 2;

/// CRC-16/X-25 is called IBM-SDLC in the catalogue. The sixteen-lane table makes it fast.
const CHECK: Crc<u16, Table<16>> = Crc::<u16, Table<16>>::new(&CRC_16_IBM_SDLC);

/// The longest payload accepted, in bytes, unless [`Deframer::with_limit`] says otherwise.
///
/// It fits a log record inside a multi-radio wrapper: 8 bytes of wrapper, 4 of log header and
/// 65,535, the largest 16-bit length (docs/reference/diag.md, transport), rounded up.
pub const MAX_PAYLOAD: usize = 66_000;

/// A frame whose check was right.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Frame<'a> {
    /// Position in the stream of the first byte after the previous terminator.
    pub offset: u64,
    /// The payload, unescaped, without its check.
    pub payload: &'a [u8],
}

/// Bytes of the stream that end like a frame and are not one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("frame of {len} bytes at offset {offset}: {reason}")]
pub struct BadFrame {
    /// Position in the stream of the first byte after the previous terminator.
    pub offset: u64,
    /// Bytes on the wire, without the terminator.
    pub len: u64,
    /// The fault.
    pub reason: BadFrameReason,
}

/// Why these bytes are not a frame.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum BadFrameReason {
    /// The check at its end is not the check of its payload.
    #[error("check is 0x{found:04x}, its bytes give 0x{computed:04x}")]
    Check {
        /// Computed over the payload.
        computed: u16,
        /// Found at the end of the frame.
        found: u16,
    },
    /// Too short to hold a check and one byte of payload.
    #[error("too short for a payload and its check")]
    Short,
    /// Longer than the limit of the deframer.
    #[error("longer than {limit} bytes")]
    Long {
        /// The limit, in bytes of payload.
        limit: usize,
    },
    /// An escape right before the terminator: the sender aborted the frame.
    #[error("ends within an escape")]
    Escape,
    /// The stream ended before a terminator, or before the end that a length announces.
    #[error("the stream ends before it does")]
    Unterminated,
    /// In a stream without framing: no record begins there.
    #[error("no record begins there")]
    Header,
}

/// Counts of a deframer so far.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct FrameCounts {
    /// Bytes taken in.
    pub bytes: u64,
    /// Frames whose check was right.
    pub good: u64,
    /// Byte sequences that were not frames.
    pub bad: u64,
    /// Bytes of padding that stood before frames.
    pub padding: u64,
}

impl FrameCounts {
    /// Counts a payload that came without a frame; its offset.
    pub(crate) fn add_payload(&mut self, payload: &[u8]) -> u64 {
        let offset = self.bytes;
        self.bytes += payload.len() as u64;
        self.good += 1;
        offset
    }
}

/// Cuts a byte stream into frames. The stream may arrive in any chunks.
///
/// It holds at most one frame, and never more than three times its limit, also in a stream without
/// terminators.
#[derive(Clone, Debug)]
pub struct Deframer {
    limit: usize,
    /// The unescaped beginning of the frame that the last chunk did not complete.
    held: Vec<u8>,
    /// Bytes on the wire behind `held`.
    held_wire: u64,
    /// The last chunk ended in an escape.
    escaped: bool,
    /// `held` outgrew the limit and was dropped; the frame is bad already.
    overlong: bool,
    counts: FrameCounts,
}

/// The bytes up to a terminator, not checked yet.
pub(crate) struct Found<'c> {
    offset: u64,
    len: u64,
    /// The bytes themselves, if they need no unescaping; otherwise they are in `held`.
    whole: Option<&'c [u8]>,
}

impl Default for Deframer {
    fn default() -> Self {
        Self::new()
    }
}

impl Deframer {
    /// A deframer at the beginning of a stream, with the limit [`MAX_PAYLOAD`].
    pub const fn new() -> Self {
        Self::with_limit(MAX_PAYLOAD)
    }

    /// A deframer that refuses payloads of more than `limit` bytes.
    pub const fn with_limit(limit: usize) -> Self {
        Self {
            limit,
            held: Vec::new(),
            held_wire: 0,
            escaped: false,
            overlong: false,
            counts: FrameCounts { bytes: 0, good: 0, bad: 0, padding: 0 },
        }
    }

    /// The counts so far.
    pub const fn counts(&self) -> FrameCounts {
        self.counts
    }

    /// Takes bytes from the front of `input` up to the end of the next frame, and returns it;
    /// `None` once `input` is used up.
    ///
    /// A frame that is complete and without escapes in `input` is returned in place; others are
    /// assembled here.
    pub fn poll_frame<'s, 'c: 's>(
        &'s mut self,
        input: &mut &'c [u8],
    ) -> Option<Result<Frame<'s>, BadFrame>> {
        let found = self.advance(input)?;
        Some(self.finish(found))
    }

    /// Takes bytes up to and including the next terminator of a frame.
    pub(crate) fn advance<'c>(&mut self, input: &mut &'c [u8]) -> Option<Found<'c>> {
        loop {
            let Some(end) = memchr(TERMINATOR, input) else {
                self.hold(input);
                *input = &[];
                return None;
            };
            let raw = &input[..end];
            *input = &input[end + 1..];
            let offset = self.counts.bytes - self.held_wire;
            let len = self.held_wire + end as u64;
            let whole = (self.held_wire == 0 && memchr(ESCAPE, raw).is_none()).then_some(raw);
            match whole {
                Some(raw) => self.counts.bytes += raw.len() as u64,
                None => self.hold(raw),
            }
            self.counts.bytes += 1;
            if len > 0 {
                return Some(Found { offset, len, whole });
            }
        }
    }

    /// Checks the result of [`advance`](Self::advance).
    pub(crate) fn finish<'s, 'c: 's>(
        &'s mut self,
        Found { offset, len, whole }: Found<'c>,
    ) -> Result<Frame<'s>, BadFrame> {
        let Self { limit, held, held_wire, escaped, overlong, counts } = self;
        *held_wire = 0;
        let broken = core::mem::take(escaped);
        let overlong = core::mem::take(overlong);
        let bytes: &'s [u8] = match whole {
            Some(raw) => raw,
            None => held,
        };
        let checked = if overlong || bytes.len() > limit.saturating_add(CHECK_LEN) {
            Err(BadFrameReason::Long { limit: *limit })
        } else if broken {
            Err(BadFrameReason::Escape)
        } else {
            check(bytes).map(|payload| (0, payload))
        };
        match checked.or_else(|reason| behind_padding(bytes, reason)) {
            Ok((padding, payload)) => {
                counts.good += 1;
                counts.padding += padding;
                Ok(Frame { offset, payload })
            }
            Err(reason) => {
                counts.bad += 1;
                Err(BadFrame { offset, len, reason })
            }
        }
    }

    /// Counts a payload that came without a frame; its offset.
    pub(crate) fn count_payload(&mut self, payload: &[u8]) -> u64 {
        self.counts.add_payload(payload)
    }

    /// `len` bytes before the stream belong to no frame, but offsets count them.
    pub(crate) fn handle_preamble(&mut self, len: u64) {
        self.counts.bytes += len;
    }

    /// The end of the stream. Returns the rest without a terminator, if there is one. The deframer
    /// may then take another stream, whose offsets continue from here.
    pub fn handle_end(&mut self) -> Option<BadFrame> {
        let len = core::mem::take(&mut self.held_wire);
        self.held.clear();
        self.escaped = false;
        self.overlong = false;
        if len == 0 {
            return None;
        }
        self.counts.bad += 1;
        let offset = self.counts.bytes - len;
        Some(BadFrame { offset, len, reason: BadFrameReason::Unterminated })
    }

    /// Unescapes the bytes of an unfinished frame into `held`.
    fn hold(&mut self, mut raw: &[u8]) {
        self.counts.bytes += raw.len() as u64;
        if self.held_wire == 0 {
            self.held.clear();
        }
        self.held_wire += raw.len() as u64;
        // Unescaping at most halves the bytes, so a longer sequence stays too long.
        if self.overlong || raw.len() > self.longest().saturating_mul(2) {
            self.overlong = true;
            return;
        }
        if self.escaped
            && let Some((first, rest)) = raw.split_first()
        {
            self.held.push(first ^ FLIP);
            raw = rest;
            self.escaped = false;
        }
        self.escaped |= unescape(raw, &mut self.held);
        if self.held.len() > self.longest() {
            self.overlong = true;
            self.held = Vec::new();
        }
    }

    /// Payload and check of the longest frame accepted.
    const fn longest(&self) -> usize {
        self.limit.saturating_add(CHECK_LEN)
    }
}

/// Appends `raw` without its escapes to `out`. Returns whether it ends with an escape byte.
fn unescape(mut raw: &[u8], out: &mut Vec<u8>) -> bool {
    while let Some(at) = memchr(ESCAPE, raw) {
        out.extend_from_slice(&raw[..at]);
        let Some(&flipped) = raw.get(at + 1) else { return true };
        out.push(flipped ^ FLIP);
        raw = &raw[at + 2..];
    }
    out.extend_from_slice(raw);
    false
}

fn check(bytes: &[u8]) -> Result<&[u8], BadFrameReason> {
    let (payload, found) = bytes.split_last_chunk::<CHECK_LEN>().ok_or(BadFrameReason::Short)?;
    if payload.is_empty() {
        return Err(BadFrameReason::Short);
    }
    let found = u16::from_le_bytes(*found);
    let computed = CHECK.checksum(payload);
    if computed == found { Ok(payload) } else { Err(BadFrameReason::Check { computed, found }) }
}

/// Most places of one bad frame that are checked again, so that a frame full of headers costs no
/// more than a few frames. Chosen: two headers that both announce exactly the rest are rare.
const MOST_PLACES: usize = 4;

/// The frame behind a run of one byte, if only the check of these bytes is wrong: the length of the
/// run, and the payload.
fn behind_padding(bytes: &[u8], reason: BadFrameReason) -> Result<(u64, &[u8]), BadFrameReason> {
    let BadFrameReason::Check { .. } = reason else { return Err(reason) };
    let checked = |at: usize| Some((at as u64, check(&bytes[at..]).ok()?));
    places(bytes).find_map(checked).ok_or(reason)
}

/// The places in a bad frame that are worth another check.
fn places(bytes: &[u8]) -> impl Iterator<Item = usize> {
    let payload = &bytes[..bytes.len().saturating_sub(CHECK_LEN)];
    let run = payload.iter().take_while(|byte| **byte == payload[0]).count();
    packet::logs_to_the_end(payload).filter(move |at| (1..=run).contains(at)).take(MOST_PLACES)
}

/// Appends the frame of `payload`, including the terminator, to `out`.
pub fn encode(payload: &[u8], out: &mut Vec<u8>) {
    out.reserve(payload.len() + payload.len() / 32 + 2 * CHECK_LEN + 1);
    escape(payload, out);
    escape(&CHECK.checksum(payload).to_le_bytes(), out);
    out.push(TERMINATOR);
}

fn escape(mut plain: &[u8], out: &mut Vec<u8>) {
    while let Some(at) = memchr2(TERMINATOR, ESCAPE, plain) {
        out.extend_from_slice(&plain[..at]);
        out.extend_from_slice(&[ESCAPE, plain[at] ^ FLIP]);
        plain = &plain[at + 1..];
    }
    out.extend_from_slice(plain);
}

#[cfg(test)]
mod tests;
