use alloc::vec::Vec;

use crate::sink::{Outline, Shape, Sink, Value};

/// A control element.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Element {
    /// Short or truncated buffer status report (§6.1.3.1): one group's backlog.
    ShortBsr {
        /// Logical channel group, 0..=3.
        group: u8,
        /// Index into the table of buffer sizes, 0..=63.
        index: u8,
        /// Other groups have more backlog than the padding had space to report.
        truncated: bool,
    },
    /// Long buffer status report: the index of each group.
    LongBsr([u8; 4]),
    /// Power headroom, 0..=63: −23 dB and up in steps of 1 dB (§6.1.3.6, TS 36.133 §9.1.8.4).
    PowerHeadroom(u8),
    /// The device's identity in the cell.
    CellRnti(u16),
    /// Timing advance command.
    TimingAdvance {
        /// Timing advance group, 0..=3.
        group: u8,
        /// Command, 0..=63; 31 means no change.
        command: u8,
    },
    /// Contention resolution identity.
    ContentionResolution([u8; 6]),
    /// Activation bits of secondary cells, bit i for the cell of index i.
    Activation(u8),
    /// Sleep until the next on-duration, of the long cycle or of either.
    Drx,
    /// One that is not read further.
    Other {
        /// Logical channel id.
        id: u8,
        /// Bytes of it.
        len: usize,
    },
}

impl Element {
    pub(super) fn parse(id: u8, uplink: bool, bytes: &[u8]) -> Self {
        match (id, uplink, bytes) {
            (28 | 29, true, &[octet]) => {
                Self::ShortBsr { group: octet >> 6, index: octet & 63, truncated: id == 28 }
            }
            (30, true, &[a, b, c]) => Self::LongBsr([
                a >> 2,
                (a & 0b11) << 4 | b >> 4,
                (b & 0b1111) << 2 | c >> 6,
                c & 0b11_1111,
            ]),
            (26, true, &[octet]) => Self::PowerHeadroom(octet & 63),
            (27, true, &[a, b]) => Self::CellRnti(u16::from_be_bytes([a, b])),
            (29, false, &[octet]) => Self::TimingAdvance { group: octet >> 6, command: octet & 63 },
            (28, false, &[a, b, c, d, e, f]) => Self::ContentionResolution([a, b, c, d, e, f]),
            (27, false, &[octet]) => Self::Activation(octet),
            (26 | 30, false, _) => Self::Drx,
            _ => Self::Other { id, len: bytes.len() },
        }
    }

    /// Appends the contents, and gives the logical channel id; `None` if the element does not go
    /// that way.
    pub(super) fn emit(&self, uplink: bool, out: &mut Vec<u8>) -> Option<u8> {
        Some(match (*self, uplink) {
            (Self::ShortBsr { group, index, truncated }, true) => {
                out.push(group << 6 | index & 63);
                if truncated { 28 } else { 29 }
            }
            (Self::LongBsr(indexes), true) => {
                let word = indexes.iter().fold(0, |word, index| word << 6 | u32::from(index & 63));
                out.extend_from_slice(&word.to_be_bytes()[1..]);
                30
            }
            (Self::PowerHeadroom(index), true) => {
                out.push(index & 63);
                26
            }
            (Self::CellRnti(rnti), true) => {
                out.extend_from_slice(&rnti.to_be_bytes());
                27
            }
            (Self::TimingAdvance { group, command }, false) => {
                out.push(group << 6 | command & 63);
                29
            }
            (Self::ContentionResolution(id), false) => {
                out.extend_from_slice(&id);
                28
            }
            (Self::Activation(cells), false) => {
                out.push(cells);
                27
            }
            (Self::Drx, false) => 30,
            _ => return None,
        })
    }

    pub(super) fn visit(&self, sink: &mut impl Sink) {
        let mut uint = |name, number: u8| sink.field(name, Value::Uint(u64::from(number)));
        match self {
            Self::ShortBsr { group, index, .. } => {
                uint("bsr_group", *group);
                uint("bsr_index", *index);
            }
            Self::LongBsr([g0, g1, g2, g3]) => {
                uint("bsr_index_group_0", *g0);
                uint("bsr_index_group_1", *g1);
                uint("bsr_index_group_2", *g2);
                uint("bsr_index_group_3", *g3);
            }
            Self::PowerHeadroom(index) => uint("power_headroom_index", *index),
            Self::CellRnti(rnti) => sink.field("c_rnti", Value::Uint(u64::from(*rnti))),
            Self::TimingAdvance { group, command } => {
                uint("timing_advance_group", *group);
                uint("timing_advance_command", *command);
            }
            Self::ContentionResolution(id) => {
                sink.field("contention_resolution_id", Value::Bytes(id));
            }
            Self::Activation(cells) => {
                sink.field("activated_cells", Value::Hex(u64::from(*cells), 8));
            }
            Self::Drx => {}
            Self::Other { len, .. } => sink.field("element_bytes", Value::Uint(*len as u64)),
        }
    }

    /// The fields that elements of one direction can have.
    pub(super) fn outline(uplink: bool, outline: &mut impl Outline) {
        let fields: &[(&str, Shape)] = match uplink {
            true => &[
                ("bsr_group", Shape::Uint),
                ("bsr_index", Shape::Uint),
                ("bsr_index_group_0", Shape::Uint),
                ("bsr_index_group_1", Shape::Uint),
                ("bsr_index_group_2", Shape::Uint),
                ("bsr_index_group_3", Shape::Uint),
                ("power_headroom_index", Shape::Uint),
                ("c_rnti", Shape::Uint),
            ],
            false => &[
                ("timing_advance_group", Shape::Uint),
                ("timing_advance_command", Shape::Uint),
                ("contention_resolution_id", Shape::Bytes),
                ("activated_cells", Shape::Uint),
            ],
        };
        fields.iter().for_each(|(name, shape)| outline.field(name, *shape));
        outline.field("element_bytes", Shape::Uint);
    }
}
