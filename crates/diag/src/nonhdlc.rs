//! The framing of a Diag port whose HDLC was switched off: 0x7E, version 1, length u16, payload, 0x7E.
//!
//! Nothing is escaped and nothing is checked but the two ends, so a frame that lost a byte is noticed at its end and
//! what follows is searched for the next beginning. Source: docs/diag.md, transport.

use alloc::vec::Vec;

use memchr::memchr;

use crate::hdlc::{BadFrame, BadFrameReason, Frame, FrameCounts};

const MARK: u8 = 0x7E;
const VERSION: u8 = 1;
const HEADER_LEN: usize = 4;

/// A payload whose length has no room in 16 bits.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("payload of {len} bytes, a 16-bit length allows {}", u16::MAX)]
pub struct PayloadTooLong {
    /// Bytes of payload.
    pub len: usize,
}

/// Appends the frame of `payload` to `out`.
pub fn encode(payload: &[u8], out: &mut Vec<u8>) -> Result<(), PayloadTooLong> {
    let len = u16::try_from(payload.len()).map_err(|_| PayloadTooLong { len: payload.len() })?;
    out.extend_from_slice(&[MARK, VERSION]);
    out.extend_from_slice(&len.to_le_bytes());
    out.extend_from_slice(payload);
    out.push(MARK);
    Ok(())
}

/// Cuts a byte stream, in whatever chunks it comes, into frames.
///
/// Holds the last chunk and at most one frame before it.
#[derive(Clone, Debug, Default)]
pub struct Deframer {
    held: Vec<u8>,
    /// Bytes at the front of `held` that have been dealt with.
    done: usize,
    /// Position in the stream of the first byte of `held`.
    origin: u64,
    /// Where a stretch that is no frame began, while its end is not known.
    garbage: Option<(u64, BadFrameReason)>,
    counts: FrameCounts,
}

/// What the beginning of the bytes held is.
enum Found {
    /// A frame with a payload of this many bytes.
    Frame(usize),
    /// This many bytes that separate frames and mean nothing.
    Separator(usize),
    /// This many bytes that are part of no frame.
    Garbage(usize, BadFrameReason),
    /// Too little to tell.
    Unknown,
}

impl Deframer {
    /// A deframer at the beginning of a stream.
    pub const fn new() -> Self {
        Self {
            held: Vec::new(),
            done: 0,
            origin: 0,
            garbage: None,
            counts: FrameCounts { bytes: 0, good: 0, bad: 0 },
        }
    }

    /// What has been met so far.
    pub const fn counts(&self) -> FrameCounts {
        self.counts
    }

    /// Takes all of `input` and returns the next frame; `None` once there is none. Call it until then.
    pub fn poll_frame(&mut self, input: &mut &[u8]) -> Option<Result<Frame<'_>, BadFrame>> {
        if !input.is_empty() {
            self.held.drain(..self.done);
            self.origin += self.done as u64;
            self.done = 0;
            self.held.extend_from_slice(input);
            self.counts.bytes += input.len() as u64;
            *input = &[];
        }
        loop {
            let at = self.origin + self.done as u64;
            match classify(&self.held[self.done..]) {
                Found::Unknown => return None,
                Found::Garbage(len, reason) => {
                    self.done += len;
                    self.garbage.get_or_insert((at, reason));
                }
                // The stretch that was no frame ends where something else begins.
                Found::Frame(_) | Found::Separator(_) if self.garbage.is_some() => {
                    return self.end_garbage(at).map(Err);
                }
                Found::Separator(len) => self.done += len,
                Found::Frame(len) => {
                    let begin = self.done + HEADER_LEN;
                    // At the mark of its end, which also begins the next frame where that lost its own.
                    self.done = begin + len;
                    self.counts.good += 1;
                    let payload = &self.held[begin..begin + len];
                    return Some(Ok(Frame { offset: at, payload }));
                }
            }
        }
    }

    /// The end of the stream: what is left that is no whole frame, if anything.
    pub fn handle_end(&mut self) -> Option<BadFrame> {
        let rest = self.held.len() - self.done;
        let at = self.origin + self.done as u64;
        // A mark alone ends the frame before it.
        if rest > 1 {
            self.garbage.get_or_insert((at, BadFrameReason::Unterminated));
        }
        self.origin = at + rest as u64;
        self.held.clear();
        self.done = 0;
        self.end_garbage(self.origin)
    }

    fn end_garbage(&mut self, at: u64) -> Option<BadFrame> {
        let (offset, reason) = self.garbage.take()?;
        self.counts.bad += 1;
        Some(BadFrame { offset, len: at - offset, reason })
    }
}

