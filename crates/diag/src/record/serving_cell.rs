//! 0xB193, serving cell measurement: signal strength and quality of the serving cells.
//!
//! Packet version 1 with sub-packet 25 of versions 4, 7, 18, 19, 22, 24, 35, 36, 40, 41, 48, 50, 57, 59, 60, 66. Source: docs/reference/diag.md, records
//! and layouts; 4, 18, 19 and 36 agree with captures field by field, 41, 57, 59 and 60 with published payloads. In 48, 50 and 60 the words after the third RSRP
//! are one word later than in the notes, as in 40. Read this way, the combined values are those of the best antenna in
//! every vector and capture. By its source, 66 is 48 with eight bytes before each cell, up to RSSI; the words after it
//! have other meanings. 41 has the cells of 48. In 57, 59
//! and 60 the SNR is unknown; the levels after cancelling interference are where the RSRQ equals the combined one in
//! every vector.

use super::common::CELL;
use super::level::{high_rsrp, rsrp, rsrq, rssi, snr, unless_lowest};
use super::sub::HEADER;
use super::{RecordError, checked_sub_packets};
use crate::LogCode;
use crate::layout::{
    Bits, Block, Count, Field, Layout, Node, Part, SubLayout, bits, field, flag, hex, key, names,
    scaled, scaled_int, try_field, try_key, u8, u16, u32, uint,
};
use crate::radio::{Decibels, Tti};

/// Identity and time of a cell that starts at `$at`.
macro_rules! cell {
    ($at:expr, $sfn:expr) => {
        &[
            uint("pci", bits($at, 8, 0)),
            names("cell", bits($at, 11, 9), CELL),
            uint("frame", bits($sfn, 9, 0)),
            uint("subframe", bits($sfn, 13, 10)),
        ]
    };
}

/// Levels of modems with two antennas, whose first word is at `$at`.
macro_rules! two_antennas {
    ($at:expr) => {
        two_antennas!(
            [bits($at, 21, 10), bits($at + 4, 23, 12), bits($at + 8, 23, 12)],
            [bits($at + 12, 21, 12), bits($at + 16, 9, 0), bits($at + 16, 29, 20)],
            [bits($at + 20, 20, 10), bits($at + 20, 31, 21), bits($at + 24, 10, 0)],
            [bits($at + 48, 8, 0), bits($at + 48, 17, 9)]
        )
    };
    // RSRP, RSRQ and RSSI of both and combined, signal to noise of both.
    ([$p0:expr, $p1:expr, $p:expr], [$q0:expr, $q1:expr, $q:expr], [$i0:expr, $i1:expr, $i:expr], [$s0:expr, $s1:expr]) => {
        &[
            rsrp("rsrp_rx0_dbm", $p0),
            rsrp("rsrp_rx1_dbm", $p1),
            rsrp("rsrp_dbm", $p),
            rsrq("rsrq_rx0_db", $q0, $p0),
            rsrq("rsrq_rx1_db", $q1, $p1),
            rsrq("rsrq_db", $q, $p),
            rssi("rssi_rx0_dbm", $i0, $p0),
            rssi("rssi_rx1_dbm", $i1, $p1),
            rssi("rssi_dbm", $i, $p),
            snr("snr_rx0_db", $s0, $p0),
            snr("snr_rx1_db", $s1, $p1),
        ]
    };
}

/// RSRP of each of four antennas, of all combined, and filtered over time: the first three words at `at`, those after
/// them at `rest`.
const fn four(at: u16, rest: u16) -> [Bits; 6] {
    [
        bits(at, 21, 10),
        bits(at + 4, 23, 12),
        bits(at + 8, 23, 12),
        bits(rest, 11, 0),
        bits(rest, 23, 12),
        bits(rest + 4, 23, 12),
    ]
}

