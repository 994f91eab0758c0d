//! 0xB0B4, PDCP uplink statistics per radio bearer: the backlog, and all counters twice, since the
//! modem started and since the bearer's last reset.
//!
//! Packet version 1 with sub-packet 197 of versions 1, 2, 3, 24 and 26. Source:
//! docs/reference/diag.md, records and layouts; 2, 3 and 26 agree with captures field by field.

use super::common::BEARER_MODE;
use super::sub::HEADER;
use crate::layout::{Block, Count, Field, Layout, Part, SubLayout, names, u8, u16, u32, u64, uint};

const BEARER: &[Field] = &[
    uint("rb_config", u8(0)),
    names("mode", u8(1), BEARER_MODE),
    uint("header_len_bytes", u8(2)),
    uint("resets", u32(3)),
];

const BUFFERED: &[Field] = &[uint("buffered_packets", u16(7)), uint("buffered_bytes", u32(9))];
const UDC: &[Field] = &[uint("udc_state", u32(13))];

macro_rules! ul {
    ($at:expr, $of:literal) => {
        &[
            uint(concat!("flow_ctrl_triggers", $of), u32($at + 0)),
            uint(concat!("data_pdus_tx", $of), u32($at + 4)),
            uint(concat!("data_pdu_tx_bytes", $of), u32($at + 8)),
            uint(concat!("control_pdus_tx", $of), u32($at + 12)),
            uint(concat!("control_pdu_tx_bytes", $of), u32($at + 16)),
            uint(concat!("status_reports", $of), u32($at + 20)),
            uint(concat!("rohc_fails", $of), u32($at + 24)),
            uint(concat!("rohc_ctrl_pdus_tx", $of), u32($at + 28)),
            uint(concat!("discard_sdus", $of), u32($at + 32)),
            uint(concat!("discard_sdu_bytes", $of), u32($at + 36)),
            uint(concat!("pdus_ho_retx", $of), u32($at + 40)),
            uint(concat!("pdu_ho_retx_bytes", $of), u32($at + 44)),
        ]
    };
}

macro_rules! ul_v2 {
    ($at:expr, $of:literal) => {
        &[
            uint(concat!("flow_ctrl_triggers", $of), u32($at + 0)),
            uint(concat!("data_pdus_tx", $of), u32($at + 4)),
            uint(concat!("data_pdu_tx_bytes", $of), u32($at + 8)),
            uint(concat!("control_pdus_tx", $of), u32($at + 12)),
            uint(concat!("control_pdu_tx_bytes", $of), u32($at + 16)),
            uint(concat!("status_reports", $of), u32($at + 20)),
            uint(concat!("rohc_ctrl_pdus_tx", $of), u32($at + 24)),
            uint(concat!("rohc_fails", $of), u32($at + 28)),
            uint(concat!("discard_sdus", $of), u32($at + 32)),
            uint(concat!("discard_sdu_bytes", $of), u32($at + 36)),
            uint(concat!("pdus_ho_retx", $of), u32($at + 40)),
            uint(concat!("pdu_ho_retx_bytes", $of), u32($at + 44)),
            uint(concat!("piggybk_rohc_feedbk_rcvds", $of), u32($at + 48)),
            uint(concat!("rohc_pdus_drop_ho", $of), u32($at + 52)),
            uint(concat!("rohc_pdu_drop_ho_bytes", $of), u32($at + 56)),
        ]
    };
}

macro_rules! ul_v3 {
    ($at:expr, $of:literal) => {
        &[
            uint(concat!("flow_ctrl_triggers", $of), u32($at + 0)),
            uint(concat!("data_pdus_tx", $of), u32($at + 4)),
            uint(concat!("data_pdu_tx_bytes", $of), u32($at + 8)),
            uint(concat!("data_bytes_from_ps", $of), u32($at + 12)),
            uint(concat!("control_pdus_tx", $of), u32($at + 16)),
            uint(concat!("control_pdu_tx_bytes", $of), u32($at + 20)),
            uint(concat!("status_reports", $of), u32($at + 24)),
            uint(concat!("rohc_ctrl_pdus_tx", $of), u32($at + 28)),
            uint(concat!("rohc_fails", $of), u32($at + 32)),
            uint(concat!("discard_sdus", $of), u32($at + 36)),
            uint(concat!("discard_sdu_bytes", $of), u32($at + 40)),
            uint(concat!("pdus_ho_retx", $of), u32($at + 44)),
            uint(concat!("pdu_ho_retx_bytes", $of), u32($at + 48)),
            uint(concat!("piggybk_rohc_feedbk_rcvds", $of), u32($at + 52)),
            uint(concat!("rohc_pdus_drop_ho", $of), u32($at + 56)),
            uint(concat!("rohc_pdu_drop_ho_bytes", $of), u32($at + 60)),
            uint(concat!("udc_comp_packets", $of), u32($at + 64)),
            uint(concat!("udc_comp_packet_bytes", $of), u32($at + 68)),
            uint(concat!("udc_fc_uncomp_packets", $of), u32($at + 72)),
            uint(concat!("udc_fc_uncomp_bytes", $of), u32($at + 76)),
            uint(concat!("ue_udc_ctrl_pdus", $of), u32($at + 86)),
            uint(concat!("enb_udc_ctrl_pdus", $of), u32($at + 90)),
            uint(concat!("enb_trigg_udc_resets", $of), u32($at + 110)),
        ]
    };
}

