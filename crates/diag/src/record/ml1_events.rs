//! Small records of ML1 and LL1: 0xB12A PCFICH decoding, 0xB144 random access transmission, 0xB16A
//! contention resolution, 0xB184 carrier aggregation, 0xB18A radio link monitoring, 0xB198
//! discontinuous reception, 0xB1B2 offset calibration.
//!
//! 0xB12A and 0xB144 version 161, 0xB16A version 1, 0xB184 versions 1 and 50, 0xB18A version 1,
//! 0xB198 versions 1 and 2, 0xB1B2 versions 48 and 49. Source: docs/reference/diag.md, records and
//! layouts; 0xB18A and 0xB198 agree with captures field by field. 0xB12A, 0xB16A, 0xB184 1 and
//! 0xB1B2 48 are in captures that no other decoder reads, and give the cell that other records give
//! there.

use super::common::CARRIER;
use crate::layout::{
    Block, Count, Field, Layout, Names, Part, bits, flag, hex, names, scaled, u8, u16, u32, u64,
    uint,
};

const fn block(size: u16, fields: &'static [&'static [Field]]) -> Part {
    Part::Block(Block { size, fields })
}

const fn list(name: &'static str, count: Count, parts: &'static [Part]) -> Part {
    Part::List { name, count, parts }
}

/// There is always room for twenty results.
pub(super) static PCFICH_LAYOUTS: &[Layout] = &[Layout {
    versions: &[161],
    parts: &[
        block(
            16,
            &[&[
                uint("version", u8(0)),
                uint("pci", bits(1, 8, 0)),
                uint("count", bits(1, 13, 9)),
                uint("subframe", bits(1, 17, 14)),
                uint("cfi", bits(1, 19, 18)),
                names("carrier", bits(1, 21, 20), CARRIER),
                uint("frame", bits(4, 9, 0)),
            ]],
        ),
        list(
            "results",
            Count::Of(bits(1, 13, 9), 20),
            &[block(
                8,
                &[&[
                    uint("subframe_offset", u16(0)),
                    uint("demap_status", u8(2)),
                    uint("cfi", bits(3, 3, 2)),
                    hex("rntis", bits(4, 23, 14)),
                    uint("asleep", bits(4, 25, 24)),
                    uint("aborted", bits(4, 28, 26)),
                ]],
            )],
        ),
    ],
}];

pub(super) static RACH_TX_LAYOUTS: &[Layout] = &[Layout {
    versions: &[161],
    parts: &[block(
        16,
        &[&[
            uint("version", u8(0)),
            uint("tti", u16(2)),
            names("carrier", bits(4, 1, 0), CARRIER),
            scaled("power_dbm", bits(4, 9, 2), 1.0, -255.0),
            uint("preamble", bits(4, 15, 10)),
            uint("cyclic_shift", u16(6)),
            uint("first_rb_of_opportunity", bits(8, 1, 0)),
            uint("start_rb", bits(8, 9, 7)),
            names("dl_carrier", bits(8, 11, 10), CARRIER),
            uint("preamble_format", bits(8, 13, 12)),
            uint("root_sequence", bits(8, 23, 14)),
            uint("resampler_raw", u32(12)),
        ]],
    )],
}];

pub(super) static CONTENTION_LAYOUTS: &[Layout] = &[Layout {
    versions: &[1],
    parts: &[block(
        8,
        &[&[
            uint("version", u8(0)),
            uint("frame", bits(4, 9, 0)),
            uint("subframe", bits(4, 13, 10)),
            flag("resolved", 5, 6),
            uint("ack_frame", bits(4, 24, 15)),
            uint("ack_subframe", bits(4, 28, 25)),
        ]],
    )],
}];

const AGGREGATION_EVENT: Names = &[
    (0, "scc_configured"),
    (2, "scc_activated"),
    (3, "scc_deactivated"),
    (4, "scc_activated_after_link_failure"),
    (6, "connection_released"),
];

const AGGREGATION: &[Field] = &[
    uint("version", u8(0)),
    names("event", bits(1, 3, 0), AGGREGATION_EVENT),
    uint("scell_count", u8(2)),
    uint("subframe", bits(3, 3, 0)),
    uint("frame", bits(4, 9, 0)),
];

const CELL: &[Field] = &[uint("earfcn", u32(0)), uint("pci", bits(4, 8, 0)), uint("band", u8(6))];

/// Counts of scheduled items.
const SCHEDULED: Block = Block {
    size: 24,
    fields: &[&[
        uint("dl_subframes", u32(0)),
        uint("ul_subframes", u32(4)),
        uint("dl_tb_size", u64(8)),
        uint("ul_tb_size", u64(16)),
    ]],
};

