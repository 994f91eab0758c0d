//! 0x4127 WCDMA cell identity, and of GSM 0x5134 cell information, 0x5071 surrounding cells, 0x507A and 0x507B received
//! power.
//!
//! None of them has a version. Source: docs/diag.md, records and layouts; 0x4127 agrees with a capture field by field, all
//! of them with the vectors of another decoder.

use crate::layout::{
    Block, Count, Field, Layout, Part, bits, bytes, flag, scaled_int, u8, u16, u32, uint,
};

const fn block(size: u16, fields: &'static [&'static [Field]]) -> Part {
    Part::Block(Block { size, fields })
}

const fn layout(parts: &'static [Part]) -> Layout {
    Layout { versions: &[], parts }
}

/// The network is six decimal digits, 15 for one that is not there.
pub(super) static WCDMA_CELL_LAYOUTS: &[Layout] = &[layout(&[block(
    32,
    &[&[
        uint("ul_uarfcn", u32(0)),
        uint("dl_uarfcn", u32(4)),
        uint("cell_identity", u32(8)),
        uint("registration_area", u8(12)),
        uint("allowed_access", u8(15)),
        uint("psc", bits(16, 15, 4)),
        bytes("plmn", 18, 6),
        uint("lac", u32(24)),
        uint("rac", u32(28)),
    ]],
)])];

const ARFCN: &[Field] = &[uint("arfcn", bits(0, 11, 0)), uint("band", bits(0, 15, 12))];

/// The network and its area are as they came over the air, highest byte first.
pub(super) static GSM_CELL_LAYOUTS: &[Layout] = &[layout(&[block(
    13,
    &[
        ARFCN,
        &[
            uint("bcc", u8(2)),
            uint("ncc", u8(3)),
            uint("cell_identity", u16(4)),
            bytes("plmn", 6, 3),
            bytes("lac", 9, 2),
            uint("priority", u8(11)),
            uint("ncc_permitted", u8(12)),
        ],
    ],
)])];

const fn power(at: u16) -> Field {
    scaled_int("rx_power_dbm", u16(at), 0.0625, 0.0)
}

const fn cells(parts: &'static [Part]) -> Part {
    Part::List { name: "cells", count: Count::Says(u8(0)), parts }
}

const CELL_COUNT: Part = block(1, &[&[uint("cell_count", u8(0))]]);

pub(super) static SURROUNDING_LAYOUTS: &[Layout] = &[layout(&[
    CELL_COUNT,
    cells(&[block(
        12,
        &[
            ARFCN,
            &[
                power(2),
                flag("bsic_known", 4, 0),
                uint("bcc", bits(5, 2, 0)),
                uint("ncc", bits(5, 5, 3)),
                uint("frame_offset", u32(6)),
                uint("time_offset", u16(10)),
            ],
        ],
    )]),
])];

pub(super) static SERVING_POWER_LAYOUTS: &[Layout] = &[layout(&[block(2, &[&[power(0)]])])];

pub(super) static NEIGHBOUR_POWER_LAYOUTS: &[Layout] =
    &[layout(&[CELL_COUNT, cells(&[block(4, &[ARFCN, &[power(2)]])])])];
