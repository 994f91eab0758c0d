//! MAC PDU headers and control elements, as the transport block records carry them (TS 36.321
//! §6.1.2, §6.1.3).
//!
//! A record holds the subheaders of one transport block followed by its control elements; the
//! service data units themselves are left out. Control elements come first in a PDU (§6.1.2), so
//! nothing is missing between them.

mod element;
pub mod nr;

use alloc::vec::Vec;

use crate::radio::Rnti;
use crate::sink::{Names, Outline, Shape, Sink, Value};

pub use element::Element;

/// The header and control elements of one MAC PDU.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MacPdu<'a> {
    bytes: &'a [u8],
    rnti: Rnti,
    uplink: bool,
}

/// One subheader.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Subheader {
    /// The first octet: reserved, extension bit, logical channel id.
    pub octet: u8,
    /// Length of the service data unit in bytes; the last one in a PDU has none, and most control
    /// elements neither.
    pub len: Option<u16>,
}

const PADDING: u8 = 31;
/// Bit of a subheader: another follows.
const MORE: u8 = 0x20;
/// Bit of a subheader: sixteen bits of length follow.
const LONG: u8 = 0x40;

impl Subheader {
    /// Logical channel id, 0..=31 (Tables 6.2.1-1, 6.2.1-2).
    pub const fn id(self) -> u8 {
        self.octet & 31
    }

    /// Another subheader follows.
    pub const fn more(self) -> bool {
        self.octet & MORE != 0
    }

    /// Length of the control element that it announces; `None` for data and padding.
    fn element_len(self, uplink: bool) -> Option<usize> {
        let announced = usize::from(self.len.unwrap_or(0));
        match (self.id(), uplink) {
            // Extended and dual-connectivity power headroom, sidelink buffer status: lengths vary.
            (22..=25, true) => Some(announced),
            (20 | 27, true) => Some(2),
            (26 | 28 | 29, true) => Some(1),
            (30, true) => Some(3),
            (26 | 30, false) => Some(0),
            (24, false) => Some(4),
            (27 | 29, false) => Some(1),
            (22, false) => Some(2),
            (28, false) => Some(6),
            _ => None,
        }
    }

    /// Whether a length follows the first octet, if another subheader does.
    const fn has_len(self, uplink: bool) -> bool {
        match self.id() {
            0..=21 => !(uplink && self.id() == 20),
            22..=25 => uplink,
            _ => false,
        }
    }
}

impl<'a> MacPdu<'a> {
    /// Wraps the bytes of a header and its control elements.
    pub const fn new(bytes: &'a [u8], rnti: Rnti, uplink: bool) -> Self {
        Self { bytes, rnti, uplink }
    }

    /// Paging and system information have no MAC header; random access responses have a different
    /// one (§6.1.4, §6.1.5).
    const fn has_header(&self) -> bool {
        matches!(self.rnti, Rnti::Cell | Rnti::SemiPersistent | Rnti::Temporary)
    }

    /// The bytes themselves.
    pub const fn bytes(&self) -> &'a [u8] {
        self.bytes
    }

    /// The subheaders in order; they stop early where the bytes do.
    pub const fn subheaders(&self) -> Subheaders<'a> {
        Subheaders { rest: self.bytes, uplink: self.uplink, more: self.has_header() }
    }

    /// The control elements in order, each with its subheader; they stop early where the bytes do.
    pub fn elements(&self) -> Elements<'a> {
        let mut scan = self.subheaders();
        while scan.next().is_some() {}
        Elements { headers: self.subheaders(), rest: scan.rest }
    }

    pub(crate) fn visit(&self, sink: &mut impl Sink) {
        if !self.has_header() {
            sink.field("header", Value::Bytes(self.bytes));
            return;
        }
        let ids = if self.uplink { UPLINK } else { DOWNLINK };
        let mut elements = self.elements();
        sink.begin_list("mac");
        for header in self.subheaders() {
            sink.begin_item();
            let id = u64::from(header.id());
            let name = ids.iter().find(|(number, _)| *number == id).map(|(_, name)| *name);
            sink.field("channel", Value::Name(id, name));
            if let Some(len) = header.len {
                sink.field("len_bytes", Value::Uint(u64::from(len)));
            }
            if header.element_len(self.uplink).is_some()
                && let Some((_, element)) = elements.next()
            {
                element.visit(sink);
            }
            sink.end_item();
        }
        sink.end_list();
    }
}

