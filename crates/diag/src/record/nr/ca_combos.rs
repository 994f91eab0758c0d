//! 0xB826, the band combinations the device supports for carrier aggregation and dual connectivity.
//!
//! Versions 2, 3, 4, 6 to 10, 13 and 14. Version 9 is in a real capture. A public reader of
//! capabilities has real records of all of them with its readings: bands, classes and spacings of
//! all combinations are equal. By its own account it guesses the meaning of some numbers; those
//! stay numbers here.

use super::VERSION;
use crate::layout::{
    Block, Count, Field, Layout, Names, Part, bits, bytes, flag, hex, names, u8, u16, uint,
};

const SOURCE: Names = &[(0, "rf"), (1, "pm"), (3, "rf_endc"), (4, "rf_nrca"), (5, "rf_nrdc")];

const COUNT_V2: &[Field] = &[uint("combo_count", u16(4))];
const COUNT_V4: &[Field] = &[
    uint("total_combos", u16(4)),
    uint("first_combo", u16(6)),
    uint("combo_count", u16(8)),
    names("source", u8(10), SOURCE),
];

const HEADER_V2: Part = Part::Block(Block { size: 6, fields: &[VERSION, COUNT_V2] });
const HEADER_V4: Part = Part::Block(Block { size: 11, fields: &[VERSION, COUNT_V4] });

const fn combos(count: crate::layout::Bits, parts: &'static [Part]) -> Part {
    Part::List { name: "combos", count: Count::Says(count), parts }
}

/// Bandwidth classes (TS 38.101-1 Table 5.3A.5-1, TS 36.101 Table 5.6A-1): 0 where the band is not
/// used that way.
pub(in super::super) const CLASS: Names = &[
    (0, "none"),
    (1, "a"),
    (2, "b"),
    (3, "c"),
    (4, "d"),
    (5, "e"),
    (6, "f"),
    (7, "g"),
    (8, "h"),
    (9, "i"),
    (10, "j"),
    (11, "k"),
    (12, "l"),
    (13, "m"),
    (14, "n"),
    (15, "o"),
    (16, "p"),
    (17, "q"),
];

/// The largest subcarrier spacing.
const MAX_SCS: Names = &[(1, "15khz"), (2, "30khz"), (3, "60khz"), (4, "120khz")];
/// In version 2 counted from 0.
const MAX_SCS_V2: Names = &[(0, "15khz"), (1, "30khz"), (2, "60khz"), (3, "120khz")];

const BAND_V2: &[Field] = &[
    uint("band", u16(0)),
    flag("nr", 2, 0),
    names("dl_class", bits(2, 7, 1), CLASS),
    uint("dl_antennas_index", u8(3)),
    flag("ul_contiguous", 4, 0),
    names("ul_class", bits(4, 7, 1), CLASS),
    uint("ul_antennas_index", u8(5)),
    uint("ul_modulation_index", u8(6)),
    uint("srs_tx_switch_index", u8(7)),
];
const WIDTH_V2: &[Field] =
    &[names("max_scs", bits(8, 3, 0), MAX_SCS_V2), uint("max_bandwidth_mhz", bits(8, 15, 6))];
const WIDTH_V3: &[Field] =
    &[names("max_scs", bits(8, 3, 0), MAX_SCS), uint("max_bandwidth_mhz", bits(8, 15, 6))];
const WIDTH_V6: &[Field] = &[
    names("max_scs", bits(8, 3, 0), MAX_SCS),
    uint("max_dl_bandwidth_index", bits(8, 10, 6)),
    uint("max_ul_bandwidth_index", bits(8, 15, 11)),
];

const BAND_V8: &[Field] = &[
    uint("band", bits(0, 8, 0)),
    flag("nr", 0, 9),
    names("dl_class", bits(0, 14, 10), CLASS),
    uint("dl_antennas_index", bits(0, 21, 15)),
    names("ul_class", bits(0, 26, 22), CLASS),
    uint("ul_antennas_index", bits(0, 31, 27)),
    uint("ul_modulation_index", bits(4, 2, 1)),
    names("max_scs", bits(4, 9, 7), MAX_SCS),
];
const WIDTH_V8: &[Field] = &[
    uint("max_dl_bandwidth_index", bits(5, 6, 2)),
    uint("max_ul_bandwidth_index", bits(5, 11, 7)),
];
const WIDTH_V10: &[Field] =
    &[uint("max_dl_bandwidth_index", bits(5, 7, 2)), uint("max_ul_bandwidth_index", bits(6, 5, 0))];

