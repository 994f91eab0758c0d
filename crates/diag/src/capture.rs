//! Capture files and live streams: frames cut, packets read, everything counted.
//!
//! A `.qmdl` or `.mi2log` file is the modem's byte stream as it was (docs/diag.md, transport): it may start in the middle of a
//! frame, hold answers to commands and frames of a recorder's own (they begin with 0xEE 0xEE), and end anywhere.

use crate::hdlc::{BadFrame, Deframer, Found, Frame, FrameCounts};
use crate::packet::{Packet, PacketError};

/// How many bytes are searched for one good frame before they are taken for something else.
///
/// Twice the longest frame with every byte escaped: wherever a stream is joined, a whole frame begins within half of
/// that. Chosen; pinned by the test `a_capture_that_starts_in_the_middle_of_the_longest_frame_is_recognised`.
pub const PROBE: usize = 4 * crate::hdlc::MAX_PAYLOAD;

/// One packet and where it was.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Located<'a> {
    /// Position in the stream of its frame.
    pub offset: u64,
    /// The packet.
    pub packet: Packet<'a>,
}

/// A stretch of a stream that gave no packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Damage {
    /// It is not a frame.
    #[error(transparent)]
    Frame(#[from] BadFrame),
    /// It is a frame with a right check, and not a packet.
    #[error("frame at offset {offset}: {error}")]
    Packet {
        /// Position in the stream of its frame.
        offset: u64,
        /// What is wrong with it.
        error: PacketError,
    },
}

/// What a reader has met so far.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counts {
    /// Bytes and frames.
    pub frames: FrameCounts,
    /// Log records.
    pub logs: u64,
    /// Packets that are not log records.
    pub others: u64,
    /// Good frames that are no packets.
    pub bad_packets: u64,
}

/// Why bytes are not a capture.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum CaptureError {
    /// There are none.
    #[error("the capture is empty")]
    Empty,
    /// No frame with a right check in all of it, or in the first [`PROBE`] bytes.
    #[error("no Diag frame in the first {searched} bytes: it looks like {looks}")]
    NotDiag {
        /// How many bytes were searched.
        searched: usize,
        /// What the beginning looks like.
        looks: Looks,
    },
}

/// What the first bytes of something that is not a Diag stream look like.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Looks {
    /// `0x0A0D0D0A`.
    #[error("a pcapng capture")]
    PcapNg,
    /// One of the magic numbers of pcap.
    #[error("a pcap capture")]
    Pcap,
    /// Flat log packets `[length][code][time]`, as in `.dlf`.
    #[error("log packets without framing (.dlf), which is not read")]
    Dlf,
    /// Flat Diag packets `10 00 length length`, as in `.hdf`.
    #[error("Diag packets without framing (.hdf), which is not read")]
    Hdf,
    /// 7E 01 and a length: the framing without escapes.
    #[error("a Diag stream without HDLC framing")]
    NonHdlc,
    /// gzip, zip, xz or zstd.
    #[error("a compressed file: unpack it first")]
    Compressed,
    /// Printable characters.
    #[error("text")]
    Text,
    /// Nothing but zero bytes.
    #[error("zeros")]
    Zeros,
    /// None of these.
    #[error("no kind of file known here")]
    Unknown,
}

/// Reads packets from a stream that comes in chunks.
///
/// A stream that has brought [`PROBE`] bytes and no good frame is no Diag stream; its counts say so.
#[derive(Clone, Debug, Default)]
pub struct Reader {
    deframer: Deframer,
    logs: u64,
    others: u64,
    bad_packets: u64,
}

impl Reader {
    /// A reader at the beginning of a stream.
    pub const fn new() -> Self {
        Self { deframer: Deframer::new(), logs: 0, others: 0, bad_packets: 0 }
    }

    /// Takes bytes from the front of `input` up to the end of the next packet, and returns it; `None` once `input` is
    /// used up.
    pub fn poll_packet<'s, 'c: 's>(
        &'s mut self,
        input: &mut &'c [u8],
    ) -> Option<Result<Located<'s>, Damage>> {
        let found = self.deframer.advance(input)?;
        Some(self.read(found))
    }

    fn read<'s, 'c: 's>(&'s mut self, found: Found<'c>) -> Result<Located<'s>, Damage> {
        let Self { deframer, logs, others, bad_packets } = self;
        let frame = deframer.finish(found)?;
        read(frame, logs, others, bad_packets)
    }

    /// Takes the payload of a frame that something before this reader has cut and checked, as the packets of a
    /// diag-router's socket are.
    pub fn handle_payload<'c>(&mut self, payload: &'c [u8]) -> Result<Located<'c>, Damage> {
        let Self { deframer, logs, others, bad_packets } = self;
        let frame = deframer.count_payload(payload);
        read(frame, logs, others, bad_packets)
    }

    /// The end of the stream: what is left of a frame, if anything.
    pub fn handle_end(&mut self) -> Option<BadFrame> {
        self.deframer.handle_end()
    }

    /// What has been met so far.
    pub const fn counts(&self) -> Counts {
        Counts {
            frames: self.deframer.counts(),
            logs: self.logs,
            others: self.others,
            bad_packets: self.bad_packets,
        }
    }
}

