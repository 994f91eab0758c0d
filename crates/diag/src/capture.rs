//! Reads packets and records from capture files and live streams, and counts them.
//!
//! Captures differ in how their records are separated ([`Format`]). [`recognise`] finds the format
//! from the bytes, [`Beginning`] from the first records of a stream. [`Reader`] reads any of them
//! in chunks, [`Capture`] a whole one in memory. A `.qmdl` or `.mi2log` file is the modem's
//! unchanged byte stream (docs/reference/diag.md, transport). It may start in the middle of a
//! frame, contain answers to commands and frames that a recorder added (they begin with 0xEE 0xEE),
//! and end anywhere. A `.qmdl2` has a header before it.

mod beginning;
mod flat;
mod format;
mod header;
mod recognise;

pub use beginning::Beginning;
pub use format::{EmitError, Format, Kind, emit_unframed};
pub use recognise::{CaptureError, Looks, PROBE, packing, recognise};

use sounding_units::ModemInstant;

use crate::hdlc::{self, BadFrame, BadFrameReason, Deframer, FrameCounts};
use crate::packet::{self, Packet, PacketError};
use crate::{LogCode, LogRecord};
use flat::Flat;

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
    /// It is a frame with a correct check, but not a packet.
    #[error("frame at offset {offset}: {error}")]
    Packet {
        /// Position in the stream of its frame.
        offset: u64,
        /// The fault.
        error: PacketError,
    },
}

impl Damage {
    /// Offset of its beginning in the stream.
    pub const fn offset(&self) -> u64 {
        match self {
            Self::Frame(bad) => bad.offset,
            Self::Packet { offset, .. } => *offset,
        }
    }
}

/// Counts of a reader so far.
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
    /// The first stretch that gave no packet.
    pub first_damage: Option<Damage>,
    /// Start of the frame that the end of the stream cut off, if there is one. It is one of the
    /// bad frames.
    pub cut_at: Option<u64>,
    /// Number of available bytes of that frame; 0 without such a frame.
    pub cut_bytes: u64,
}

impl Counts {
    /// Stretches that gave no packet.
    pub const fn damaged(&self) -> u64 {
        self.frames.bad + self.bad_packets
    }
}

/// Reads packets from a stream that arrives in chunks.
///
/// A stream without a good frame in its first [`PROBE`] bytes is not a Diag stream; its counts show
/// this.
#[derive(Clone, Debug)]
pub struct Reader {
    cut: Cut,
    /// Bytes of the preamble that are still to come.
    preamble: usize,
    packets: Packets,
}

/// Counts packets by kind, and damage.
#[derive(Clone, Copy, Debug)]
struct Packets {
    logs: u64,
    others: u64,
    bad: u64,
    first_damage: Option<Damage>,
    /// The frame that the end of the stream cut off.
    cut: Option<BadFrame>,
}

impl Packets {
    fn count<'a>(
        &mut self,
        offset: u64,
        packet: Result<Packet<'a>, PacketError>,
    ) -> Result<Located<'a>, Damage> {
        match packet {
            Ok(packet) => {
                match packet {
                    Packet::Log(_) => self.logs += 1,
                    Packet::Other { .. } => self.others += 1,
                }
                Ok(Located { offset, packet })
            }
            Err(error) => {
                self.bad += 1;
                Err(self.note(Damage::Packet { offset, error }))
            }
        }
    }

    fn note(&mut self, damage: Damage) -> Damage {
        self.first_damage.get_or_insert(damage);
        if let Damage::Frame(bad @ BadFrame { reason: BadFrameReason::Unterminated, .. }) = damage {
            self.cut = Some(bad);
        }
        damage
    }
}

/// The kind of the bytes of one read of a port.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Framing {
    /// Some of a stream of HDLC frames.
    Hdlc,
    /// One whole packet without a frame; one without a byte is a stretch that was none.
    Packet,
}

/// Separates the records, and keeps the start of an unfinished one.
#[derive(Clone, Debug)]
enum Cut {
    Hdlc(Deframer),
    Flat(Flat, Format),
}

