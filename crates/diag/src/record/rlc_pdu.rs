//! 0xB082 and 0xB092, all PDUs of RLC acknowledged mode, downlink and uplink, and 0xB083, downlink
//! status PDUs: sequence numbers, sizes, and requested retransmissions.
//!
//! Packet version 1 with sub-packet 65 and 70 of versions 3 and 4; 0xB083 version 48. Source:
//! docs/reference/diag.md, records and layouts; version 3 of both agrees with captures field by
//! field. Headers are read with sequence numbers of ten bits, the only ones of acknowledged mode in
//! any capture.

use super::common::BEARER_MODE;
use super::sub::HEADER;
use crate::layout::{
    Bits, Block, Count, Field, Layout, Names, Part, SubLayout, bits, hex, names, u8, u16, u32, uint,
};

const STATUS: Names = &[(0, "data"), (1, "control")];

const BEARER: &[Field] = &[
    uint("rb_config", u8(0)),
    names("mode", u8(1), BEARER_MODE),
    uint("sn_bits", u8(2)),
    hex("enabled_logs", u16(4)),
];
const DOWNLINK: &[Field] = &[
    uint("vr_r", u16(6)),
    uint("vr_x", u16(8)),
    uint("vr_ms", u16(10)),
    uint("vr_h", u16(12)),
    uint("pdu_count", u16(14)),
];
const UPLINK: &[Field] = &[
    uint("vt_a", u16(6)),
    uint("vt_s", u16(8)),
    uint("pdus_without_poll", u16(10)),
    uint("bytes_without_poll", u32(12)),
    uint("poll_sn", u16(16)),
    uint("pdu_count", u16(18)),
];

const PDU: &[Field] = &[
    uint("subframe", bits(0, 3, 0)),
    uint("frame", bits(0, 13, 4)),
    uint("pdu_bytes", u16(2)),
    uint("logged_bytes", u16(4)),
];
const PDU_STATUS: &[Field] = &[names("status", u8(6), STATUS)];

const fn pdus(count: Bits, parts: &'static [Part]) -> Part {
    Part::List { name: "pdus", count: Count::Says(count), parts }
}

pub(super) static DOWNLINK_LAYOUTS: &[Layout] = &[Layout {
    versions: &[1],
    parts: &[
        HEADER,
        Part::SubPackets {
            count: u8(1),
            known: &[SubLayout {
                id: 65,
                name: "rlc_dl_am_pdus",
                versions: &[3, 4],
                parts: &[
                    Part::Block(Block { size: 16, fields: &[BEARER, DOWNLINK] }),
                    pdus(
                        u16(14),
                        &[
                            Part::Block(Block { size: 7, fields: &[PDU, PDU_STATUS] }),
                            Part::Rlc { len: u16(4) },
                        ],
                    ),
                ],
            }],
        },
    ],
}];

pub(super) static UPLINK_LAYOUTS: &[Layout] = &[Layout {
    versions: &[1],
    parts: &[
        HEADER,
        Part::SubPackets {
            count: u8(1),
            known: &[SubLayout {
                id: 70,
                name: "rlc_ul_am_pdus",
                versions: &[3, 4],
                parts: &[
                    Part::Block(Block { size: 20, fields: &[BEARER, UPLINK] }),
                    pdus(
                        u16(18),
                        &[
                            Part::Block(Block { size: 7, fields: &[PDU] }),
                            Part::Rlc { len: u16(4) },
                        ],
                    ),
                ],
            }],
        },
    ],
}];

pub(super) static STATUS_LAYOUTS: &[Layout] = &[Layout {
    versions: &[48],
    parts: &[
        Part::Block(Block {
            size: 8,
            fields: &[&[uint("version", u8(0)), uint("pdu_count", u8(4))]],
        }),
        pdus(
            u8(4),
            &[
                Part::Block(Block {
                    size: 8,
                    fields: &[&[
                        uint("subframe", bits(0, 3, 0)),
                        uint("frame", bits(2, 9, 0)),
                        uint("sn_bits", bits(5, 3, 0)),
                        uint("pdu_bytes", u8(6)),
                    ]],
                }),
                Part::Rlc { len: u8(6) },
            ],
        ),
    ],
}];