fn classify(bytes: &[u8]) -> Found {
    // Up to the next mark after the first byte.
    let until_mark = || {
        let rest = bytes.get(1..).unwrap_or_default();
        1 + memchr(MARK, rest).unwrap_or(rest.len())
    };
    match *bytes {
        [] | [MARK] => Found::Unknown,
        // The end of one frame and the beginning of the next.
        [MARK, MARK, ..] => Found::Separator(1),
        [MARK, VERSION] | [MARK, VERSION, _] => Found::Unknown,
        [MARK, VERSION, 0, 0, ..] => Found::Garbage(until_mark(), BadFrameReason::Short),
        [MARK, VERSION, low, high, ..] => {
            let len = usize::from(u16::from_le_bytes([low, high]));
            match bytes.get(HEADER_LEN + len) {
                None => Found::Unknown,
                Some(&MARK) => Found::Frame(len),
                Some(_) => Found::Garbage(until_mark(), BadFrameReason::End),
            }
        }
        [MARK, ..] => Found::Garbage(until_mark(), BadFrameReason::Begin),
        [..] => {
            let len = memchr(MARK, bytes).unwrap_or(bytes.len());
            Found::Garbage(len, BadFrameReason::Begin)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::vec;

    fn stream(payloads: &[&[u8]]) -> Vec<u8> {
        let mut stream = Vec::new();
        payloads.iter().for_each(|payload| encode(payload, &mut stream).unwrap());
        stream
    }

    fn read(bytes: &[u8], size: usize) -> (Vec<Vec<u8>>, Vec<BadFrame>, FrameCounts) {
        let mut deframer = Deframer::new();
        let (mut good, mut bad) = (Vec::new(), Vec::new());
        for mut chunk in bytes.chunks(size) {
            while let Some(frame) = deframer.poll_frame(&mut chunk) {
                match frame {
                    Ok(frame) => good.push(frame.payload.to_vec()),
                    Err(stretch) => bad.push(stretch),
                }
            }
        }
        bad.extend(deframer.handle_end());
        (good, bad, deframer.counts())
    }

    #[test]
    fn payloads_come_back_however_the_stream_is_cut() {
        let payloads: [&[u8]; 3] = [b"\x7E\x01\x02\x7D", b"x", &[0x7E; 300]];
        let bytes = stream(&payloads);
        for size in [1, 2, 3, 7, bytes.len()] {
            let (good, bad, counts) = read(&bytes, size);
            assert_eq!(good, payloads.map(<[u8]>::to_vec), "in chunks of {size}");
            assert_eq!(bad, []);
            assert_eq!((counts.bytes, counts.good), (bytes.len() as u64, 3));
        }
    }

    #[test]
    fn a_frame_that_lost_bytes_costs_itself_only() {
        let whole = stream(&[b"first", b"second", b"third"]);
        for lost in 2..=6 {
            let mut bytes = whole.clone();
            bytes.drain(14..14 + lost);
            let (good, bad, _) = read(&bytes, 5);
            assert_eq!(good, [b"first".to_vec(), b"third".to_vec()], "{lost} lost");
            assert_eq!(bad.len(), 1);
            assert_eq!((bad[0].offset, bad[0].reason), (10, BadFrameReason::End));
        }
    }

    #[test]
    fn a_frame_whose_lost_byte_makes_it_end_on_the_next_ones_mark_leaves_the_next_one_whole() {
        let mut bytes = stream(&[b"first", b"second", b"third"]);
        bytes.remove(14);
        let (good, bad, _) = read(&bytes, 5);
        assert_eq!(good, [b"first".to_vec(), b"econd\x7E".to_vec(), b"third".to_vec()]);
        assert_eq!(bad, []);
    }

    #[test]
    fn noise_between_frames_is_one_bad_stretch() {
        let mut bytes = stream(&[b"first"]);
        bytes.extend_from_slice(b"noise\x7Emore noise");
        bytes.extend(stream(&[b"second"]));
        for size in [1, 4, bytes.len()] {
            let (good, bad, counts) = read(&bytes, size);
            assert_eq!(good, [b"first".to_vec(), b"second".to_vec()]);
            // From the end of the frame before it to the beginning of the one after it.
            let begin = BadFrame { offset: 9, len: 17, reason: BadFrameReason::Begin };
            assert_eq!(bad, [begin], "in chunks of {size}");
            assert_eq!(counts.bad, 1);
        }
    }

    #[test]
    fn a_stream_that_ends_within_a_frame_says_so() {
        let bytes = stream(&[b"first", b"second"]);
        let (good, bad, _) = read(&bytes[..bytes.len() - 1], 100);
        assert_eq!(good, [b"first".to_vec()]);
        assert_eq!(bad[0].reason, BadFrameReason::Unterminated);
    }

    #[test]
    fn an_empty_frame_is_none() {
        let (good, bad, _) = read(&stream(&[b"", b"x"]), 100);
        assert_eq!((good, bad.len()), (vec![b"x".to_vec()], 1));
    }

    #[test]
    fn a_payload_that_no_length_can_tell_is_refused() {
        let mut out = Vec::new();
        let refused = Err(PayloadTooLong { len: 65_536 });
        assert_eq!(encode(&vec![0; 65_536], &mut out), refused);
        assert!(out.is_empty());
    }
}
