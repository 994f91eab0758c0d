//! 0xB0A1 and 0xB0B6, PDCP as newer modems log it: delivered downlink data, with the modem's clock,
//! and the waiting time of uplink packets.
//!
//! 0xB0A1 version 53, 0xB0B6 version 56. Source: docs/reference/diag.md, records and layouts; no
//! capture has them.

use crate::layout::{Block, Count, Field, Layout, Names, Part, bits, names, u8, u16, u32, uint};

const PATH: Names = &[(0, "mcg")];
const ROUTE: Names = &[(1, "delivered_directly")];

const fn list(name: &'static str, count: Count, parts: &'static [Part]) -> Part {
    Part::List { name, count, parts }
}

pub(super) static DATA_LAYOUTS: &[Layout] = &[Layout {
    versions: &[53],
    parts: &[
        Part::Block(Block {
            size: 10,
            fields: &[&[
                uint("version", u8(0)),
                uint("delivery_count", u16(4)),
                uint("bearer_count", u16(6)),
                uint("log_count", u16(8)),
            ]],
        }),
        list(
            "bearers",
            Count::Says(u16(6)),
            &[Part::Block(Block {
                size: 16,
                fields: &[&[
                    uint("rb_config", u8(0)),
                    uint("sn_bits", u8(3)),
                    uint("rx_deliv", u32(4)),
                    uint("rx_next", u32(8)),
                    uint("next_count", u32(12)),
                ]],
            })],
        ),
        list(
            "deliveries",
            Count::Says(u16(4)),
            &[Part::Block(Block {
                size: 39,
                fields: &[&[
                    uint("subframe", u16(0)),
                    uint("frame", u16(2)),
                    uint("rx_ticks", u32(4)),
                    uint("rb_config", u8(13)),
                    uint("key_index", u8(14)),
                    names("path", bits(15, 0, 0), PATH),
                    names("route", bits(16, 0, 0), ROUTE),
                    uint("start_count", u32(19)),
                    uint("end_count", u32(23)),
                    uint("rlc_end_sn", u32(27)),
                    uint("ip_packets", u8(31)),
                    uint("ip_bytes", u32(35)),
                ]],
            })],
        ),
    ],
}];

/// Packets by how long they waited: thirty steps of eight milliseconds, and longer.
const HISTOGRAM: &[Field] = &[
    uint("packets_0_8_ms", u32(4)),
    uint("packets_8_16_ms", u32(8)),
    uint("packets_16_24_ms", u32(12)),
    uint("packets_24_32_ms", u32(16)),
    uint("packets_32_40_ms", u32(20)),
    uint("packets_40_48_ms", u32(24)),
    uint("packets_48_56_ms", u32(28)),
    uint("packets_56_64_ms", u32(32)),
    uint("packets_64_72_ms", u32(36)),
    uint("packets_72_80_ms", u32(40)),
    uint("packets_80_88_ms", u32(44)),
    uint("packets_88_96_ms", u32(48)),
    uint("packets_96_104_ms", u32(52)),
    uint("packets_104_112_ms", u32(56)),
    uint("packets_112_120_ms", u32(60)),
    uint("packets_120_128_ms", u32(64)),
    uint("packets_128_136_ms", u32(68)),
    uint("packets_136_144_ms", u32(72)),
    uint("packets_144_152_ms", u32(76)),
    uint("packets_152_160_ms", u32(80)),
    uint("packets_160_168_ms", u32(84)),
    uint("packets_168_176_ms", u32(88)),
    uint("packets_176_184_ms", u32(92)),
    uint("packets_184_192_ms", u32(96)),
    uint("packets_192_200_ms", u32(100)),
    uint("packets_200_208_ms", u32(104)),
    uint("packets_208_216_ms", u32(108)),
    uint("packets_216_224_ms", u32(112)),
    uint("packets_224_232_ms", u32(116)),
    uint("packets_232_240_ms", u32(120)),
    uint("packets_240_ms_and_more", u32(124)),
];

pub(super) static DELAY_LAYOUTS: &[Layout] = &[Layout {
    versions: &[56],
    parts: &[
        Part::Block(Block {
            size: 8,
            fields: &[&[
                uint("version", u8(0)),
                uint("bearer_count", u8(4)),
                uint("reset_count", u8(5)),
            ]],
        }),
        list(
            "bearers",
            Count::Says(u8(4)),
            &[Part::Block(Block {
                size: 140,
                fields: &[
                    &[uint("rb_config", u8(0)), uint("discard_timer_ms", u16(1))],
                    HISTOGRAM,
                    &[uint("discarded_pdus", u8(128)), uint("discarded_bytes", u8(129))],
                ],
            })],
        ),
    ],
}];
