//! The tables of 0xB193.

use crate::layout::{
    Bits, Block, Count, Field, Layout, Part, SubLayout, bits, flag, hex, names, scaled, scaled_int,
    u8, u16, u32, uint,
};
use crate::record::common::CELL;
use crate::record::level::{high_rsrp, rsrp, rsrq, rssi, snr, unless_lowest};
use crate::record::sub::HEADER;

/// Identity and time of a cell that starts at `$at`.
macro_rules! cell {
    ($at:expr, $sfn:expr) => {
        &[
            uint("pci", bits($at, 8, 0)),
            names("cell", bits($at, 11, 9), CELL),
            uint("frame", bits($sfn, 9, 0)),
            uint("subframe", bits($sfn, 13, 10)),
        ]
    };
}

/// Levels of modems with two antennas, whose first word is at `$at`.
macro_rules! two_antennas {
    ($at:expr) => {
        two_antennas!(
            [bits($at, 21, 10), bits($at + 4, 23, 12), bits($at + 8, 23, 12)],
            [bits($at + 12, 21, 12), bits($at + 16, 9, 0), bits($at + 16, 29, 20)],
            [bits($at + 20, 20, 10), bits($at + 20, 31, 21), bits($at + 24, 10, 0)],
            [bits($at + 48, 8, 0), bits($at + 48, 17, 9)]
        )
    };
    // RSRP, RSRQ and RSSI of both and combined, signal to noise of both.
    ([$p0:expr, $p1:expr, $p:expr], [$q0:expr, $q1:expr, $q:expr], [$i0:expr, $i1:expr, $i:expr], [$s0:expr, $s1:expr]) => {
        &[
            rsrp("rsrp_rx0_dbm", $p0),
            rsrp("rsrp_rx1_dbm", $p1),
            rsrp("rsrp_dbm", $p),
            rsrq("rsrq_rx0_db", $q0, $p0),
            rsrq("rsrq_rx1_db", $q1, $p1),
            rsrq("rsrq_db", $q, $p),
            rssi("rssi_rx0_dbm", $i0, $p0),
            rssi("rssi_rx1_dbm", $i1, $p1),
            rssi("rssi_dbm", $i, $p),
            snr("snr_rx0_db", $s0, $p0),
            snr("snr_rx1_db", $s1, $p1),
        ]
    };
}

/// RSRP of each of four antennas, of all combined, and filtered over time: the first three words at
/// `at`, those after them at `rest`.
const fn four(at: u16, rest: u16) -> [Bits; 6] {
    [
        bits(at, 21, 10),
        bits(at + 4, 23, 12),
        bits(at + 8, 23, 12),
        bits(rest, 11, 0),
        bits(rest, 23, 12),
        bits(rest + 4, 23, 12),
    ]
}

/// Levels of modems with four antennas; for `$at` and `$rest` see [`four`].
macro_rules! four_antennas {
    ($at:expr, $rest:expr) => {
        &[
            rsrp("rsrp_rx0_dbm", four($at, $rest)[0]),
            rsrp("rsrp_rx1_dbm", four($at, $rest)[1]),
            rsrp("rsrp_rx2_dbm", four($at, $rest)[2]),
            rsrp("rsrp_rx3_dbm", four($at, $rest)[3]),
            high_rsrp("rsrp_dbm", four($at, $rest)[4]),
            rsrp("rsrp_filtered_dbm", four($at, $rest)[5]),
            rsrq("rsrq_rx0_db", bits($rest + 8, 9, 0), four($at, $rest)[0]),
            rsrq("rsrq_rx1_db", bits($rest + 8, 29, 20), four($at, $rest)[1]),
            rsrq("rsrq_rx2_db", bits($rest + 12, 19, 10), four($at, $rest)[2]),
            rsrq("rsrq_rx3_db", bits($rest + 12, 29, 20), four($at, $rest)[3]),
            rsrq("rsrq_db", bits($rest + 16, 9, 0), four($at, $rest)[4]),
            rsrq("rsrq_filtered_db", bits($rest + 16, 29, 20), four($at, $rest)[5]),
            rssi("rssi_rx0_dbm", bits($rest + 20, 10, 0), four($at, $rest)[0]),
            rssi("rssi_rx1_dbm", bits($rest + 20, 21, 11), four($at, $rest)[1]),
            rssi("rssi_rx2_dbm", bits($rest + 24, 10, 0), four($at, $rest)[2]),
            rssi("rssi_rx3_dbm", bits($rest + 24, 21, 11), four($at, $rest)[3]),
            rssi("rssi_dbm", bits($rest + 28, 10, 0), four($at, $rest)[4]),
        ]
    };
}

