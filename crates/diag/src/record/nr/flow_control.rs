//! 0xB89C, how the modem throttles itself: uplink, control channel, or transmit power.
//!
//! Version 2.1; one source, not in a capture.

use super::HEADER_2;
use crate::layout::{Block, Count, Layout, Names, Part, bits, names, u8, u16, uint};

const REASON: Names = &[(0, "uplink"), (1, "pucch"), (2, "transmit_power")];

const UPLINK: &[Part] = &[Part::Block(Block {
    size: 27,
    fields: &[&[
        uint("configured_throttle", u8(9)),
        uint("current_throttle", u8(11)),
        uint("cool_down_time", u8(15)),
        uint("step_timer", u16(19)),
    ]],
})];
const PUCCH: &[Part] = &[Part::Block(Block {
    size: 27,
    fields: &[&[
        uint("pucch_period", u8(5)),
        uint("time_up", u8(7)),
        uint("time_down", u8(9)),
        uint("step_timer", u16(11)),
    ]],
})];
const POWER: &[Part] = &[Part::Block(Block {
    size: 27,
    fields: &[&[
        uint("initial_backoff", u8(5)),
        uint("least_power", u8(9)),
        uint("time_up", u8(11)),
        uint("time_down", u8(13)),
        uint("step_timer", u16(15)),
    ]],
})];
const OTHER: &[Part] = &[Part::Block(Block { size: 27, fields: &[] })];

const fn kind(name: &'static str, reasons: &'static [u64], parts: &'static [Part]) -> Part {
    Part::List { name, count: Count::When(bits(0, 3, 0), reasons), parts }
}

const RECORD: &[Part] = &[
    Part::Block(Block { size: 1, fields: &[&[names("reason", bits(0, 3, 0), REASON)]] }),
    kind("uplink", &[0], UPLINK),
    kind("pucch", &[1], PUCCH),
    kind("transmit_power", &[2], POWER),
    kind("other", &[3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15], OTHER),
];

pub(in super::super) static LAYOUTS: &[Layout] = &[Layout {
    versions: &[0x2_0001],
    parts: &[HEADER_2, Part::List { name: "records", count: Count::Says(u8(15)), parts: RECORD }],
}];
