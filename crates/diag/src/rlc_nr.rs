//! NR RLC status PDUs: received and missing PDUs of an acknowledged-mode receiver (TS 38.322
//! §6.2.2.5).

use crate::sink::{Outline, Shape, Sink, Value};

/// A status PDU.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct StatusPdu<'a> {
    bytes: &'a [u8],
    wide: bool,
}

/// A PDU, a part of one, or a run of them that is missing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Nack {
    /// Sequence number of the first that is missing.
    pub sn: u32,
    /// Its missing segment, first and last byte; without a segment the whole PDU is missing.
    pub segment: Option<(u16, u16)>,
    /// Number of PDUs in a row, this one included.
    pub range: u8,
}

/// The fields and lists that a status PDU can have.
pub(crate) fn outline(outline: &mut impl Outline) {
    outline.field("ack_sn", Shape::Uint);
    outline.begin_list("nacks", false);
    for name in ["sn", "segment_start", "segment_end", "range"] {
        outline.field(name, Shape::Uint);
    }
    outline.end_list();
}

impl<'a> StatusPdu<'a> {
    /// Wraps the bytes of one; `wide` if sequence numbers have 18 bits instead of 12.
    pub const fn new(bytes: &'a [u8], wide: bool) -> Self {
        Self { bytes, wide }
    }

    /// The lowest sequence number that is neither received nor reported missing; `None` if the
    /// bytes end before it.
    pub fn ack_sn(&self) -> Option<u32> {
        let &[a, b, c] = self.bytes.first_chunk()?;
        let word = u32::from_be_bytes([0, a & 0xF, b, c]);
        Some(if self.wide { word >> 2 } else { word >> 8 })
    }

    /// The missing PDUs, lowest first; stops early if the bytes end.
    pub fn nacks(&self) -> Nacks<'a> {
        let more = match (self.bytes.get(2), self.wide) {
            (Some(octet), true) => octet >> 1 & 1 == 1,
            (Some(octet), false) => octet >> 7 == 1,
            (None, _) => false,
        };
        let rest = self.bytes.get(3..).unwrap_or_default();
        Nacks { rest, wide: self.wide, more }
    }

    pub(crate) fn visit(&self, sink: &mut impl Sink) {
        if let Some(sn) = self.ack_sn() {
            sink.field("ack_sn", Value::Uint(sn.into()));
        }
        sink.begin_list("nacks");
        for nack in self.nacks() {
            sink.begin_item();
            sink.field("sn", Value::Uint(nack.sn.into()));
            if let Some((first, last)) = nack.segment {
                sink.field("segment_start", Value::Uint(first.into()));
                sink.field("segment_end", Value::Uint(last.into()));
            }
            sink.field("range", Value::Uint(nack.range.into()));
            sink.end_item();
        }
        sink.end_list();
    }
}

/// The missing PDUs, lowest first.
#[derive(Clone, Debug)]
pub struct Nacks<'a> {
    rest: &'a [u8],
    wide: bool,
    more: bool,
}

impl<'a> Nacks<'a> {
    fn take<const N: usize>(&mut self) -> Option<&'a [u8; N]> {
        let (taken, rest) = self.rest.split_first_chunk()?;
        self.rest = rest;
        Some(taken)
    }
}

impl Iterator for Nacks<'_> {
    type Item = Nack;

    fn next(&mut self) -> Option<Nack> {
        if !core::mem::take(&mut self.more) {
            return None;
        }
        // After the number: E1, another follows; E2, a segment follows; E3, a range follows.
        let (sn, flags) = if self.wide {
            let &[a, b, c] = self.take()?;
            let word = u32::from_be_bytes([0, a, b, c]);
            (word >> 6, word >> 3 & 0b111)
        } else {
            let &octets = self.take()?;
            let word = u32::from(u16::from_be_bytes(octets));
            (word >> 4, word >> 1 & 0b111)
        };
        let segment = if flags & 0b010 != 0 {
            let &[a, b, c, d] = self.take()?;
            Some((u16::from_be_bytes([a, b]), u16::from_be_bytes([c, d])))
        } else {
            None
        };
        let range = if flags & 0b001 != 0 { self.take::<1>()?[0] } else { 1 };
        self.more = flags & 0b100 != 0;
        Some(Nack { sn, segment, range })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::vec;
    use std::vec::Vec;

    /// ACK_SN 0x12345 with E1; NACK 0x12340 with a segment and another NACK; NACK 0x12342 with a
    /// range of 3.
    const WIDE: [u8; 14] = {
        let (ack, first, second) = (0x12345u32 << 2 | 0b10, 0x12340u32 << 6, 0x12342u32 << 6);
        let [_, a0, a1, a2] = ack.to_be_bytes();
        let [_, b0, b1, b2] = (first | 0b11 << 4).to_be_bytes();
        let [_, c0, c1, c2] = (second | 1 << 3).to_be_bytes();
        [a0, a1, a2, b0, b1, b2, 0x01, 0x00, 0x02, 0xFF, c0, c1, c2, 3]
    };

    #[test]
    fn missing_pdus_segments_and_runs_are_distinguished() {
        let pdu = StatusPdu::new(&WIDE, true);
        assert_eq!(pdu.ack_sn(), Some(0x12345));
        let wanted = vec![
            Nack { sn: 0x12340, segment: Some((0x100, 0x2FF)), range: 1 },
            Nack { sn: 0x12342, segment: None, range: 3 },
        ];
        assert_eq!(pdu.nacks().collect::<Vec<_>>(), wanted);
    }

    #[test]
    fn twelve_bit_numbers_have_their_own_places() {
        let pdu = StatusPdu::new(&[0x0A, 0xBC, 0x80, 0xAB, 0xA0], false);
        assert_eq!(pdu.ack_sn(), Some(0xABC));
        let wanted = vec![Nack { sn: 0xABA, segment: None, range: 1 }];
        assert_eq!(pdu.nacks().collect::<Vec<_>>(), wanted);
    }

    #[test]
    fn a_cut_pdu_says_as_much_as_is_there() {
        for len in 0..WIDE.len() {
            let pdu = StatusPdu::new(&WIDE[..len], true);
            assert!(pdu.nacks().count() < 2, "cut to {len}");
        }
    }
}
