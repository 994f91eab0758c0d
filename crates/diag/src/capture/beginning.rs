//! Finds the kind of a stream from its first records, before there are [`PROBE`] bytes of it.

use super::header::{Header, Tail, Verdict};
use super::recognise::{CaptureError, FLAT, PROBE, has_name, packing, qmdl2, recognise};
use super::{Format, Kind};
use crate::hdlc::Deframer;

/// The beginning of a stream that grows.
///
/// At most its first three whole records decide. A frame with a right check is enough if the same
/// bytes can be no record without framing. A format without a check needs a second record: a
/// frame of HDLC begins like a packet of a `.hdf`. Three frames are enough in any case.
///
/// A stream without framing that begins within a record takes longer: three records that follow
/// one another are searched for whenever it is a quarter longer.
#[derive(Clone, Debug, Default)]
pub struct Beginning {
    deframer: Deframer,
    /// Number of bytes that the deframer has had.
    fed: usize,
    /// Frames with a right check.
    frames: usize,
    /// Length at the last search for records behind damage.
    searched: usize,
}

/// Records of a format without a check that decide, if they are at the very beginning.
const TWO: usize = 2;
/// Records that decide anywhere.
const THREE: usize = 3;

impl Beginning {
    /// The kind of the stream, once it is decided. `bytes` are all bytes so far.
    ///
    /// # Errors
    ///
    /// [`CaptureError`] once the stream is certain to be no capture.
    pub fn judge(&mut self, bytes: &[u8]) -> Option<Result<Kind, CaptureError>> {
        if let Some(packing) = packing(bytes) {
            return Some(Err(CaptureError::Packed(packing)));
        }
        if bytes.len() >= PROBE {
            return Some(recognise(bytes));
        }
        self.kind(bytes).map(Ok)
    }

    fn kind(&mut self, bytes: &[u8]) -> Option<Kind> {
        // A header alone may also be the beginning of something else.
        if let Some(kind) = qmdl2(bytes).filter(|kind| has_record(*kind, bytes)) {
            return Some(kind);
        }
        let mut may_be_flat = false;
        for format in FLAT {
            let run = Run::at(format, bytes);
            if run.records >= TWO {
                return Some(Kind::of(format));
            }
            may_be_flat |= run.is_open;
        }
        let mut input = bytes.get(self.fed..).unwrap_or_default();
        self.fed = bytes.len();
        while let Some(frame) = self.deframer.poll_frame(&mut input) {
            self.frames += usize::from(frame.is_ok());
        }
        if self.frames >= THREE || (self.frames > 0 && !may_be_flat) {
            return Some(Kind::of(Format::Hdlc));
        }
        if self.frames > 0 || bytes.len() < self.searched + self.searched / 4 {
            return None;
        }
        self.searched = bytes.len();
        FLAT.into_iter().find(|&format| follow(format, bytes)).map(Kind::of)
    }
}

/// Whether a whole record follows the header.
fn has_record(kind: Kind, bytes: &[u8]) -> bool {
    let mut rest = bytes.get(kind.preamble..).unwrap_or_default();
    match kind.format {
        Format::Hdlc => matches!(Deframer::new().poll_frame(&mut rest), Some(Ok(_))),
        format => Run::at(format, rest).records > 0,
    }
}

/// Records that lie one after another from one place on.
struct Run {
    /// Whole ones, as far as they are counted.
    records: usize,
    /// Whether the next bytes may be another one.
    is_open: bool,
    /// Whether every record has a code with a name.
    are_named: bool,
}

impl Run {
    fn at(format: Format, mut bytes: &[u8]) -> Self {
        let mut header = Header::new(format);
        let mut run = Self { records: 0, is_open: true, are_named: true };
        while run.records < THREE && run.is_open {
            match header.judge(bytes, Tail::Open) {
                Verdict::Record(len) => {
                    let (record, rest) = bytes.split_at(len);
                    header.handle_record(record);
                    run.records += 1;
                    run.are_named &= has_name(record);
                    bytes = rest;
                }
                Verdict::Needs(_) => break,
                Verdict::Nothing => run.is_open = false,
            }
        }
        run
    }
}

/// Whether three records follow one another anywhere.
fn follow(format: Format, bytes: &[u8]) -> bool {
    (1..bytes.len()).any(|at| {
        let run = Run::at(format, &bytes[at..]);
        run.records >= THREE && (format != Format::Dlf || run.are_named)
    })
}

#[cfg(test)]
mod tests {
    use alloc::vec::Vec;

    use super::*;
    use crate::capture::emit_unframed;
    use crate::hdlc::encode;
    use crate::packet::Packet;
    use crate::{LogCode, LogRecord};
    use sounding_units::ModemInstant;

    const CODE: LogCode = LogCode::new(0xB139);

