//! Finds the kind of a file from its bytes, not its name.

use super::header::{Header, Tail, Verdict};
use super::{Format, Kind};
use crate::LogCode;
use crate::hdlc::Deframer;

/// Number of bytes that are searched for one good frame before the input counts as something else.
///
/// Twice the longest frame with every byte escaped: wherever a stream starts, a whole frame begins
/// within half of that. Chosen; pinned by the test
/// `a_capture_that_starts_in_the_middle_of_the_longest_frame_is_recognised`.
pub const PROBE: usize = 4 * crate::hdlc::MAX_PAYLOAD;

/// Why bytes are not a capture.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum CaptureError {
    /// The input has no bytes.
    #[error("the capture is empty")]
    Empty,
    /// It holds files, and perhaps a capture among them.
    #[error("it is {0}: unpack it first")]
    Packed(&'static str),
    /// No frame with a right check, and no records without framing, in all of it or in the first
    /// [`PROBE`] bytes.
    #[error("no Diag record in the first {searched} bytes: it looks like {looks}")]
    NotDiag {
        /// Number of searched bytes.
        searched: usize,
        /// The apparent kind of the beginning.
        looks: Looks,
    },
}

/// The apparent kind of an input that is not a Diag stream.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Looks {
    /// `0x0A0D0D0A`.
    #[error("a pcapng capture")]
    PcapNg,
    /// One of the magic numbers of pcap.
    #[error("a pcap capture")]
    Pcap,
    /// Printable characters.
    #[error("text")]
    Text,
    /// Nothing but zero bytes.
    #[error("zeros")]
    Zeros,
    /// Another kind.
    #[error("no kind of file known here")]
    Unknown,
}

/// Header of a `.qmdl2`: its own length, a version, the framing after it (0 without HDLC, 1 with),
/// the number of GUIDs of the message dictionaries, and the GUIDs, sixteen bytes each. Source: the
/// header as a recorder of the platform writes it.
const QMDL2_HEADER: usize = 10;
/// Maximum number of GUIDs in a header. Chosen: a build has about one for each of its processors.
const MAX_GUIDS: u32 = 1000;

/// The kind of capture that starts with `beginning`. All of it, or the first [`PROBE`] bytes, are
/// examined.
///
/// # Errors
///
/// [`CaptureError::Empty`] without bytes; [`CaptureError::Packed`] if they are an archive;
/// [`CaptureError::NotDiag`] if they hold no Diag record.
pub fn recognise(beginning: &[u8]) -> Result<Kind, CaptureError> {
    if beginning.is_empty() {
        return Err(CaptureError::Empty);
    }
    // An archive may hold its files as they are: their frames would be found, and its own bytes
    // taken for damage.
    if let Some(packing) = packing(beginning) {
        return Err(CaptureError::Packed(packing));
    }
    let searched = beginning.len().min(PROBE);
    let bytes = &beginning[..searched];
    // Formats that their first byte identifies come first: a check of sixteen bits is right by
    // chance now and then.
    qmdl2(bytes)
        .or_else(|| FLAT.into_iter().find(|&format| begins(format, bytes)).map(Kind::of))
        .or_else(|| holds_frame(bytes).then_some(Kind::of(Format::Hdlc)))
        .or_else(|| FLAT.into_iter().find(|&format| holds(format, bytes)).map(Kind::of))
        .ok_or_else(|| CaptureError::NotDiag { searched, looks: Looks::of(beginning) })
}

/// The kind of archive or compressed file that starts with `beginning`, if it is one.
pub fn packing(beginning: &[u8]) -> Option<&'static str> {
    Some(match beginning {
        [0x1F, 0x8B, 8, ..] => "a gzip file",
        [0x28, 0xB5, 0x2F, 0xFD, ..] => "a zstd file",
        [b'P', b'K', 3, 4, ..] | [b'P', b'K', 5, 6, ..] => "a zip",
        [0xFD, b'7', b'z', b'X', b'Z', 0, ..] => "an xz file",
        [b'B', b'Z', b'h', b'1'..=b'9', b'1', b'A', b'Y', b'&', b'S', b'Y', ..] => "a bzip2 file",
        [b'7', b'z', 0xBC, 0xAF, 0x27, 0x1C, ..] => "a 7z archive",
        [b'R', b'a', b'r', b'!', 0x1A, 7, ..] => "a rar archive",
        _ if is_tar(beginning) => "a tar",
        _ => return None,
    })
}

