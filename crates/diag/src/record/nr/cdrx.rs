//! 0xB890, discontinuous reception: how it is configured and when the receiver sleeps.
//!
//! Version 2.1; one source, not in a capture.

use super::{MAC_HEAD, VERSION};
use crate::layout::{
    Block, Count, Field, Layout, Names, Part, bits, flag, hex, names, u8, u32, uint,
};

const CONFIGURATION: &[Field] = &[
    flag("enabled", 16, 0),
    uint("on_duration", u8(18)),
    uint("inactivity_timer", u8(20)),
    uint("dl_harq_rtt_timer", u8(22)),
    uint("ul_harq_rtt_timer", u8(23)),
    uint("dl_retx_timer", u8(24)),
    uint("ul_retx_timer", u8(26)),
    uint("long_cycle_offset", u8(28)),
    uint("long_cycle", u8(32)),
    flag("short_cycle_enabled", 34, 0),
    uint("short_cycle_timer", u8(35)),
    uint("short_cycle", u8(36)),
    uint("slot_offset", u8(38)),
];

const STATE: Names = &[(0, "inactive"), (1, "active"), (2, "tx_pending")];
const REASON: Names = &[
    (0, "inactivity_expired"),
    (1, "on_duration_running"),
    (2, "on_duration_expired"),
    (3, "inactivity_running"),
    (7, "configuration"),
    (8, "external"),
];

const EVENT: &[Part] = &[Part::Block(Block {
    size: 24,
    fields: &[&[
        uint("frame", bits(0, 12, 3)),
        uint("slot", bits(0, 19, 13)),
        names("state", bits(3, 1, 0), STATE),
        names("reason", bits(3, 5, 2), REASON),
        uint("reference_count", u32(4)),
        uint("on_duration_frame", bits(8, 9, 0)),
        uint("on_duration_slot", bits(8, 16, 10)),
        uint("short_cycle_frame", bits(12, 9, 0)),
        uint("short_cycle_slot", bits(12, 16, 10)),
        uint("last_grant_frame", bits(16, 9, 0)),
        uint("last_grant_slot", bits(16, 16, 10)),
        hex("procedures", u8(20)),
    ]],
})];

pub(in super::super) static LAYOUTS: &[Layout] = &[Layout {
    versions: &[0x2_0001],
    parts: &[
        Part::Block(Block { size: 40, fields: &[VERSION, MAC_HEAD, CONFIGURATION] }),
        Part::List { name: "events", count: Count::Says(u8(15)), parts: EVENT },
    ],
}];
