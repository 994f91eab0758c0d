//! The field tables of 0xB883, oldest version first.

use super::super::{HEADER_2, HEADER_3, SLOT};
use crate::layout::{
    Bits, Block, Count, Field, Layout, Names, Part, bits, flag, hex, names, u8, u16, u32, uint,
};

const fn list(name: &'static str, count: Bits, parts: &'static [Part]) -> Part {
    Part::List { name, count: Count::Says(count), parts }
}

const MCS_TABLE: Names = &[(0, "64qam"), (1, "256qam"), (2, "64qam_low_se")];
const MODULATION: Names = &[(1, "qpsk"), (2, "16qam"), (3, "64qam"), (4, "256qam")];
const MAPPING: Names = &[(1, "b")];
const NUMEROLOGY: Names = super::super::NUMEROLOGY;

pub(super) const PUSCH_V2: &[Part] = &[Part::Block(Block {
    size: 40,
    fields: &[&[
        flag("second_channel", 0, 0),
        uint("start_symbol", bits(0, 4, 1)),
        uint("symbols", bits(0, 8, 5)),
        uint("harq", bits(0, 12, 9)),
        uint("mcs", bits(0, 17, 13)),
        names("mcs_table", bits(2, 3, 2), MCS_TABLE),
        uint("dmrs_additional_positions", bits(2, 6, 5)),
        uint("start_rb", bits(2, 15, 7)),
        uint("rbs", bits(4, 8, 0)),
        flag("allocation_type", 4, 9),
        names("mapping_type", bits(4, 10, 10), MAPPING),
        uint("tb_bytes", bits(4, 28, 11)),
        uint("dmrs_config_type", bits(6, 14, 13)),
        flag("antenna_switch", 6, 15),
        uint("tx_mode", bits(8, 1, 0)),
        uint("rv", bits(8, 4, 2)),
        uint("dmrs_ptrs_association", bits(8, 5, 5)),
        uint("beta_offset_index", bits(8, 7, 6)),
        uint("tx_type", bits(9, 1, 0)),
        uint("bwp", bits(9, 3, 2)),
        uint("code_rate_raw", bits(9, 19, 4)),
        hex("uci_requested", bits(11, 7, 4)),
        uint("csf_1_bits", bits(12, 9, 0)),
        uint("csf_2_bits", bits(12, 23, 10)),
        uint("harq_ack_bits", bits(15, 5, 0)),
        uint("transform_precoding", bits(15, 7, 6)),
        uint("k_prime", bits(16, 14, 0)),
        uint("zc", bits(16, 23, 15)),
        uint("code_blocks", u8(19)),
        hex("dmrs_symbols", bits(20, 13, 0)),
        uint("srs_resource", bits(20, 15, 14)),
        uint("code_block_size", bits(22, 14, 0)),
        flag("frequency_hopping", 22, 15),
        uint("k2", bits(24, 5, 0)),
        uint("tpc_accumulated_0", bits(24, 13, 6)),
        uint("tpc_accumulated_1", bits(24, 21, 14)),
        uint("tpmi", bits(24, 26, 22)),
        uint("data_scrambling", bits(27, 4, 3)),
        uint("dmrs_port_0", bits(27, 7, 5)),
        uint("dmrs_port_1", bits(28, 3, 0)),
        uint("hop_start_rb", bits(28, 12, 4)),
        names("modulation", bits(29, 7, 5), MODULATION),
        uint("rnti_value", u16(30)),
        uint("cdm_groups", bits(32, 1, 0)),
        uint("dmrs_scrambling", bits(32, 5, 2)),
        hex("rbg_bitmap", u32(36)),
    ]],
})];

