//! 0xB061 and 0xB062, random access: why it was started and with what configuration, and each
//! attempt with its four messages.
//!
//! Packet version 1: 0xB061 with sub-packets 3 of versions 2, 4, 5 and 5 of versions 1 and 2;
//! 0xB062 with sub-packet 6 of versions 2, 3, 4, 49, 50. Source: docs/reference/diag.md, records
//! and layouts; 0xB061 3 v2 and v4 and 5 v1 and v2 and 0xB062 2, 3 and 4 agree with captures,
//! 0xB062 2, 3, 49 and 50 with the vectors of another decoder. Fields of messages that an
//! attempt did not reach have arbitrary values.

use super::sub::HEADER;
use crate::layout::{
    Block, Count, Field, Layout, Names, Part, SubLayout, bits, bytes, flag, hex, int, names, u8,
    u16, u32, uint,
};

/// Configuration of random access (TS 36.331 §6.3.2, RACH-ConfigCommon), from byte `$at` on.
macro_rules! config {
    ($at:expr) => {
        &[
            int("preamble_power_dbm", u16($at)),
            uint("power_ramping_step_db", u8($at + 2)),
            uint("ra_index_1", u8($at + 3)),
            uint("ra_index_2", u8($at + 4)),
            uint("max_preambles", u8($at + 5)),
            uint("contention_timer_ms", u16($at + 6)),
            uint("message_size_group_a", u16($at + 8)),
            uint("power_offset_group_b", u8($at + 10)),
            uint("p_max_dbm", u16($at + 11)),
            uint("delta_preamble_msg3", u16($at + 13)),
            uint("prach_config", u8($at + 15)),
            uint("zone_length", u8($at + 16)),
            uint("root_sequence", u16($at + 17)),
            uint("prach_frequency_offset", u8($at + 19)),
            uint("high_speed", u8($at + 20)),
            uint("max_msg3", u8($at + 21)),
            uint("response_window", u8($at + 22)),
        ]
    };
}

pub(super) const CONFIG: &[Field] = config!(0);
const CONFIG_OF_CELL: &[Field] = config!(1);
const CELL: &[Field] = &[uint("cell", u8(0))];

/// Configuration of one cell.
pub(super) const CELL_CONFIG: &[Part] = &[block(24, &[CELL, CONFIG_OF_CELL])];

/// Configuration with levels of coverage enhancement. It always has room for three and four of
/// them.
pub(super) const CONFIG_V5: &[Part] = &[
    block(24, &[CONFIG, &[uint("r13_present", u8(23))]]),
    block(1, &[&[uint("threshold_count", u8(0))]]),
    list("thresholds", Count::Of(u8(0), 3), &[block(1, &[&[uint("rsrp", u8(0))]])]),
    block(1, &[&[uint("level_count", u8(0))]]),
    list(
        "levels",
        Count::Of(u8(0), 4),
        &[block(
            7,
            &[&[
                uint("first_preamble", u8(0)),
                uint("last_preamble", u8(1)),
                uint("max_preambles", u8(2)),
                uint("contention_timer_ms", u16(3)),
                uint("prach_config", u8(5)),
                uint("response_window", u8(6)),
            ]],
        )],
    ),
    block(4, &[&[uint("initial_level", u16(0)), uint("max_preambles_of_level", u16(2))]]),
];

const REASON: Names = &[
    (0, "connection_request"),
    (1, "radio_link_failure"),
    (2, "uplink_data"),
    (3, "downlink_data"),
    (4, "handover"),
];
const CONTENTION: Names = &[(0, "free"), (1, "based")];
const RESULT: Names = &[(0, "success"), (1, "failure_at_msg2"), (4, "aborted")];

const fn block(size: u16, fields: &'static [&'static [Field]]) -> Part {
    Part::Block(Block { size, fields })
}

const fn list(name: &'static str, count: Count, parts: &'static [Part]) -> Part {
    Part::List { name, count, parts }
}

/// The reason of random access, after the fields of the cell.
macro_rules! reason {
    ($at:expr) => {
        &[
            names("reason", u8($at), REASON),
            bytes("matching_id", $at + 1, 6),
            names("contention", u8($at + 7), CONTENTION),
            uint("preamble", u8($at + 8)),
            hex("preamble_mask", u8($at + 9)),
            uint("msg3_bytes", u8($at + 10)),
            uint("group", u8($at + 11)),
            uint("radio_condition_db", u8($at + 12)),
            hex("c_rnti", u16($at + 13)),
        ]
    };
}

