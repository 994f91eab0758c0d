//! 0xB0CD, the band combinations of LTE that the device supports for carrier aggregation.
//!
//! Versions 24, 32, 40 and 41. A capture has 41. A public reader of capabilities publishes real
//! records of all four with its readings. Bands and classes of all combinations are equal; in
//! version 32 the antennas too. That reader guesses the meaning of the indexes of antennas and
//! modulations, so they stay numbers here.

use super::nr::ca_combos::CLASS;
use crate::layout::{Block, Count, Field, Layout, Part, names, u8, u16, uint};

const fn block(size: u16, fields: &'static [&'static [Field]]) -> Part {
    Part::Block(Block { size, fields })
}

const HEAD: &[Field] = &[uint("version", u8(0)), uint("combo_count", u8(1))];
const BAND: &[Field] = &[uint("band", u16(0)), names("dl_class", u8(2), CLASS)];

const BAND_V24: &[Part] = &[block(4, &[BAND, &[names("ul_class", u8(3), CLASS)]])];
const BAND_V32: &[Part] = &[block(
    6,
    &[
        BAND,
        &[uint("dl_antennas", u8(3)), names("ul_class", u8(4), CLASS), uint("ul_antennas", u8(5))],
    ],
)];
const BAND_V40: &[Part] = &[block(
    7,
    &[
        BAND,
        &[
            uint("dl_antennas_index", u8(3)),
            names("ul_class", u8(4), CLASS),
            uint("ul_antennas_index", u8(5)),
            uint("ul_modulation_index", u8(6)),
        ],
    ],
)];
const BAND_V41: &[Part] = &[block(
    7,
    &[
        BAND,
        &[
            names("ul_class", u8(3), CLASS),
            uint("dl_antennas_index", u8(4)),
            uint("ul_antennas_index", u8(5)),
            uint("ul_modulation_index", u8(6)),
        ],
    ],
)];

const fn combos(parts: &'static [Part]) -> Part {
    Part::List { name: "combos", count: Count::Says(u8(1)), parts }
}

const fn bands(count: Count, parts: &'static [Part]) -> Part {
    Part::List { name: "bands", count, parts }
}

/// Each combination has six bands; unused ones are band 0.
macro_rules! six {
    ($version:literal, $band:expr) => {
        Layout {
            versions: &[$version],
            parts: &[block(3, &[HEAD]), combos(&[bands(Count::Fixed(6), $band)])],
        }
    };
}

pub(super) static LAYOUTS: &[Layout] = &[
    six!(24, BAND_V24),
    six!(32, BAND_V32),
    six!(40, BAND_V40),
    Layout {
        versions: &[41],
        parts: &[
            block(2, &[HEAD]),
            combos(&[
                block(1, &[&[uint("band_count", u8(0))]]),
                bands(Count::Says(u8(0)), BAND_V41),
            ]),
        ],
    },
];
