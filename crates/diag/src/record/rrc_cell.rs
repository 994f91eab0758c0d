//! 0xB0C1 and 0xB0C2, the master information block and the serving cell as RRC knows them.
//!
//! 0xB0C1 versions 1, 2, 3 and 17 (narrowband), 0xB0C2 versions 2 and 3. Source:
//! docs/reference/diag.md, records and layouts; 0xB0C1 1 and 2 and both of 0xB0C2 agree with
//! captures field by field, 17 with the vector of another decoder.

use crate::layout::{Block, Field, Layout, Names, Part, names, u8, u16, u32, uint};

const MODE: Names =
    &[(0, "inband_different_pci"), (1, "inband_same_pci"), (2, "guardband"), (3, "standalone")];
const RASTER: Names = &[(0, "-7.5_khz"), (1, "-2.5_khz"), (2, "2.5_khz"), (3, "7.5_khz")];

const START: &[Field] = &[uint("version", u8(0)), uint("pci", u16(1))];

/// The fields after the carrier, from byte `$at` on.
macro_rules! mib {
    ($at:expr) => {
        &[
            uint("frame", u16($at)),
            uint("tx_antennas", u8($at + 2)),
            uint("dl_bandwidth_prb", u8($at + 3)),
        ]
    };
}

const fn layout(versions: &'static [u32], parts: &'static [Part]) -> Layout {
    Layout { versions, parts }
}

const fn record(size: u16, fields: &'static [&'static [Field]]) -> Part {
    Part::Block(Block { size, fields })
}

const EARFCN: &[Field] = &[uint("earfcn", u32(3))];

pub(super) static MIB_LAYOUTS: &[Layout] = &[
    layout(&[1], &[record(9, &[START, &[uint("earfcn", u16(3))], mib!(5)])]),
    layout(&[2], &[record(11, &[START, EARFCN, mib!(7)])]),
    layout(&[3], &[record(12, &[START, EARFCN, mib!(7), &[uint("sib1_br_schedule", u8(11))]])]),
    layout(
        &[17],
        &[record(
            18,
            &[
                START,
                EARFCN,
                &[
                    uint("frame", u16(7)),
                    uint("frame_high_bits", u8(9)),
                    uint("hyperframe_low_bits", u8(10)),
                    uint("sib1_schedule", u8(11)),
                    uint("value_tag", u8(12)),
                    uint("access_barring", u8(13)),
                    names("operation_mode", u8(14), MODE),
                    names("raster_offset", u16(15), RASTER),
                    uint("tx_antennas", u8(17)),
                ],
            ],
        )],
    ),
];

/// The fields after the carriers, from byte `$at` on.
macro_rules! cell {
    ($at:expr) => {
        &[
            uint("dl_bandwidth_prb", u8($at)),
            uint("ul_bandwidth_prb", u8($at + 1)),
            uint("cell_identity", u32($at + 2)),
            uint("tac", u16($at + 6)),
            uint("band", u32($at + 8)),
            uint("mcc", u16($at + 12)),
            uint("mnc_digits", u8($at + 14)),
            uint("mnc", u16($at + 15)),
            uint("allowed_access", u8($at + 17)),
        ]
    };
}

pub(super) static SERVING_LAYOUTS: &[Layout] = &[
    layout(
        &[2],
        &[record(25, &[START, &[uint("dl_earfcn", u16(3)), uint("ul_earfcn", u16(5))], cell!(7)])],
    ),
    layout(
        &[3],
        &[record(29, &[START, &[uint("dl_earfcn", u32(3)), uint("ul_earfcn", u32(7))], cell!(11)])],
    ),
];
