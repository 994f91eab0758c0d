//! Frames from the holder to a reader: a head of 13 bytes and a payload.
//!
//! | bytes | field |
//! |---|---|
//! | 0 | kind |
//! | 1 to 4 | length of the payload, little-endian |
//! | 5 to 12 | when it came to this host, in nanoseconds of `CLOCK_MONOTONIC`, little-endian |

use serde::{Deserialize, Serialize};
use sounding_diag::LogCode;
use sounding_diag::session::Beside;
use sounding_units::HostInstant;

use super::foreign::Foreign;
use super::limits::{MAX_GREETING, MAX_PAYLOAD};
use super::words::Greeting;

const HEAD: usize = 13;

/// The kind of a frame.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// A packet of Diag, without framing.
    Packet = 1,
    /// A number of records, 8 bytes: so many were dropped for this reader since it was last told.
    Lost = 2,
    /// JSON: the wanted codes that are not on, by reason.
    Lacks = 3,
    /// The port closed. Empty.
    Closed = 4,
    /// The port is open again. Empty.
    Reopened = 5,
}

impl Kind {
    const ALL: [Self; 5] = [Self::Packet, Self::Lost, Self::Lacks, Self::Closed, Self::Reopened];

    fn of(byte: u8) -> Option<Self> {
        Self::ALL.into_iter().find(|kind| *kind as u8 == byte)
    }
}

/// A frame, or the greeting before the first one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Frame<'a> {
    /// The first line.
    Greeting(Greeting),
    /// A packet, and when it came.
    Packet(HostInstant, &'a [u8]),
    /// News about the port or the records.
    News(Beside),
}

/// The codes that a reader lacks, as JSON.
#[derive(Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
struct Lacks {
    #[serde(default)]
    budget: Vec<u16>,
    #[serde(default)]
    unknown: Vec<u16>,
    #[serde(default)]
    kept: Vec<u16>,
}

/// Appends a frame.
pub(super) fn emit(kind: Kind, at: HostInstant, payload: &[u8], out: &mut impl Extend<u8>) {
    let len = u32::try_from(payload.len()).unwrap_or(u32::MAX);
    out.extend([kind as u8]);
    out.extend(len.to_le_bytes());
    out.extend(at.as_nanos().to_le_bytes());
    out.extend(payload.iter().copied());
}

/// Appends news.
pub(super) fn emit_news(news: &Beside, at: HostInstant, out: &mut impl Extend<u8>) {
    let numbers = |codes: &[LogCode]| codes.iter().map(|code| code.number()).collect();
    match news {
        Beside::Lacks { budget, unknown, kept } => {
            let [budget, unknown, kept] = [budget, unknown, kept].map(|codes| numbers(codes));
            let text = serde_json::to_vec(&Lacks { budget, unknown, kept }).unwrap_or_default();
            emit(Kind::Lacks, at, &text, out);
        }
        Beside::Lost { records } => emit(Kind::Lost, at, &records.to_le_bytes(), out),
        Beside::Closed => emit(Kind::Closed, at, &[], out),
        Beside::Reopened => emit(Kind::Reopened, at, &[], out),
    }
}

/// Finds the greeting and the frames in the bytes of a holder. It holds one frame at most.
#[derive(Debug, Default)]
pub struct Decoder {
    bytes: Vec<u8>,
    /// Bytes of the frame that was returned last.
    taken: usize,
    is_greeted: bool,
}

impl Decoder {
    /// Takes bytes that came.
    pub fn handle(&mut self, bytes: &[u8]) {
        self.bytes.drain(..self.taken);
        self.taken = 0;
        self.bytes.extend_from_slice(bytes);
    }

