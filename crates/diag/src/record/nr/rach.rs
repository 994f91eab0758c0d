//! 0xB889, 0xB88A: why a random access was begun, and how it went.
//!
//! Versions 2.1 and 3.7, and 3.8; one source each, none in a capture.

use super::{MAC_HEAD, NUMEROLOGY, RECORD_COUNT_3, VERSION};
use crate::layout::{
    Block, Field, Layout, Names, Part, bits, bytes, flag, hex, names, u8, u16, uint,
};

const REASON: Names = &[
    (0, "connection_request"),
    (1, "radio_link_failure"),
    (2, "handover"),
    (3, "uplink_data"),
    (6, "beam_failure"),
];
const CONTENTION: Names =
    &[(0, "free"), (1, "downlink_mac"), (2, "uplink_grant"), (3, "pdcch_c_rnti")];

const TRIGGER_V2_1: &[Field] = &[
    uint("c_rnti", u16(16)),
    names("reason", u8(18), REASON),
    uint("carrier", u8(19)),
    uint("first_uplink_bwp", u8(20)),
    names("contention", u8(21), CONTENTION),
    uint("preamble", u8(22)),
    uint("msg3_bytes", u8(23)),
    bytes("msg3", 24, 6),
];
const TRIGGER_V3_7: &[Field] = &[
    uint("frame", bits(8, 9, 0)),
    uint("subframe", bits(8, 13, 10)),
    uint("slot", u8(10)),
    names("numerology", u8(11), NUMEROLOGY),
    uint("c_rnti", u16(12)),
    names("reason", bits(14, 2, 0), REASON),
    uint("carrier", u8(15)),
    uint("first_uplink_bwp", u8(16)),
    uint("downlink_bwp", u8(17)),
    flag("uplink_resources", 18, 0),
    flag("downlink_resources", 19, 0),
];

pub(in super::super) static TRIGGER: &[Layout] = &[
    Layout {
        versions: &[0x2_0001],
        parts: &[Part::Block(Block { size: 30, fields: &[VERSION, MAC_HEAD, TRIGGER_V2_1] })],
    },
    Layout {
        versions: &[0x3_0007],
        parts: &[Part::Block(Block { size: 56, fields: &[VERSION, RECORD_COUNT_3, TRIGGER_V3_7] })],
    },
];

const ATTEMPT_V3_8: &[Field] = &[
    uint("attempts", u8(8)),
    uint("ssb", u8(10)),
    hex("messages", u8(16)),
    uint("msg1_frame", bits(52, 9, 0)),
    uint("msg1_subframe", bits(52, 15, 10)),
    uint("msg1_slot", u8(54)),
    uint("prach_config", u8(58)),
    uint("root_sequence", u16(60)),
    uint("preamble", u8(62)),
    uint("frequency_occasion", u8(63)),
    uint("cyclic_shift", u16(64)),
    uint("n_cs", u16(66)),
    uint("ra_rnti", u16(68)),
    uint("path_loss_regular", u16(70)),
    uint("path_loss_pmin", u16(72)),
    uint("window_start_frame", bits(76, 9, 0)),
    uint("window_start_subframe", bits(76, 15, 10)),
    uint("window_start_slot", u8(78)),
    uint("window_end_frame", bits(80, 9, 0)),
    uint("window_end_subframe", bits(80, 15, 10)),
    uint("window_end_slot", u8(82)),
    uint("msg2_frame", bits(96, 9, 0)),
    uint("msg2_subframe", bits(96, 15, 10)),
    uint("msg2_slot", u8(98)),
    uint("backoff", u16(100)),
    uint("temporary_c_rnti", u16(102)),
    uint("timing_advance", u8(104)),
    uint("preamble_answered", u8(116)),
];

pub(in super::super) static ATTEMPT: &[Layout] = &[Layout {
    versions: &[0x3_0008],
    parts: &[Part::Block(Block { size: 160, fields: &[VERSION, RECORD_COUNT_3, ATTEMPT_V3_8] })],
}];
