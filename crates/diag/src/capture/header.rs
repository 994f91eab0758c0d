//! Whether bytes can be the header of a record without framing.

use super::Format;
use crate::packet::{LOG, MULTI_RADIO};

/// Length, code and time stamp: the header of a log record, counted by its own length.
const LOG_HEADER: usize = 12;
/// Command, a byte of flags and the length before the record's own.
const PACKET_HEADER: usize = 4;
/// Length of the wrapper that modems with several subscriptions put before a packet.
const WRAPPER: usize = 8;
/// `7E 01` and a length, and the `7E` at the end.
const NON_HDLC_HEADER: usize = 4;
const TERMINATOR: u8 = 0x7E;
/// The largest known radio id is 2; larger values here mean other data. Chosen; any value of a byte
/// is accepted.
const MAX_RADIOS: u32 = 255;
/// Largest difference of the times of two records, in the modem's units of 1.25 ms: a day. Chosen.
/// A clock that jumps further is accepted when the next record agrees (test
/// `a_clock_that_is_set_is_believed`).
const A_DAY: u64 = 24 * 3600 * 800;

/// The time of a record that was written without one.
const NO_TIME: u64 = 0;

/// The low half of a time stamp counts 1/32 chip, this many to a unit (docs/reference/diag.md,
/// transport).
const CHIPS: u64 = 49_152;
/// No record has a time in the year 2100 or later, in units of 1.25 ms since 1980.
const THE_YEAR_2100: u64 = 120 * 366 * A_DAY;

/// The kind of a place in a stream.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Verdict {
    /// A record of that many bytes, all of them here.
    Record(usize),
    /// Undecided, or the record is incomplete, until there are that many bytes.
    Needs(usize),
    /// No record.
    Nothing,
}

/// What follows the available bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Tail {
    /// Perhaps more.
    Open,
    /// No more bytes; a record, or the beginning, was before them.
    Ended,
    /// Nothing; before them were bytes of no record, among which there may be some that look like
    /// one.
    EndedInGap,
}

/// Distinguishes headers from other bytes by their contents and by the time of the record before.
#[derive(Clone, Copy, Debug)]
pub(super) struct Header {
    format: Format,
    /// Time of the last record, in units of 1.25 ms; only `.dlf` needs it, the others have more to
    /// go by.
    last: Option<u64>,
}

impl Header {
    pub(super) const fn new(format: Format) -> Self {
        Self { format, last: None }
    }

    /// A record was taken: what follows is likely of its time.
    pub(super) fn handle_record(&mut self, record: &[u8]) {
        if self.format == Format::Dlf
            && let Some(Ok((_, at))) = log_header(record)
            && at != NO_TIME
        {
            self.last = Some(at);
        }
    }

    /// Decides whether `bytes` begin with a record.
    pub(super) fn judge(&self, bytes: &[u8], tail: Tail) -> Verdict {
        match self.format {
            Format::Hdf => packet(bytes),
            Format::NonHdlc => non_hdlc(bytes),
            Format::Dlf => self.log(bytes, tail),
            Format::Hdlc => Verdict::Nothing,
        }
    }

    /// A log record. It is accepted if its time fits the record before it, or the one after it. One
    /// without a time is accepted if a header follows it.
    fn log(&self, bytes: &[u8], tail: Tail) -> Verdict {
        let (len, at) = match log_header(bytes) {
            Some(Ok(header)) => header,
            Some(Err(())) => return Verdict::Nothing,
            None => return Verdict::Needs(LOG_HEADER),
        };
        let fits = |next| self.last.is_none_or(|last| is_near(last, next));
        if at != NO_TIME && self.last.is_some() && fits(at) {
            return whole(bytes, len);
        }
        let next = bytes.get(len..).unwrap_or_default();
        match log_header(next) {
            // The clock was set, or this one record was written without a time.
            Some(Ok((_, next)))
                if next == NO_TIME
                    || is_near(at, next)
                    || (at == NO_TIME && self.last.is_none())
                    || (self.last.is_some() && fits(next)) =>
            {
                Verdict::Record(len)
            }
            Some(_) => Verdict::Nothing,
            None if tail == Tail::Open => Verdict::Needs(len + LOG_HEADER),
            // The only record there is, or the last one after a jump of the clock.
            None if bytes.len() == len && tail == Tail::Ended => Verdict::Record(len),
            None if self.last.is_none() => whole(bytes, len),
            None if at == NO_TIME && tail == Tail::Ended => whole(bytes, len),
            None => Verdict::Nothing,
        }
    }
}