const PUCCH_V2: &[Part] = &[Part::Block(Block {
    size: 16,
    fields: &[&[
        flag("second_channel", 0, 0),
        uint("format", bits(0, 4, 1)),
        hex("uci_requested", bits(0, 8, 5)),
        uint("symbols", bits(1, 7, 4)),
        uint("start_rb", bits(2, 9, 0)),
        uint("rbs", u8(4)),
        uint("frequency_hopping", bits(5, 2, 0)),
        uint("hop_start_rb", bits(5, 11, 3)),
        uint("harq_ack_bits", bits(6, 9, 4)),
        uint("sr_bits", bits(7, 7, 2)),
        uint("uci_1_bits", bits(8, 9, 0)),
        uint("uci_2_bits", bits(8, 25, 10)),
        uint("spatial_relation", bits(10, 14, 10)),
        flag("antenna_switch", 10, 15),
        uint("m0", bits(12, 3, 0)),
        uint("time_occ_index", bits(12, 5, 4)),
        uint("dmrs_index", bits(12, 9, 6)),
        uint("dft_occ_length", bits(13, 4, 2)),
        uint("dft_occ_index", bits(13, 7, 5)),
        uint("tpc_accumulated_0", u8(14)),
        uint("tpc_accumulated_1", u8(15)),
    ]],
})];

const SRS_V2: &[Part] = &[Part::Block(Block { size: 16, fields: &[] })];

const PRACH_V2: &[Part] = &[Part::Block(Block {
    size: 8,
    fields: &[&[
        uint("resource", bits(0, 8, 0)),
        uint("root_sequence", bits(0, 17, 9)),
        uint("preamble_format", bits(2, 7, 2)),
        uint("symbol_offset", bits(3, 3, 0)),
        names("numerology", bits(3, 5, 4), NUMEROLOGY),
        uint("number", bits(4, 8, 0)),
        uint("cyclic_shift", bits(4, 24, 9)),
    ]],
})];

/// A count with a list of control channels or sounding signals.
macro_rules! several {
    ($name:literal, $parts:expr) => {
        &[
            Part::Block(Block { size: 4, fields: &[&[uint("count", u8(0))]] }),
            list($name, u8(0), $parts),
        ]
    };
}

const PUCCHS_V2: &[Part] = several!("channels", PUCCH_V2);
const SRSS_V2: &[Part] = several!("resources", SRS_V2);

const CARRIER_HEAD_V2: &[Field] = &[
    uint("carrier", bits(0, 1, 0)),
    uint("rnti", bits(0, 5, 2)),
    flag("has_pusch", 0, 7),
    flag("has_pucch", 0, 8),
    flag("has_srs", 0, 9),
    flag("has_prach", 0, 10),
];

pub(super) const CARRIER_V2: &[Part] = &[
    Part::Block(Block { size: 4, fields: &[CARRIER_HEAD_V2] }),
    list("pusch", bits(0, 7, 7), PUSCH_V2),
    list("pucch", bits(0, 8, 8), PUCCHS_V2),
    list("srs", bits(0, 9, 9), SRSS_V2),
    list("prach", bits(0, 10, 10), PRACH_V2),
];

pub(super) const SLOT_V2: &[Part] = &[
    Part::Block(Block { size: 8, fields: &[SLOT, &[uint("carrier_count", u8(4))]] }),
    list("carriers", u8(4), CARRIER_V2),
];

pub(super) const PUSCH_V3: &[Part] = &[Part::Block(Block {
    size: 36,
    fields: &[&[
        uint("harq", bits(0, 12, 10)),
        uint("rv", bits(0, 15, 14)),
        uint("mcs", bits(0, 20, 16)),
        uint("start_rb", bits(0, 31, 23)),
        uint("rbs", u8(4)),
        hex("uci_requested", bits(5, 2, 1)),
        uint("symbols", bits(5, 11, 8)),
        uint("k2", bits(5, 15, 12)),
        uint("tb_bytes", u16(8)),
        hex("dmrs_symbols", bits(10, 13, 2)),
        uint("rnti_value", bits(12, 30, 15)),
        uint("harq_ack_bits", bits(19, 3, 1)),
        uint("csf_1_bits", u8(20)),
        uint("srs_resource", bits(23, 1, 0)),
        names("modulation", bits(23, 7, 5), MODULATION),
        uint("transform_precoding", bits(24, 0, 0)),
        uint("code_rate_raw", bits(24, 12, 1)),
        uint("code_block_size", bits(24, 31, 17)),
        uint("k_prime", bits(28, 13, 0)),
        uint("zc", bits(28, 23, 15)),
        uint("code_blocks", bits(28, 27, 24)),
        hex("rbg_bitmap", bits(32, 19, 0)),
        uint("gap_rbs", bits(32, 23, 20)),
    ]],
})];