/// On the primary cell alone, on secondary ones alone, on both, and on the primary cell at all.
const SPAN: &[Part] = &[
    Part::List { name: "kinds", count: Count::Fixed(4), parts: &[Part::Block(SCHEDULED)] },
    block(8, &[&[uint("elapsed", u32(0))]]),
];

/// Since the connection began, while secondary cells were configured, and while they were active.
const fn spans(name: &'static str, parts: &'static [Part]) -> Part {
    list(name, Count::Fixed(3), parts)
}

const SCELL: &[Part] = &[
    block(
        12,
        &[
            CELL,
            &[
                uint("dl_bandwidth", u8(7)),
                names("dl_state", bits(8, 1, 0), &[(1, "deactivated"), (2, "activated")]),
                flag("ul_configured", 9, 0),
                uint("ml1_id", u8(10)),
                uint("ll1_id", u8(11)),
            ],
        ],
    ),
    spans("spans", &[Part::Block(SCHEDULED)]),
];

/// The counters of version 1 after the identity of the primary cell are not described.
pub(super) static AGGREGATION_LAYOUTS: &[Layout] = &[
    Layout {
        versions: &[1],
        parts: &[block(
            16,
            &[
                AGGREGATION,
                &[uint("earfcn", u32(8)), uint("pci", bits(12, 8, 0)), uint("band", u8(14))],
            ],
        )],
    },
    Layout {
        versions: &[50],
        parts: &[
            block(
                16,
                &[
                    AGGREGATION,
                    &[
                        flag("endc", 7, 7),
                        uint("earfcn", u32(8)),
                        uint("pci", bits(12, 8, 0)),
                        uint("band", u8(14)),
                        uint("dl_bandwidth", u8(15)),
                    ],
                ],
            ),
            spans("spans", SPAN),
            list("scells", Count::Says(u8(2)), SCELL),
        ],
    },
];

pub(super) static LINK_MONITORING_LAYOUTS: &[Layout] = &[Layout {
    versions: &[1],
    parts: &[
        block(4, &[&[uint("version", u8(0)), uint("count", u8(3))]]),
        list(
            "records",
            Count::Says(u8(3)),
            &[block(
                12,
                &[&[
                    uint("frame", bits(0, 9, 0)),
                    uint("subframe", bits(0, 13, 10)),
                    scaled("out_of_sync_bler_percent", u16(2), 100.0 / 32768.0, 0.0),
                    scaled("in_sync_bler_percent", u16(4), 100.0 / 32768.0, 0.0),
                    uint("out_of_sync_count", bits(6, 4, 0)),
                    uint("in_sync_count", bits(6, 9, 5)),
                    uint("t310", u8(8)),
                ]],
            )],
        ),
    ],
}];

const DRX_EVENT: Names = &[
    (0, "on_duration_timer_start"),
    (1, "on_duration_timer_end"),
    (2, "short_cycle_start"),
    (3, "short_cycle_end"),
    (4, "long_cycle_start"),
    (5, "long_cycle_end"),
    (6, "ul_retx_timer_start"),
    (7, "ul_retx_timer_end"),
    (8, "inactivity_timer_start"),
    (9, "inactivity_timer_end"),
    (10, "dl_retx_timer_start"),
    (11, "dl_retx_timer_end"),
    (12, "on_to_off"),
    (13, "off_to_on"),
    (22, "wakeup_missed_cycle_timer_start"),
    (23, "wakeup_missed_cycle_timer_end"),
    (24, "catm1_ul_retx_timer_start"),
    (25, "catm1_ul_retx_timer_end"),
];

const DRX: &[Field] = &[
    uint("frame", bits(0, 9, 0)),
    uint("subframe", bits(0, 13, 10)),
    names("event", bits(0, 19, 14), DRX_EVENT),
];
const DRX_HEADER: Part = block(4, &[&[uint("version", u8(0)), uint("count", u8(1))]]);

pub(super) static DRX_LAYOUTS: &[Layout] = &[
    Layout {
        versions: &[1],
        parts: &[DRX_HEADER, list("records", Count::Says(u8(1)), &[block(4, &[DRX])])],
    },
    Layout {
        versions: &[2],
        parts: &[
            DRX_HEADER,
            list(
                "records",
                Count::Says(u8(1)),
                &[block(8, &[DRX, &[hex("internal_mask", u32(4))]])],
            ),
        ],
    },
];

pub(super) static DC_OFFSET_LAYOUTS: &[Layout] = &[Layout {
    versions: &[48, 49],
    parts: &[block(
        8,
        &[&[
            uint("version", u8(0)),
            flag("updated", 1, 0),
            uint("band", u8(2)),
            uint("bandwidth", bits(3, 3, 0)),
            uint("earfcn", u32(4)),
        ]],
    )],
}];
