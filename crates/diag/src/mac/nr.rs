//! Control elements of NR uplink MAC PDUs, as the uplink records carry them (TS 38.321 §6.1.2,
//! §6.1.3).
//!
//! A record holds each element after its subheader: an octet with the logical channel id in its
//! lower six bits, and, before the elements of variable length, an octet of length. Nothing else of
//! the PDU is there.

use alloc::vec::Vec;

use crate::sink::{Names, Outline, Shape, Sink, Value};

/// A control element (Table 6.2.1-2).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Element {
    /// Short buffer status report (§6.1.3.1): one group's backlog.
    ShortBsr {
        /// Logical channel group, 0..=7.
        group: u8,
        /// Index into Table 6.1.3.1-1, 0..=31.
        index: u8,
    },
    /// Long buffer status report: the index of each group that reports.
    LongBsr(LongBsr),
    /// Power headroom of the primary cell, 0..=63, and the device's maximum power there, 0..=63
    /// (§6.1.3.8, TS 38.133 §10.1.17, §10.1.18).
    PowerHeadroom {
        /// Power headroom index.
        headroom: u8,
        /// Index of P_CMAX,f,c.
        most: u8,
    },
    /// One that is not read further.
    Other {
        /// Logical channel id.
        id: u8,
        /// Bytes of it.
        len: usize,
    },
}

/// The contents of a long buffer status report.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct LongBsr {
    groups: u8,
    indexes: [u8; 8],
}

/// The elements in order; they stop early where the bytes do.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Controls<'a> {
    rest: &'a [u8],
}

const NAMES: Names = &[(57, "power_headroom"), (61, "short_bsr"), (62, "long_bsr")];
/// The field of each group's index in a long buffer status report.
const GROUPS: [&str; 8] = [
    "bsr_index_group_0",
    "bsr_index_group_1",
    "bsr_index_group_2",
    "bsr_index_group_3",
    "bsr_index_group_4",
    "bsr_index_group_5",
    "bsr_index_group_6",
    "bsr_index_group_7",
];
const POWER_HEADROOM: u8 = 57;
const SHORT_BSR: u8 = 61;
const LONG_BSR: u8 = 62;
/// The bits of a subheader's first octet that are the logical channel id.
const ID: u8 = 63;

/// Bytes of the element that `bytes` begin with, its subheader included. Of one that is not known
/// the two bytes that every element has at least.
pub(crate) fn element_len(bytes: &[u8]) -> usize {
    match *bytes {
        [first, len, ..] if first & ID == LONG_BSR => 2 + usize::from(len),
        [first, ..] if first & ID == POWER_HEADROOM => 3,
        _ => 2,
    }
}

/// The fields and lists that elements can have.
pub(crate) fn outline(outline: &mut impl Outline) {
    outline.begin_list("mac", false);
    outline.field("channel", Shape::Text);
    for name in ["bsr_group", "bsr_index"].iter().chain(&GROUPS) {
        outline.field(name, Shape::Uint);
    }
    for name in ["power_headroom_index", "pcmax_index", "element_bytes"] {
        outline.field(name, Shape::Uint);
    }
    outline.end_list();
}

impl LongBsr {
    /// The report of these groups: group i is the i-th index, `None` if it is not reported.
    pub fn new(indexes: [Option<u8>; 8]) -> Self {
        let mut report = Self::default();
        for (group, index) in indexes.into_iter().enumerate() {
            if let Some(index) = index {
                report.groups |= 1 << group;
                report.indexes[group] = index;
            }
        }
        report
    }

    /// The groups that report, each with its index into Table 6.1.3.1-2.
    pub fn groups(self) -> impl Iterator<Item = (u8, u8)> {
        (0..8u8)
            .filter(move |group| self.groups >> group & 1 == 1)
            .map(move |group| (group, self.indexes[usize::from(group)]))
    }

    /// From a bitmap of groups and an octet for each of them, lowest group first.
    fn parse(groups: u8, octets: &[u8]) -> Option<Self> {
        let mut report = Self { groups, indexes: [0; 8] };
        let mut octets = octets.iter();
        for group in (0..8).filter(|group| groups >> group & 1 == 1) {
            report.indexes[group] = *octets.next()?;
        }
        Some(report)
    }
}

