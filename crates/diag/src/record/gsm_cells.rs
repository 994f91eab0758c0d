//! Cells of GSM: 0x5065 and 0x5066 found by their bursts, 0x506A and 0x506C received burst by
//! burst, 0x5071 those around, 0x507A and 0x507B received power, 0x5130 and 0x51FC what reselection
//! is decided by, 0x5134 the serving cell's identity.
//!
//! 0x506A has version 4, the others have none. Where a device has two subscriptions, 0x5A65,
//! 0x5A66, 0x5A6C, 0x5A71, 0x5A7A, 0x5A7B, 0x5B30 and 0x5B34 have theirs first. Source:
//! docs/reference/diag.md, records and layouts; 0x5065, 0x5066, 0x506A, 0x506C, 0x5071, 0x507A,
//! 0x507B and 0x5134 agree with the vectors of another decoder; the others are in no capture.

use crate::layout::{
    Bits, Block, Count, Field, Layout, Part, bits, bytes, flag, int, plmn, scaled, scaled_int, u8,
    u16, u32, uint,
};

const fn block(size: u16, fields: &'static [&'static [Field]]) -> Part {
    Part::Block(Block { size, fields })
}

const fn unversioned(parts: &'static [Part]) -> Layout {
    Layout { versions: &[], parts }
}

const SUBSCRIPTION: &[Field] = &[uint("subscription", u8(0))];

/// A record that two codes have, one of them a byte further on, after the number of the
/// subscription.
macro_rules! twins {
    ($own:ident, $dual:ident, $size:expr, $fields:ident) => {
        pub(super) static $own: &[Layout] = &[unversioned(&[block($size, &[$fields!(0)])])];
        pub(super) static $dual: &[Layout] =
            &[unversioned(&[block($size + 1, &[SUBSCRIPTION, $fields!(1)])])];
    };
}

/// As [`twins`], of lists.
macro_rules! twin_lists {
    ($own:ident, $dual:ident, $head:ident, $list:ident) => {
        pub(super) static $own: &[Layout] = &[unversioned(&[block(1, &[$head!(0)]), $list(u8(0))])];
        pub(super) static $dual: &[Layout] =
            &[unversioned(&[block(2, &[SUBSCRIPTION, $head!(1)]), $list(u8(1))])];
    };
}

const fn arfcn(at: u16) -> Field {
    uint("arfcn", bits(at, 11, 0))
}

const fn band(at: u16) -> Field {
    uint("band", bits(at, 15, 12))
}

macro_rules! frequency_burst {
    ($at:expr) => {
        &[
            arfcn($at),
            band($at),
            uint("tone", u16($at + 2)),
            uint("metric_high", u16($at + 4)),
            uint("metric_low", u16($at + 6)),
            int("coarse_frequency_offset", u16($at + 8)),
            int("fine_frequency_offset", u16($at + 10)),
            int("frequency_correction", u16($at + 12)),
            uint("snr_raw", u16($at + 14)),
        ]
    };
}

/// The burst's contents are two bytes further on than in the source: there the bits are those of TS
/// 44.018 §9.1.30a, with time and identity within their ranges and zeroes in the bits that have to
/// be zero.
macro_rules! synchronisation_burst {
    ($at:expr) => {
        &[
            arfcn($at),
            band($at),
            uint("tone", u16($at + 2)),
            uint("t1_high", bits($at + 14, 1, 0)),
            uint("bcc", bits($at + 14, 4, 2)),
            uint("ncc", bits($at + 14, 7, 5)),
            uint("t1_middle", u8($at + 15)),
            uint("t3_high", bits($at + 16, 1, 0)),
            uint("t2", bits($at + 16, 6, 2)),
            uint("t1_low", bits($at + 16, 7, 7)),
            uint("t3_low", bits($at + 17, 0, 0)),
        ]
    };
}

twins!(FREQUENCY_LAYOUTS, DUAL_FREQUENCY_LAYOUTS, 16, frequency_burst);
twins!(SYNCHRONISATION_LAYOUTS, DUAL_SYNCHRONISATION_LAYOUTS, 18, synchronisation_burst);

const fn power(at: u16) -> Field {
    scaled_int("rx_power_dbm", u16(at), 0.0625, 0.0)
}

const BURST: &[Field] = &[
    uint("frame", u32(0)),
    arfcn(4),
    band(4),
    uint("rssi_raw", u32(6)),
    power(10),
    int("dc_offset_i", u16(12)),
    int("dc_offset_q", u16(14)),
    int("frequency_offset", u16(16)),
    int("time_offset", u16(18)),
    int("snr_raw", u16(20)),
    int("gain_state", u8(22)),
];

const BURST_V4: &[Field] = &[
    int("adjacent_interference", u8(23)),
    uint("q16", u32(24)),
    uint("aqpsk", u8(28)),
    uint("timeslot", u8(29)),
    uint("diversity", u16(30)),
    uint("wide_band_power_raw", u32(32)),
    uint("state", u8(36)),
];

