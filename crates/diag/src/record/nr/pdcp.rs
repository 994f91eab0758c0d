//! 0xB840, 0xB842, 0xB860, 0xB861: PDCP: packets, counters and status reports of the radio bearers.
//!
//! Each has one source, 0xB861 (versions 1 and 3.1) has two that agree; none is in a capture. A
//! status report is logged in the form that is sent: its first missing count is in network order.

use super::{RB_MODE, RB_TYPE, VERSION};
use crate::layout::{
    Block, Count, Field, Layout, Names, Part, bits, flag, hex, names, network, u8, u16, u32, uint,
};

const DATA_V6: &[Field] =
    &[uint("packet_count", u16(4)), uint("radio_bearer_count", u16(6)), uint("log_count", u16(8))];

const STATE: &[Part] = &[Part::Block(Block {
    size: 16,
    fields: &[&[
        uint("radio_bearer_index", u32(0)),
        uint("rx_deliv", u32(4)),
        uint("rx_next", u32(8)),
        uint("next_count", u32(12)),
    ]],
})];

const PATH: Names = &[(1, "nr")];
const ROUTE: Names = &[(1, "delivered_directly"), (2, "delivered_when_reordering_expired")];

const PACKET: &[Part] = &[Part::Block(Block {
    size: 39,
    fields: &[&[
        uint("slot", u16(0)),
        uint("frame", u16(2)),
        uint("rx_ticks", u32(4)),
        uint("key_index", u32(8)),
        names("rlc_path", bits(12, 0, 0), PATH),
        names("route", bits(16, 1, 0), ROUTE),
        hex("ip_header_0", u8(17)),
        hex("ip_header_1", u8(18)),
        uint("start_count", u32(19)),
        uint("end_count", u32(23)),
        uint("rlc_end_sn", u32(27)),
        uint("ip_packets", u32(31)),
        uint("ip_bytes", u32(35)),
    ]],
})];

pub(in super::super) static DL_DATA: &[Layout] = &[Layout {
    versions: &[6],
    parts: &[
        Part::Block(Block { size: 10, fields: &[VERSION, DATA_V6] }),
        Part::List { name: "states", count: Count::Says(u16(6)), parts: STATE },
        Part::List { name: "packets", count: Count::Says(u16(4)), parts: PACKET },
    ],
}];

const STATS_V5: &[Field] = &[uint("radio_bearer_count", u32(4))];

const DL_BEARER: &[Part] = &[Part::Block(Block {
    size: 116,
    fields: &[&[
        uint("radio_bearer_index", u8(0)),
        uint("mode", u8(1)),
        uint("reestablishments", u8(2)),
        uint("reordering_ms", u16(6)),
        uint("header_len_bytes", u16(8)),
        uint("flow_control_triggers", u16(10)),
        uint("data_pdus", u32(16)),
        uint("data_bytes", u32(20)),
        uint("missing_pdus", u16(44)),
        uint("reordering_expiries", u32(72)),
        uint("reordering_starts", u32(76)),
        uint("rx_reord", u32(88)),
        uint("rx_next", u32(92)),
        uint("rx_deliv", u32(96)),
    ]],
})];

pub(in super::super) static DL_STATS: &[Layout] = &[Layout {
    versions: &[5],
    parts: &[
        Part::Block(Block { size: 18, fields: &[VERSION, STATS_V5] }),
        Part::List { name: "radio_bearers", count: Count::Says(u32(4)), parts: DL_BEARER },
    ],
}];

const REASON: Names = &[(1, "periodic"), (2, "rrc_reconfigured"), (4, "rrc_release")];
const FLOW: Names = &[(1, "enabled"), (2, "suspended")];

const UL_STATS_V9: &[Field] = &[
    names("reason", bits(4, 2, 0), REASON),
    uint("radio_bearer_count", bits(5, 4, 0)),
    hex("cumulative_srbs", bits(5, 7, 5)),
    hex("configured_srbs", u8(6)),
    hex("cumulative_drbs", u8(8)),
    hex("configured_drbs", u8(12)),
    uint("control_pdus", u32(20)),
    uint("discarded_packets", u32(24)),
    uint("discarded_bytes", u32(28)),
    uint("watermark_count", u16(36)),
    uint("watermark_low", u8(38)),
    uint("watermark_high", u8(39)),
    uint("watermark_empty", u8(40)),
    uint("watermark_non_empty", u8(41)),
];

const UL_BEARER: &[Part] = &[Part::Block(Block {
    size: 128,
    fields: &[&[
        uint("radio_bearer", bits(0, 1, 0)),
        uint("count_sn", bits(4, 17, 0)),
        uint("count_hfn", bits(4, 31, 18)),
        uint("discarded_packets", u32(8)),
        uint("discarded_bytes", u32(16)),
        uint("waiting_packets", u16(28)),
        uint("rx_packets", u32(36)),
        uint("rx_bytes", u32(40)),
        uint("waiting_bytes", u32(56)),
        uint("watermark_count", u16(72)),
        uint("watermark_low", u8(74)),
        uint("watermark_high", u8(75)),
        uint("watermark_empty", u8(76)),
        uint("watermark_non_empty", u8(77)),
        uint("do_not_exceed_bytes", u32(80)),
        uint("high_watermark_bytes", u32(84)),
        uint("low_watermark_bytes", u32(88)),
        names("flow", bits(97, 1, 0), FLOW),
    ]],
})];

pub(in super::super) static UL_STATS: &[Layout] = &[Layout {
    versions: &[9],
    parts: &[
        Part::Block(Block { size: 76, fields: &[VERSION, UL_STATS_V9] }),
        Part::List { name: "radio_bearers", count: Count::Says(bits(5, 4, 0)), parts: UL_BEARER },
    ],
}];

const CONTROL_V1: &[Field] = &[uint("pdu_count", u8(4))];
const PDCP_SN: Names = &[(2, "18")];

const CONTROL_PDU: &[Part] = &[Part::Block(Block {
    size: 16,
    fields: &[&[
        uint("radio_bearer", bits(0, 5, 0)),
        names("sn_len_bits", bits(0, 8, 6), PDCP_SN),
        names("mode", bits(0, 10, 9), RB_MODE),
        names("type", bits(0, 12, 11), RB_TYPE),
        uint("len_bytes", bits(0, 22, 13)),
        uint("padding_bytes", bits(0, 24, 23)),
        uint("slot", u8(4)),
        uint("frame", bits(6, 9, 0)),
        uint("pdu_type", bits(8, 6, 4)),
        flag("data", 8, 7),
        network("first_missing_count", 9, 4, 32),
    ]],
})];

pub(in super::super) static UL_CONTROL: &[Layout] = &[Layout {
    versions: &[1, 0x3_0001],
    parts: &[
        Part::Block(Block { size: 8, fields: &[VERSION, CONTROL_V1] }),
        Part::List { name: "pdus", count: Count::Says(u8(4)), parts: CONTROL_PDU },
    ],
}];
