//! 0xB17F, 0xB180, 0xB196, 0xB197 and 0xB116, levels and identity of serving and neighbour cells.
//!
//! 0xB17F and 0xB180 versions 4 and 5, 0xB196 version 41, 0xB197 versions 1, 2 and 3, 0xB116
//! version 21. Source: docs/reference/diag.md, records and layouts. 0xB17F, 0xB180 and 0xB197 agree
//! with the vectors of another decoder; where its reading of 0xB180 is not written down, the places
//! of the levels are the only ones that give its values in both vectors. 0xB196 and 0xB116 give the
//! cells and plausible levels in captures.

use super::level::{rsrp, rsrq, rssi};
use crate::layout::{
    Bits, Block, Count, Layout, Names, Part, bits, hex, names, u8, u16, u32, uint,
};

const RECEIVERS: Names = &[(0, "none"), (1, "rx0"), (2, "rx1"), (3, "rx0_rx1")];
const CARRIER: Names = &[(0, "pcc"), (1, "scc1"), (2, "scc2")];

/// The RSRP in the word that begins this many bytes after the one with an identity at `at`.
const fn power(at: u16, bytes: u16) -> Bits {
    bits(at + bytes - at % 4, 10, 0)
}

/// The serving cell of 0xB17F, whose identity is at `$at`.
macro_rules! evaluated {
    ($size:expr, $earfcn:expr, $at:expr) => {
        &[Part::Block(Block {
            size: $size,
            fields: &[&[
                uint("version", u8(0)),
                uint("release", u8(1)),
                uint("earfcn", $earfcn),
                uint("pci", bits($at, 8, 0)),
                uint("priority", bits($at, 11, 9)),
                rsrp("rsrp_dbm", power($at, 4)),
                rsrp("rsrp_average_dbm", power($at, 8)),
                rsrq("rsrq_db", bits($at + 12 - $at % 4, 9, 0), power($at, 4)),
                rsrq("rsrq_average_db", bits($at + 12 - $at % 4, 29, 20), power($at, 8)),
                rssi("rssi_dbm", bits($at + 16 - $at % 4, 20, 10), power($at, 4)),
            ]],
        })]
    };
}

pub(super) static EVALUATION_LAYOUTS: &[Layout] = &[
    Layout { versions: &[4], parts: evaluated!(36, u16(4), 6) },
    Layout { versions: &[5], parts: evaluated!(40, u32(4), 8) },
];

const NEIGHBOUR: &[Part] = &[Part::Block(Block {
    size: 32,
    fields: &[&[
        uint("pci", bits(0, 8, 0)),
        rssi("rssi_dbm", bits(0, 19, 9), bits(0, 31, 20)),
        rsrp("rsrp_dbm", bits(0, 31, 20)),
        rsrq("rsrq_db", bits(8, 21, 12), bits(0, 31, 20)),
    ]],
})];

/// The carrier of 0xB180 and the number of its cells, which is at `$at`.
macro_rules! neighbours {
    ($size:expr, $earfcn:expr, $at:expr) => {
        &[
            Part::Block(Block {
                size: $size,
                fields: &[&[
                    uint("version", u8(0)),
                    uint("release", u8(1)),
                    uint("earfcn", $earfcn),
                    uint("cell_count", bits($at, 9, 6)),
                ]],
            }),
            Part::List { name: "cells", count: Count::Says(bits($at, 9, 6)), parts: NEIGHBOUR },
        ]
    };
}

pub(super) static NEIGHBOUR_LAYOUTS: &[Layout] = &[
    Layout { versions: &[4], parts: neighbours!(8, u16(4), 6) },
    Layout { versions: &[5], parts: neighbours!(12, u32(4), 8) },
];

pub(super) static RESULT_LAYOUTS: &[Layout] = &[Layout {
    versions: &[41],
    parts: &[
        Part::Block(Block {
            size: 4,
            fields: &[&[
                uint("version", u8(0)),
                uint("cell_count", u8(1)),
                uint("single_receiver", u8(2)),
            ]],
        }),
        Part::List {
            name: "cells",
            count: Count::Says(u8(1)),
            parts: &[Part::Block(Block {
                size: 40,
                fields: &[&[
                    uint("earfcn", u32(0)),
                    uint("pci", bits(4, 8, 0)),
                    names("valid_receivers", bits(4, 10, 9), RECEIVERS),
                    rsrp("rsrp_rx0_dbm", bits(12, 11, 0)),
                    rsrp("rsrp_rx1_dbm", bits(16, 11, 0)),
                    rsrq("rsrq_rx0_db", bits(24, 9, 0), bits(12, 11, 0)),
                    rsrq("rsrq_rx1_db", bits(28, 9, 0), bits(16, 11, 0)),
                    rssi("rssi_rx0_dbm", bits(32, 10, 0), bits(12, 11, 0)),
                    rssi("rssi_rx1_dbm", bits(32, 21, 11), bits(16, 11, 0)),
                ]],
            })],
        },
    ],
}];

/// The identity of a serving cell, whose word is at `$at`.
macro_rules! information {
    ($size:expr, $earfcn:expr, $at:expr, $mib:expr) => {
        &[Part::Block(Block {
            size: $size,
            fields: &[&[
                uint("version", u8(0)),
                uint("dl_bandwidth_prb", u8(1)),
                uint("frame", u16(2)),
                uint("earfcn", $earfcn),
                uint("pci", bits($at, 8, 0)),
                uint("pbch_result", bits($at, 10, 9)),
                uint("phich_duration", bits($at, 12, 11)),
                uint("phich_resource", bits($at, 15, 13)),
                hex("mib", bits($mib, 31, 8)),
                uint("tx_antennas", u16($mib + 6)),
            ]],
        })]
    };
}

pub(super) static INFORMATION_LAYOUTS: &[Layout] = &[
    Layout { versions: &[1], parts: information!(32, u16(4), 6, 24) },
    Layout { versions: &[2, 3], parts: information!(36, u32(4), 8, 28) },
];

pub(super) static LL1_LAYOUTS: &[Layout] = &[Layout {
    versions: &[21],
    parts: &[Part::Block(Block {
        size: 9,
        fields: &[&[
            uint("version", u8(0)),
            uint("subframe", bits(1, 3, 0)),
            uint("frame", bits(1, 13, 4)),
            uint("idle", bits(1, 15, 14)),
            uint("bandwidth", bits(3, 3, 0)),
            names("carrier", bits(3, 5, 4), CARRIER),
            uint("pci", u16(4)),
            uint("rotator", u8(6)),
            uint("timing_offset_rx0", u8(7)),
            uint("timing_offset_rx1", u8(8)),
        ]],
    })],
}];