const SUBSCRIPTION: &[Field] = &[uint("subscription", u8(0)), uint("cell", u8(1))];
const REASON_V1: &[Field] = reason!(0);
const REASON_V2: &[Field] = reason!(2);

const fn config(versions: &'static [u8], parts: &'static [Part]) -> SubLayout {
    SubLayout { id: 3, name: "random_access", versions, parts }
}

const fn trigger(versions: &'static [u8], parts: &'static [Part]) -> SubLayout {
    SubLayout { id: 5, name: "reason", versions, parts }
}

pub(super) static TRIGGER_LAYOUTS: &[Layout] = &[Layout {
    versions: &[1],
    parts: &[
        HEADER,
        Part::SubPackets {
            count: u8(1),
            known: &[
                config(&[2], &[block(23, &[CONFIG])]),
                config(
                    &[4],
                    &[
                        block(2, &[&[uint("subscription", u8(0)), uint("cell_count", u8(1))]]),
                        list("cells", Count::Says(u8(1)), CELL_CONFIG),
                    ],
                ),
                config(&[5], CONFIG_V5),
                trigger(&[1], &[block(15, &[REASON_V1])]),
                trigger(&[2], &[block(17, &[SUBSCRIPTION, REASON_V2])]),
            ],
        },
    ],
}];

/// The result of the attempt, from byte `$at` on.
macro_rules! attempt {
    ($at:expr) => {
        &[
            uint("attempt", u8($at)),
            names("result", u8($at + 1), RESULT),
            names("contention", u8($at + 2), CONTENTION),
            flag("msg1_sent", $at + 3, 0),
            flag("msg2_received", $at + 3, 1),
            flag("msg3_sent", $at + 3, 2),
            uint("preamble", u8($at + 4)),
            hex("preamble_mask", u8($at + 5)),
            int("preamble_power_dbm", u16($at + 6)),
        ]
    };
}

/// The second and third message, from byte `$at` on; the grant is twenty bits.
macro_rules! messages {
    ($at:expr, $grant:expr) => {
        &[
            uint("backoff_ms", u16($at)),
            flag("response_received", $at + 2, 0),
            hex("temporary_c_rnti", u16($at + 3)),
            uint("timing_advance", u16($at + 5)),
            $grant,
            uint("grant_bytes", u16($at + 11)),
            uint("harq", u8($at + 13)),
            bytes("msg3", $at + 14, 10),
        ]
    };
}

/// Additional fields of newer modems, from byte `$at` on.
macro_rules! tail {
    ($at:expr) => {
        &[uint("ul_earfcn", u32($at)), uint("p_max_dbm", u8($at + 4))]
    };
}

const fn grant(at: u16) -> Field {
    hex("grant", bits(at, 19, 0))
}

const ATTEMPT: &[Field] = attempt!(0);
const ATTEMPT_V3: &[Field] = attempt!(2);
const LEVEL: &[Field] = &[uint("coverage_level", bits(8, 7, 0))];
const GROUP: &[Field] = &[int("group", u8(12))];
const MESSAGES_V2: &[Field] = messages!(8, grant(15));
const MESSAGES_V3: &[Field] = messages!(10, grant(17));
const MESSAGES_V4: &[Field] = messages!(9, grant(16));
/// In this version the grant has its highest byte first.
const MESSAGES_V50: &[Field] = messages!(13, bytes("grant", 20, 4));
const TAIL_V49: &[Field] = tail!(34);
const TAIL_V50: &[Field] = tail!(37);

const fn attempts(versions: &'static [u8], parts: &'static [Part]) -> SubLayout {
    SubLayout { id: 6, name: "attempt", versions, parts }
}

pub(super) static ATTEMPT_LAYOUTS: &[Layout] = &[Layout {
    versions: &[1],
    parts: &[
        HEADER,
        Part::SubPackets {
            count: u8(1),
            known: &[
                // The one record in a capture has a word more, which is no message.
                attempts(&[2], &[block(32, &[ATTEMPT, MESSAGES_V2]), Part::Padding(4)]),
                attempts(&[3], &[block(34, &[SUBSCRIPTION, ATTEMPT_V3, MESSAGES_V3])]),
                attempts(&[4], &[block(33, &[ATTEMPT, LEVEL, MESSAGES_V4])]),
                attempts(&[49], &[block(48, &[SUBSCRIPTION, ATTEMPT_V3, MESSAGES_V3, TAIL_V49])]),
                attempts(
                    &[50],
                    &[block(51, &[SUBSCRIPTION, ATTEMPT_V3, GROUP, MESSAGES_V50, TAIL_V50])],
                ),
            ],
        },
    ],
}];
