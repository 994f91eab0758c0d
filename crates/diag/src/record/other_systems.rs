//! 0xB185 and 0xB188, neighbour cells of other systems while LTE serves: pilots of CDMA2000, cells
//! of WCDMA.
//!
//! Packet version 1. Source: docs/reference/diag.md, records and layouts, which distinguishes
//! neither the kinds of 0xB185 nor the versions of either; no capture has them. Levels are two's
//! complement: the source subtracts 256 from all of them.

use super::sub::HEADER;
use crate::layout::{
    Block, Count, Field, Layout, Part, SubLayout, flag, hex, int, u8, u16, u32, uint,
};

const fn block(size: u16, fields: &'static [&'static [Field]]) -> Part {
    Part::Block(Block { size, fields })
}

const PILOTS: &[Part] = &[
    block(
        8,
        &[&[
            uint("kind", u8(0)),
            uint("kind_version", u8(1)),
            uint("len_bytes", u16(2)),
            uint("pilot_count", u8(4)),
            uint("band_class", u8(5)),
            uint("channel", u16(6)),
        ]],
    ),
    Part::List {
        name: "pilots",
        count: Count::Says(u8(4)),
        parts: &[block(
            16,
            &[&[uint("pilot", u16(0)), uint("level_raw", u16(2)), uint("ec_no_raw", u16(8))]],
        )],
    },
];

pub(super) static CDMA_LAYOUTS: &[Layout] = &[Layout {
    versions: &[1],
    parts: &[HEADER, Part::List { name: "frequencies", count: Count::Says(u8(1)), parts: PILOTS }],
}];

const CELLS: &[Part] = &[
    block(4, &[&[uint("uarfcn", u16(0)), uint("cell_count", u8(2))]]),
    Part::List {
        name: "cells",
        count: Count::Says(u8(2)),
        parts: &[block(
            16,
            &[&[
                hex("psc_and_energy", u16(0)),
                flag("closed_group", 2, 0),
                uint("pn_position", u32(4)),
                int("rscp_dbm", u8(8)),
                int("rssi_dbm", u8(9)),
                int("ec_no_db", u8(10)),
                uint("srxlev", u8(11)),
                uint("drx_cycles_since", u16(12)),
                uint("t_reselection_s", u8(14)),
                uint("squal", u8(15)),
            ]],
        )],
    },
];

const WCDMA: SubLayout = SubLayout {
    id: 35,
    name: "wcdma",
    versions: &[],
    parts: &[
        block(8, &[&[uint("drx_cycle", u32(0)), uint("frequency_count", u8(4))]]),
        Part::List { name: "frequencies", count: Count::Says(u8(4)), parts: CELLS },
    ],
};

pub(super) static MEASURED_LAYOUTS: &[Layout] = &[Layout {
    versions: &[1],
    parts: &[HEADER, Part::SubPackets { count: u8(1), known: &[WCDMA] }],
}];
