//! 0xB84D, 0xB84E, 0xB868, 0xB869: RLC: counters, and status reports in both directions.
//!
//! One source each, none in a capture. Status reports are logged as they are on the air, after
//! their length.

use super::{RB_MODE, SN_LENGTH, VERSION};
use crate::layout::{
    Block, Count, Field, Layout, Names, Part, bits, hex, names, u8, u16, u32, uint,
};

const STATS_HEAD: &[Field] = &[
    uint("radio_bearer_count", u8(4)),
    uint("reason", u8(5)),
    uint("flow_control_down", u32(6)),
    uint("flow_control_up", u32(10)),
];
const STATS_V4: &[Field] = &[
    uint("shutdowns", u32(14)),
    uint("radio_link_failures", u32(18)),
    uint("level_1_down", u32(22)),
    uint("level_1_up", u32(26)),
    uint("scell_ta_starts", u32(30)),
    uint("scell_ta_stops", u32(34)),
    uint("scell_flow_control_starts", u32(38)),
    uint("scell_flow_control_stops", u32(42)),
    uint("rf_available", u32(46)),
    uint("flow_control_rx_windows", u32(50)),
    uint("last_radio_link_failure", u32(54)),
    uint("level_1_dropped_0", u32(58)),
    uint("level_1_dropped_1", u32(62)),
    uint("level_1_dropped_2", u32(66)),
    uint("level_1_dropped_3", u32(70)),
    uint("level_1_history_index", u32(74)),
    uint("shutdown_dropped", u32(78)),
];
const STATS_V3_0: &[Field] = &[
    uint("radio_link_failures", u32(14)),
    uint("scell_ta_starts", u32(18)),
    uint("scell_ta_stops", u32(22)),
    uint("scell_flow_control_starts", u32(26)),
    uint("scell_flow_control_stops", u32(30)),
    uint("rf_available", u32(34)),
    uint("flow_control_rx_windows", u32(38)),
    uint("last_radio_link_failure", u32(42)),
    uint("level_1_dropped_0", u32(46)),
    uint("level_1_dropped_1", u32(50)),
    uint("level_1_dropped_2", u32(54)),
    uint("level_1_dropped_3", u32(58)),
    uint("level_1_history_index", u32(62)),
    uint("shutdown_dropped", u32(66)),
];

const DL_BEARER: &[Part] = &[Part::Block(Block {
    size: 100,
    fields: &[&[
        uint("radio_bearer_index", u8(0)),
        names("mode", u8(1), RB_MODE),
        uint("packets", u32(2)),
        uint("data_pdus", u32(6)),
        uint("status_pdus_received", u32(10)),
        uint("invalid_pdus", u32(14)),
        uint("retx_pdus", u32(18)),
        uint("duplicate_pdus", u32(22)),
        uint("dropped_pdus", u32(26)),
        uint("segments_joined", u32(30)),
        uint("segments_collapsed", u32(34)),
        uint("status_triggers", u32(38)),
        uint("status_updates", u32(42)),
        uint("status_sent", u32(46)),
        uint("status_dropped", u32(50)),
        uint("reassembly_expiries", u32(54)),
        uint("reassembly_starts", u32(58)),
        uint("missed_um_pdus", u32(62)),
        uint("overlaps", u32(66)),
        uint("triggers_ack_only", u32(70)),
        uint("triggers_with_nacks", u32(74)),
        uint("updates_ack_only", u32(78)),
        uint("updates_with_nacks", u32(82)),
        uint("status_acknowledged", u32(86)),
        uint("status_nack_lists", u32(90)),
        uint("data_bytes", u32(94)),
    ]],
})];

const fn bearers(parts: &'static [Part]) -> Part {
    Part::List { name: "radio_bearers", count: Count::Says(u8(4)), parts }
}

pub(in super::super) static DL_STATS: &[Layout] = &[
    Layout {
        versions: &[4],
        parts: &[
            Part::Block(Block { size: 84, fields: &[VERSION, STATS_HEAD, STATS_V4] }),
            bearers(DL_BEARER),
        ],
    },
    Layout {
        versions: &[0x3_0000],
        parts: &[
            Part::Block(Block { size: 72, fields: &[VERSION, STATS_HEAD, STATS_V3_0] }),
            bearers(DL_BEARER),
        ],
    },
];

const DL_STATUS_V1: &[Field] = &[uint("pdu_count", u32(4))];

const DL_STATUS_PDU: &[Part] = &[
    Part::Block(Block {
        size: 8,
        fields: &[&[
            uint("slot", u16(0)),
            uint("frame", u16(2)),
            uint("sn_len_bits", u8(5)),
            uint("len_bytes", u8(6)),
        ]],
    }),
    Part::NrStatus { len: u8(6), sn: u8(5), wide: 18 },
];

pub(in super::super) static DL_STATUS: &[Layout] = &[Layout {
    versions: &[1],
    parts: &[
        Part::Block(Block { size: 8, fields: &[VERSION, DL_STATUS_V1] }),
        Part::List { name: "pdus", count: Count::Says(u32(4)), parts: DL_STATUS_PDU },
    ],
}];

const REASON: Names = &[(1, "periodic"), (2, "rrc_reconfigured"), (4, "rrc_release")];

