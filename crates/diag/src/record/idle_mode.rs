//! 0xB17A, 0xB17D and 0xB181, camping on a cell: whether it is allowed, the measurements meanwhile,
//! and the ranking of the cells of one frequency.
//!
//! Packet version 1; 0xB17A with sub-packets 4 of version 3 and 9 of version 2, 0xB17D with 1, 2, 7
//! and 8 of version 1 and 5 and 6 of version 3, 0xB181 with 5 of version 3 and 10 and 11, whose
//! source does not distinguish versions. Source: docs/reference/diag.md, records and layouts, which
//! has neither units nor the versions of sub-packets. Both come from the capture that has 0xB17A
//! and 0xB17D. There the limits equal those of the cell's system information, and the levels
//! above them equal the measurements of 0xB17F at the same time.

use super::sub::HEADER;
use crate::layout::{
    Bits, Block, Count, Field, Layout, Part, SubLayout, bits, flag, hex, scaled, u8, u16, u32, uint,
};

const fn block(size: u16, fields: &'static [&'static [Field]]) -> Part {
    Part::Block(Block { size, fields })
}

const fn sub(
    id: u8,
    name: &'static str,
    versions: &'static [u8],
    parts: &'static [Part],
) -> SubLayout {
    SubLayout { id, name, versions, parts }
}

/// A margin above the minimum level, or a power: whole decibels, counted from −30.
const fn decibels(name: &'static str, bits: Bits) -> Field {
    scaled(name, bits, 1.0, -30.0)
}

/// The least RSRP of a cell, TS 36.331's Q-RxLevMin counted from −70 and halved; 70 until the cell
/// has broadcast it.
const fn least_rsrp(bits: Bits) -> Field {
    scaled("q_rx_lev_min_dbm", bits, 2.0, -140.0)
}

const RELEASE: &[Field] = &[uint("release", bits(0, 1, 0))];

const SELECTION: SubLayout = sub(
    4,
    "cell_selection",
    &[3],
    &[block(
        20,
        &[
            RELEASE,
            &[
                uint("earfcn", u32(4)),
                uint("pci", u16(8)),
                uint("q_rx_lev_min_offset", u16(10)),
                least_rsrp(u8(12)),
                decibels("p_max_dbm", u8(13)),
                decibels("max_tx_power_dbm", u8(14)),
                decibels("srxlev_db", u8(15)),
                uint("q_qual_min_offset", bits(16, 3, 0)),
                scaled("q_qual_min_db", bits(16, 8, 4), 1.0, -34.0),
                scaled("squal_db", bits(16, 15, 10), 1.0, -35.0),
            ],
        ],
    )],
);

const fn quarters(name: &'static str, bits: Bits, offset: f64) -> Field {
    scaled(name, bits, 0.25, offset)
}

const MEASUREMENT: SubLayout = sub(
    9,
    "serving_cell",
    &[2],
    &[block(
        20,
        &[
            RELEASE,
            &[
                quarters("rsrq_db", u8(4), -30.0),
                decibels("srxlev_db", bits(5, 7, 1)),
                quarters("rsrp_dbm", bits(6, 8, 0), -140.0),
                quarters("rssi_dbm", bits(8, 8, 0), -140.0),
                flag("has_average", 9, 7),
                uint("rsrq_average_raw", u16(10)),
                uint("rsrp_average_raw", u16(12)),
                uint("rssi_average_raw", u16(14)),
                scaled("squal_db", u8(16), 1.0, -35.0),
            ],
        ],
    )],
);

pub(super) static SELECTION_LAYOUTS: &[Layout] = &[Layout {
    versions: &[1],
    parts: &[HEADER, Part::SubPackets { count: u8(1), known: &[SELECTION, MEASUREMENT] }],
}];

/// Thresholds for measurements of other cells, in the units of TS 36.331, in the two halves of the
/// word at `$at`.
macro_rules! thresholds {
    ($at:expr) => {
        &[
            uint("thresh_serving_low_q", bits($at, 5, 0)),
            uint("s_non_intra_search_q", bits($at, 11, 6)),
        ]
    };
}