/// Levels of modems with four antennas; for `$at` and `$rest` see [`four`].
macro_rules! four_antennas {
    ($at:expr, $rest:expr) => {
        &[
            rsrp("rsrp_rx0_dbm", four($at, $rest)[0]),
            rsrp("rsrp_rx1_dbm", four($at, $rest)[1]),
            rsrp("rsrp_rx2_dbm", four($at, $rest)[2]),
            rsrp("rsrp_rx3_dbm", four($at, $rest)[3]),
            high_rsrp("rsrp_dbm", four($at, $rest)[4]),
            rsrp("rsrp_filtered_dbm", four($at, $rest)[5]),
            rsrq("rsrq_rx0_db", bits($rest + 8, 9, 0), four($at, $rest)[0]),
            rsrq("rsrq_rx1_db", bits($rest + 8, 29, 20), four($at, $rest)[1]),
            rsrq("rsrq_rx2_db", bits($rest + 12, 19, 10), four($at, $rest)[2]),
            rsrq("rsrq_rx3_db", bits($rest + 12, 29, 20), four($at, $rest)[3]),
            rsrq("rsrq_db", bits($rest + 16, 9, 0), four($at, $rest)[4]),
            rsrq("rsrq_filtered_db", bits($rest + 16, 29, 20), four($at, $rest)[5]),
            rssi("rssi_rx0_dbm", bits($rest + 20, 10, 0), four($at, $rest)[0]),
            rssi("rssi_rx1_dbm", bits($rest + 20, 21, 11), four($at, $rest)[1]),
            rssi("rssi_rx2_dbm", bits($rest + 24, 10, 0), four($at, $rest)[2]),
            rssi("rssi_rx3_dbm", bits($rest + 24, 21, 11), four($at, $rest)[3]),
            rssi("rssi_dbm", bits($rest + 28, 10, 0), four($at, $rest)[4]),
        ]
    };
}

/// Signal to noise of four antennas, whose first word is at `$snr`.
macro_rules! four_snrs {
    ($at:expr, $rest:expr, $snr:expr) => {
        &[
            snr("snr_rx0_db", bits($snr, 8, 0), four($at, $rest)[0]),
            snr("snr_rx1_db", bits($snr, 17, 9), four($at, $rest)[1]),
            snr("snr_rx2_db", bits($snr + 4, 8, 0), four($at, $rest)[2]),
            snr("snr_rx3_db", bits($snr + 4, 17, 9), four($at, $rest)[3]),
        ]
    };
}

/// Expected levels after cancelling interference.
macro_rules! projected {
    ($at:expr) => {
        &[
            scaled_int("projected_sir_db", u32($at), 0.0625, 0.0),
            scaled("rsrq_after_cancellation_db", u32($at + 4), 0.0625, -30.0),
        ]
    };
}

const SERVING_12: &[Field] = &[flag("serving", 0, 12)];
const SERVING_15: &[Field] = &[flag("serving", 8, 15)];

const LIST_HEADER: &[Field] = &[uint("earfcn", u32(0)), uint("cell_count", u16(4))];
const RECEIVERS: &[Field] = &[uint("valid_receivers", u16(6))];
const RECEIVER_MAP: &[Field] = &[hex("receiver_map", u32(8))];

const V4: &[Part] = &[Part::Block(Block {
    size: 76,
    fields: &[&[uint("earfcn", u16(0))], cell!(2, 4), two_antennas!(12)],
})];
const V7: &[Part] = &[Part::Block(Block {
    size: 80,
    fields: &[&[uint("earfcn", u32(0))], cell!(4, 8), two_antennas!(16)],
})];
const LEVELS_V18: [Field; 11] = unless_lowest(*two_antennas!(20));
const V18: &[Part] = &[Part::Block(Block {
    size: 92,
    fields: &[&[uint("earfcn", u32(0))], cell!(4, 8), &LEVELS_V18, projected!(84)],
})];

