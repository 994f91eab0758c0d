//! 0xB16C, downlink control information as ML1 reports it: uplink grants four subframes before they
//! are used, and downlink assignments.
//!
//! Versions 48, 49 and 50. Source: docs/reference/diag.md, records and layouts. In 48 a record has
//! space for all grants and is 128 bytes long, which its capture confirms. The layout of its
//! downlink assignments is unknown.

use super::common::CARRIER;
use crate::layout::{Block, Count, Field, Layout, Names, Part, bits, flag, names, u8, uint};

const MODULATION: Names = &[(1, "qpsk"), (2, "16qam"), (3, "64qam"), (4, "256qam")];
const FORMAT: Names = &[(0, "1a"), (1, "2")];

const TIME: &[Field] = &[uint("frame", bits(0, 9, 0)), uint("subframe", bits(0, 13, 10))];

const GRANT: &[Part] = &[Part::Block(Block {
    size: 16,
    fields: &[&[
        uint("rnti", bits(0, 2, 0)),
        uint("ndi", bits(0, 3, 3)),
        uint("harq", bits(0, 6, 4)),
        uint("tpc", bits(0, 8, 7)),
        names("carrier", bits(0, 10, 9), CARRIER),
        uint("ul_index_or_dai", bits(0, 12, 11)),
        uint("k", bits(0, 15, 13)),
        uint("rv", bits(2, 4, 3)),
        uint("mcs", bits(2, 9, 5)),
        uint("tbs_index", bits(2, 15, 10)),
        names("modulation", bits(4, 2, 0), MODULATION),
        uint("cqi_request", bits(4, 5, 3)),
        flag("srs_request", 4, 6),
        uint("allocation_type", bits(4, 7, 7)),
        uint("rbg_size", bits(5, 2, 0)),
        uint("start_rb", bits(5, 9, 3)),
        uint("rbs", bits(5, 16, 10)),
        uint("dmrs_cyclic_shift", bits(7, 3, 1)),
        uint("search_space", bits(7, 6, 5)),
        flag("hopping", 7, 7),
        uint("riv_width", bits(8, 3, 0)),
        uint("riv", bits(8, 15, 4)),
        uint("start_rb_cluster_1", bits(10, 8, 2)),
        uint("rbs_cluster_1", bits(10, 15, 9)),
        uint("aggregation", bits(12, 4, 3)),
    ]],
})];

const ASSIGNMENT: &[Part] = &[Part::Block(Block {
    size: 8,
    fields: &[&[
        uint("cell", bits(0, 2, 0)),
        names("format", bits(0, 6, 5), FORMAT),
        uint("ack_bits", bits(0, 8, 7)),
        uint("tpc", bits(0, 10, 9)),
        uint("dai", bits(0, 12, 12)),
        uint("search_space", bits(0, 13, 13)),
        uint("aggregation", bits(0, 14, 14)),
        uint("rnti", bits(0, 15, 15)),
        uint("cce", u8(2)),
    ]],
})];

pub(super) static LAYOUTS: &[Layout] = &[
    Layout {
        versions: &[48, 49],
        parts: &[
            Part::Block(Block {
                size: 4,
                fields: &[&[
                    uint("version", u8(0)),
                    uint("duplex_mode", bits(1, 1, 1)),
                    uint("count", bits(1, 7, 2)),
                ]],
            }),
            Part::List {
                name: "subframes",
                count: Count::Says(bits(1, 7, 2)),
                parts: &[
                    Part::Block(Block {
                        size: 2,
                        fields: &[TIME, &[uint("grant_count", bits(0, 15, 14))]],
                    }),
                    Part::List {
                        name: "grants",
                        count: Count::Of(bits(0, 15, 14), 1),
                        parts: &[Part::Block(Block {
                            size: 126,
                            fields: &[&[
                                uint("rv", bits(5, 2, 1)),
                                uint("mcs", bits(5, 7, 3)),
                                uint("tbs_index", bits(6, 5, 0)),
                                uint("rbs", bits(8, 6, 0)),
                            ]],
                        })],
                    },
                ],
            },
        ],
    },
    Layout {
        versions: &[50],
        parts: &[
            Part::Block(Block {
                size: 4,
                fields: &[&[
                    uint("version", u8(0)),
                    uint("subframe_assignment", bits(1, 5, 2)),
                    uint("count", bits(1, 11, 6)),
                    uint("duplex_mode", bits(1, 15, 15)),
                ]],
            }),
            Part::List {
                name: "subframes",
                count: Count::Says(bits(1, 11, 6)),
                parts: &[
                    Part::Block(Block {
                        size: 4,
                        fields: &[
                            TIME,
                            &[
                                uint("grant_count", bits(0, 16, 14)),
                                uint("assignment_count", bits(0, 19, 17)),
                                uint("tpc_rnti", bits(0, 20, 20)),
                            ],
                        ],
                    }),
                    Part::List {
                        name: "grants",
                        count: Count::Says(bits(0, 16, 14)),
                        parts: GRANT,
                    },
                    Part::List {
                        name: "assignments",
                        count: Count::Says(bits(0, 19, 17)),
                        parts: ASSIGNMENT,
                    },
                ],
            },
        ],
    },
];
