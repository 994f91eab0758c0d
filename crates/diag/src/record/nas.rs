//! NAS of LTE and NR: messages between device and core network, and the device's state.
//!
//! | code | what | versions |
//! |---|---|---|
//! | 0xB0E0, 0xB0E1, 0xB0EA, 0xB0EB | LTE messages as sent over the air, session and mobility, in and out | 1 |
//! | 0xB0E2, 0xB0E3, 0xB0EC, 0xB0ED | the same in plain | 1 |
//! | 0xB0E5 | a bearer and its quality of service | 1 |
//! | 0xB0EE | mobility state and temporary identity | 2 |
//! | 0xB800, 0xB801, 0xB80A, 0xB80B | NR messages in plain, session and mobility, in and out | 1 |
//! | 0xB808, 0xB809 | NR mobility messages as sent over the air | 1 |
//! | 0xB80C | mobility state and temporary identity | 1, 3.0 |
//! | 0xB814 | the NR message within a container, in plain | 1 |
//! | 0xB815 | network slices | 1 |
//!
//! Source: docs/reference/diag.md, records and layouts. LTE's plain messages, bearers and states
//! agree with captures field by field. LTE's protected messages decode as the kind that the record
//! names. NR's records agree with a second decoder's vectors, except 0xB814 and 0xB815, which have
//! no vectors.

use crate::layout::{
    Block, Count, Layout, Names, Part, bits, bytes, flag, hex, names, plmn, u8, u16, u32, uint,
};

/// The release of the specification: three numbers from `$at` on.
macro_rules! release {
    ($at:expr) => {
        &[
            uint("release", u8($at)),
            uint("release_major", u8($at + 1)),
            uint("release_minor", u8($at + 2)),
        ]
    };
}

const MESSAGE: Part = Part::Rest { name: "message" };

pub(super) static LTE_MESSAGE: &[Layout] = &[Layout {
    versions: &[1],
    parts: &[
        Part::Block(Block { size: 4, fields: &[&[uint("version", u8(0))], release!(1)] }),
        MESSAGE,
    ],
}];

pub(super) static NR_MESSAGE: &[Layout] = &[Layout {
    versions: &[1],
    parts: &[
        Part::Block(Block { size: 7, fields: &[&[uint("version", u32(0))], release!(4)] }),
        MESSAGE,
    ],
}];

pub(super) static BEARER: &[Layout] = &[Layout {
    versions: &[1],
    parts: &[Part::Block(Block {
        size: 20,
        fields: &[&[
            uint("version", u8(0)),
            names("bearer_kind", u8(1), &[(0, "default"), (1, "dedicated")]),
            uint("bearer", u8(2)),
            names("bearer_state", u8(3), &[(0, "inactive"), (1, "active_pending"), (2, "active")]),
            bytes("unknown", 4, 6),
            uint("qos_len_bytes", u8(10)),
            uint("qci", u8(11)),
            uint("max_rate_up_raw", u8(12)),
            uint("max_rate_down_raw", u8(13)),
            uint("guaranteed_rate_up_raw", u8(14)),
            uint("guaranteed_rate_down_raw", u8(15)),
            uint("max_rate_up_ext_raw", u8(16)),
            uint("max_rate_down_ext_raw", u8(17)),
            uint("guaranteed_rate_up_ext_raw", u8(18)),
            uint("guaranteed_rate_down_ext_raw", u8(19)),
        ]],
    })],
}];

const EMM: Names = &[
    (0, "null"),
    (1, "deregistered"),
    (2, "registered_initiated"),
    (3, "registered"),
    (4, "tracking_area_updating_initiated"),
    (5, "service_request_initiated"),
    (6, "deregistered_initiated"),
];

pub(super) static EMM_STATE: &[Layout] = &[Layout {
    versions: &[2],
    parts: &[Part::Block(Block {
        size: 19,
        fields: &[&[
            uint("version", u8(0)),
            names("emm_state", u8(1), EMM),
            uint("emm_substate", u16(2)),
            plmn("plmn", 4),
            uint("guti_valid", u8(7)),
            uint("guti_kind", u8(8)),
            plmn("guti_plmn", 9),
            bytes("guti_mme_group", 12, 2),
            hex("guti_mme_code", u8(14)),
            bytes("guti_m_tmsi", 15, 4),
        ]],
    })],
}];

const MM5G: Names = &[
    (0, "null"),
    (1, "deregistered"),
    (2, "registered_initiated"),
    (3, "registered"),
    (4, "service_request_initiated"),
    (5, "deregistered_initiated"),
];

/// Version 3.0 has the same layout as version 1, which is from before versions had a major and a
/// minor number.
pub(super) static MM5G_STATE: &[Layout] = &[Layout {
    versions: &[1, 0x3_0000],
    parts: &[Part::Block(Block {
        size: 26,
        fields: &[&[
            hex("version", u32(0)),
            names("mm5g_state", u8(4), MM5G),
            uint("mm5g_substate", u16(5)),
            plmn("plmn", 7),
            uint("guti_kind", u8(10)),
            plmn("guti_plmn", 11),
            hex("guti_amf_region", u8(14)),
            hex("guti_amf_set", u16(15)),
            hex("guti_amf_pointer", u8(17)),
            hex("guti_5g_tmsi", u32(18)),
            uint("update_status", u8(22)),
            bytes("tac", 23, 3),
        ]],
    })],
}];

/// A slice has a kind of service and a differentiator within that kind, TS 23.003 §28.4.2.
pub(super) static SLICES: &[Layout] = &[Layout {
    versions: &[1],
    parts: &[
        Part::Block(Block {
            size: 10,
            fields: &[&[
                uint("version", u32(0)),
                names("reason", bits(4, 0, 0), &[(1, "registration_accept")]),
                plmn("plmn", 5),
                names("kind", bits(8, 1, 0), &[(1, "allowed"), (3, "requested")]),
                uint("slice_count", u8(9)),
            ]],
        }),
        Part::List {
            name: "slices",
            count: Count::Says(u8(9)),
            parts: &[Part::Block(Block {
                size: 5,
                fields: &[&[
                    uint("service", u8(0)),
                    bytes("differentiator", 1, 3),
                    flag("mapped", 4, 0),
                ]],
            })],
        },
    ],
}];