const UL_STATS_V4: &[Field] = &[
    names("reason", bits(4, 2, 0), REASON),
    uint("channel_count", u8(5)),
    hex("cumulative_channels", u8(8)),
    hex("configured_channels", u8(12)),
    uint("invalid_status_pdus", u16(20)),
    uint("poll_expiries", u16(22)),
    uint("retx_pdus", u32(24)),
    uint("retx_bytes", u32(28)),
];

const UL_CHANNEL: &[Part] = &[Part::Block(Block {
    size: 104,
    fields: &[&[
        uint("channel", bits(0, 2, 0)),
        uint("tx_next_ack", bits(2, 21, 4)),
        uint("window_pdus", u16(32)),
        uint("retx_pdus", u16(36)),
        uint("window_bytes", u32(40)),
        uint("tx_pdus", u32(48)),
        uint("tx_bytes", u32(56)),
        uint("poll_pdus", u16(64)),
        uint("high_priority_pdus", u16(68)),
        uint("high_priority_bytes", u32(72)),
        uint("status_pdus_sent", u32(80)),
        uint("status_pdus_with_nacks", u32(84)),
        uint("last_status_time", u32(88)),
        uint("status_pdus_received", u32(92)),
    ]],
})];

pub(in super::super) static UL_STATS: &[Layout] = &[Layout {
    versions: &[4],
    parts: &[
        Part::Block(Block { size: 36, fields: &[VERSION, UL_STATS_V4] }),
        Part::List { name: "channels", count: Count::Says(u8(5)), parts: UL_CHANNEL },
    ],
}];

const UL_STATUS_V3_1: &[Field] = &[uint("pdu_count", u8(4)), uint("pdus_dropped", bits(5, 7, 2))];

const ACTION: Names = &[(0, "trigger"), (1, "update")];
const PDU_TYPE: Names = &[(0, "ack_only"), (1, "with_nacks")];

const UL_STATUS_PDU: &[Part] = &[
    Part::Block(Block {
        size: 20,
        fields: &[&[
            uint("slot", u8(0)),
            uint("frame", bits(2, 9, 0)),
            uint("channel", bits(4, 3, 0)),
            names("sn_len_bits", bits(4, 6, 6), SN_LENGTH),
            uint("len_bytes", bits(5, 7, 1)),
            uint("padding_bytes", bits(6, 6, 5)),
            names("action", bits(6, 7, 7), ACTION),
            names("pdu_type", bits(6, 9, 9), PDU_TYPE),
        ]],
    }),
    Part::NrStatus { len: bits(5, 7, 1), sn: bits(4, 6, 6), wide: 1 },
    Part::Opaque { name: "padding", len: bits(6, 6, 5) },
];

pub(in super::super) static UL_STATUS: &[Layout] = &[Layout {
    versions: &[0x3_0001],
    parts: &[
        Part::Block(Block { size: 8, fields: &[VERSION, UL_STATUS_V3_1] }),
        Part::List { name: "pdus", count: Count::Says(u8(4)), parts: UL_STATUS_PDU },
    ],
}];

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rlc_nr::Nack;
    use std::vec::Vec;

    #[test]
    fn a_status_report_of_the_device_names_what_is_missing() {
        // Version 3.1; one report of slot 7, frame 300, channel 4: 18-bit numbers, seven bytes and
        // one of padding.
        let mut body = Vec::from([1, 0, 3, 0, 1, 0, 0, 0]);
        let mut head = [0; 20];
        head[0] = 7;
        head[2..4].copy_from_slice(&300u16.to_le_bytes());
        head[4] = 4 | 1 << 6;
        head[5] = 7 << 1;
        head[6..8].copy_from_slice(&(1u16 << 5 | 1 << 9).to_le_bytes());
        body.extend(head);
        // Acknowledged up to 1000, but for the two from 990 on.
        let (ack, nack) = (1000u32 << 2 | 0b10, 990u32 << 6 | 1 << 3);
        body.extend(&ack.to_be_bytes()[1..]);
        body.extend(&nack.to_be_bytes()[1..]);
        body.extend([2, 0xFF]);
        let node = UL_STATUS[0].node(&body).unwrap();
        assert_eq!(node.extent(), body.len());
        let pdu = node.list("pdus").next().and_then(|pdu| pdu.nr_status()).unwrap();
        assert_eq!(pdu.ack_sn(), Some(1000));
        let nacks: Vec<_> = pdu.nacks().collect();
        assert_eq!(nacks, [Nack { sn: 990, segment: None, range: 2 }]);
    }

    #[test]
    fn a_status_report_of_the_network_says_how_long_its_numbers_are() {
        let mut body = Vec::from([1, 0, 0, 0, 1, 0, 0, 0]);
        body.extend([3, 0, 44, 1, 0, 12, 3, 0]);
        body.extend([0x0A, 0xBC, 0x00]);
        let node = DL_STATUS[0].node(&body).unwrap();
        let pdu = node.list("pdus").next().and_then(|pdu| pdu.nr_status()).unwrap();
        assert_eq!((pdu.ack_sn(), pdu.nacks().count()), (Some(0xABC), 0));
    }
}