/// The fields and lists that a PDU can have.
pub(crate) fn outline(uplink: bool, outline: &mut impl Outline) {
    outline.field("header", Shape::Bytes);
    outline.begin_list("mac", false);
    outline.field("channel", Shape::Text);
    outline.field("len_bytes", Shape::Uint);
    Element::outline(uplink, outline);
    outline.end_list();
}

/// Why a PDU cannot be written.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum PduError {
    /// The control element goes the other way, or is one that is not read further.
    #[error("control element {0:?} does not go this way")]
    Element(Element),
    /// Logical channels are 0..=10.
    #[error("logical channel {0} carries no data")]
    Channel(u8),
}

/// Appends the header and control elements of a PDU: `elements` first, then `data` as pairs of
/// logical channel and length, then padding if there is any (§6.1.2). A receiver takes the rest of
/// the PDU for the last data unit, so that one has no length unless padding follows.
///
/// # Errors
///
/// [`PduError::Element`] if a control element does not go this way; [`PduError::Channel`] if a
/// logical channel is above 10.
pub fn emit(
    uplink: bool,
    elements: &[Element],
    data: &[(u8, u16)],
    padding: bool,
    out: &mut Vec<u8>,
) -> Result<(), PduError> {
    let subheaders = elements.len() + data.len() + usize::from(padding);
    let more = |i: usize| if i + 1 < subheaders { MORE } else { 0 };
    let mut header = Vec::with_capacity(3 * subheaders);
    let mut contents = Vec::new();
    for (i, element) in elements.iter().enumerate() {
        let id = element.emit(uplink, &mut contents).ok_or(PduError::Element(*element))?;
        header.push(id | more(i));
    }
    for (i, &(channel, len)) in (elements.len()..).zip(data) {
        if channel > 10 {
            return Err(PduError::Channel(channel));
        }
        let [high, low] = len.to_be_bytes();
        match len {
            _ if more(i) == 0 => header.push(channel),
            0..0x80 => header.extend_from_slice(&[channel | MORE, low]),
            0x80..0x8000 => header.extend_from_slice(&[channel | MORE, high | 0x80, low]),
            _ => header.extend_from_slice(&[channel | MORE | LONG, high, low]),
        }
    }
    if padding {
        header.push(PADDING);
    }
    out.extend_from_slice(&header);
    out.extend_from_slice(&contents);
    Ok(())
}

/// The subheaders of a PDU.
#[derive(Clone, Debug)]
pub struct Subheaders<'a> {
    rest: &'a [u8],
    uplink: bool,
    more: bool,
}

impl Iterator for Subheaders<'_> {
    type Item = Subheader;

    fn next(&mut self) -> Option<Subheader> {
        if !self.more {
            return None;
        }
        let (&octet, mut rest) = self.rest.split_first()?;
        let mut header = Subheader { octet, len: None };
        if header.more() && header.has_len(self.uplink) {
            let (&high, tail) = rest.split_first()?;
            header.len = Some(u16::from(high));
            rest = tail;
            // If the F2 bit is set, the length has sixteen bits; otherwise the F bit selects
            // fifteen instead of seven (§6.2.1).
            let sixteen = octet & LONG != 0;
            if sixteen || high & 0x80 != 0 {
                let (&low, tail) = rest.split_first()?;
                let high = if sixteen { high } else { high & 0x7F };
                header.len = Some(u16::from_be_bytes([high, low]));
                rest = tail;
            }
        }
        self.more = header.more();
        self.rest = rest;
        Some(header)
    }
}

/// The control elements of a PDU.
#[derive(Clone, Debug)]
pub struct Elements<'a> {
    headers: Subheaders<'a>,
    rest: &'a [u8],
}

impl Iterator for Elements<'_> {
    type Item = (Subheader, Element);

    fn next(&mut self) -> Option<(Subheader, Element)> {
        let uplink = self.headers.uplink;
        let (header, len) =
            self.headers.find_map(|header| Some((header, header.element_len(uplink)?)))?;
        let (bytes, rest) = self.rest.split_at_checked(len)?;
        self.rest = rest;
        Some((header, Element::parse(header.id(), uplink, bytes)))
    }
}