/// Signal to noise of four antennas, whose first word is at `$snr`.
macro_rules! four_snrs {
    ($at:expr, $rest:expr, $snr:expr) => {
        &[
            snr("snr_rx0_db", bits($snr, 8, 0), four($at, $rest)[0]),
            snr("snr_rx1_db", bits($snr, 17, 9), four($at, $rest)[1]),
            snr("snr_rx2_db", bits($snr + 4, 8, 0), four($at, $rest)[2]),
            snr("snr_rx3_db", bits($snr + 4, 17, 9), four($at, $rest)[3]),
        ]
    };
}

/// Expected levels after cancelling interference.
macro_rules! projected {
    ($at:expr) => {
        &[
            scaled_int("projected_sir_db", u32($at), 0.0625, 0.0),
            scaled("rsrq_after_cancellation_db", u32($at + 4), 0.0625, -30.0),
        ]
    };
}

const SERVING_12: &[Field] = &[flag("serving", 0, 12)];
const SERVING_15: &[Field] = &[flag("serving", 8, 15)];

const LIST_HEADER: &[Field] = &[uint("earfcn", u32(0)), uint("cell_count", u16(4))];
const RECEIVERS: &[Field] = &[uint("valid_receivers", u16(6))];
const RECEIVER_MAP: &[Field] = &[hex("receiver_map", u32(8))];

pub(super) const V4: &[Part] = &[Part::Block(Block {
    size: 76,
    fields: &[&[uint("earfcn", u16(0))], cell!(2, 4), two_antennas!(12)],
})];
pub(super) const V7: &[Part] = &[Part::Block(Block {
    size: 80,
    fields: &[&[uint("earfcn", u32(0))], cell!(4, 8), two_antennas!(16)],
})];
const LEVELS_V18: [Field; 11] = unless_lowest(*two_antennas!(20));
pub(super) const V18: &[Part] = &[Part::Block(Block {
    size: 92,
    fields: &[&[uint("earfcn", u32(0))], cell!(4, 8), &LEVELS_V18, projected!(84)],
})];

