//! 0xB18E results of a band scan; 0xB1A1 and 0xB1A2 a cell measured for another network: the
//! request and the result.
//!
//! 0xB18E versions 2 and 32, the others version 4. Source: docs/reference/diag.md, records and
//! layouts; no capture has them. Levels are two's complement: the source takes a constant from all
//! of them, for one of them the wrong one.

use crate::layout::{
    Block, Count, Field, Layout, Names, Part, bits, flag, int, names, u8, u16, u32, uint,
};

const fn block(size: u16, fields: &'static [&'static [Field]]) -> Part {
    Part::Block(Block { size, fields })
}

/// The source gives (x − 1) × 5 MHz, which the two narrowest are not (TS 36.101 Table 5.6-1).
const BANDWIDTH: Names =
    &[(0, "1.4mhz"), (1, "3mhz"), (2, "5mhz"), (3, "10mhz"), (4, "15mhz"), (5, "20mhz")];

const COUNT: &[Field] = &[uint("version", u8(0)), uint("candidate_count", u16(2))];

const CANDIDATES: Part = Part::List {
    name: "candidates",
    count: Count::Says(u16(2)),
    parts: &[block(
        12,
        &[&[
            uint("earfcn", u32(0)),
            uint("band", u16(4)),
            names("bandwidth", u16(6), BANDWIDTH),
            int("energy_dbm_per_100khz", u16(8)),
        ]],
    )],
};

pub(super) static SCAN_LAYOUTS: &[Layout] = &[
    Layout { versions: &[2], parts: &[block(4, &[COUNT]), CANDIDATES] },
    Layout {
        versions: &[32],
        parts: &[block(4, &[COUNT, &[flag("initial_search", 1, 0)]]), CANDIDATES],
    },
];

const STANDARD: Names = &[(1, "release_9")];
const BARRED: Names = &[(0, "not_barred"), (1, "barred")];

const HEAD: &[Field] =
    &[uint("version", u8(0)), names("standard", u8(1), STANDARD), uint("earfcn", u32(4))];

/// The minimum quality counts from release 9 on.
pub(super) static REQUEST_LAYOUTS: &[Layout] = &[Layout {
    versions: &[4],
    parts: &[block(
        16,
        &[
            HEAD,
            &[
                uint("pci", bits(8, 9, 0)),
                names("barred", bits(8, 13, 10), BARRED),
                int("q_rx_lev_min_dbm", bits(12, 7, 0)),
                uint("q_rx_lev_min_offset", bits(12, 11, 8)),
                uint("p_max_dbm", bits(12, 19, 12)),
                uint("q_qual_min_raw", bits(12, 25, 20)),
                uint("q_qual_min_offset", bits(12, 31, 26)),
            ],
        ],
    )],
}];

pub(super) static CONFIRM_LAYOUTS: &[Layout] = &[Layout {
    versions: &[4],
    parts: &[
        block(
            20,
            &[
                HEAD,
                &[
                    int("rsrp_dbm", u16(8)),
                    uint("bandwidth_raw", u8(12)),
                    uint("pci", bits(13, 9, 0)),
                    flag("srxlev_known", 16, 0),
                    int("srxlev_db", bits(16, 16, 1)),
                ],
            ],
        ),
        Part::List {
            name: "release_9",
            count: Count::When(u8(1), &[1]),
            parts: &[block(4, &[&[flag("squal_known", 0, 0), int("squal_db", bits(0, 16, 1))]])],
        },
    ],
}];
