//! Cells of WCDMA: 0x4005 how they and those of GSM rank for reselection, 0x4125 the state of RRC,
//! 0x4127 the identity of the serving one.
//!
//! 0x4005 has its version in the two highest bits: 0, 1 and 2. The others have none. Source:
//! docs/reference/diag.md, records and layouts; 0x4127 agrees with a capture field by field, it and
//! 0x4005 2 with the vectors of another decoder.

use crate::layout::{
    Bits, Block, Count, Field, Layout, Names, Part, bits, int, names, plmn_digits, scaled_int, u8,
    u16, u32, uint,
};

const fn block(size: u16, fields: &'static [&'static [Field]]) -> Part {
    Part::Block(Block { size, fields })
}

/// The network is six decimal digits, 15 for one that is not there.
pub(super) static IDENTITY_LAYOUTS: &[Layout] = &[Layout {
    versions: &[],
    parts: &[block(
        32,
        &[&[
            uint("ul_uarfcn", u32(0)),
            uint("dl_uarfcn", u32(4)),
            uint("cell_identity", u32(8)),
            uint("registration_area", u8(12)),
            uint("allowed_access", u8(15)),
            uint("psc", bits(16, 15, 4)),
            plmn_digits("plmn", 18),
            uint("lac", u32(24)),
            uint("rac", u32(28)),
        ]],
    )],
}];

const STATE: Names = &[
    (0, "disconnected"),
    (1, "connecting"),
    (2, "cell_fach"),
    (3, "cell_dch"),
    (4, "cell_pch"),
    (5, "ura_pch"),
];

pub(super) static STATE_LAYOUTS: &[Layout] =
    &[Layout { versions: &[], parts: &[block(1, &[&[names("rrc_state", u8(0), STATE)]])] }];

const HEAD: &[Field] = &[
    uint("version", bits(0, 7, 6)),
    uint("wcdma_cell_count", bits(0, 5, 0)),
    uint("gsm_cell_count", bits(1, 5, 0)),
];

const WCDMA_CELL: &[Field] = &[
    uint("uarfcn", u16(0)),
    uint("psc", u16(2)),
    scaled_int("rscp_dbm", u8(4), 1.0, -21.0),
    int("rank_rscp", u16(5)),
    scaled_int("ec_io_db", u8(7), 0.5, 0.0),
    int("rank_ec_io", u16(8)),
];

const GSM_CELL: &[Field] = &[
    uint("arfcn", bits(0, 11, 0)),
    uint("band", bits(0, 15, 12)),
    uint("bsic", u16(2)),
    int("rssi_raw", u8(4)),
    int("rank", u16(5)),
];

/// Whether the cell may be reselected, and its place in a hierarchy, from byte `$at` on.
macro_rules! hierarchy {
    ($at:expr) => {
        &[
            int("reselection_status", u8($at)),
            int("hcs_priority", u16($at + 1)),
            int("h_value", u16($at + 3)),
            int("hcs_qualified", u8($at + 5)),
        ]
    };
}

const WCDMA_STATUS: &[Field] = &[int("reselection_status", u8(10))];
const GSM_STATUS: &[Field] = &[int("reselection_status", u8(7))];

const fn cells(name: &'static str, count: Bits, parts: &'static [Part]) -> Part {
    Part::List { name, count: Count::Says(count), parts }
}

/// Both lists of cells, each cell of this many bytes and with these fields.
macro_rules! ranked {
    ($version:literal, $head:literal, $wcdma:expr, $gsm:expr) => {
        Layout {
            versions: &[$version],
            parts: &[
                block($head, &[HEAD]),
                cells("wcdma_cells", bits(0, 5, 0), &[$wcdma]),
                cells("gsm_cells", bits(1, 5, 0), &[$gsm]),
            ],
        }
    };
}

pub(super) static RANK_LAYOUTS: &[Layout] = &[
    ranked!(0, 2, block(10, &[WCDMA_CELL]), block(7, &[GSM_CELL])),
    ranked!(1, 2, block(11, &[WCDMA_CELL, WCDMA_STATUS]), block(8, &[GSM_CELL, GSM_STATUS])),
    ranked!(2, 7, block(16, &[WCDMA_CELL, hierarchy!(10)]), block(13, &[GSM_CELL, hierarchy!(7)])),
];