macro_rules! ul_v26 {
    ($at:expr, $of:literal) => {
        &[
            uint(concat!("flow_ctrl_triggers", $of), u32($at + 0)),
            uint(concat!("data_pdus_tx", $of), u32($at + 4)),
            uint(concat!("data_pdu_tx_bytes", $of), u64($at + 8)),
            uint(concat!("data_bytes_from_ps", $of), u64($at + 16)),
            uint(concat!("control_pdus_tx", $of), u32($at + 24)),
            uint(concat!("control_pdu_tx_bytes", $of), u32($at + 28)),
            uint(concat!("status_reports", $of), u32($at + 32)),
            uint(concat!("rohc_ctrl_pdus_tx", $of), u32($at + 36)),
            uint(concat!("rohc_fails", $of), u32($at + 40)),
            uint(concat!("discard_sdus", $of), u32($at + 44)),
            uint(concat!("discard_sdu_bytes", $of), u32($at + 48)),
            uint(concat!("pdus_ho_retx", $of), u32($at + 52)),
            uint(concat!("pdu_ho_retx_bytes", $of), u32($at + 56)),
            uint(concat!("piggybk_rohc_feedbk_rcvds", $of), u32($at + 60)),
            uint(concat!("rohc_pdus_drop_ho", $of), u32($at + 64)),
            uint(concat!("rohc_pdu_drop_ho_bytes", $of), u32($at + 68)),
            uint(concat!("udc_comp_packets", $of), u32($at + 72)),
            uint(concat!("udc_comp_packet_bytes", $of), u32($at + 76)),
            uint(concat!("uncomp_packets_udc_offs", $of), u32($at + 80)),
            uint(concat!("uncomp_bytes_udc_off", $of), u32($at + 84)),
            uint(concat!("uncomp_packets_udc_ons", $of), u32($at + 88)),
            uint(concat!("uncomp_bytes_udc_on", $of), u64($at + 92)),
            uint(concat!("ue_udc_ctrl_pdus", $of), u32($at + 106)),
            uint(concat!("enb_udc_ctrl_pdus", $of), u32($at + 110)),
            uint(concat!("enb_trigg_udc_resets", $of), u32($at + 130)),
        ]
    };
}

const UL: &[Field] = ul!(7, "");
const UL_SINCE: &[Field] = ul!(59, "_since_reset");
const UL_V2: &[Field] = ul_v2!(13, "");
const UL_V2_SINCE: &[Field] = ul_v2!(77, "_since_reset");
const UL_V3: &[Field] = ul_v3!(17, "");
const UL_V3_SINCE: &[Field] = ul_v3!(135, "_since_reset");
const UL_V26: &[Field] = ul_v26!(17, "");
const UL_V26_SINCE: &[Field] = ul_v26!(155, "_since_reset");

/// The number of bearers, and of errors.
const TOTALS: Part = Part::Block(Block {
    size: 5,
    fields: &[&[uint("bearer_count", u8(0)), uint("errors", u32(1))]],
});

const fn bearers(parts: &'static [Part]) -> Part {
    Part::List { name: "bearers", count: Count::Says(u8(0)), parts }
}

const fn statistics(versions: &'static [u8], parts: &'static [Part]) -> SubLayout {
    SubLayout { id: 197, name: "pdcp_ul_statistics", versions, parts }
}

pub(super) static LAYOUTS: &[Layout] = &[Layout {
    versions: &[1],
    parts: &[
        HEADER,
        Part::SubPackets {
            count: u8(1),
            known: &[
                statistics(
                    &[1],
                    &[
                        TOTALS,
                        bearers(&[Part::Block(Block {
                            size: 111,
                            fields: &[BEARER, UL, UL_SINCE],
                        })]),
                    ],
                ),
                statistics(
                    &[2],
                    &[
                        TOTALS,
                        bearers(&[Part::Block(Block {
                            size: 141,
                            fields: &[BEARER, BUFFERED, UL_V2, UL_V2_SINCE],
                        })]),
                    ],
                ),
                statistics(
                    &[3, 24],
                    &[
                        TOTALS,
                        bearers(&[Part::Block(Block {
                            size: 253,
                            fields: &[BEARER, BUFFERED, UDC, UL_V3, UL_V3_SINCE],
                        })]),
                    ],
                ),
                statistics(
                    &[26],
                    &[
                        TOTALS,
                        bearers(&[Part::Block(Block {
                            size: 293,
                            fields: &[BEARER, BUFFERED, UDC, UL_V26, UL_V26_SINCE],
                        })]),
                    ],
                ),
            ],
        },
    ],
}];