/// The four bursts of a block.
const fn bursts(parts: &'static [Part]) -> Part {
    Part::List { name: "bursts", count: Count::Fixed(4), parts }
}

pub(super) static NEW_BURST_LAYOUTS: &[Layout] = &[Layout {
    versions: &[4],
    parts: &[
        block(2, &[&[uint("version", u8(0)), uint("channel", u8(1))]]),
        bursts(&[block(37, &[BURST, BURST_V4])]),
    ],
}];

pub(super) static BURST_LAYOUTS: &[Layout] =
    &[unversioned(&[block(1, &[&[uint("channel", u8(0))]]), bursts(&[block(23, &[BURST])])])];

pub(super) static DUAL_BURST_LAYOUTS: &[Layout] = &[unversioned(&[
    block(2, &[SUBSCRIPTION, &[uint("channel", u8(1))]]),
    bursts(&[block(23, &[BURST])]),
])];

macro_rules! cell_count {
    ($at:expr) => {
        &[uint("cell_count", u8($at))]
    };
}

const SURROUNDING_CELL: &[Part] = &[block(
    12,
    &[&[
        arfcn(0),
        band(0),
        power(2),
        flag("bsic_known", 4, 0),
        uint("bcc", bits(5, 2, 0)),
        uint("ncc", bits(5, 5, 3)),
        uint("frame_offset", u32(6)),
        uint("time_offset", u16(10)),
    ]],
)];

const NEIGHBOUR_POWER: &[Part] = &[block(4, &[&[arfcn(0), band(0), power(2)]])];

const fn surrounding(count: Bits) -> Part {
    Part::List { name: "cells", count: Count::Says(count), parts: SURROUNDING_CELL }
}

const fn neighbour_powers(count: Bits) -> Part {
    Part::List { name: "cells", count: Count::Says(count), parts: NEIGHBOUR_POWER }
}

twin_lists!(SURROUNDING_LAYOUTS, DUAL_SURROUNDING_LAYOUTS, cell_count, surrounding);
twin_lists!(NEIGHBOUR_POWER_LAYOUTS, DUAL_NEIGHBOUR_POWER_LAYOUTS, cell_count, neighbour_powers);

macro_rules! serving_power {
    ($at:expr) => {
        &[power($at)]
    };
}

twins!(SERVING_POWER_LAYOUTS, DUAL_SERVING_POWER_LAYOUTS, 2, serving_power);

macro_rules! selection {
    ($at:expr) => {
        &[
            uint("hysteresis", u8($at)),
            uint("ms_txpwr_max_cch", u8($at + 1)),
            uint("rxlev_access_min", u8($at + 2)),
            uint("power_offset", u8($at + 3)),
            flag("power_offset_valid", $at + 4, 0),
            uint("new_establishment_causes", u8($at + 5)),
            uint("additional_parameters", u8($at + 6)),
            uint("optional_parameters", u8($at + 7)),
            uint("cell_bar_qualify", u8($at + 8)),
            uint("reselection_offset_db", u8($at + 9)),
            uint("temporary_offset_db", u8($at + 10)),
            uint("penalty_time", u8($at + 11)),
        ]
    };
}

twins!(SELECTION_LAYOUTS, DUAL_SELECTION_LAYOUTS, 12, selection);

const RANKED: &[Field] = &[
    arfcn(0),
    band(0),
    uint("packet_arfcn", bits(2, 11, 0)),
    uint("packet_band", bits(2, 15, 12)),
    uint("priority_class", u8(4)),
    scaled("rx_level_dbm", u8(5), 1.0, -110.5),
    int("c1", u32(6)),
    int("c2", u32(10)),
    int("c31", u32(14)),
    int("c32", u32(18)),
    uint("five_second_timer", u8(22)),
    flag("barred", 23, 0),
];

pub(super) static RESELECTION_LAYOUTS: &[Layout] = &[unversioned(&[
    block(26, &[RANKED, &[flag("reselected_lately", 24, 0), uint("neighbour_count", u8(25))]]),
    Part::List {
        name: "neighbours",
        count: Count::Says(u8(25)),
        parts: &[block(25, &[RANKED, &[flag("same_routing_area", 24, 0)]])],
    },
])];

/// The network and its area are as they came over the air, highest byte first.
macro_rules! identity {
    ($at:expr) => {
        &[
            arfcn($at),
            band($at),
            uint("bcc", u8($at + 2)),
            uint("ncc", u8($at + 3)),
            uint("cell_identity", u16($at + 4)),
            plmn("plmn", $at + 6),
            bytes("lac", $at + 9, 2),
            uint("priority", u8($at + 11)),
            uint("ncc_permitted", u8($at + 12)),
        ]
    };
}

twins!(CELL_LAYOUTS, DUAL_CELL_LAYOUTS, 13, identity);