fn read<'a>(
    Frame { offset, payload }: Frame<'a>,
    logs: &mut u64,
    others: &mut u64,
    bad_packets: &mut u64,
) -> Result<Located<'a>, Damage> {
    match Packet::parse(payload) {
        Ok(packet) => {
            match packet {
                Packet::Log(_) => *logs += 1,
                Packet::Other { .. } => *others += 1,
            }
            Ok(Located { offset, packet })
        }
        Err(error) => {
            *bad_packets += 1;
            Err(Damage::Packet { offset, error })
        }
    }
}

/// A whole capture in memory.
#[derive(Clone, Debug)]
pub struct Capture<'a> {
    reader: Reader,
    rest: &'a [u8],
}

impl<'a> Capture<'a> {
    /// A capture, if `bytes` are one.
    pub fn new(bytes: &'a [u8]) -> Result<Self, CaptureError> {
        recognise(bytes)?;
        Ok(Self { reader: Reader::new(), rest: bytes })
    }

    /// The next packet, or what is there in its place; `None` at the end.
    pub fn poll_packet(&mut self) -> Option<Result<Located<'_>, Damage>> {
        match self.reader.deframer.advance(&mut self.rest) {
            Some(found) => Some(self.reader.read(found)),
            None => self.reader.handle_end().map(|bad| Err(Damage::Frame(bad))),
        }
    }

    /// What has been met so far.
    pub const fn counts(&self) -> Counts {
        self.reader.counts()
    }
}

/// Whether `beginning`, the first bytes of something, holds a Diag frame; all of it or the first [`PROBE`] bytes.
pub fn recognise(beginning: &[u8]) -> Result<(), CaptureError> {
    if beginning.is_empty() {
        return Err(CaptureError::Empty);
    }
    let searched = beginning.len().min(PROBE);
    let mut input = &beginning[..searched];
    let mut deframer = Deframer::new();
    while let Some(frame) = deframer.poll_frame(&mut input) {
        if frame.is_ok() {
            return Ok(());
        }
    }
    Err(CaptureError::NotDiag { searched, looks: Looks::of(beginning) })
}

impl Looks {
    fn of(beginning: &[u8]) -> Self {
        match beginning {
            [0x0A, 0x0D, 0x0D, 0x0A, ..] => Self::PcapNg,
            [0xD4, 0xC3, 0xB2, 0xA1, ..]
            | [0xA1, 0xB2, 0xC3, 0xD4, ..]
            | [0x4D, 0x3C, 0xB2, 0xA1, ..]
            | [0xA1, 0xB2, 0x3C, 0x4D, ..] => Self::Pcap,
            [0x1F, 0x8B, ..]
            | [b'P', b'K', 3, 4, ..]
            | [0xFD, b'7', b'z', b'X', b'Z', 0, ..]
            | [0x28, 0xB5, 0x2F, 0xFD, ..] => Self::Compressed,
            [0x10, 0, a, b, c, d, ..] if a == c && b == d => Self::Hdf,
            [0x7E, 1, ..] => Self::NonHdlc,
            _ if beginning.iter().take(4096).all(|&byte| byte == 0) => Self::Zeros,
            _ if beginning.iter().take(4096).all(|&byte| is_text(byte)) => Self::Text,
            _ if is_dlf(beginning) => Self::Dlf,
            _ => Self::Unknown,
        }
    }
}

const fn is_text(byte: u8) -> bool {
    byte.is_ascii_graphic() || byte.is_ascii_whitespace() || byte >= 0x80
}

