//! 0xB96F, 0xB975, 0xB98F, 0xB9BF: measurement events, beams, antenna switching and the cells found
//! for a handover.
//!
//! Each has one version and one source, and none is in a capture. Levels are in steps of 1/128 dB,
//! and zero means "not measured", as in 0xB97F, where vectors confirm it. The unit of the levels in
//! 0xB9BF is not public.

use super::{NUMEROLOGY, VERSION};
use crate::layout::{
    Block, Count, Field, Layout, Names, Part, bits, flag, hex, int, names, scaled_int, u8, u16,
    u32, uint,
};

const fn level(name: &'static str, at: u16) -> Field {
    scaled_int(name, u32(at), 1.0 / 128.0, 0.0).unless_itself_zero()
}

const EVENTS_V2_3: &[Field] = &[
    uint("slot", bits(5, 6, 2)),
    uint("subframe", bits(5, 10, 7)),
    uint("frame", bits(5, 20, 11)),
    uint("cell_count", u8(8)),
];

const EVENT: Names = &[(0, "entering"), (1, "entered"), (2, "leaving"), (3, "left")];

const EVENT_CELL: &[Part] = &[Part::Block(Block {
    size: 8,
    fields: &[&[
        names("state", bits(1, 1, 0), EVENT),
        uint("measurement", u8(2)),
        uint("reports_sent", u8(3)),
        uint("pci", u16(4)),
        uint("time_to_trigger_left", u16(6)),
    ]],
})];

pub(in super::super) static EVENTS: &[Layout] = &[Layout {
    versions: &[0x2_0003],
    parts: &[
        Part::Block(Block { size: 12, fields: &[VERSION, EVENTS_V2_3] }),
        Part::List { name: "cells", count: Count::Says(u8(8)), parts: EVENT_CELL },
    ],
}];

const BEAMS_V2_1: &[Field] = &[
    uint("pci", u16(4)),
    uint("ssb_period_ms", u8(8)),
    uint("serving_ssb", bits(9, 7, 4)),
    level("rsrp_dbm", 12),
    level("rsrq_db", 16),
    int("frequency_offset", u32(28)),
    int("time_offset", u32(32)),
    uint("beam_count", u8(36)),
];

const BEAM: &[Part] = &[Part::Block(Block {
    size: 16,
    fields: &[&[uint("tx_beam", u16(0)), level("rsrp_dbm", 4), level("rsrq_db", 8)]],
})];

pub(in super::super) static BEAMS: &[Layout] = &[Layout {
    versions: &[0x2_0001],
    parts: &[
        Part::Block(Block { size: 40, fields: &[VERSION, BEAMS_V2_1] }),
        Part::List { name: "beams", count: Count::Says(u8(36)), parts: BEAM },
    ],
}];

const ANTENNAS_V2_2: &[Field] = &[
    uint("frame", bits(4, 9, 0)),
    uint("subframe", bits(4, 13, 10)),
    uint("slot", u8(6)),
    names("numerology", bits(7, 2, 0), NUMEROLOGY),
    uint("action_frame", bits(12, 9, 0)),
    uint("action_subframe", bits(12, 13, 10)),
    uint("action_slot", u8(14)),
    names("action_numerology", bits(15, 2, 0), NUMEROLOGY),
];

const MODE: Names = &[(0, "invalid"), (1, "normal"), (2, "edge")];
const REASON: Names = &[(0, "unset"), (4, "normal"), (5, "edge")];

const SWITCH: Block = Block {
    size: 4,
    fields: &[&[
        names("mode", bits(0, 1, 0), MODE),
        names("reason", bits(0, 4, 2), REASON),
        flag("denied_as_same", 1, 1),
    ]],
};

const CHAIN: &[Part] = &[Part::Block(Block {
    size: 24,
    fields: &[&[
        uint("old_antenna", u8(20)),
        uint("switch_type", u8(22)),
        uint("new_antenna", u8(23)),
    ]],
})];

pub(in super::super) static ANTENNAS: &[Layout] = &[Layout {
    versions: &[0x2_0002],
    parts: &[
        Part::Block(Block { size: 28, fields: &[VERSION, ANTENNAS_V2_2] }),
        Part::Block(SWITCH),
        Part::List { name: "chains", count: Count::Fixed(6), parts: CHAIN },
        Part::Block(Block { size: 2, fields: &[] }),
    ],
}];

const HANDOVER_V2_7: &[Field] = &[
    uint("slot", u8(4)),
    uint("subframe", bits(5, 10, 7)),
    uint("frame", bits(5, 20, 11)),
    names("numerology", bits(5, 23, 21), NUMEROLOGY),
];

const FOUND: Block = Block {
    size: 40,
    fields: &[&[
        uint("arfcn", u32(8)),
        uint("pci", u16(12)),
        uint("ssb_count", u8(14)),
        uint("best_tx_beam", u8(15)),
        hex("rsrp_raw", u32(16)),
        hex("rsrq_raw", u32(20)),
        hex("sinr_raw", u32(24)),
        uint("rx_beam_0", u16(28)),
        uint("rx_beam_1", u16(30)),
        uint("center_arfcn", u32(32)),
        int("frequency_offset", u32(36)),
    ]],
};

pub(in super::super) static HANDOVER: &[Layout] = &[Layout {
    versions: &[0x2_0007],
    parts: &[Part::Block(Block { size: 8, fields: &[VERSION, HANDOVER_V2_7] }), Part::Block(FOUND)],
}];