const SERVING_FREQUENCY: SubLayout = sub(
    5,
    "serving_frequency",
    &[3],
    &[block(
        12,
        &[
            &[
                uint("release", u8(0)),
                uint("s_non_intra_search", bits(4, 3, 0)),
                uint("priority", bits(4, 7, 4)),
                uint("thresh_serving_low", bits(5, 7, 4)),
            ],
            thresholds!(8),
        ],
    )],
);

const COMMON: SubLayout =
    sub(1, "common", &[1], &[block(4, &[&[hex("removed", u16(0)), hex("included", u16(2))]])]);

const RESELECTION: SubLayout = sub(
    2,
    "reselection",
    &[1],
    &[block(
        4,
        &[&[
            uint("q_hyst_index", bits(0, 3, 0)),
            uint("mobility_state", bits(2, 1, 0)),
            flag("same_reference_signals", 3, 7),
        ]],
    )],
);

const INTRA_FREQUENCY: SubLayout = sub(
    6,
    "intra_frequency",
    &[3],
    &[block(
        20,
        &[&[
            uint("release", u8(0)),
            least_rsrp(u8(4)),
            decibels("p_max_dbm", u8(5)),
            uint("measured_bandwidth", bits(6, 2, 0)),
            uint("t_reselection_s", bits(6, 7, 3)),
            uint("t_reselection_medium_index", bits(7, 1, 0)),
            uint("t_reselection_high_index", bits(7, 3, 2)),
            uint("neighbour_cell_config", bits(7, 5, 4)),
            uint("s_intra_search", bits(8, 4, 0)),
            uint("s_intra_search_q", bits(16, 5, 0)),
        ]],
    )],
);

/// Sixteen cells at most (TS 36.331 §6.4): five bits, where the source has three.
const PREFERRED: SubLayout = sub(
    7,
    "preferred_cells",
    &[1],
    &[
        block(2, &[&[uint("cell_count", bits(0, 4, 0))]]),
        Part::List {
            name: "cells",
            count: Count::Says(bits(0, 4, 0)),
            parts: &[block(
                2,
                &[&[uint("pci", bits(0, 8, 0)), uint("q_offset_raw", bits(0, 15, 9))]],
            )],
        },
        block(2, &[]),
    ],
);

/// The format of excluded cells is unknown.
const EXCLUDED: SubLayout =
    sub(8, "excluded_cells", &[1], &[block(4, &[&[uint("cell_count", u16(0))]])]);

pub(super) static REQUEST_LAYOUTS: &[Layout] = &[Layout {
    versions: &[1],
    parts: &[
        HEADER,
        Part::SubPackets {
            count: u8(1),
            known: &[COMMON, RESELECTION, SERVING_FREQUENCY, INTRA_FREQUENCY, PREFERRED, EXCLUDED],
        },
    ],
}];

const SERVING: SubLayout = sub(
    10,
    "serving_cell",
    &[],
    &[block(
        8,
        &[&[
            uint("earfcn", u32(0)),
            uint("pci", bits(4, 8, 0)),
            uint("mobility_state", bits(4, 9, 9)),
            uint("priority", u8(6)),
        ]],
    )],
);

/// The source reads one layer more than are counted, and is not sure of their cells: neither is
/// read.
const FREQUENCIES: SubLayout = sub(
    11,
    "frequencies",
    &[],
    &[block(
        8,
        &[&[uint("instance", u8(3)), uint("layer_count", u8(4)), uint("t_reselection_s", u8(5))]],
    )],
);

pub(super) static RESELECTION_LAYOUTS: &[Layout] = &[Layout {
    versions: &[1],
    parts: &[
        HEADER,
        Part::SubPackets { count: u8(1), known: &[SERVING_FREQUENCY, SERVING, FREQUENCIES] },
    ],
}];
