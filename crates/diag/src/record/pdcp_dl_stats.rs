//! 0xB0A4, PDCP downlink statistics per radio bearer: all counters twice, since the modem started
//! and since the bearer's last reset.
//!
//! Packet version 1 with sub-packet 196 of versions 2 and 41. Source: docs/reference/diag.md,
//! records and layouts; 2 agrees with captures field by field.

use super::common::BEARER_MODE;
use super::sub::HEADER;
use crate::layout::{Block, Count, Field, Layout, Part, SubLayout, names, u8, u32, uint};

const BEARER: &[Field] = &[
    uint("rb_config", u8(0)),
    names("mode", u8(1), BEARER_MODE),
    uint("header_len_bytes", u8(2)),
    uint("resets", u32(3)),
];

macro_rules! dl {
    ($at:expr, $of:literal) => {
        &[
            uint(concat!("flow_ctrl_triggers", $of), u32($at + 0)),
            uint(concat!("data_pdus_rx", $of), u32($at + 4)),
            uint(concat!("data_pdu_rx_bytes", $of), u32($at + 8)),
            uint(concat!("control_pdu_bytes_rx", $of), u32($at + 12)),
            uint(concat!("control_pdus_gen", $of), u32($at + 20)),
            uint(concat!("control_pdu_gen_bytes", $of), u32($at + 24)),
            uint(concat!("stat_rprt_ctrl_pdus_rx", $of), u32($at + 28)),
            uint(concat!("rohc_ctrl_pdus_rx", $of), u32($at + 32)),
            uint(concat!("pdus_rohc_fail", $of), u32($at + 36)),
            uint(concat!("pdus_integrity_fail", $of), u32($at + 40)),
            uint(concat!("missing_sdus_to_ul", $of), u32($at + 44)),
            uint(concat!("missing_sdus_from_ul", $of), u32($at + 48)),
            uint(concat!("pdus_dups", $of), u32($at + 52)),
            uint(concat!("pdu_dups_bytes", $of), u32($at + 56)),
            uint(concat!("pdus_out_of_win", $of), u32($at + 60)),
            uint(concat!("pdu_out_of_win_bytes", $of), u32($at + 64)),
            uint(concat!("pdus_invalid", $of), u32($at + 68)),
            uint(concat!("pdu_invalid_bytes", $of), u32($at + 72)),
        ]
    };
}

macro_rules! dl_v41 {
    ($at:expr, $of:literal) => {
        &[
            uint(concat!("flow_ctrl_triggers", $of), u32($at + 0)),
            uint(concat!("data_pdus_rx", $of), u32($at + 4)),
            uint(concat!("data_pdu_rx_bytes", $of), u32($at + 8)),
            uint(concat!("control_pdu_bytes_tx", $of), u32($at + 12)),
            uint(concat!("control_pdus_gen", $of), u32($at + 16)),
            uint(concat!("control_pdu_gen_bytes", $of), u32($at + 20)),
            uint(concat!("stat_rprt_ctrl_pdus_rx", $of), u32($at + 24)),
            uint(concat!("rohc_ctrl_pdus_rx", $of), u32($at + 28)),
            uint(concat!("pdus_rohc_fail", $of), u32($at + 32)),
            uint(concat!("pdus_integrity_fail", $of), u32($at + 36)),
            uint(concat!("missing_sdus_to_ul", $of), u32($at + 40)),
            uint(concat!("missing_sdus_from_ll", $of), u32($at + 44)),
            uint(concat!("pdus_fc_drop", $of), u32($at + 48)),
            uint(concat!("pdu_fc_drop_bytes", $of), u32($at + 52)),
            uint(concat!("pdus_dups", $of), u32($at + 56)),
            uint(concat!("pdu_dups_bytes", $of), u32($at + 60)),
            uint(concat!("pdus_out_of_win", $of), u32($at + 64)),
            uint(concat!("pdu_out_of_win_bytes", $of), u32($at + 68)),
            uint(concat!("pdus_invalid", $of), u32($at + 72)),
            uint(concat!("pdu_invalid_bytes", $of), u32($at + 76)),
        ]
    };
}

const DL: &[Field] = dl!(7, "");
const DL_SINCE: &[Field] = dl!(87, "_since_reset");
const DL_V41: &[Field] = dl_v41!(7, "");
const DL_V41_SINCE: &[Field] = dl_v41!(91, "_since_reset");

const TOTALS: Part = Part::Block(Block { size: 13, fields: &[TOTAL] });
const TOTALS_V41: Part = Part::Block(Block {
    size: 25,
    fields: &[
        TOTAL,
        &[
            uint("ipa_commits", u32(13)),
            uint("tag_callbacks", u32(17)),
            uint("ipa_exceptions", u32(21)),
        ],
    ],
});
const TOTAL: &[Field] = &[
    uint("bearer_count", u8(0)),
    uint("errors", u32(1)),
    uint("offload_queue_full", u32(5)),
    uint("packets_dropped_offload_queue_full", u32(9)),
];

const fn bearers(parts: &'static [Part]) -> Part {
    Part::List { name: "bearers", count: Count::Says(u8(0)), parts }
}

const fn statistics(versions: &'static [u8], parts: &'static [Part]) -> SubLayout {
    SubLayout { id: 196, name: "pdcp_dl_statistics", versions, parts }
}

pub(super) static LAYOUTS: &[Layout] = &[Layout {
    versions: &[1],
    parts: &[
        HEADER,
        Part::SubPackets {
            count: u8(1),
            known: &[
                statistics(
                    &[2],
                    &[
                        TOTALS,
                        bearers(&[Part::Block(Block {
                            size: 167,
                            fields: &[BEARER, DL, DL_SINCE],
                        })]),
                    ],
                ),
                statistics(
                    &[41],
                    &[
                        TOTALS_V41,
                        bearers(&[Part::Block(Block {
                            size: 175,
                            fields: &[BEARER, DL_V41, DL_V41_SINCE],
                        })]),
                    ],
                ),
            ],
        },
    ],
}];