const CELL_V19: &[Part] = &[Part::Block(Block {
    size: 88,
    fields: &[cell!(0, 4), SERVING_12, two_antennas!(16), projected!(80)],
})];
const CELL_V22: &[Part] = &[Part::Block(Block {
    size: 112,
    fields: &[
        cell!(0, 4),
        SERVING_12,
        two_antennas!(
            [bits(16, 21, 10), bits(20, 23, 12), bits(28, 23, 12)],
            [bits(32, 21, 12), bits(36, 9, 0), bits(40, 19, 10)],
            [bits(44, 20, 10), bits(44, 31, 21), bits(52, 10, 0)],
            [bits(76, 8, 0), bits(76, 17, 9)]
        ),
        projected!(96),
    ],
})];
const CELL_V24: &[Part] = &[Part::Block(Block {
    size: 100,
    fields: &[
        cell!(0, 4),
        SERVING_12,
        two_antennas!(
            [bits(17, 14, 3), bits(21, 15, 4), bits(25, 15, 4)],
            [bits(29, 13, 4), bits(32, 9, 0), bits(34, 13, 4)],
            [bits(36, 20, 10), bits(36, 31, 21), bits(40, 10, 0)],
            [bits(64, 8, 0), bits(64, 17, 9)]
        ),
    ],
})];
const CELL_V35: &[Part] = &[Part::Block(Block {
    size: 124,
    fields: &[
        cell!(0, 4),
        SERVING_12,
        four_antennas!(16, 28),
        four_snrs!(16, 28, 80),
        projected!(100),
    ],
})];
const CELL_V36: &[Part] = &[Part::Block(Block {
    size: 128,
    fields: &[
        cell!(0, 4),
        SERVING_12,
        four_antennas!(16, 28),
        four_snrs!(16, 28, 80),
        projected!(104),
    ],
})];
const CELL_V40: &[Part] = &[Part::Block(Block {
    size: 132,
    fields: &[
        cell!(0, 4),
        SERVING_12,
        four_antennas!(16, 32),
        four_snrs!(16, 32, 84),
        projected!(108),
    ],
})];
const CELL_V48: &[Part] = &[Part::Block(Block {
    size: 140,
    fields: &[
        cell!(0, 4),
        SERVING_12,
        four_antennas!(16, 32),
        four_snrs!(16, 32, 92),
        projected!(116),
    ],
})];
const CELL_V57: &[Part] = &[Part::Block(Block {
    size: 164,
    fields: &[
        &[hex("receiver_map", u32(0))],
        cell!(8, 12),
        SERVING_15,
        four_antennas!(24, 40),
        projected!(140),
    ],
})];
const CELL_V60: &[Part] = &[Part::Block(Block {
    size: 148,
    fields: &[
        &[hex("receiver_map", u32(0))],
        cell!(8, 12),
        SERVING_15,
        four_antennas!(24, 40),
        projected!(140),
    ],
})];
const CELL_V66: &[Part] = &[Part::Block(Block {
    size: 144,
    fields: &[&[hex("receiver_map", u32(0))], cell!(8, 12), SERVING_15, four_antennas!(24, 40)],
})];

const fn cells(parts: &'static [Part]) -> Part {
    Part::List { name: "cells", count: Count::Says(u16(4)), parts }
}

/// Versions up to 41 have room for four cells. How many of 22, 24 and 35 have it is unknown.
const fn room(cell: &[Part]) -> Part {
    match cell {
        [Part::Block(Block { size, .. })] => Part::Padding(3 * *size),
        _ => panic!("a cell is one block"),
    }
}

const HEADER_8: Part = Part::Block(Block { size: 8, fields: &[LIST_HEADER] });
const HEADER_V35: Part = Part::Block(Block { size: 8, fields: &[LIST_HEADER, RECEIVERS] });
const HEADER_V48: Part =
    Part::Block(Block { size: 12, fields: &[LIST_HEADER, RECEIVERS, RECEIVER_MAP] });

const fn measured(versions: &'static [u8], parts: &'static [Part]) -> SubLayout {
    SubLayout { id: 25, name: "serving_cell_measurement", versions, parts }
}