/// Two records in a row whose lengths lead from one to the next.
fn is_dlf(beginning: &[u8]) -> bool {
    let len = |at: usize| {
        let word = beginning.get(at..)?.first_chunk::<2>()?;
        Some(usize::from(u16::from_le_bytes(*word))).filter(|&len| len >= 12)
    };
    let Some(first) = len(0) else { return false };
    first == beginning.len() || len(first).is_some_and(|second| first + second <= beginning.len())
}

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::vec;
    use alloc::vec::Vec;

    use crate::hdlc::{BadFrameReason, MAX_PAYLOAD, encode};

    fn stream(payloads: &[&[u8]]) -> Vec<u8> {
        let mut stream = Vec::new();
        payloads.iter().for_each(|payload| encode(payload, &mut stream));
        stream
    }

    #[test]
    fn a_capture_may_start_and_end_within_a_frame() {
        let bytes = stream(&[b"\x1C first", b"\x7C second", b"\xEE\xEE third"]);
        let mut capture = Capture::new(&bytes[2..bytes.len() - 1]).unwrap();
        let mut commands = Vec::new();
        let mut damages = Vec::new();
        while let Some(found) = capture.poll_packet() {
            match found {
                Ok(Located { packet: Packet::Other { command, .. }, .. }) => commands.push(command),
                Ok(located) => panic!("{located:?}"),
                Err(damage) => damages.push(damage),
            }
        }
        assert_eq!(commands, vec![0x7C]);
        let reasons = damages.iter().map(|damage| match damage {
            Damage::Frame(bad) => bad.reason,
            Damage::Packet { .. } => panic!("{damage:?}"),
        });
        let reasons: Vec<_> = reasons.collect();
        assert!(matches!(
            reasons[..],
            [BadFrameReason::Check { .. }, BadFrameReason::Unterminated]
        ));
        let counts = capture.counts();
        assert_eq!((counts.frames.good, counts.frames.bad, counts.others), (1, 2, 1));
    }

    #[test]
    fn a_frame_that_is_no_packet_is_counted_and_passed_over() {
        let bytes = stream(&[&[0x10, 0, 1], b"\x1C"]);
        let mut capture = Capture::new(&bytes).unwrap();
        assert!(matches!(capture.poll_packet(), Some(Err(Damage::Packet { offset: 0, .. }))));
        assert!(matches!(capture.poll_packet(), Some(Ok(_))));
        assert_eq!(capture.poll_packet(), None);
        assert_eq!(capture.counts().bad_packets, 1);
    }

    #[test]
    fn a_payload_without_its_frame_is_read_and_counted() {
        let mut reader = Reader::new();
        let found = reader.handle_payload(b"\x1C\x01").unwrap();
        assert_eq!(found.packet, Packet::Other { command: 0x1C, radio: None, body: b"\x01" });
        assert!(matches!(reader.handle_payload(&[0x10, 0]), Err(Damage::Packet { offset: 2, .. })));
        let counts = reader.counts();
        assert_eq!((counts.frames.bytes, counts.frames.good), (4, 2));
        assert_eq!((counts.others, counts.bad_packets), (1, 1));
    }

    #[test]
    fn an_empty_file_is_an_error_of_its_own() {
        assert_eq!(Capture::new(&[]).map(|_| ()), Err(CaptureError::Empty));
    }

    #[test]
    fn other_files_are_named() {
        let mut dlf = vec![14, 0, 0x39, 0xB1, 1, 2, 3, 4, 5, 6, 7, 8, 0xAA, 0xBB];
        dlf.extend_from_within(..);
        for (bytes, looks) in [
            (&b"\x0A\x0D\x0D\x0Apcapng"[..], Looks::PcapNg),
            (b"\xD4\xC3\xB2\xA1", Looks::Pcap),
            (b"\x1F\x8B\x08\x00", Looks::Compressed),
            (b"\x28\xB5\x2F\xFD\x04", Looks::Compressed),
            (b"\x10\x00\x20\x00\x20\x00", Looks::Hdf),
            (b"\x7E\x01\x04\x00abcd\x7E", Looks::NonHdlc),
            (b"time,cell,rsrp\n", Looks::Text),
            (&[0; 100], Looks::Zeros),
            (&dlf, Looks::Dlf),
            (b"\x01\x02\x03", Looks::Unknown),
        ] {
            let refused = CaptureError::NotDiag { searched: bytes.len(), looks };
            assert_eq!(recognise(bytes), Err(refused));
        }
    }

    #[test]
    fn a_capture_that_starts_in_the_middle_of_the_longest_frame_is_recognised() {
        // Every byte escaped, twice in a row: nothing longer can precede a whole frame.
        let bytes = stream(&[&[0x7E; MAX_PAYLOAD], b"\x1C"]);
        assert_eq!(recognise(&bytes[1..]), Ok(()));
    }

    #[test]
    fn a_long_file_is_not_searched_to_its_end() {
        let mut bytes = vec![0xAA; PROBE];
        encode(b"\x1C", &mut bytes);
        assert!(matches!(recognise(&bytes), Err(CaptureError::NotDiag { searched: PROBE, .. })));
    }
}
