//! The field tables of 0xB173, oldest version first.

use super::super::common::{CELL, PASS, RNTI};
use crate::layout::{Bits, Block, Count, Field, Layout, Names, Part, bits, names, u8, u16, uint};

const HEADER: Block = Block { size: 4, fields: &[&[uint("version", u8(0)), uint("count", u8(1))]] };

const DISCARDED: Names = &[(0, "none"), (1, "discarded_and_acked")];
const MODULATION: Names = &[(2, "qpsk"), (4, "16qam"), (6, "64qam"), (8, "256qam")];

const TIME: &[Field] = &[uint("subframe", bits(0, 3, 0)), uint("frame", bits(0, 15, 4))];
const SUBFRAME: &[Field] = &[
    uint("rbs", u8(2)),
    uint("layers", u8(3)),
    uint("transport_blocks", u8(4)),
    names("cell", bits(5, 2, 0), CELL),
];

const SUBFRAME_V50: &[Field] =
    &[uint("layers", u8(2)), uint("transport_blocks", u8(3)), names("cell", bits(4, 2, 0), CELL)];

const HSIC: &[Field] = &[uint("hsic", bits(5, 6, 3))];
const ALTERNATIVE_TBS: &[Field] = &[uint("alternative_tbs", u8(7))];

const HARQ: &[Field] = &[
    uint("harq", bits(0, 3, 0)),
    uint("rv", bits(0, 5, 4)),
    uint("ndi", bits(0, 6, 6)),
    names("crc", bits(0, 7, 7), PASS),
    names("rnti", bits(1, 3, 0), RNTI),
    uint("index", bits(1, 4, 4)),
];

const RETX: &[Field] =
    &[uint("discarded_retx_present", bits(1, 5, 5)), uint("recombined", bits(1, 6, 6))];
const RETX_V34: &[Field] =
    &[names("discarded_retx", bits(1, 5, 5), DISCARDED), uint("recombined", bits(1, 6, 6))];
const RETX_V37: &[Field] = &[
    uint("discarded_retx_present", bits(1, 5, 5)),
    names("discarded_retx", bits(1, 7, 6), DISCARDED),
    uint("recombined", bits(2, 0, 0)),
];
const RETX_V40: &[Field] = &[
    uint("discarded_retx_present", bits(1, 5, 5)),
    names("discarded_retx", bits(1, 9, 6), DISCARDED),
    uint("recombined", bits(1, 10, 10)),
];

const SIZE_AT_2: &[Field] = &[uint("tb_bytes", u16(2)), uint("mcs", u8(4)), uint("rbs", u8(5))];
const SIZE_AT_4: &[Field] = &[uint("tb_bytes", u16(4)), uint("mcs", u8(6)), uint("rbs", u8(7))];
const MODULATION_AT_6: &[Field] = &[names("modulation", u8(6), MODULATION)];
const MODULATION_AT_8: &[Field] = &[names("modulation", u8(8), MODULATION)];
const QED_AT_7: &[Field] =
    &[uint("qed2_status", bits(7, 1, 0)), uint("qed_iteration", bits(7, 7, 2))];
const QED_AT_9: &[Field] =
    &[uint("qed2_status", bits(9, 1, 0)), uint("qed_iteration", bits(9, 7, 2))];

const AREA: &[Field] = &[uint("pmch", u8(0)), uint("area", u8(1))];

const fn subframes(parts: &'static [Part]) -> Part {
    Part::List { name: "subframes", count: Count::Says(u8(1)), parts }
}

const fn blocks(parts: &'static [Part]) -> Part {
    counted(u8(4), parts)
}

const fn counted(count: Bits, parts: &'static [Part]) -> Part {
    Part::List { name: "blocks", count: Count::Of(count, 2), parts }
}

const fn block(size: u16, fields: &'static [&'static [Field]]) -> Part {
    Part::Block(Block { size, fields })
}

pub(super) const HEAD: &[Part] = &[block(12, &[TIME, SUBFRAME])];
pub(super) const HEAD_V50: &[Part] = &[block(12, &[TIME, SUBFRAME_V50])];
pub(super) const TB_V5: &[Part] = &[block(6, &[HARQ, RETX, SIZE_AT_2])];
pub(super) const TB_V24: &[Part] = &[block(8, &[HARQ, RETX, SIZE_AT_2, MODULATION_AT_6])];
pub(super) const TB_V34: &[Part] =
    &[block(8, &[HARQ, RETX_V34, SIZE_AT_2, MODULATION_AT_6, QED_AT_7])];
pub(super) const TB_V36: &[Part] =
    &[block(12, &[HARQ, RETX, SIZE_AT_4, MODULATION_AT_8, QED_AT_9])];
pub(super) const TB_V37: &[Part] =
    &[block(12, &[HARQ, RETX_V37, SIZE_AT_4, MODULATION_AT_8, QED_AT_9])];
pub(super) const TB_V40: &[Part] =
    &[block(12, &[HARQ, RETX_V40, SIZE_AT_4, MODULATION_AT_8, QED_AT_9])];

pub(crate) static LAYOUTS: &[Layout] = &[
    Layout {
        versions: &[5],
        parts: &[
            Part::Block(HEADER),
            subframes(&[block(6, &[TIME, SUBFRAME]), blocks(TB_V5), block(2, &[AREA])]),
        ],
    },
    Layout {
        versions: &[16],
        parts: &[
            Part::Block(HEADER),
            subframes(&[block(6, &[TIME, SUBFRAME, HSIC]), blocks(TB_V5), block(2, &[AREA])]),
        ],
    },
    Layout {
        versions: &[24, 32],
        parts: &[
            Part::Block(HEADER),
            subframes(&[block(6, &[TIME, SUBFRAME, HSIC]), blocks(TB_V24), block(2, &[AREA])]),
        ],
    },
    Layout {
        versions: &[34],
        parts: &[
            Part::Block(HEADER),
            subframes(&[block(6, &[TIME, SUBFRAME]), blocks(TB_V34), block(2, &[AREA])]),
        ],
    },
    Layout {
        versions: &[36],
        parts: &[
            Part::Block(HEADER),
            subframes(&[block(12, &[TIME, SUBFRAME, HSIC]), blocks(TB_V36), block(4, &[AREA])]),
        ],
    },
    Layout {
        versions: &[37],
        parts: &[
            Part::Block(HEADER),
            subframes(&[
                block(12, &[TIME, SUBFRAME, ALTERNATIVE_TBS]),
                blocks(TB_V37),
                block(4, &[AREA]),
            ]),
        ],
    },
    Layout {
        versions: &[40, 48],
        parts: &[
            Part::Block(HEADER),
            subframes(&[block(12, &[TIME, SUBFRAME]), blocks(TB_V40), block(4, &[AREA])]),
        ],
    },
    Layout {
        versions: &[50],
        parts: &[
            Part::Block(HEADER),
            subframes(&[
                block(12, &[TIME, SUBFRAME_V50]),
                counted(u8(3), TB_V40),
                block(4, &[AREA]),
            ]),
        ],
    },
];