    /// A stream of so many records, and where each of them ends.
    fn stream(format: Format, count: u64) -> (Vec<u8>, Vec<usize>) {
        let (mut bytes, mut ends) = (Vec::new(), Vec::new());
        for number in 0..count {
            let at = ModemInstant::from_nanos(1_400_000_000_000_000_000 + number * 10_000_000);
            let body = [number as u8; 40];
            let record =
                LogRecord { code: CODE, at, stamp: at.to_diag(), radio: None, body: &body };
            format.emit(&Packet::Log(record), &mut bytes).expect("short");
            ends.push(bytes.len());
        }
        (bytes, ends)
    }

    /// The length at which a stream is recognised that comes byte by byte.
    fn decided_at(bytes: &[u8]) -> Option<(usize, Kind)> {
        let mut beginning = Beginning::default();
        (1..=bytes.len()).find_map(|len| {
            let kind = beginning.judge(&bytes[..len])?;
            Some((len, kind.expect("a capture")))
        })
    }

    #[test]
    fn at_most_three_records_decide_every_format() {
        for format in [Format::Hdlc, Format::NonHdlc, Format::Hdf, Format::Dlf] {
            let (bytes, ends) = stream(format, 3);
            let (len, kind) = decided_at(&bytes).unwrap_or_else(|| panic!("{format}"));
            assert_eq!(kind, Kind::of(format));
            assert!(len <= ends[2], "{format}: {len} of {ends:?}");
            assert_eq!(recognise(&bytes), Ok(kind), "{format}");
        }
    }

    #[test]
    fn one_frame_is_enough_where_it_can_be_nothing_else() {
        let (bytes, ends) = stream(Format::Hdlc, 1);
        // The check behind the packet is no beginning of another packet.
        assert_eq!(decided_at(&bytes), Some((ends[0], Kind::of(Format::Hdlc))));
    }

    #[test]
    fn a_frame_whose_check_could_begin_a_packet_waits_for_the_next() {
        let mut bytes = Vec::new();
        let begins_one = |bytes: &[u8]| bytes[bytes.len() - 3] == 0x10;
        let (mut frame, mut number) = (Vec::new(), 0_u64);
        while frame.is_empty() || !begins_one(&frame) {
            frame.clear();
            let at = ModemInstant::from_nanos(1_400_000_000_000_000_000 + number * 10_000_000);
            let record =
                LogRecord { code: CODE, at, stamp: at.to_diag(), radio: None, body: &[1; 40] };
            Format::Hdlc.emit(&Packet::Log(record), &mut frame).expect("short");
            number += 1;
        }
        bytes.extend(&frame);
        assert_eq!(decided_at(&bytes), None);
        bytes.extend(stream(Format::Hdlc, 1).0);
        assert_eq!(decided_at(&bytes).map(|(_, kind)| kind), Some(Kind::of(Format::Hdlc)));
    }

    #[test]
    fn three_frames_decide_behind_bytes_that_could_be_a_long_packet() {
        // As some modems pad their frames: read as a packet, it is 4116 bytes long.
        let (frames, _) = stream(Format::Hdlc, 3);
        let bytes = [&[0x10; 40][..], &frames].concat();
        assert_eq!(decided_at(&bytes), Some((bytes.len(), Kind::of(Format::Hdlc))));
    }

    #[test]
    fn a_stream_without_framing_is_recognised_behind_a_part_of_a_record() {
        for format in [Format::NonHdlc, Format::Hdf, Format::Dlf] {
            let (bytes, _) = stream(format, 8);
            let kind = decided_at(&bytes[30..]).map(|(_, kind)| kind);
            assert_eq!(kind, Some(Kind::of(format)), "{format}");
        }
    }

    #[test]
    fn a_header_of_a_file_decides_nothing_without_a_record() {
        let mut bytes = [&10_u32.to_le_bytes()[..], &[1, 1], &0_u32.to_le_bytes()].concat();
        assert_eq!(decided_at(&bytes), None);
        encode(b"\x1C\x00", &mut bytes);
        assert_eq!(
            decided_at(&bytes),
            Some((bytes.len(), Kind { format: Format::Hdlc, preamble: 10 }))
        );
        let mut bytes = [&10_u32.to_le_bytes()[..], &[1, 0], &0_u32.to_le_bytes()].concat();
        emit_unframed(b"\x1C\x00", &mut bytes).expect("short");
        assert_eq!(
            decided_at(&bytes),
            Some((bytes.len(), Kind { format: Format::NonHdlc, preamble: 10 }))
        );
    }

    #[test]
    fn what_is_no_capture_is_decided_at_the_length_of_the_probe() {
        let mut beginning = Beginning::default();
        let text = b"time,cell,rsrp\n".repeat(PROBE / 15 + 1);
        assert_eq!(beginning.judge(&text[..1000]), None);
        assert!(matches!(beginning.judge(&text), Some(Err(CaptureError::NotDiag { .. }))));
        let gzip = b"\x1F\x8B\x08\x00";
        assert!(matches!(Beginning::default().judge(gzip), Some(Err(CaptureError::Packed(_)))));
    }
}
