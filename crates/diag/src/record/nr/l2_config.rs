//! 0xB84B, 0xB871: configuration of PDCP and RLC, downlink and uplink, with the keys in use.
//!
//! Version 5 of each; one source, none in a capture.

use super::{RB_MODE, RB_TYPE, VERSION};
use crate::layout::{
    Block, Count, Field, Layout, Names, Part, bits, bytes, flag, hex, names, u8, u16, u32, uint,
};

const CIPHER: Names = &[(0, "none"), (2, "aes")];

/// The configuration of one cell group, which starts at `$at`.
macro_rules! cell_group {
    ($at:expr, $drbs:literal, $srbs:literal, $srb:literal, $srb_index:literal, $srb_key:literal,
     $srb_integrity:literal, $srb_integrity_index:literal, $srb_integrity_key:literal,
     $drb:literal, $drb_index:literal, $drb_key:literal,
     $drb_integrity:literal, $drb_integrity_index:literal, $drb_integrity_key:literal) => {
        &[
            hex($drbs, u32($at)),
            hex($srbs, u8($at + 4)),
            names($srb, bits($at + 5, 1, 0), CIPHER),
            uint($srb_index, u8($at + 6)),
            bytes($srb_key, $at + 7, 16),
            names($srb_integrity, bits($at + 23, 1, 0), CIPHER),
            uint($srb_integrity_index, u8($at + 24)),
            bytes($srb_integrity_key, $at + 25, 16),
            names($drb, bits($at + 41, 1, 0), CIPHER),
            uint($drb_index, u8($at + 42)),
            bytes($drb_key, $at + 43, 16),
            names($drb_integrity, bits($at + 59, 1, 0), CIPHER),
            uint($drb_integrity_index, u8($at + 60)),
            bytes($drb_integrity_key, $at + 61, 16),
        ]
    };
}

const MASTER: &[Field] = cell_group!(
    8,
    "mcg_drbs",
    "mcg_srbs",
    "mcg_srb_cipher",
    "mcg_srb_cipher_key_index",
    "mcg_srb_cipher_key",
    "mcg_srb_integrity",
    "mcg_srb_integrity_key_index",
    "mcg_srb_integrity_key",
    "mcg_drb_cipher",
    "mcg_drb_cipher_key_index",
    "mcg_drb_cipher_key",
    "mcg_drb_integrity",
    "mcg_drb_integrity_key_index",
    "mcg_drb_integrity_key"
);
const SECONDARY: &[Field] = cell_group!(
    85,
    "scg_drbs",
    "scg_srbs",
    "scg_srb_cipher",
    "scg_srb_cipher_key_index",
    "scg_srb_cipher_key",
    "scg_srb_integrity",
    "scg_srb_integrity_key_index",
    "scg_srb_integrity_key",
    "scg_drb_cipher",
    "scg_drb_cipher_key_index",
    "scg_drb_cipher_key",
    "scg_drb_integrity",
    "scg_drb_integrity_key_index",
    "scg_drb_integrity_key"
);

const DL_HEAD: &[Field] = &[hex("config_mask", u8(5)), uint("radio_bearer_count", bits(6, 3, 0))];
const DL_TAIL: &[Field] = &[
    hex("pdcp_drbs_released", u32(162)),
    hex("rlc_drbs_released", u32(166)),
    hex("pdcp_srbs_released", u8(170)),
    hex("rlc_srbs_released", u8(171)),
    hex("pdcp_drbs_changed", u32(174)),
    hex("rlc_drbs_changed", u32(178)),
    hex("pdcp_srbs_changed", u8(182)),
    hex("rlc_srbs_changed", u8(183)),
];

const PATH: Names = &[(2, "nr")];
const ACTION: Names = &[(1, "add")];

const DL_BEARER: &[Part] = &[Part::Block(Block {
    size: 42,
    fields: &[&[
        names("mode", bits(0, 0, 0), RB_MODE),
        uint("radio_bearer_index", u8(1)),
        uint("eps_bearer", u8(2)),
        names("type", bits(4, 1, 0), RB_TYPE),
        names("action", u8(5), ACTION),
        names("rlc_path", bits(6, 1, 0), PATH),
        names("pdcp_path", bits(7, 1, 0), PATH),
        hex("config_mask", u8(8)),
        hex("pdcp_config_mask", u8(17)),
        uint("pdcp_sn_len_bits", u8(20)),
        flag("integrity_protection", 21, 0),
        flag("status_report_required", 22, 0),
        flag("out_of_order_delivery", 23, 0),
        uint("reordering_ms", u16(24)),
        uint("channel", u8(33)),
        uint("rlc_action", u8(34)),
        hex("rlc_config_mask", u8(35)),
        flag("rlc_reestablish", 36, 0),
        uint("status_prohibit_ms", u16(37)),
        uint("reassembly_ms", u16(39)),
        uint("rlc_sn_len_bits", u8(41)),
    ]],
})];

pub(in super::super) static DOWNLINK: &[Layout] = &[Layout {
    versions: &[5],
    parts: &[
        Part::Block(Block { size: 186, fields: &[VERSION, DL_HEAD, MASTER, SECONDARY, DL_TAIL] }),
        Part::List { name: "radio_bearers", count: Count::Says(bits(6, 3, 0)), parts: DL_BEARER },
    ],
}];

const UL_HEAD: &[Field] = &[
    uint("radio_bearer_count", bits(5, 5, 0)),
    hex("configured_srbs", bits(5, 7, 6)),
    hex("configured_drbs", u8(8)),
    hex("drbs", u32(36)),
    hex("srbs", u32(40)),
    names("srb_cipher", bits(44, 3, 0), CIPHER),
    uint("srb_cipher_key_index", bits(44, 7, 4)),
    names("srb_integrity", bits(45, 3, 0), CIPHER),
    uint("srb_integrity_key_index", bits(45, 7, 4)),
    names("drb_cipher", bits(46, 3, 0), CIPHER),
    uint("drb_cipher_key_index", bits(46, 7, 4)),
    names("drb_integrity", bits(47, 3, 0), CIPHER),
    uint("drb_integrity_key_index", bits(47, 7, 4)),
    bytes("srb_cipher_key", 48, 16),
    bytes("srb_integrity_key", 64, 16),
    bytes("drb_cipher_key", 80, 16),
    bytes("drb_integrity_key", 96, 16),
    hex("rlc_srbs", bits(112, 2, 0)),
    hex("pdcp_srbs", bits(112, 5, 3)),
    hex("pdcp_drbs", u8(116)),
    hex("rlc_drbs", u8(120)),
];

const UL_BEARER: &[Part] = &[Part::Block(Block {
    size: 24,
    fields: &[&[
        uint("channel", bits(0, 5, 0)),
        uint("radio_bearer", bits(0, 7, 6)),
        uint("eps_bearer", bits(1, 7, 4)),
        flag("integrity_protection", 6, 1),
        uint("poll_bytes", u32(8)),
        uint("poll_pdus", u16(12)),
        uint("poll_retx_ms", u16(14)),
        uint("max_retx", u16(16)),
        uint("discard_ms", u16(18)),
    ]],
})];

pub(in super::super) static UPLINK: &[Layout] = &[Layout {
    versions: &[5],
    parts: &[
        Part::Block(Block { size: 124, fields: &[VERSION, UL_HEAD] }),
        Part::List { name: "radio_bearers", count: Count::Says(bits(5, 5, 0)), parts: UL_BEARER },
    ],
}];