/// A tar begins with a header of 512 bytes. All its dialects have the sum of its bytes at 148, in
/// octal, which counts that field as spaces.
fn is_tar(beginning: &[u8]) -> bool {
    let Some(header) = beginning.first_chunk::<512>() else { return false };
    let field = header[148..156].trim_ascii_start();
    let digits = field.iter().take_while(|byte| matches!(byte, b'0'..=b'7'));
    let noted = digits.fold(0, |sum, digit| sum * 8 + u32::from(digit - b'0'));
    let sum = |bytes: &[u8]| bytes.iter().map(|&byte| u32::from(byte)).sum::<u32>();
    header[0] != 0 && noted == sum(&header[..148]) + 8 * u32::from(b' ') + sum(&header[156..])
}

pub(super) const FLAT: [Format; 3] = [Format::Hdf, Format::NonHdlc, Format::Dlf];

/// Whether records start at the first byte: two of them, or one followed by the start of another or
/// the end.
fn begins(format: Format, bytes: &[u8]) -> bool {
    let mut header = Header::new(format);
    let Verdict::Record(len) = header.judge(bytes, Tail::Ended) else { return false };
    header.handle_record(&bytes[..len]);
    !matches!(header.judge(&bytes[len..], Tail::Ended), Verdict::Nothing)
}

/// Whether two records follow one another anywhere: a file whose beginning is damaged.
fn holds(format: Format, bytes: &[u8]) -> bool {
    (1..bytes.len()).any(|at| {
        let mut header = Header::new(format);
        let Verdict::Record(len) = header.judge(&bytes[at..], Tail::Open) else { return false };
        let (record, next) = bytes[at..].split_at(len);
        header.handle_record(record);
        matches!(header.judge(next, Tail::Open), Verdict::Record(_))
            && (format != Format::Dlf || (has_name(record) && has_name(next)))
    })
}

/// Whether a bare log record has a code with a name. Text with repeated words often looks like
/// records; the vendor has named only a small part of all codes.
pub(super) fn has_name(record: &[u8]) -> bool {
    let code = record.get(2..).and_then(<[u8]>::first_chunk);
    code.is_some_and(|code| LogCode::new(u16::from_le_bytes(*code)).name().is_some())
}

fn holds_frame(mut bytes: &[u8]) -> bool {
    let mut deframer = Deframer::new();
    while let Some(frame) = deframer.poll_frame(&mut bytes) {
        if frame.is_ok() {
            return true;
        }
    }
    false
}

pub(super) fn qmdl2(bytes: &[u8]) -> Option<Kind> {
    let &[a, b, c, d, version, framing, e, f, g, h] = bytes.first_chunk::<QMDL2_HEADER>()?;
    let preamble = u32::from_le_bytes([a, b, c, d]) as usize;
    let guids = u32::from_le_bytes([e, f, g, h]);
    if version == 0 || guids > MAX_GUIDS || preamble < QMDL2_HEADER + 16 * guids as usize {
        return None;
    }
    let mut stream = bytes.get(preamble..)?;
    let format = match framing {
        0 => Format::NonHdlc,
        1 => Format::Hdlc,
        _ => return None,
    };
    let follows = match format {
        Format::Hdlc => matches!(Deframer::new().poll_frame(&mut stream), Some(Ok(_))),
        _ => begins(format, stream),
    };
    // A recording that ended before its first record is only a header.
    let is_bare = stream.is_empty() && preamble == QMDL2_HEADER + 16 * guids as usize;
    (follows || is_bare).then_some(Kind { format, preamble })
}

impl Looks {
    pub(super) fn of(beginning: &[u8]) -> Self {
        match beginning {
            [0x0A, 0x0D, 0x0D, 0x0A, ..] => Self::PcapNg,
            [0xD4, 0xC3, 0xB2, 0xA1, ..]
            | [0xA1, 0xB2, 0xC3, 0xD4, ..]
            | [0x4D, 0x3C, 0xB2, 0xA1, ..]
            | [0xA1, 0xB2, 0x3C, 0x4D, ..] => Self::Pcap,
            _ if beginning.iter().take(4096).all(|&byte| byte == 0) => Self::Zeros,
            _ if beginning.iter().take(4096).all(|&byte| is_text(byte)) => Self::Text,
            _ => Self::Unknown,
        }
    }
}

const fn is_text(byte: u8) -> bool {
    byte.is_ascii_graphic() || byte.is_ascii_whitespace() || byte >= 0x80
}
