//! 0xB121, the loop that synchronises the sampling clock with the serving cell, and 0xB18F, the
//! neighbours whose interference the receiver cancels.
//!
//! 0xB121 versions 22 and 41, 0xB18F version 54. Source: docs/reference/diag.md, records and
//! layouts; no capture has these versions.

use super::common::CARRIER;
use crate::layout::{
    Bits, Block, Count, Field, Layout, Names, Part, bits, bytes, flag, hex, names, scaled,
    scaled_int, u8, u16, u32, uint,
};

const fn block(size: u16, fields: &'static [&'static [Field]]) -> Part {
    Part::Block(Block { size, fields })
}

const START: &[Field] = &[uint("version", u8(0)), names("carrier", bits(1, 3, 0), CARRIER)];

const STEP: f64 = 1.0 / 64.0;

const RECORD: &[Part] = &[block(
    52,
    &[&[
        uint("frame", bits(0, 9, 0)),
        uint("subframe", bits(0, 13, 10)),
        flag("enabled", 1, 6),
        // The source divides by 32765.
        scaled("filter_coefficient", u16(2), 1.0 / 32765.0, 0.0),
        scaled_int("adjustment_0", u32(4), STEP, 0.0),
        scaled_int("adjustment_1", u32(8), STEP, 0.0),
        scaled("unwrap_base_0", u32(12), STEP, 0.0),
        scaled("unwrap_base_1", u32(16), STEP, 0.0),
        bytes("accumulator_0", 20, 8),
        bytes("accumulator_1", 28, 8),
    ]],
)];

const fn records(count: Bits) -> Part {
    Part::List { name: "records", count: Count::Says(count), parts: RECORD }
}

pub(super) static CLOCK_LAYOUTS: &[Layout] = &[
    Layout {
        versions: &[22],
        parts: &[block(4, &[START, &[uint("count", bits(1, 8, 4))]]), records(bits(1, 8, 4))],
    },
    Layout {
        versions: &[41],
        parts: &[
            block(4, &[START, &[uint("pci", bits(1, 12, 4)), uint("count", bits(3, 5, 1))]]),
            records(bits(3, 5, 1)),
        ],
    },
];

const SERVING: Names = &[(1, "serving")];
const NEIGHBOUR: Names = &[(1, "unmeasured"), (2, "asynchronous"), (5, "not_cancelled")];

/// A cell that starts at `$at`.
macro_rules! cell {
    ($at:expr, $kind:expr) => {
        &[
            uint("pci", u16($at)),
            uint("dl_bandwidth_prb", u16($at + 2)),
            uint("antennas", u8($at + 4)),
            uint("rsrp_filtered_raw", u16($at + 8)),
            $kind,
        ]
    };
}

pub(super) static CANCELLATION_LAYOUTS: &[Layout] = &[Layout {
    versions: &[54],
    parts: &[
        block(
            48,
            &[
                &[
                    uint("version", u8(0)),
                    names("carrier", bits(1, 7, 6), CARRIER),
                    flag("feicic", 2, 7),
                    uint("firmware_mode", bits(3, 7, 7)),
                    uint("earfcn", u32(4)),
                    uint("neighbour_count", u8(9)),
                    hex("escape_mask", bits(10, 3, 0)),
                    uint("valid_scheduling_rate", u8(12)),
                    uint("configured", u8(13)),
                    uint("tti", u16(14)),
                    uint("transmission_mode", u8(16)),
                ],
                cell!(20, names("kind", bits(33, 0, 0), SERVING)),
                &[uint("interference_from_neighbour", u8(34)), uint("rsrp_from_neighbour", u8(35))],
            ],
        ),
        Part::List {
            name: "neighbours",
            count: Count::Says(u8(9)),
            parts: &[block(
                28,
                &[
                    cell!(0, names("kind", bits(14, 2, 0), NEIGHBOUR)),
                    &[
                        uint("interference_from_neighbour", u8(17)),
                        uint("rsrp_from_neighbour", u8(18)),
                    ],
                ],
            )],
        },
        block(12, &[]),
    ],
}];
