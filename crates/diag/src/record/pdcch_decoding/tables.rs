//! The field tables of 0xB130, oldest version first.

use super::super::common::{AGGREGATION, CARRIER, RNTI, SEARCH_SPACE};
use crate::layout::{
    Bits, Block, Count, Field, Layout, Names, Part, bits, bytes, flag, names, scaled, u8, u16, u32,
    uint,
};

const STRUCTURE: Names = &[(0, "fdd"), (1, "tdd")];
const ANTENNAS: Names = &[(0, "1_or_2"), (1, "2"), (2, "4")];
const ANTENNAS_V141: Names = &[(0, "1_or_2"), (1, "4")];
const FORMAT: Names = &[
    (0, "0"),
    (1, "1"),
    (2, "1a"),
    (3, "1b"),
    (4, "1c"),
    (5, "1d"),
    (6, "2"),
    (7, "2a"),
    (8, "3"),
    (9, "3a"),
    (12, "60a"),
    (13, "61a"),
    (14, "62"),
    (15, "reserved"),
];
const PRUNE: Names = &[
    (1, "success_dci0"),
    (3, "success_dci1a"),
    (4, "success_dci1c"),
    (6, "success_dci2_2a_2b"),
    (8, "tail_match"),
    (9, "fail_survivor_select"),
    (10, "padding_error"),
    (13, "rb_alloc_set_num_error_type1"),
    (17, "duplicate_harq_id_error"),
    (19, "unexpected_payload_size"),
    (24, "bad_riv_dci0"),
    (25, "rb_alloc_error_dci0"),
    (26, "invalid_rb_num_dci0"),
    (32, "bad_riv_dci1a"),
    (33, "rb_alloc_error_dci1a"),
    (34, "invalid_rb_num_dci1a"),
    (36, "return_dl_data_arrival_dci1a"),
    (44, "rb_alloc_error_dci1c"),
    (48, "pmi_error_dci2_2a"),
    (50, "num_layers_error_dci2_2a_tb1"),
    (64, "fail_ser_engymtrc_check"),
    (70, "num_layers_exceed_num_rx"),
    (200, "pdcch_debug_success_dci60a"),
    (201, "pdcch_debug_success_dci61a"),
    (202, "pdcch_debug_success_dci62"),
    (216, "pdcch_debug_success_dci62_early_termination"),
];

pub(super) const TTI: &[Field] = &[uint("subframe", bits(1, 3, 0)), uint("frame", bits(1, 13, 4))];
const VERSION: &[Field] = &[uint("version", u8(0))];
pub(super) const TAIL: &[Field] = &[
    uint("demback_mode", bits(6, 3, 0)),
    names("carrier", bits(6, 7, 4), CARRIER),
    uint("count", u8(7)),
];
const CELL_V42: &[Field] = &[
    scaled("bandwidth_mhz", bits(1, 16, 14), 5.0, -5.0),
    flag("cif", 1, 17),
    flag("two_bit_csi", 1, 18),
    flag("aperiodic_srs", 1, 19),
    names("structure", bits(1, 21, 20), STRUCTURE),
    names("antennas", bits(1, 23, 22), ANTENNAS),
    uint("dl_cyclic_prefix", bits(1, 25, 24)),
    uint("special_subframe", bits(1, 27, 26)),
    uint("ca_fdd_tdd", bits(1, 29, 28)),
];

const HYPOTHESIS_V21: &[Field] = &[
    bytes("payload", 0, 8),
    names("aggregation", bits(8, 1, 0), AGGREGATION),
    uint("candidate", bits(8, 4, 2)),
    names("search_space", bits(8, 5, 5), SEARCH_SPACE),
    names("format", bits(8, 9, 6), FORMAT),
    names("rnti", bits(8, 13, 10), RNTI),
    uint("start_cce", bits(8, 20, 14)),
    uint("payload_bits", bits(8, 28, 21)),
    flag("tail_match", 8, 29),
    names("prune_status", u16(12), PRUNE),
    scaled("norm_energy", u32(16), 1.0 / 65535.0, 0.0),
    scaled("symbol_error_rate", u32(20), 1.0 / 2_147_483_648.0, 0.0),
];
const HYPOTHESIS_V24: &[Field] = &[
    bytes("payload", 0, 8),
    names("aggregation", bits(8, 2, 0), AGGREGATION),
    uint("candidate", bits(8, 5, 3)),
    uint("search_space", bits(8, 7, 6)),
    names("format", bits(8, 11, 8), FORMAT),
    names("rnti", bits(8, 15, 12), RNTI),
    uint("start_cce", bits(8, 22, 16)),
    uint("payload_bits", bits(8, 30, 23)),
    flag("tail_match", 8, 31),
    names("prune_status", u8(12), PRUNE),
    uint("r_max", bits(13, 3, 0)),
    uint("hypothesis_repetition", bits(13, 7, 4)),
    uint("decoded_repetition", bits(14, 3, 0)),
    uint("mpdcch_group", bits(14, 7, 4)),
    uint("narrowband", bits(15, 3, 0)),
    scaled("norm_energy", u32(16), 1.0 / 65535.0, 0.0),
    scaled("symbol_error_rate", u32(20), 1.0 / 2_147_483_648.0, 0.0),
];

