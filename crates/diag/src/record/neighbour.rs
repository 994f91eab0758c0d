//! 0xB195 and 0xB192, levels of neighbour cells in connected and in idle mode, and 0xB179 and
//! 0xB19E, those of the same and of another frequency against the serving cell's.
//!
//! 0xB195: packet version 1 with sub-packet 31 of versions 3, 4, 24; 0xB192: with sub-packets 26 of
//! versions 1 and 2 and 27 of versions 2 and 4; 0xB179: versions 3 and 4; 0xB19E: version 2.
//! Source: docs/reference/diag.md, records and layouts; 0xB195 3 and 4 and both of 0xB179 agree
//! with captures field by field, and the levels of single antennas are placed so that the combined
//! one is the better of them in every record.

use super::common::CELL;
use super::level::{rsrp, rsrq, rssi};
use super::sub::HEADER;
use crate::layout::{
    Bits, Block, Count, Layout, Names, Part, SubLayout, bits, flag, int, names, u8, u16, u32, u64,
    uint,
};

const DUPLEX: Names = &[(0, "fdd"), (1, "tdd")];
const PREFIX: Names = &[(0, "normal"), (1, "extended")];

const RX0: Bits = bits(4, 11, 0);
const RX1: Bits = bits(8, 11, 0);
const COMBINED: Bits = bits(12, 11, 0);

const CELL_LEVELS: &[Part] = &[Part::Block(Block {
    size: 52,
    fields: &[&[
        uint("pci", bits(0, 9, 0)),
        int("frequency_offset", bits(0, 25, 10)),
        rsrp("rsrp_rx0_dbm", RX0),
        rsrp("rsrp_rx1_dbm", RX1),
        rsrp("rsrp_dbm", COMBINED),
        rsrq("rsrq_rx0_db", bits(16, 9, 0), RX0),
        rsrq("rsrq_rx1_db", bits(16, 29, 20), RX1),
        rsrq("rsrq_db", bits(20, 19, 10), COMBINED),
        rssi("rssi_rx0_dbm", bits(24, 10, 0), RX0),
        rssi("rssi_rx1_dbm", bits(28, 10, 0), RX1),
        rssi("rssi_dbm", bits(28, 21, 11), COMBINED),
    ]],
})];

const CELL_IDENTITY: &[Part] = &[Part::Block(Block {
    size: 16,
    fields: &[&[
        uint("pci", bits(0, 9, 0)),
        names("cyclic_prefix", bits(0, 10, 10), PREFIX),
        uint("tx_antennas", bits(0, 12, 11)),
        flag("time_tracking", 1, 5),
        flag("frequency_tracking", 1, 6),
    ]],
})];

/// The carrier and the number of cells, at `$at`.
macro_rules! carrier {
    ($size:expr, $earfcn:expr, $at:expr) => {
        Part::Block(Block {
            size: $size,
            fields: &[&[
                uint("earfcn", $earfcn),
                uint("cell_count", bits($at, 5, 0)),
                names("duplex_mode", bits($at, 8, 7), DUPLEX),
                names("cell", bits($at, 12, 9), CELL),
            ]],
        })
    };
}

/// As [`carrier`], of cells that are only named.
macro_rules! idle_carrier {
    ($size:expr, $earfcn:expr, $at:expr) => {
        Part::Block(Block {
            size: $size,
            fields: &[&[
                uint("earfcn", $earfcn),
                uint("cell_count", bits($at, 3, 0)),
                uint("rx_antennas", bits($at, 5, 4)),
                names("duplex_mode", bits($at, 7, 6), DUPLEX),
            ]],
        })
    };
}

const fn cells(count: Bits, parts: &'static [Part]) -> Part {
    Part::List { name: "cells", count: Count::Says(count), parts }
}

const SHORT: &[Part] = &[carrier!(4, u16(0), 2), cells(bits(2, 5, 0), CELL_LEVELS)];
const LONG: &[Part] = &[carrier!(8, u32(0), 4), cells(bits(4, 5, 0), CELL_LEVELS)];