/// A stretch of the stream, not read yet.
enum Found<'c> {
    Hdlc(hdlc::Found<'c>),
    Flat(flat::Found<'c>),
    Bad(BadFrame),
}

impl Default for Reader {
    fn default() -> Self {
        Self::new()
    }
}

impl Reader {
    /// A reader at the beginning of a stream of frames, as ports and most captures have it.
    pub const fn new() -> Self {
        Self::of(Kind::of(Format::Hdlc))
    }

    /// A reader at the beginning of a capture of that kind.
    pub const fn of(kind: Kind) -> Self {
        let cut = match kind.format {
            Format::Hdlc => Cut::Hdlc(Deframer::new()),
            format => Cut::Flat(Flat::new(format), format),
        };
        let packets = Packets { logs: 0, others: 0, bad: 0, first_damage: None, cut: None };
        Self { cut, preamble: kind.preamble, packets }
    }

    /// Takes bytes from the front of `input` up to the end of the next packet, and returns it;
    /// `None` once `input` is used up.
    pub fn poll_packet<'s, 'c: 's>(
        &'s mut self,
        input: &mut &'c [u8],
    ) -> Option<Result<Located<'s>, Damage>> {
        let found = self.advance(input)?;
        Some(self.read(found))
    }

    fn advance<'c>(&mut self, input: &mut &'c [u8]) -> Option<Found<'c>> {
        if self.preamble > 0 {
            let skipped = self.preamble.min(input.len());
            *input = &input[skipped..];
            self.preamble -= skipped;
            match &mut self.cut {
                Cut::Hdlc(deframer) => deframer.handle_preamble(skipped as u64),
                Cut::Flat(flat, _) => flat.handle_preamble(skipped as u64),
            }
        }
        match &mut self.cut {
            Cut::Hdlc(deframer) => deframer.advance(input).map(Found::Hdlc),
            Cut::Flat(flat, _) => flat.advance(input).map(Found::Flat),
        }
    }

    fn read<'s, 'c: 's>(&'s mut self, found: Found<'c>) -> Result<Located<'s>, Damage> {
        let framed = match (&mut self.cut, found) {
            (_, Found::Bad(bad)) => Err(bad),
            (Cut::Hdlc(deframer), Found::Hdlc(found)) => {
                deframer.finish(found).map(|frame| (frame.offset, Packet::parse(frame.payload)))
            }
            (Cut::Flat(flat, format), Found::Flat(found)) => {
                flat.record(found).map(|(offset, record)| (offset, unframed(*format, record)))
            }
            // A reader finds only what its own way of cutting finds.
            (_, Found::Hdlc(_) | Found::Flat(_)) => unreachable!("one reader, one way of cutting"),
        };
        match framed {
            Ok((offset, packet)) => self.packets.count(offset, packet),
            Err(bad) => Err(self.packets.note(bad.into())),
        }
    }

    /// Takes the bytes of one read of a port, and returns each packet in them to `each`.
    pub fn handle_read(
        &mut self,
        framing: Framing,
        mut bytes: &[u8],
        mut each: impl FnMut(Result<Located<'_>, Damage>),
    ) {
        match framing {
            Framing::Packet => each(self.handle_payload(bytes)),
            Framing::Hdlc => {
                while let Some(found) = self.poll_packet(&mut bytes) {
                    each(found);
                }
            }
        }
    }

    /// Takes a payload without framing, as a diag-router's socket delivers
    /// packets.
    ///
    /// # Errors
    ///
    /// [`Damage::Packet`] if the payload is no packet: it is counted.
    pub fn handle_payload<'c>(&mut self, payload: &'c [u8]) -> Result<Located<'c>, Damage> {
        let offset = match &mut self.cut {
            Cut::Hdlc(deframer) => deframer.count_payload(payload),
            Cut::Flat(flat, _) => flat.count_payload(payload),
        };
        self.packets.count(offset, Packet::parse(payload))
    }

    /// The end of the stream. Returns the records that waited for later bytes, and an incomplete
    /// rest; `None` after the last.
    pub fn poll_end(&mut self) -> Option<Result<Located<'_>, Damage>> {
        let found = match &mut self.cut {
            Cut::Hdlc(deframer) => deframer.handle_end().map(Found::Bad),
            Cut::Flat(flat, _) => flat.poll_end().map(Found::Flat),
        }?;
        Some(self.read(found))
    }

    /// The counts so far.
    pub const fn counts(&self) -> Counts {
        let frames = match &self.cut {
            Cut::Hdlc(deframer) => deframer.counts(),
            Cut::Flat(flat, _) => flat.counts(),
        };
        let Packets { logs, others, bad, first_damage, cut } = self.packets;
        let (cut_at, cut_bytes) = match cut {
            Some(BadFrame { offset, len, .. }) => (Some(offset), len),
            None => (None, 0),
        };
        Counts { frames, logs, others, bad_packets: bad, first_damage, cut_at, cut_bytes }
    }
}

/// The packet in a record without HDLC around it.
fn unframed(format: Format, record: &[u8]) -> Result<Packet<'_>, PacketError> {
    match format {
        Format::Dlf => bare_log(record).map(Packet::Log),
        Format::NonHdlc => Packet::parse(header::non_hdlc_payload(record)),
        Format::Hdf | Format::Hdlc => Packet::parse(record),
    }
}

/// A log record without the packet around it.
fn bare_log(record: &[u8]) -> Result<LogRecord<'_>, PacketError> {
    let short = PacketError::Short { command: packet::LOG, need: 12, have: record.len() };
    let (&[_, _, c0, c1, ref stamp @ ..], body) = record.split_first_chunk::<12>().ok_or(short)?;
    let stamp = u64::from_le_bytes(*stamp);
    let code = LogCode::new(u16::from_le_bytes([c0, c1]));
    Ok(LogRecord { code, at: ModemInstant::from_diag(stamp), stamp, radio: None, body })
}

/// A whole capture in memory.
#[derive(Clone, Debug)]
pub struct Capture<'a> {
    reader: Reader,
    kind: Kind,
    rest: &'a [u8],
}

impl<'a> Capture<'a> {
    /// A capture, if `bytes` are one.
    ///
    /// # Errors
    ///
    /// [`CaptureError`] if `bytes` are empty, an archive, or hold no Diag record at their
    /// beginning.
    pub fn new(bytes: &'a [u8]) -> Result<Self, CaptureError> {
        let kind = recognise(bytes)?;
        Ok(Self { reader: Reader::of(kind), kind, rest: bytes })
    }

    /// Its kind.
    pub const fn kind(&self) -> Kind {
        self.kind
    }

    /// The next packet, or damage in its place; `None` at the end.
    pub fn poll_packet(&mut self) -> Option<Result<Located<'_>, Damage>> {
        match self.reader.advance(&mut self.rest) {
            Some(found) => Some(self.reader.read(found)),
            None => self.reader.poll_end(),
        }
    }

    /// The counts so far.
    pub const fn counts(&self) -> Counts {
        self.reader.counts()
    }
}

#[cfg(test)]
mod tests;
