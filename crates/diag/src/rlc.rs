//! Headers of RLC acknowledged mode with ten-bit sequence numbers, as the PDU records carry them
//! (TS 36.322 §6.2.1).

use crate::sink::{Outline, Shape, Sink, Value};

/// The header of a data PDU, or a whole status PDU.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RlcHeader<'a> {
    bytes: &'a [u8],
}

/// Bits one after the other, the highest of each byte first; `None` past the end. No field has more
/// than fifteen.
struct BigEndian<'a> {
    bytes: &'a [u8],
    at: usize,
}

impl BigEndian<'_> {
    fn take(&mut self, width: usize) -> Option<u64> {
        let end = self.at + width;
        if end > self.bytes.len() * 8 {
            return None;
        }
        // At most fifteen bits, and seven bits before them: four bytes hold them.
        let rest = &self.bytes[self.at / 8..];
        let byte = |at: usize| u32::from(rest.get(at).copied().unwrap_or_default());
        let word = byte(0) << 24 | byte(1) << 16 | byte(2) << 8 | byte(3);
        let number = u64::from(word << (self.at % 8) >> (32 - width));
        self.at = end;
        Some(number)
    }
}

impl<'a> RlcHeader<'a> {
    /// Wraps the bytes of a header.
    pub const fn new(bytes: &'a [u8]) -> Self {
        Self { bytes }
    }

    /// The bytes themselves.
    pub const fn bytes(&self) -> &'a [u8] {
        self.bytes
    }

    /// Whether it is a status PDU; `None` if there is no byte.
    pub fn is_control(&self) -> Option<bool> {
        self.bytes.first().map(|octet| octet & 0x80 == 0)
    }

    /// Gives the fields in the bytes to `sink`; the bytes may hold fewer fields than the header
    /// had.
    pub(crate) fn visit(&self, sink: &mut impl Sink) {
        let mut bits = BigEndian { bytes: self.bytes, at: 1 };
        let Some(control) = self.is_control() else { return };
        sink.field("control", Value::Flag(control));
        let _ = if control { status(&mut bits, sink) } else { data(&mut bits, sink) };
    }
}

/// The fields and lists that headers can have.
pub(crate) fn outline(outline: &mut impl Outline) {
    for name in ["control", "segment", "poll"] {
        outline.field(name, Shape::Flag);
    }
    outline.field("framing", Shape::Uint);
    outline.field("sn", Shape::Uint);
    outline.field("last_segment", Shape::Flag);
    outline.field("segment_offset", Shape::Uint);
    outline.begin_list("lengths", false);
    outline.field("len_bytes", Shape::Uint);
    outline.end_list();
    outline.field("control_type", Shape::Uint);
    outline.field("ack_sn", Shape::Uint);
    outline.begin_list("nacks", false);
    for name in ["sn", "segment_start", "segment_end"] {
        outline.field(name, Shape::Uint);
    }
    outline.end_list();
}

/// §6.2.1.4 and §6.2.1.5.
fn data(bits: &mut BigEndian<'_>, sink: &mut impl Sink) -> Option<()> {
    let segment = bits.take(1)? != 0;
    sink.field("segment", Value::Flag(segment));
    sink.field("poll", Value::Flag(bits.take(1)? != 0));
    sink.field("framing", Value::Uint(bits.take(2)?));
    let mut more = bits.take(1)? != 0;
    sink.field("sn", Value::Uint(bits.take(10)?));
    if segment {
        sink.field("last_segment", Value::Flag(bits.take(1)? != 0));
        sink.field("segment_offset", Value::Uint(bits.take(15)?));
    }
    sink.begin_list("lengths");
    while more {
        let Some((extension, length)) = bits.take(1).zip(bits.take(11)) else { break };
        sink.begin_item();
        sink.field("len_bytes", Value::Uint(length));
        sink.end_item();
        more = extension != 0;
    }
    sink.end_list();
    Some(())
}

/// §6.2.1.6.
fn status(bits: &mut BigEndian<'_>, sink: &mut impl Sink) -> Option<()> {
    sink.field("control_type", Value::Uint(bits.take(3)?));
    sink.field("ack_sn", Value::Uint(bits.take(10)?));
    let mut more = bits.take(1)? != 0;
    sink.begin_list("nacks");
    while more {
        let Some((sn, extensions)) = bits.take(10).zip(bits.take(2)) else { break };
        let segment = extensions & 1 != 0;
        let bounds = if segment { bits.take(15).zip(bits.take(15)) } else { None };
        sink.begin_item();
        sink.field("sn", Value::Uint(sn));
        if let Some((start, end)) = bounds {
            sink.field("segment_start", Value::Uint(start));
            sink.field("segment_end", Value::Uint(end));
        }
        sink.end_item();
        more = extensions & 2 != 0 && (!segment || bounds.is_some());
    }
    sink.end_list();
    Some(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fmt::Write;
    use std::string::String;

    #[derive(Default)]
    struct Print(String);

    impl Sink for Print {
        fn field(&mut self, name: &'static str, value: Value<'_>) {
            write!(self.0, "{name}={value} ").unwrap();
        }
        fn begin_list(&mut self, name: &'static str) {
            write!(self.0, "{name}[").unwrap();
        }
        fn begin_item(&mut self) {}
        fn end_item(&mut self) {
            self.0.push(';');
        }
        fn end_list(&mut self) {
            self.0.push(']');
        }
    }

    fn print(bytes: &[u8]) -> String {
        let mut print = Print::default();
        RlcHeader::new(bytes).visit(&mut print);
        print.0
    }

    #[test]
    fn a_data_header_has_its_lengths() {
        // D/C, no segment, poll, FI 01, E, SN 0x201; then E=1 LI=0x123, E=0 LI=0x456.
        let text = print(&[0b1010_1110, 0x01, 0x92, 0x34, 0x56]);
        let text = text.replace("control=false segment=false poll=true ", "");
        assert_eq!(text, "framing=1 sn=513 lengths[len_bytes=291 ;len_bytes=1110 ;]");
    }

    #[test]
    fn a_segment_says_where_it_lies() {
        let text = print(&[0b1101_0000, 0x07, 0x80, 0x10]);
        assert!(text.contains("sn=7 last_segment=true segment_offset=16 lengths[]"), "{text}");
    }

    #[test]
    fn a_status_has_its_nacks() {
        // ACK_SN 5, E1; NACK 3 with a segment 1..=2 and another after it; NACK 4.
        let fields = [(0, 1), (0, 3), (5, 10), (1, 1), (3, 10), (3, 2), (1, 15), (2, 15), (4, 10)];
        let mut bits: String = String::new();
        for (number, width) in fields {
            write!(bits, "{number:0width$b}").unwrap();
        }
        bits.push_str("00");
        while !bits.len().is_multiple_of(8) {
            bits.push('0');
        }
        let byte = |at| u8::from_str_radix(&bits[at..at + 8], 2).unwrap();
        let bytes: std::vec::Vec<u8> = (0..bits.len()).step_by(8).map(byte).collect();
        let text = print(&bytes);
        let wanted = "control=true control_type=0 ack_sn=5 \
                      nacks[sn=3 segment_start=1 segment_end=2 ;sn=4 ;]";
        assert_eq!(text, wanted);
    }

    #[test]
    fn a_header_cut_anywhere_is_read_as_far_as_it_goes() {
        let whole = [0b1111_1100, 0x05, 0x80, 0x10, 0xFF, 0xFF, 0xFF];
        assert_eq!(print(&[]), "");
        for len in 1..whole.len() {
            assert!(print(&whole[..len]).starts_with("control=false segment=true poll=true"));
        }
    }
}