/// TS 36.321 Table 6.2.1-2.
const UPLINK: Names = &[
    (0, "ccch"),
    (20, "bit_rate_query"),
    (22, "truncated_sidelink_bsr"),
    (23, "sidelink_bsr"),
    (24, "dual_connectivity_power_headroom"),
    (25, "extended_power_headroom"),
    (26, "power_headroom"),
    (27, "c_rnti"),
    (28, "truncated_bsr"),
    (29, "short_bsr"),
    (30, "long_bsr"),
    (PADDING as u64, "padding"),
];

/// TS 36.321 Table 6.2.1-1.
const DOWNLINK: Names = &[
    (0, "ccch"),
    (22, "bit_rate"),
    (24, "activation_4_octets"),
    (26, "long_drx"),
    (27, "activation"),
    (28, "contention_resolution"),
    (29, "timing_advance"),
    (30, "drx"),
    (PADDING as u64, "padding"),
];

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::vec;

    fn uplink(bytes: &[u8]) -> MacPdu<'_> {
        MacPdu::new(bytes, Rnti::Cell, true)
    }

    fn elements(pdu: MacPdu<'_>) -> Vec<Element> {
        pdu.elements().map(|(_, element)| element).collect()
    }

    #[test]
    fn a_long_report_holds_four_indexes_of_six_bits() {
        // Groups 1, 34, 3, 60: 000001 100010 000011 111100.
        let pdu = uplink(&[0x3E, 0x1F, 0b0000_0110, 0b0010_0000, 0b1111_1100]);
        assert_eq!(elements(pdu), vec![Element::LongBsr([1, 34, 3, 60])]);
    }

    #[test]
    fn elements_are_found_behind_all_subheaders() {
        // Power headroom, short report, channel 3 with two bytes of length, padding.
        let pdu = uplink(&[0x3A, 0x3D, 0x23, 0x84, 0x10, 0x1F, 37, 0b11_100001]);
        let short = Element::ShortBsr { group: 3, index: 33, truncated: false };
        assert_eq!(elements(pdu), vec![Element::PowerHeadroom(37), short]);
        let lengths: Vec<_> = pdu.subheaders().map(|header| header.len).collect();
        assert_eq!(lengths, vec![None, None, Some(0x410), None]);
    }

    #[test]
    fn sixteen_bits_of_length_follow_their_own_flag() {
        let pdu = uplink(&[0x63, 0x84, 0x10, 0x1F]);
        assert_eq!(pdu.subheaders().next().and_then(|header| header.len), Some(0x8410));
    }

    #[test]
    fn a_header_cut_short_gives_what_is_whole() {
        let whole = [0x3A, 0x3E, 0x23, 0x84, 0x10, 0x1F, 37, 4, 8, 15];
        for cut in 0..whole.len() {
            let found = elements(uplink(&whole[..cut]));
            assert!(found.len() < 2, "{cut}: {found:?}");
        }
    }

    #[test]
    fn paging_has_no_subheaders() {
        assert_eq!(MacPdu::new(&[0x3E, 1, 2, 3], Rnti::Paging, false).subheaders().count(), 0);
    }

    #[test]
    fn what_is_written_is_read_back() {
        let written = [
            Element::PowerHeadroom(12),
            Element::LongBsr([0, 63, 7, 40]),
            Element::CellRnti(0xBEEF),
            Element::ShortBsr { group: 1, index: 5, truncated: true },
        ];
        let data = [(3, 0x7F), (4, 0x80), (5, 0x8000), (1, 9)];
        let mut bytes = Vec::new();
        emit(true, &written, &data, true, &mut bytes).unwrap();
        assert_eq!(elements(uplink(&bytes)), written);
        let lengths: Vec<_> = uplink(&bytes).subheaders().filter_map(|header| header.len).collect();
        assert_eq!(lengths, vec![0x7F, 0x80, 0x8000, 9]);
    }

    #[test]
    fn the_last_data_unit_has_no_length() {
        let mut bytes = Vec::new();
        emit(true, &[], &[(3, 100), (3, 200)], false, &mut bytes).unwrap();
        assert_eq!(bytes, vec![0x23, 100, 0x03]);
    }

    #[test]
    fn an_element_of_the_other_direction_is_refused() {
        let advance = Element::TimingAdvance { group: 0, command: 31 };
        let mut bytes = Vec::new();
        let refused = emit(true, &[advance], &[], false, &mut bytes);
        assert_eq!((refused, bytes), (Err(PduError::Element(advance)), vec![]));
    }
}