fn is_near(a: u64, b: u64) -> bool {
    a.abs_diff(b) < A_DAY
}

/// Length and time, in units of 1.25 ms, of a log record's header; an error if it is not a header,
/// and `None` if it is incomplete.
fn log_header(bytes: &[u8]) -> Option<Result<(usize, u64), ()>> {
    let (&[l0, l1, _, code, ref stamp @ ..], _) = bytes.split_first_chunk::<LOG_HEADER>()?;
    let len = usize::from(u16::from_le_bytes([l0, l1]));
    let stamp = u64::from_le_bytes(*stamp);
    let (at, chips) = (stamp >> 16, stamp & 0xFFFF);
    // Equipment ids begin with 1.
    let is_one = len >= LOG_HEADER && code >= 0x10 && chips < CHIPS && at < THE_YEAR_2100;
    Some(if is_one { Ok((len, at)) } else { Err(()) })
}

/// A log packet: its length is there twice.
fn packet(bytes: &[u8]) -> Verdict {
    let inner = match bytes.first() {
        Some(&MULTI_RADIO) => match bytes.split_first_chunk::<WRAPPER>() {
            Some((&[_, 1, 0, 0, a, b, c, d], inner))
                if u32::from_le_bytes([a, b, c, d]) <= MAX_RADIOS =>
            {
                inner
            }
            Some(_) => return Verdict::Nothing,
            None => return Verdict::Needs(WRAPPER),
        },
        _ => bytes,
    };
    let before = bytes.len() - inner.len();
    match inner.first() {
        Some(&LOG) => {}
        Some(_) => return Verdict::Nothing,
        None => return Verdict::Needs(before + 1),
    }
    if inner.len() < PACKET_HEADER + 2 {
        return Verdict::Needs(before + PACKET_HEADER + 2);
    }
    let len = word(inner, 2);
    if len != word(inner, PACKET_HEADER) || usize::from(len) < LOG_HEADER {
        return Verdict::Nothing;
    }
    whole(bytes, before + PACKET_HEADER + usize::from(len))
}

fn non_hdlc(bytes: &[u8]) -> Verdict {
    match bytes {
        [TERMINATOR, 1, _, _, ..] => {
            let end = NON_HDLC_HEADER + usize::from(word(bytes, 2));
            match bytes.get(end) {
                // An empty packet does not count.
                Some(&TERMINATOR) if end > NON_HDLC_HEADER => Verdict::Record(end + 1),
                Some(_) => Verdict::Nothing,
                None => Verdict::Needs(end + 1),
            }
        }
        [] | [TERMINATOR] | [TERMINATOR, 1] | [TERMINATOR, 1, _] => Verdict::Needs(NON_HDLC_HEADER),
        _ => Verdict::Nothing,
    }
}

/// The packet within a frame without HDLC.
pub(super) fn non_hdlc_payload(frame: &[u8]) -> &[u8] {
    frame.get(NON_HDLC_HEADER..frame.len().saturating_sub(1)).unwrap_or_default()
}

fn whole(bytes: &[u8], len: usize) -> Verdict {
    if bytes.len() < len { Verdict::Needs(len) } else { Verdict::Record(len) }
}

/// Sixteen bits of `bytes`, low byte first; zero past the end.
fn word(bytes: &[u8], at: usize) -> u16 {
    bytes.get(at..).and_then(<[u8]>::first_chunk).map_or(0, |word| u16::from_le_bytes(*word))
}