const fn sub(id: u8, versions: &'static [u8], parts: &'static [Part]) -> SubLayout {
    SubLayout { id, name: "neighbours", versions, parts }
}

pub(super) static CONNECTED_LAYOUTS: &[Layout] = &[Layout {
    versions: &[1],
    parts: &[
        HEADER,
        Part::SubPackets { count: u8(1), known: &[sub(31, &[3], SHORT), sub(31, &[4, 24], LONG)] },
    ],
}];

pub(super) static IDLE_LAYOUTS: &[Layout] = &[Layout {
    versions: &[1],
    parts: &[
        HEADER,
        Part::SubPackets {
            count: u8(1),
            known: &[
                sub(26, &[1], &[idle_carrier!(4, u16(0), 2), cells(bits(2, 3, 0), CELL_IDENTITY)]),
                sub(26, &[2], &[idle_carrier!(8, u32(0), 4), cells(bits(4, 3, 0), CELL_IDENTITY)]),
                sub(27, &[2], SHORT),
                sub(27, &[4], LONG),
            ],
        },
    ],
}];

/// The serving cell of 0xB179, whose identity is at `$at`.
macro_rules! serving {
    ($size:expr, $earfcn:expr, $at:expr) => {
        Part::Block(Block {
            size: $size,
            fields: &[&[
                uint("version", u8(0)),
                names("cell", bits(4, 2, 0), CELL),
                uint("earfcn", $earfcn),
                uint("pci", u16($at)),
                uint("tti", u16($at + 2)),
                rsrp("rsrp_dbm", u16($at + 4)),
                rsrq("rsrq_db", u16($at + 8), u16($at + 4)),
                uint("neighbour_count", u8($at + 12)),
                uint("detected_count", u8($at + 13)),
            ]],
        })
    };
}

const NEIGHBOUR: &[Part] = &[Part::Block(Block {
    size: 12,
    fields: &[&[uint("pci", u16(0)), rsrp("rsrp_dbm", u16(2)), rsrq("rsrq_db", u16(6), u16(2))]],
})];

const fn neighbours(count: Bits) -> Part {
    Part::List { name: "neighbours", count: Count::Says(count), parts: NEIGHBOUR }
}

const DETECTED: &[Part] = &[Part::Block(Block {
    size: 16,
    fields: &[&[
        uint("pci", u16(0)),
        uint("sss_correlation", u32(4)),
        uint("reference_time", u64(8)),
    ]],
})];

const fn detected(count: Bits) -> Part {
    Part::List { name: "detected", count: Count::Says(count), parts: DETECTED }
}

/// Neighbours that were dropped leave their zeroes.
const UNUSED: Part = Part::Padding(24);

pub(super) static INTRA_FREQUENCY_LAYOUTS: &[Layout] = &[
    Layout {
        versions: &[3],
        parts: &[serving!(24, u16(8), 10), neighbours(u8(22)), detected(u8(23)), UNUSED],
    },
    Layout {
        versions: &[4],
        parts: &[serving!(28, u32(8), 12), neighbours(u8(24)), detected(u8(25)), UNUSED],
    },
];

/// The format of detected cells is unknown here.
pub(super) static INTER_FREQUENCY_LAYOUTS: &[Layout] = &[Layout {
    versions: &[2],
    parts: &[
        Part::Block(Block {
            size: 28,
            fields: &[&[
                uint("version", u8(0)),
                uint("serving_earfcn", u32(4)),
                uint("pci", u16(8)),
                uint("tti", u16(10)),
                rsrp("rsrp_dbm", u16(12)),
                rsrq("rsrq_db", u16(16), u16(12)),
                uint("earfcn", u32(20)),
                uint("neighbour_count", u8(24)),
                uint("detected_count", u8(25)),
                uint("measured_bandwidth", u16(26)),
            ]],
        }),
        neighbours(u8(24)),
    ],
}];
