//! 0xB060, MAC configuration: timers of buffer status reports and timing, random access, logical
//! channels and their groups.
//!
//! Packet version 1 with sub-packets 0, 1, 2, 4, 13 of versions 1 and 2, 3 of versions 1, 2 and 5,
//! 14 and 18 of version 1. Source: docs/reference/diag.md, records and layouts; all of version 1,
//! 1, 2, 3, 4 and 13 of version 2, 14 and 18 agree with captures field by field. Times are
//! milliseconds; 65535 is infinity.

use super::rach;
use super::sub::HEADER;
use crate::layout::{
    Block, Count, Field, Layout, Names, Part, SubLayout, bytes, flag, hex, names, u8, u16, u32,
    uint,
};

const REASON: Names = &[(0, "normal"), (2, "connection_release")];

const SUBSCRIPTION: &[Field] = &[uint("subscription", u8(0))];

const fn block(size: u16, fields: &'static [&'static [Field]]) -> Part {
    Part::Block(Block { size, fields })
}

/// Room for logical channels. The source counts 290 bytes of them.
const CHANNELS: u16 = 32;

/// Room for channels of broadcast, whose format is unknown.
const UNUSED: Part = Part::Padding(98);

const fn list(name: &'static str, count: Count, parts: &'static [Part]) -> Part {
    Part::List { name, count, parts }
}

/// Timers of the uplink, from byte `$at` on.
macro_rules! uplink {
    ($at:expr) => {
        &[
            flag("sr_present", $at, 0),
            uint("sr_period_ms", u16($at + 1)),
            uint("bsr_timer_ms", u16($at + 3)),
            uint("sps_releases", u16($at + 5)),
            uint("retx_bsr_timer_ms", u16($at + 7)),
        ]
    };
}

const UPLINK: &[Field] = uplink!(0);
const UPLINK_V2: &[Field] = uplink!(1);

const CHANNEL: &[Part] = &[block(
    9,
    &[&[
        uint("channel", u8(0)),
        uint("prioritised_kbytes_per_sec", u16(1)),
        uint("priority", u8(3)),
        uint("group", u8(4)),
        uint("bucket_bytes", u32(5)),
    ]],
)];

const fn config(id: u8, version: &'static [u8], parts: &'static [Part]) -> SubLayout {
    let name = match id {
        0 => "reason",
        1 => "downlink",
        2 => "uplink",
        3 => "random_access",
        4 => "logical_channels",
        13 => "embms",
        14 => "random_access_of_cells",
        _ => "els",
    };
    SubLayout { id, name, versions: version, parts }
}

const KNOWN: &[SubLayout] = &[
    config(0, &[1], &[block(4, &[&[names("reason", u8(0), REASON), hex("config_mask", u8(1))]])]),
    config(
        0,
        &[2],
        &[block(4, &[SUBSCRIPTION, &[names("reason", u8(1), REASON), hex("config_mask", u8(2))]])],
    ),
    config(1, &[1], &[block(4, &[&[uint("ta_timer_ms", u16(0))]])]),
    config(
        1,
        &[2],
        &[
            block(2, &[SUBSCRIPTION, &[uint("group_count", u8(1))]]),
            list(
                "groups",
                Count::Says(u8(1)),
                &[block(
                    6,
                    &[&[
                        uint("group", u8(0)),
                        hex("scells", u8(1)),
                        uint("ta_timer_present", u8(2)),
                        uint("ta_timer_ms", u16(3)),
                    ]],
                )],
            ),
        ],
    ),
    config(2, &[1], &[block(12, &[UPLINK])]),
    config(2, &[2], &[block(12, &[SUBSCRIPTION, UPLINK_V2])]),
    config(3, &[1, 2], &[block(23, &[rach::CONFIG])]),
    config(3, &[5], rach::CONFIG_V5),
    config(
        4,
        &[1],
        &[
            block(
                34,
                &[&[
                    uint("deleted_count", u8(0)),
                    bytes("deleted_channels", 1, 32),
                    uint("channel_count", u8(33)),
                ]],
            ),
            list("channels", Count::Of(u8(33), CHANNELS), CHANNEL),
        ],
    ),
    config(
        4,
        &[2],
        &[
            block(
                35,
                &[
                    SUBSCRIPTION,
                    &[
                        uint("deleted_count", u8(1)),
                        bytes("deleted_channels", 2, 32),
                        uint("channel_count", u8(34)),
                    ],
                ],
            ),
            list("channels", Count::Of(u8(34), CHANNELS), CHANNEL),
        ],
    ),
    config(13, &[1], &[block(2, &[&[uint("active_channels", u16(0))]]), UNUSED]),
    config(13, &[2], &[block(3, &[SUBSCRIPTION, &[uint("active_channels", u16(1))]]), UNUSED]),
    config(
        14,
        &[1],
        &[
            block(3, &[SUBSCRIPTION, &[hex("valid_cells", u8(1)), hex("new_cells", u8(2))]]),
            list("cells", Count::Fixed(8), rach::CELL_CONFIG),
        ],
    ),
    config(
        18,
        &[1],
        &[block(
            4,
            &[
                SUBSCRIPTION,
                &[uint("ul_channel", u8(1)), uint("dl_channel", u8(2)), uint("retx_timer", u8(3))],
            ],
        )],
    ),
];

pub(super) static LAYOUTS: &[Layout] =
    &[Layout { versions: &[1], parts: &[HEADER, Part::SubPackets { count: u8(1), known: KNOWN }] }];