pub(super) static LAYOUTS: &[Layout] = &[Layout {
    versions: &[1],
    parts: &[
        HEADER,
        Part::SubPackets {
            count: u8(1),
            known: &[
                measured(&[4], V4),
                measured(&[7], V7),
                measured(&[18], V18),
                measured(&[19], &[HEADER_8, cells(CELL_V19), room(CELL_V19)]),
                measured(&[22], &[HEADER_8, cells(CELL_V22), room(CELL_V22)]),
                measured(&[24], &[HEADER_8, cells(CELL_V24), room(CELL_V24)]),
                measured(&[35], &[HEADER_V35, cells(CELL_V35), room(CELL_V35)]),
                measured(&[36], &[HEADER_V35, cells(CELL_V36), room(CELL_V36)]),
                measured(&[40], &[HEADER_V35, cells(CELL_V40), room(CELL_V40)]),
                measured(&[41], &[HEADER_V35, cells(CELL_V48), room(CELL_V48)]),
                measured(&[48, 50], &[HEADER_V48, cells(CELL_V48)]),
                measured(&[57], &[HEADER_8, cells(CELL_V57)]),
                measured(&[59, 60], &[HEADER_8, cells(CELL_V60)]),
                measured(&[66], &[HEADER_8, cells(CELL_V66)]),
            ],
        },
    ],
}];

/// The fields of [`CellMeasurement`], in one version.
struct Keys {
    version: u8,
    earfcn: Bits,
    pci: Bits,
    cell: Bits,
    serving: Option<Bits>,
    frame: Bits,
    subframe: Bits,
    rsrp: Field,
    rsrq: Field,
    rssi: Field,
    snr: [Option<Field>; 2],
}

impl Keys {
    const fn of(version: u8, earfcn: Bits, parts: &[Part]) -> Self {
        Self {
            version,
            earfcn,
            pci: key(parts, "pci"),
            cell: key(parts, "cell"),
            serving: try_key(parts, "serving"),
            frame: key(parts, "frame"),
            subframe: key(parts, "subframe"),
            rsrp: field(parts, "rsrp_dbm"),
            rsrq: field(parts, "rsrq_db"),
            rssi: field(parts, "rssi_dbm"),
            snr: [try_field(parts, "snr_rx0_db"), try_field(parts, "snr_rx1_db")],
        }
    }
}

static KEYS: [Keys; 15] = [
    Keys::of(4, u16(0), V4),
    Keys::of(7, u32(0), V7),
    Keys::of(18, u32(0), V18),
    Keys::of(19, u32(0), CELL_V19),
    Keys::of(22, u32(0), CELL_V22),
    Keys::of(24, u32(0), CELL_V24),
    Keys::of(35, u32(0), CELL_V35),
    Keys::of(36, u32(0), CELL_V36),
    Keys::of(40, u32(0), CELL_V40),
    Keys::of(41, u32(0), CELL_V48),
    Keys::of(48, u32(0), CELL_V48),
    Keys::of(57, u32(0), CELL_V57),
    Keys::of(59, u32(0), CELL_V60),
    Keys::of(60, u32(0), CELL_V60),
    Keys::of(66, u32(0), CELL_V66),
];

fn keys(version: u8) -> &'static Keys {
    let at = KEYS.partition_point(|keys| keys.version <= version);
    &KEYS[at.saturating_sub(1)]
}

/// A serving cell measurement.
#[derive(Clone, Copy)]
pub struct ServingCells<'a> {
    node: Node<'a>,
}

/// One cell's levels, combined over antennas.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CellMeasurement {
    /// Downlink channel number (TS 36.101 §5.7.3).
    pub earfcn: u32,
    /// Physical cell identity, 0..=503.
    pub pci: u16,
    /// Serving cell, 0 for the primary.
    pub cell: u8,
    /// Whether it serves, or is only measured; unknown before version 19.
    pub serving: Option<bool>,
    /// When; `None` if the record has no valid subframe.
    pub tti: Option<Tti>,
    /// Reference signal received power, dBm; `None` if nothing was received.
    pub rsrp: Option<Decibels>,
    /// Reference signal received quality, dB; `None` if nothing was received.
    pub rsrq: Option<Decibels>,
    /// Received signal strength, dBm; `None` if nothing was received.
    pub rssi: Option<Decibels>,
    /// Signal to noise ratio of the first two antennas, dB; of one that is not there none, and unknown in version 60.
    pub snr: [Option<Decibels>; 2],
}