    /// The next frame, if all of it has come.
    ///
    /// # Errors
    ///
    /// [`Foreign`] if the bytes are not a holder's. There are no frames after that.
    pub fn poll(&mut self) -> Result<Option<Frame<'_>>, Foreign> {
        if !self.is_greeted {
            return self.greeting();
        }
        let Some(rest) = self.bytes.get(self.taken..) else { return Ok(None) };
        let Some((head, rest)) = rest.split_first_chunk::<HEAD>() else { return Ok(None) };
        let [byte, l0, l1, l2, l3, at @ ..] = *head;
        let len = u32::from_le_bytes([l0, l1, l2, l3]) as usize;
        let kind = Kind::of(byte).ok_or(Foreign::Kind(byte))?;
        let fits = match kind {
            Kind::Packet | Kind::Lacks => len <= MAX_PAYLOAD,
            Kind::Lost => len == 8,
            Kind::Closed | Kind::Reopened => len == 0,
        };
        if !fits {
            return Err(Foreign::Length { kind: byte, len });
        }
        let Some(payload) = rest.get(..len) else { return Ok(None) };
        self.taken += HEAD + len;
        let at = HostInstant::from_nanos(u64::from_le_bytes(at));
        Ok(Some(match kind {
            Kind::Packet => Frame::Packet(at, payload),
            Kind::Lost => {
                let count = payload.first_chunk::<8>().copied().unwrap_or_default();
                Frame::News(Beside::Lost { records: u64::from_le_bytes(count) })
            }
            Kind::Lacks => Frame::News(lacks(payload)?),
            Kind::Closed => Frame::News(Beside::Closed),
            Kind::Reopened => Frame::News(Beside::Reopened),
        }))
    }

    fn greeting(&mut self) -> Result<Option<Frame<'_>>, Foreign> {
        let Some(end) = self.bytes.iter().take(MAX_GREETING).position(|byte| *byte == b'\n') else {
            return if self.bytes.len() < MAX_GREETING { Ok(None) } else { Err(Foreign::Long) };
        };
        let greeting = Greeting::parse(self.bytes.get(..end).unwrap_or_default())?;
        self.is_greeted = true;
        self.taken = end + 1;
        Ok(Some(Frame::Greeting(greeting)))
    }
}

fn lacks(payload: &[u8]) -> Result<Beside, Foreign> {
    let Lacks { budget, unknown, kept } = serde_json::from_slice(payload).map_err(Foreign::line)?;
    let codes = |numbers: Vec<u16>| numbers.into_iter().map(LogCode::new).collect();
    Ok(Beside::Lacks { budget: codes(budget), unknown: codes(unknown), kept: codes(kept) })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(ns: u64) -> HostInstant {
        HostInstant::from_nanos(ns)
    }

    fn stream() -> Vec<u8> {
        let mut bytes = Greeting::new("/dev/ttyUSB0").line();
        emit(Kind::Packet, at(7), b"packet", &mut bytes);
        emit_news(&Beside::Lost { records: 3 }, at(8), &mut bytes);
        let lacks = Beside::Lacks {
            budget: vec![LogCode::new(0xB139)],
            unknown: Vec::new(),
            kept: vec![LogCode::new(0x4005)],
        };
        emit_news(&lacks, at(9), &mut bytes);
        emit_news(&Beside::Closed, at(10), &mut bytes);
        emit_news(&Beside::Reopened, at(11), &mut bytes);
        bytes
    }

    fn all(decoder: &mut Decoder, into: &mut Vec<String>) {
        while let Some(frame) = decoder.poll().expect("a holder's") {
            into.push(format!("{frame:?}"));
        }
    }

    #[test]
    fn frames_are_the_same_in_any_pieces() {
        let (mut whole, mut pieces) = (Vec::new(), Vec::new());
        let mut decoder = Decoder::default();
        decoder.handle(&stream());
        all(&mut decoder, &mut whole);
        let mut decoder = Decoder::default();
        for byte in stream() {
            decoder.handle(&[byte]);
            all(&mut decoder, &mut pieces);
        }
        assert_eq!(whole.len(), 6);
        assert_eq!(whole, pieces);
        assert!(whole[4].contains("Closed") && whole[2].contains("records: 3"), "{whole:?}");
    }

    #[test]
    fn foreign_bytes_are_refused_before_they_fill_memory() {
        let mut decoder = Decoder::default();
        decoder.handle(&[b' '; MAX_GREETING]);
        assert_eq!(decoder.poll(), Err(Foreign::Long));
        for (head, error) in [
            ([9, 0, 0, 0, 0], Foreign::Kind(9)),
            ([1, 0, 0, 0, 1], Foreign::Length { kind: 1, len: 1 << 24 }),
            ([2, 7, 0, 0, 0], Foreign::Length { kind: 2, len: 7 }),
            ([4, 1, 0, 0, 0], Foreign::Length { kind: 4, len: 1 }),
        ] {
            let mut decoder = Decoder::default();
            decoder.handle(&[&Greeting::new("x").line()[..], &head, &[0; 8]].concat());
            assert!(matches!(decoder.poll(), Ok(Some(Frame::Greeting(_)))));
            assert_eq!(decoder.poll(), Err(error));
        }
        let mut decoder = Decoder::default();
        decoder.handle(
            b"{\"feed\":\"records\",\"version\":2,\"port\":\"x\",\"framing\":\"packet\"}\n",
        );
        assert_eq!(decoder.poll(), Err(Foreign::Version(2)));
    }
}