/// From version 42 on, the fields of a hypothesis that starts at `$at`.
macro_rules! hypothesis {
    ($at:expr) => {
        &[
            bytes("payload", $at, 8),
            names("aggregation", bits($at + 8, 1, 0), AGGREGATION),
            uint("candidate", bits($at + 8, 4, 2)),
            names("search_space", bits($at + 8, 5, 5), SEARCH_SPACE),
            names("format", bits($at + 8, 9, 6), FORMAT),
            names("rnti", bits($at + 8, 13, 10), RNTI),
            uint("payload_bits", bits($at + 8, 21, 14)),
            flag("tail_match", $at + 8, 22),
            uint("mismatched_symbols", bits($at + 8, 31, 23)),
            uint("start_cce", bits($at + 12, 7, 1)),
            uint("nonzero_llrs", bits($at + 12, 16, 8)),
            uint("normal", bits($at + 12, 31, 17)),
            scaled("norm_energy", u32($at + 20), 1.0 / 65535.0, 0.0),
            scaled("symbol_error_rate", u32($at + 24), 1.0 / 2_147_483_648.0, 0.0),
        ]
    };
}

const COMMON_V42: &[Field] = hypothesis!(0);
const PRUNE_V42: &[Field] =
    &[names("prune_status", bits(16, 10, 0), PRUNE), uint("energy", bits(16, 31, 11))];
const ALTERNATIVE_TBS: &[Field] = &[uint("alternative_tbs", bits(12, 0, 0))];

const COMMON_V141: &[Field] = hypothesis!(4);
const CELL_V141: &[Field] = &[
    uint("subframe", bits(0, 3, 0)),
    uint("frame", bits(0, 13, 4)),
    scaled("bandwidth_mhz", bits(0, 16, 14), 5.0, -5.0),
    flag("cif", 0, 17),
    flag("two_bit_csi", 0, 18),
    flag("aperiodic_srs", 0, 19),
    names("structure", bits(0, 22, 20), STRUCTURE),
    names("antennas", bits(0, 23, 23), ANTENNAS_V141),
    uint("dl_cyclic_prefix", bits(0, 24, 24)),
    uint("special_subframe", bits(0, 28, 25)),
    uint("ca_fdd_tdd", bits(0, 29, 29)),
    uint("alternative_tbs", bits(16, 0, 0)),
    names("prune_status", bits(20, 7, 0), PRUNE),
    uint("energy", bits(20, 28, 8)),
];

pub(super) const fn one(size: u16, fields: &'static [&'static [Field]]) -> Part {
    Part::Block(Block { size, fields })
}

const fn hypotheses(count: Bits, parts: &'static [Part]) -> Part {
    Part::List { name: "hypotheses", count: Count::Says(count), parts }
}

pub(super) const V21: &[Part] = &[one(24, &[HYPOTHESIS_V21])];
pub(super) const V24: &[Part] = &[one(24, &[HYPOTHESIS_V24])];
pub(super) const V42: &[Part] = &[one(28, &[COMMON_V42, PRUNE_V42])];
pub(super) const V121: &[Part] = &[one(28, &[COMMON_V42, ALTERNATIVE_TBS, PRUNE_V42])];
pub(super) const V141: &[Part] = &[one(32, &[CELL_V141, COMMON_V141])];

const GROUP_V43: &[Part] = &[
    one(
        4,
        &[&[
            uint("subframe_offset", u16(0)),
            flag("cif", 2, 0),
            flag("two_bit_csi", 2, 1),
            flag("aperiodic_srs", 2, 2),
            uint("count", bits(2, 10, 3)),
        ]],
    ),
    // A group always leaves room for eleven.
    Part::List { name: "hypotheses", count: Count::Of(bits(2, 10, 3), 11), parts: V42 },
];

pub(super) const HEADER_V43: &[Field] = &[
    uint("version", u8(0)),
    uint("group_count", bits(1, 3, 0)),
    uint("subframe", bits(1, 7, 4)),
    uint("frame", bits(1, 17, 8)),
    scaled("bandwidth_mhz", bits(1, 21, 18), 5.0, -5.0),
    names("structure", bits(1, 23, 22), STRUCTURE),
    names("antennas", bits(1, 26, 24), ANTENNAS),
    uint("demback_mode", bits(7, 3, 0)),
    names("carrier", bits(7, 7, 4), CARRIER),
];

pub(super) const HEADER_V141: &[Field] = &[
    uint("version", u8(0)),
    names("carrier", bits(1, 3, 0), CARRIER),
    uint("count", bits(1, 12, 4)),
];

pub(crate) static LAYOUTS: &[Layout] = &[
    Layout { versions: &[21], parts: &[one(8, &[VERSION, TTI, TAIL]), hypotheses(u8(7), V21)] },
    Layout { versions: &[24], parts: &[one(8, &[VERSION, TTI, TAIL]), hypotheses(u8(7), V24)] },
    Layout {
        versions: &[42, 101],
        parts: &[one(8, &[VERSION, TTI, CELL_V42, TAIL]), hypotheses(u8(7), V42)],
    },
    Layout {
        versions: &[121, 123],
        parts: &[
            one(8, &[VERSION, TTI, CELL_V42, TAIL]),
            hypotheses(u8(7), V121),
            Part::Padding(4),
        ],
    },
    Layout {
        versions: &[43],
        parts: &[
            one(8, &[HEADER_V43]),
            Part::List { name: "groups", count: Count::Says(bits(1, 3, 0)), parts: GROUP_V43 },
        ],
    },
    Layout { versions: &[141], parts: &[one(4, &[HEADER_V141]), hypotheses(bits(1, 12, 4), V141)] },
];