const BANDS_V2: &[Part] = &[Part::Block(Block { size: 10, fields: &[BAND_V2, WIDTH_V2] })];
const BANDS_V3: &[Part] = &[Part::Block(Block { size: 10, fields: &[BAND_V2, WIDTH_V3] })];
const BANDS_V6: &[Part] = &[Part::Block(Block { size: 10, fields: &[BAND_V2, WIDTH_V6] })];
const BANDS_V8: &[Part] = &[Part::Block(Block { size: 8, fields: &[BAND_V8, WIDTH_V8] })];
const BANDS_V10: &[Part] = &[Part::Block(Block { size: 8, fields: &[BAND_V8, WIDTH_V10] })];

const fn bands(count: crate::layout::Bits, parts: &'static [Part]) -> Part {
    Part::List { name: "bands", count: Count::Says(count), parts }
}

const HEAD_V2: &[Field] = &[uint("band_count", bits(0, 3, 0))];
const HEAD_V3: &[Field] = &[uint("band_count", bits(0, 4, 1))];
const HEAD_V7: &[Field] =
    &[uint("envelope_mask", u8(1)), uint("combo_id", u8(2)), uint("muting_state", u8(3))];
const HEAD_V8: &[Field] = &[hex("head", bits(0, 23, 0)), uint("band_count", bits(3, 6, 3))];
const TAIL_V9: &[Field] = &[bytes("feature_sets", 4, 9)];
const TAIL_V14: &[Field] = &[bytes("feature_sets", 4, 25)];

const COMBO_V2: &[Part] =
    &[Part::Block(Block { size: 1, fields: &[HEAD_V2] }), bands(bits(0, 3, 0), BANDS_V2)];
const COMBO_V3: &[Part] =
    &[Part::Block(Block { size: 1, fields: &[HEAD_V3] }), bands(bits(0, 4, 1), BANDS_V3)];
const COMBO_V6: &[Part] =
    &[Part::Block(Block { size: 2, fields: &[HEAD_V3] }), bands(bits(0, 4, 1), BANDS_V6)];
const COMBO_V7: &[Part] =
    &[Part::Block(Block { size: 4, fields: &[HEAD_V3, HEAD_V7] }), bands(bits(0, 4, 1), BANDS_V6)];
const COMBO_V8: &[Part] =
    &[Part::Block(Block { size: 5, fields: &[HEAD_V8] }), bands(bits(3, 6, 3), BANDS_V8)];
const COMBO_V9: &[Part] =
    &[Part::Block(Block { size: 13, fields: &[HEAD_V8, TAIL_V9] }), bands(bits(3, 6, 3), BANDS_V8)];
const COMBO_V10: &[Part] = &[
    Part::Block(Block { size: 13, fields: &[HEAD_V8, TAIL_V9] }),
    bands(bits(3, 6, 3), BANDS_V10),
];
const COMBO_V14: &[Part] = &[
    Part::Block(Block { size: 29, fields: &[HEAD_V8, TAIL_V14] }),
    bands(bits(3, 6, 3), BANDS_V10),
];

pub(in super::super) static LAYOUTS: &[Layout] = &[
    Layout { versions: &[2], parts: &[HEADER_V2, combos(u16(4), COMBO_V2)] },
    Layout { versions: &[3], parts: &[HEADER_V2, combos(u16(4), COMBO_V3)] },
    Layout { versions: &[4], parts: &[HEADER_V4, combos(u16(8), COMBO_V3)] },
    Layout { versions: &[6], parts: &[HEADER_V4, combos(u16(8), COMBO_V6)] },
    Layout { versions: &[7], parts: &[HEADER_V4, combos(u16(8), COMBO_V7)] },
    Layout { versions: &[8], parts: &[HEADER_V4, combos(u16(8), COMBO_V8)] },
    Layout { versions: &[9], parts: &[HEADER_V4, combos(u16(8), COMBO_V9)] },
    Layout { versions: &[10, 13], parts: &[HEADER_V4, combos(u16(8), COMBO_V10)] },
    Layout { versions: &[14], parts: &[HEADER_V4, combos(u16(8), COMBO_V14)] },
];
