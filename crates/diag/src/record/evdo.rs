//! 1xEV-DO: 0x106E connection attempts, 0x1071 why a connection ended, 0x118A searching while
//! connected.
//!
//! 0x118A has version 0, the others none. Source: docs/reference/diag.md, records and layouts;
//! 0x106E and 0x1071 agree with a capture field by field.

use crate::layout::{Block, Field, Layout, Names, Part, bits, bytes, names, u8, u16, u32, uint};

const fn block(size: u16, fields: &'static [&'static [Field]]) -> Part {
    Part::Block(Block { size, fields })
}

const OUTCOME: Names = &[(12, "reserved"), (15, "success")];
const ASSIGNMENT: Names = &[(0, "none"), (2, "assigned_and_acknowledged")];

pub(super) static ATTEMPT_LAYOUTS: &[Layout] = &[Layout {
    versions: &[],
    parts: &[block(
        24,
        &[&[
            uint("transaction", u8(0)),
            uint("message_sequence", u8(1)),
            names("outcome", bits(2, 3, 0), OUTCOME),
            names("assignment", bits(2, 7, 4), ASSIGNMENT),
            uint("duration", u16(3)),
            uint("successes", u32(5)),
            uint("failures", u32(9)),
            uint("attempts", u32(13)),
            uint("pilot", u16(17)),
            bytes("sector_low", 19, 2),
            bytes("sector_high", 21, 1),
            uint("color_code", u8(22)),
            uint("active_set_changes", u8(23)),
        ]],
    )],
}];

pub(super) static RELEASE_LAYOUTS: &[Layout] = &[Layout {
    versions: &[],
    parts: &[block(1, &[&[names("reason", u8(0), &[(0, "closed_by_network")])]])],
}];

/// All counters of a search, which start at `$at`.
macro_rules! counters {
    ($at:expr, $since:literal) => {
        &[
            uint(concat!("serving_sector_handoffs_", $since), u32($at)),
            uint(concat!("active_set_additions_", $since), u32($at + 4)),
            uint(concat!("active_set_drops_", $since), u32($at + 8)),
            uint(concat!("remaining_to_candidate_", $since), u32($at + 12)),
            uint(concat!("neighbour_to_remaining_", $since), u32($at + 16)),
            uint(concat!("drop_timer_starts_", $since), u32($at + 20)),
            uint(concat!("drop_timer_cancels_", $since), u32($at + 24)),
            uint(concat!("drop_timer_expiries_", $since), u32($at + 28)),
            uint(concat!("off_frequency_searches_", $since), u32($at + 32)),
            uint(concat!("active_set_pilots_", $since), u32($at + 36)),
            uint(concat!("candidate_set_pilots_", $since), u32($at + 40)),
            uint(concat!("neighbour_set_pilots_", $since), u32($at + 44)),
            uint(concat!("assigned_fingers_", $since), u32($at + 48)),
            uint(concat!("locked_fingers_", $since), u32($at + 52)),
            uint(concat!("triages_", $since), u32($at + 56)),
        ]
    };
}

pub(super) static SEARCH_LAYOUTS: &[Layout] = &[Layout {
    versions: &[0],
    parts: &[block(
        123,
        &[
            &[uint("version", u8(0))],
            counters!(1, "since_reset"),
            counters!(61, "since_last_call"),
            &[uint("rssi_raw", u8(121)), uint("data_level", u8(122))],
        ],
    )],
}];