const PUCCH_V3: &[Part] = &[Part::Block(Block {
    size: 16,
    fields: &[&[
        uint("format", bits(0, 6, 4)),
        hex("uci_requested", bits(0, 9, 7)),
        uint("start_rb", bits(2, 11, 2)),
        uint("rbs", bits(4, 3, 0)),
        uint("hop_start_rb", bits(4, 19, 11)),
        uint("harq_ack_bits", bits(4, 22, 20)),
        uint("uci_1_bits", u8(8)),
        uint("m0", bits(10, 3, 0)),
        uint("time_occ_index", bits(10, 6, 4)),
        uint("dft_occ_length", bits(13, 4, 2)),
        uint("dft_occ_index", bits(13, 7, 5)),
    ]],
})];

const SRS_V3: &[Part] = &[Part::Block(Block {
    size: 16,
    fields: &[&[
        uint("resource", bits(0, 7, 6)),
        uint("config_index", bits(2, 2, 1)),
        uint("start_symbol", bits(3, 4, 1)),
        uint("start_re_0", u16(8)),
        uint("start_re_1", u16(10)),
        uint("start_re_2", u16(12)),
        uint("start_re_3", u16(14)),
    ]],
})];

const PRACH_V3: &[Part] = &[Part::Block(Block {
    size: 8,
    fields: &[&[
        uint("resource", u8(0)),
        uint("root_sequence", bits(1, 11, 1)),
        uint("cyclic_shift", u16(4)),
    ]],
})];

const PUCCHS_V3: &[Part] = several!("channels", PUCCH_V3);
const SRSS_V3: &[Part] = several!("resources", SRS_V3);

const CARRIER_HEAD_V3: &[Field] = &[
    flag("has_pusch", 1, 0),
    flag("has_pucch", 1, 1),
    flag("has_srs", 1, 2),
    flag("has_prach", 1, 3),
    uint("uplink_slot_time", u32(4)),
    uint("timing_adjustment", u16(8)),
    uint("mac_n_ta", u16(10)),
    flag("timing_advanced_or_retarded", 12, 0),
    uint("timing_adjustment_tc", bits(12, 10, 1)),
];

pub(super) const CARRIER_V3: &[Part] = &[
    Part::Block(Block { size: 20, fields: &[CARRIER_HEAD_V3] }),
    list("pusch", bits(1, 0, 0), PUSCH_V3),
    list("pucch", bits(1, 1, 1), PUCCHS_V3),
    list("srs", bits(1, 2, 2), SRSS_V3),
    list("prach", bits(1, 3, 3), PRACH_V3),
];

const CARRIER_COUNT_V3: &[Field] = &[uint("carrier_count", bits(2, 15, 10))];

pub(super) const SLOT_V3: &[Part] = &[
    Part::Block(Block { size: 4, fields: &[SLOT, CARRIER_COUNT_V3] }),
    list("carriers", bits(2, 15, 10), CARRIER_V3),
];

pub(in super::super::super) static LAYOUTS: &[Layout] = &[
    Layout {
        versions: &[0x2_0008, 0x2_000B, 0x2_0011],
        parts: &[HEADER_2, list("slots", u8(15), SLOT_V2)],
    },
    Layout { versions: &[0x3_000F], parts: &[HEADER_3, list("slots", u8(7), SLOT_V3)] },
];