impl Element {
    fn parse(id: u8, bytes: &[u8]) -> Self {
        let other = Self::Other { id, len: bytes.len() };
        match (id, bytes) {
            (SHORT_BSR, &[octet]) => Self::ShortBsr { group: octet >> 5, index: octet & 31 },
            (LONG_BSR, [groups, indexes @ ..]) => {
                LongBsr::parse(*groups, indexes).map_or(other, Self::LongBsr)
            }
            (POWER_HEADROOM, &[headroom, most]) => {
                Self::PowerHeadroom { headroom: headroom & 63, most: most & 63 }
            }
            _ => other,
        }
    }

    /// Appends the element after its subheader; an element that is not decoded appends no bytes.
    pub fn emit(&self, out: &mut Vec<u8>) {
        match self {
            Self::ShortBsr { group, index } => out.extend([SHORT_BSR, group << 5 | index & 31]),
            Self::LongBsr(report) => {
                let len = 1 + report.groups.count_ones() as u8;
                out.extend([LONG_BSR, len, report.groups]);
                out.extend(report.groups().map(|(_, index)| index));
            }
            Self::PowerHeadroom { headroom, most } => {
                out.extend([POWER_HEADROOM, headroom & 63, most & 63]);
            }
            Self::Other { .. } => {}
        }
    }

    fn visit(&self, sink: &mut impl Sink) {
        let mut uint = |name, number: u8| sink.field(name, Value::Uint(u64::from(number)));
        match self {
            Self::ShortBsr { group, index } => {
                uint("bsr_group", *group);
                uint("bsr_index", *index);
            }
            Self::LongBsr(report) => {
                report.groups().for_each(|(group, index)| uint(GROUPS[usize::from(group)], index));
            }
            Self::PowerHeadroom { headroom, most } => {
                uint("power_headroom_index", *headroom);
                uint("pcmax_index", *most);
            }
            Self::Other { len, .. } => sink.field("element_bytes", Value::Uint(*len as u64)),
        }
    }
}

impl<'a> Controls<'a> {
    /// The elements in `bytes`.
    pub const fn new(bytes: &'a [u8]) -> Self {
        Self { rest: bytes }
    }

    /// The bytes of those that are left.
    pub const fn bytes(&self) -> &'a [u8] {
        self.rest
    }

    pub(crate) fn visit(self, sink: &mut impl Sink) {
        sink.begin_list("mac");
        for (id, element) in self {
            sink.begin_item();
            let known = NAMES.iter().find(|(number, _)| *number == u64::from(id));
            sink.field("channel", Value::Name(u64::from(id), known.map(|(_, name)| *name)));
            element.visit(sink);
            sink.end_item();
        }
        sink.end_list();
    }
}

impl Iterator for Controls<'_> {
    type Item = (u8, Element);

    /// The next element with its logical channel id.
    fn next(&mut self) -> Option<(u8, Element)> {
        let &first = self.rest.first()?;
        let id = first & ID;
        let known = NAMES.iter().any(|(number, _)| *number == u64::from(id));
        // An unknown element has an unknown length: it takes all that is left.
        let len = if known { element_len(self.rest) } else { self.rest.len() };
        let (element, rest) = self.rest.split_at(len.min(self.rest.len()));
        self.rest = rest;
        let head = if id == LONG_BSR { 2 } else { 1 };
        Some((id, Element::parse(id, element.get(head..).unwrap_or_default())))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::vec;

    #[test]
    fn elements_are_written_as_they_are_read() {
        let report = LongBsr::new([Some(9), None, None, Some(254), None, None, None, Some(0)]);
        let elements = [
            Element::ShortBsr { group: 6, index: 17 },
            Element::LongBsr(report),
            Element::PowerHeadroom { headroom: 40, most: 51 },
        ];
        let mut bytes = Vec::new();
        elements.iter().for_each(|element| element.emit(&mut bytes));
        assert_eq!(bytes, [61, 0b110_10001, 62, 4, 0b1000_1001, 9, 254, 0, 57, 40, 51]);
        let read: Vec<_> = Controls::new(&bytes).map(|(_, element)| element).collect();
        assert_eq!(read, elements);
    }

    #[test]
    fn an_element_that_is_cut_or_unknown_ends_the_list() {
        let read: Vec<_> = Controls::new(&[62, 3, 0b11, 7]).collect();
        assert_eq!(read, vec![(62, Element::Other { id: 62, len: 2 })]);
        let read: Vec<_> = Controls::new(&[52, 61, 61, 61]).collect();
        assert_eq!(read, vec![(52, Element::Other { id: 52, len: 3 })]);
        assert_eq!(Controls::new(&[]).next(), None);
    }
}
