//! 0xB167, 0xB168 and 0xB169, random access as ML1 sees it: the preamble, the answer to it and the
//! third message.
//!
//! 0xB167 versions 5 and 40, 0xB168 version 24, 0xB169 version 40. Source: docs/reference/diag.md,
//! records and layouts. 0xB167 5 is 40 without the carrier, found in a capture: preamble, offset
//! and window there agree with MAC and with the cell's system information. If a field of the source
//! is too narrow for its values, it extends here to the next field.

use super::common::CARRIER;
use crate::layout::{Block, Field, Layout, Names, Part, bits, flag, int, names, u8, u16, uint};

const MODULATION: Names = &[(1, "qpsk"), (2, "16qam"), (3, "64qam"), (4, "256qam")];
const DUPLEX: Names = &[(0, "fdd"), (1, "tdd")];

const fn layout(versions: &'static [u32], parts: &'static [Part]) -> Layout {
    Layout { versions, parts }
}

const fn block(size: u16, fields: &'static [&'static [Field]]) -> Part {
    Part::Block(Block { size, fields })
}

/// A time whose word is at `$at`.
macro_rules! time {
    ($frame:literal, $subframe:literal, $at:expr) => {
        &[uint($frame, bits($at, 9, 0)), uint($subframe, bits($at, 15, 12))]
    };
}

/// The preamble, whose lowest bit is `$lo` of the second word.
macro_rules! preamble {
    ($lo:expr) => {
        &[
            uint("version", u8(0)),
            uint("preamble", bits(4, $lo + 5, $lo)),
            uint("physical_root", bits(4, $lo + 15, $lo + 6)),
            uint("cyclic_shift", bits(4, $lo + 26, $lo + 16)),
        ]
    };
}

/// Powers are two's complement: the source takes 255 from all of them, which leaves no positive
/// one.
const REQUEST: &[Field] = &[
    int("power_dbm", u8(8)),
    uint("beta", bits(9, 10, 0)),
    uint("frequency_offset_prb", bits(9, 15, 11)),
    uint("ra_rnti", u16(20)),
    int("sent_power_dbm", u8(24)),
];
const REQUEST_V40: &[Field] = &[
    names("carrier", bits(4, 1, 0), CARRIER),
    names("duplex_mode", bits(11, 0, 0), DUPLEX),
    uint("preamble_format", bits(11, 3, 1)),
    uint("density", bits(13, 2, 0)),
    uint("config_index", bits(25, 5, 0)),
    int("frequency_error", u16(28)),
];
const SENT: &[Field] = time!("frame", "subframe", 14);
const WINDOW_START: &[Field] = time!("window_start_frame", "window_start_subframe", 16);
const WINDOW_END: &[Field] = time!("window_end_frame", "window_end_subframe", 18);

pub(super) static REQUEST_LAYOUTS: &[Layout] = &[
    layout(&[5], &[block(28, &[preamble!(0), REQUEST, SENT, WINDOW_START, WINDOW_END])]),
    layout(
        &[40],
        &[block(32, &[preamble!(3), REQUEST, REQUEST_V40, SENT, WINDOW_START, WINDOW_END])],
    ),
];

const RNTI_KIND: Names = &[(8, "temporary_c_rnti")];
const PROCEDURE: Names = &[(0, "initial_access")];

/// The source calls four bits of the time the frame and ten the subframe.
pub(super) static RESPONSE_LAYOUTS: &[Layout] = &[layout(
    &[24],
    &[block(
        12,
        &[
            &[
                uint("version", u8(0)),
                names("carrier", bits(3, 1, 0), CARRIER),
                names("rnti_kind", bits(4, 3, 0), RNTI_KIND),
                names("procedure", bits(4, 6, 4), PROCEDURE),
                flag("contention_free", 4, 7),
                uint("timing_advance_included", bits(4, 9, 8)),
                uint("rnti", bits(4, 25, 10)),
                uint("timing_advance", bits(10, 10, 0)),
            ],
            time!("frame", "subframe", 8),
        ],
    )],
)];

/// The source takes five bits for the MCS and a power command, which need seven: neither is read.
pub(super) static IDENTIFICATION_LAYOUTS: &[Layout] = &[layout(
    &[40],
    &[block(
        12,
        &[&[
            uint("version", u8(0)),
            names("modulation", bits(1, 2, 0), MODULATION),
            names("carrier", bits(2, 1, 0), CARRIER),
            flag("delayed", 4, 5),
            flag("cqi_requested", 4, 6),
            uint("subframe", bits(4, 10, 7)),
            uint("frame", bits(4, 31, 22)),
            uint("start_rb", bits(8, 11, 5)),
            uint("rbs", bits(8, 16, 12)),
            uint("redundancy_version", bits(8, 18, 17)),
            uint("tbs_index", bits(8, 22, 19)),
            flag("hopping", 10, 7),
            uint("harq", bits(11, 5, 3)),
        ]],
    )],
)];