pub(super) const CELL_V19: &[Part] = &[Part::Block(Block {
    size: 88,
    fields: &[cell!(0, 4), SERVING_12, two_antennas!(16), projected!(80)],
})];
pub(super) const CELL_V22: &[Part] = &[Part::Block(Block {
    size: 112,
    fields: &[
        cell!(0, 4),
        SERVING_12,
        two_antennas!(
            [bits(16, 21, 10), bits(20, 23, 12), bits(28, 23, 12)],
            [bits(32, 21, 12), bits(36, 9, 0), bits(40, 19, 10)],
            [bits(44, 20, 10), bits(44, 31, 21), bits(52, 10, 0)],
            [bits(76, 8, 0), bits(76, 17, 9)]
        ),
        projected!(96),
    ],
})];
pub(super) const CELL_V24: &[Part] = &[Part::Block(Block {
    size: 100,
    fields: &[
        cell!(0, 4),
        SERVING_12,
        two_antennas!(
            [bits(17, 14, 3), bits(21, 15, 4), bits(25, 15, 4)],
            [bits(29, 13, 4), bits(32, 9, 0), bits(34, 13, 4)],
            [bits(36, 20, 10), bits(36, 31, 21), bits(40, 10, 0)],
            [bits(64, 8, 0), bits(64, 17, 9)]
        ),
    ],
})];
pub(super) const CELL_V35: &[Part] = &[Part::Block(Block {
    size: 124,
    fields: &[
        cell!(0, 4),
        SERVING_12,
        four_antennas!(16, 28),
        four_snrs!(16, 28, 80),
        projected!(100),
    ],
})];
pub(super) const CELL_V36: &[Part] = &[Part::Block(Block {
    size: 128,
    fields: &[
        cell!(0, 4),
        SERVING_12,
        four_antennas!(16, 28),
        four_snrs!(16, 28, 80),
        projected!(104),
    ],
})];
pub(super) const CELL_V40: &[Part] = &[Part::Block(Block {
    size: 132,
    fields: &[
        cell!(0, 4),
        SERVING_12,
        four_antennas!(16, 32),
        four_snrs!(16, 32, 84),
        projected!(108),
    ],
})];
pub(super) const CELL_V48: &[Part] = &[Part::Block(Block {
    size: 140,
    fields: &[
        cell!(0, 4),
        SERVING_12,
        four_antennas!(16, 32),
        four_snrs!(16, 32, 92),
        projected!(116),
    ],
})];
pub(super) const CELL_V57: &[Part] = &[Part::Block(Block {
    size: 164,
    fields: &[
        &[hex("receiver_map", u32(0))],
        cell!(8, 12),
        SERVING_15,
        four_antennas!(24, 40),
        projected!(140),
    ],
})];
pub(super) const CELL_V60: &[Part] = &[Part::Block(Block {
    size: 148,
    fields: &[
        &[hex("receiver_map", u32(0))],
        cell!(8, 12),
        SERVING_15,
        four_antennas!(24, 40),
        projected!(140),
    ],
})];
pub(super) const CELL_V66: &[Part] = &[Part::Block(Block {
    size: 144,
    fields: &[&[hex("receiver_map", u32(0))], cell!(8, 12), SERVING_15, four_antennas!(24, 40)],
})];

const fn cells(parts: &'static [Part]) -> Part {
    Part::List { name: "cells", count: Count::Says(u16(4)), parts }
}

/// Versions up to 41 have room for four cells. How many of 22, 24 and 35 have it is unknown.
const fn room(cell: &[Part]) -> Part {
    match cell {
        [Part::Block(Block { size, .. })] => Part::Padding(3 * *size),
        _ => panic!("a cell is one block"),
    }
}

const HEADER_8: Part = Part::Block(Block { size: 8, fields: &[LIST_HEADER] });
const HEADER_V35: Part = Part::Block(Block { size: 8, fields: &[LIST_HEADER, RECEIVERS] });
const HEADER_V48: Part =
    Part::Block(Block { size: 12, fields: &[LIST_HEADER, RECEIVERS, RECEIVER_MAP] });

const fn measured(versions: &'static [u8], parts: &'static [Part]) -> SubLayout {
    SubLayout { id: 25, name: "serving_cell_measurement", versions, parts }
}

pub(crate) static LAYOUTS: &[Layout] = &[Layout {
    versions: &[1],
    parts: &[
        HEADER,
        Part::SubPackets {
            count: u8(1),
            known: &[
                measured(&[4], V4),
                measured(&[7], V7),
                measured(&[18], V18),
                measured(&[19], &[HEADER_8, cells(CELL_V19), room(CELL_V19)]),
                measured(&[22], &[HEADER_8, cells(CELL_V22), room(CELL_V22)]),
                measured(&[24], &[HEADER_8, cells(CELL_V24), room(CELL_V24)]),
                measured(&[35], &[HEADER_V35, cells(CELL_V35), room(CELL_V35)]),
                measured(&[36], &[HEADER_V35, cells(CELL_V36), room(CELL_V36)]),
                measured(&[40], &[HEADER_V35, cells(CELL_V40), room(CELL_V40)]),
                measured(&[41], &[HEADER_V35, cells(CELL_V48), room(CELL_V48)]),
                measured(&[48, 50], &[HEADER_V48, cells(CELL_V48)]),
                measured(&[57], &[HEADER_8, cells(CELL_V57)]),
                measured(&[59, 60], &[HEADER_8, cells(CELL_V60)]),
                measured(&[66], &[HEADER_8, cells(CELL_V66)]),
            ],
        },
    ],
}];