impl<'a> ServingCells<'a> {
    /// The log code.
    pub const CODE: LogCode = LogCode::new(0xB193);

    /// Reads the body of a record.
    pub fn parse(body: &'a [u8]) -> Result<Self, RecordError> {
        checked_sub_packets(Self::CODE, LAYOUTS, body).map(|node| Self { node })
    }

    /// The cells of all sub-packets that are described.
    pub fn cells(&self) -> impl Iterator<Item = CellMeasurement> + use<'a> {
        self.node.sub_packets().flat_map(|sub| {
            let keys = keys(sub.version);
            // Versions before 19 hold one cell, in the sub-packet itself.
            let (single, list) = match sub.node {
                Some(node) if sub.version < 19 => (Some(node), None),
                node => (None, node.map(|node| node.list("cells"))),
            };
            let earfcn = sub.node.map_or(0, |node| node.read(keys.earfcn)) as u32;
            let nodes = single.into_iter().chain(list.into_iter().flatten());
            nodes.map(move |node| keys.measurement(earfcn, &node))
        })
    }
}

impl Keys {
    fn measurement(&self, earfcn: u32, node: &Node<'_>) -> CellMeasurement {
        let level = |field: &Field| field.decibels(node.bytes());
        CellMeasurement {
            earfcn,
            pci: node.read(self.pci) as u16,
            cell: node.read(self.cell) as u8,
            serving: self.serving.map(|bits| node.read(bits) != 0),
            tti: Tti::new(node.read(self.frame) as u16, node.read(self.subframe) as u8),
            rsrp: level(&self.rsrp),
            rsrq: level(&self.rsrq),
            rssi: level(&self.rssi),
            snr: [self.snr[0].as_ref().and_then(level), self.snr[1].as_ref().and_then(level)],
        }
    }
}

impl core::fmt::Debug for ServingCells<'_> {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.debug_list().entries(self.cells()).finish()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_antenna_that_a_modem_of_lte_m_does_not_have_is_absent() {
        // One sub-packet of version 18: RSRP of −140 dBm, RSRQ of −30 dB and RSSI of −10 dBm for the second antenna.
        let mut body = [0_u8; 100];
        body[..8].copy_from_slice(&[1, 1, 0, 0, 25, 18, 96, 0]);
        let words =
            [1722 << 10, 640 << 12, 1722 << 12, 173 << 12, 173 << 20, 1600 << 21 | 1132 << 10];
        for (word, at) in words.into_iter().zip((28..).step_by(4)) {
            body[at..at + 4].copy_from_slice(&u32::to_le_bytes(word));
        }
        let mut found = alloc::vec::Vec::new();
        let node = checked_sub_packets(ServingCells::CODE, LAYOUTS, &body).expect("described");
        let sub = node.sub_packets().next().and_then(|sub| sub.node).expect("described");
        for name in ["rsrp_rx0_dbm", "rsrq_rx0_db", "rssi_rx0_dbm", "rsrp_dbm"] {
            found.push(try_field(V18, name).and_then(|field| field.value(sub.bytes())).is_some());
        }
        assert_eq!(found, [true; 4]);
        for name in ["rsrp_rx1_dbm", "rsrq_rx1_db", "rssi_rx1_dbm", "snr_rx1_db"] {
            let field = try_field(V18, name).expect("it has the field");
            assert_eq!(field.value(sub.bytes()), None, "{name}");
        }
        let cells = ServingCells::parse(&body).expect("described").cells().next().expect("one");
        assert_eq!(cells.rsrp, Some(Decibels::from_f64(-72.375)));
        assert_eq!(cells.snr[1], None);
    }
}
