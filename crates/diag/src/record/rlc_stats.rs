//! 0xB087 and 0xB097, RLC statistics per radio bearer, downlink and uplink: all counters twice,
//! since the modem started and since the bearer's last reset.
//!
//! Packet version 1: 0xB087 with sub-packet 66 of versions 2 and 3, 0xB097 with sub-packet 71 of
//! version 1. Source: docs/reference/diag.md, records and layouts; 0xB087 3 and 0xB097 1 agree with
//! captures field by field.

use super::common::BEARER_MODE;
use super::sub::HEADER;
use crate::layout::{Block, Count, Field, Layout, Part, SubLayout, names, u8, u32, u64, uint};

const BEARER: &[Field] =
    &[uint("rb_config", u8(0)), names("mode", u8(1), BEARER_MODE), uint("resets", u32(2))];

macro_rules! dl_v2 {
    ($at:expr, $of:literal) => {
        &[
            uint(concat!("data_pdus", $of), u32($at + 0)),
            uint(concat!("data_pdu_bytes", $of), u32($at + 4)),
            uint(concat!("status_rxeds", $of), u32($at + 8)),
            uint(concat!("status_rxed_bytes", $of), u32($at + 12)),
            uint(concat!("invalid_pdus", $of), u32($at + 16)),
            uint(concat!("invalid_pdu_bytes", $of), u32($at + 20)),
            uint(concat!("retx_pdus", $of), u32($at + 24)),
            uint(concat!("retx_pdu_bytes", $of), u32($at + 28)),
            uint(concat!("dup_pdus", $of), u32($at + 32)),
            uint(concat!("dup_pdu_bytes", $of), u32($at + 36)),
            uint(concat!("dropped_pdus", $of), u32($at + 40)),
            uint(concat!("dropped_pdu_bytes", $of), u32($at + 44)),
            uint(concat!("dropped_pdus_fc", $of), u32($at + 48)),
            uint(concat!("dropped_pdu_bytes_fc", $of), u32($at + 52)),
            uint(concat!("sdus", $of), u32($at + 56)),
            uint(concat!("sdu_bytes", $of), u32($at + 60)),
            uint(concat!("nonseq_sdus", $of), u32($at + 64)),
            uint(concat!("ctrl_pdus", $of), u32($at + 68)),
            uint(concat!("complete_nacks", $of), u32($at + 72)),
            uint(concat!("segments_nacks", $of), u32($at + 76)),
            uint(concat!("t_reorder_expired", $of), u32($at + 80)),
        ]
    };
}

macro_rules! dl_v3 {
    ($at:expr, $of:literal) => {
        &[
            uint(concat!("data_pdus", $of), u32($at + 0)),
            uint(concat!("data_pdu_bytes", $of), u64($at + 4)),
            uint(concat!("status_rxeds", $of), u32($at + 12)),
            uint(concat!("status_rxed_bytes", $of), u64($at + 16)),
            uint(concat!("invalid_pdus", $of), u32($at + 24)),
            uint(concat!("invalid_pdu_bytes", $of), u64($at + 28)),
            uint(concat!("retx_pdus", $of), u32($at + 36)),
            uint(concat!("retx_pdu_bytes", $of), u64($at + 40)),
            uint(concat!("dup_pdus", $of), u32($at + 48)),
            uint(concat!("dup_pdu_bytes", $of), u64($at + 52)),
            uint(concat!("dropped_pdus", $of), u32($at + 60)),
            uint(concat!("dropped_pdu_bytes", $of), u64($at + 64)),
            uint(concat!("dropped_pdus_fc", $of), u32($at + 72)),
            uint(concat!("dropped_pdu_bytes_fc", $of), u64($at + 76)),
            uint(concat!("sdus", $of), u32($at + 84)),
            uint(concat!("sdu_bytes", $of), u64($at + 88)),
            uint(concat!("nonseq_sdus", $of), u32($at + 96)),
            uint(concat!("ctrl_pdus", $of), u32($at + 100)),
            uint(concat!("complete_nacks", $of), u32($at + 104)),
            uint(concat!("segments_nacks", $of), u32($at + 108)),
            uint(concat!("t_reorder_expired", $of), u32($at + 112)),
            uint(concat!("t_reorder_start", $of), u32($at + 116)),
            uint(concat!("missed_um_pdus", $of), u32($at + 120)),
        ]
    };
}

macro_rules! ul {
    ($at:expr, $of:literal) => {
        &[
            uint(concat!("new_data_pdus", $of), u32($at + 0)),
            uint(concat!("new_data_pdu_bytes", $of), u32($at + 4)),
            uint(concat!("sdus", $of), u32($at + 8)),
            uint(concat!("sdu_bytes", $of), u32($at + 12)),
            uint(concat!("ctrl_pdus_tx", $of), u32($at + 16)),
            uint(concat!("ctrl_pdu_bytes_tx", $of), u32($at + 20)),
            uint(concat!("retx_pdus", $of), u32($at + 24)),
            uint(concat!("retx_pdu_bytes", $of), u32($at + 28)),
            uint(concat!("ctrl_pdus_rx", $of), u32($at + 32)),
            uint(concat!("complete_nacks", $of), u32($at + 36)),
            uint(concat!("segm_nacks", $of), u32($at + 40)),
            uint(concat!("invalid_ctrl_pdus_rx", $of), u32($at + 44)),
            uint(concat!("polls", $of), u32($at + 48)),
            uint(concat!("t_polls_retx_expiry", $of), u32($at + 52)),
        ]
    };
}

const DL_V2: &[Field] = dl_v2!(6, "");
const DL_V2_SINCE: &[Field] = dl_v2!(94, "_since_reset");
const DL_V3: &[Field] = dl_v3!(6, "");
const DL_V3_SINCE: &[Field] = dl_v3!(134, "_since_reset");
const UL: &[Field] = ul!(6, "");
const UL_SINCE: &[Field] = ul!(66, "_since_reset");

const fn bearers(parts: &'static [Part]) -> Part {
    Part::List { name: "bearers", count: Count::Says(u8(0)), parts }
}

const DOWNLINK: Part = Part::Block(Block {
    size: 9,
    fields: &[&[
        uint("bearer_count", u8(0)),
        uint("pdcp_queue_full", u32(1)),
        uint("errors", u32(5)),
    ]],
});

const UPLINK: Part = Part::Block(Block {
    size: 5,
    fields: &[&[uint("bearer_count", u8(0)), uint("errors", u32(1))]],
});

const fn downlink(versions: &'static [u8], parts: &'static [Part]) -> SubLayout {
    SubLayout { id: 66, name: "rlc_dl_statistics", versions, parts }
}

pub(super) static DOWNLINK_LAYOUTS: &[Layout] = &[Layout {
    versions: &[1],
    parts: &[
        HEADER,
        Part::SubPackets {
            count: u8(1),
            known: &[
                downlink(
                    &[2],
                    &[
                        DOWNLINK,
                        bearers(&[Part::Block(Block {
                            size: 182,
                            fields: &[BEARER, DL_V2, DL_V2_SINCE],
                        })]),
                    ],
                ),
                downlink(
                    &[3],
                    &[
                        DOWNLINK,
                        bearers(&[Part::Block(Block {
                            size: 262,
                            fields: &[BEARER, DL_V3, DL_V3_SINCE],
                        })]),
                    ],
                ),
            ],
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
                id: 71,
                name: "rlc_ul_statistics",
                versions: &[1],
                parts: &[
                    UPLINK,
                    bearers(&[Part::Block(Block { size: 126, fields: &[BEARER, UL, UL_SINCE] })]),
                ],
            }],
        },
    ],
}];
