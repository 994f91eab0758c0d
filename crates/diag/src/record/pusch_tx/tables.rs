//! The field tables of 0xB139, oldest version first.

use super::super::common::CARRIER;
use crate::layout::{
    Block, Count, Field, Layout, Names, Part, bits, bytes, flag, hex, int, names, scaled,
    scaled_int, u8, u16, u32, uint,
};

const HEADER: Block = Block {
    size: 8,
    fields: &[&[
        uint("version", u8(0)),
        uint("pci", bits(1, 8, 0)),
        uint("count", bits(1, 13, 9)),
        uint("dispatch_tti", u16(4)),
    ]],
};

const HOPPING: Names = &[(0, "off"), (1, "on")];
/// Here 1 is QPSK, where most records count from 0.
const MODULATION: Names = &[(0, "bpsk"), (1, "qpsk"), (2, "16qam"), (3, "64qam"), (4, "256qam")];

/// Versions 23 to 43 begin alike.
const OLD_HEAD: &[Field] = &[
    uint("tti", u16(0)),
    scaled("code_rate", u16(2), 1.0 / 1024.0, 0.0),
    flag("has_ack", 4, 0),
    flag("has_cqi", 4, 1),
    flag("has_ri", 4, 2),
    names("hopping", bits(4, 4, 3), HOPPING),
    uint("rv", bits(4, 6, 5)),
    uint("mirror_hopping", bits(4, 8, 7)),
    uint("dmrs_cyclic_shift_slot_0", bits(4, 12, 9)),
    uint("dmrs_cyclic_shift_slot_1", bits(4, 16, 13)),
    uint("dmrs_root_slot_0", bits(4, 27, 17)),
    flag("ue_srs", 4, 28),
    uint("dmrs_root_slot_1", bits(8, 10, 0)),
    uint("start_rb_slot_0", bits(8, 17, 11)),
    uint("start_rb_slot_1", bits(8, 24, 18)),
    uint("rbs", bits(8, 31, 25)),
    uint("tb_bytes", u16(12)),
];

const V23: &[Field] = &[
    uint("ack_bits", bits(14, 2, 0)),
    hex("ack_payload", bits(14, 6, 3)),
    uint("rate_matched_ack_bits", bits(16, 10, 0)),
    uint("ri_bits", bits(16, 12, 11)),
    hex("ri_payload", bits(16, 14, 13)),
    uint("rate_matched_ri_bits", bits(16, 25, 15)),
    names("modulation", bits(16, 27, 26), MODULATION),
    hex("ri_payload_2", bits(16, 31, 28)),
    uint("digital_gain", u8(20)),
    flag("srs_occasion", 21, 0),
    uint("retx", bits(21, 5, 1)),
    int("power_dbm", bits(24, 9, 0)),
    uint("cqi_bits", bits(24, 17, 10)),
    uint("rate_matched_cqi_bits", bits(24, 31, 18)),
    bytes("cqi_payload", 28, 16),
    hex("resampler", u32(44)),
];

const V26: &[Field] =
    &[uint("repetitions", bits(48, 11, 0)), uint("rb_narrowband_start", bits(48, 19, 12))];

const V43: &[Field] = &[
    uint("rate_matched_ack_bits", u16(14)),
    hex("ack_payload", bits(16, 19, 0)),
    uint("ack_len_0", bits(16, 23, 20)),
    uint("ack_len_1", bits(16, 27, 24)),
    uint("ri_bits", bits(16, 31, 29)),
    hex("ri_payload", bits(20, 3, 0)),
    uint("rate_matched_ri_bits", bits(20, 14, 4)),
    names("modulation", bits(20, 16, 15), MODULATION),
    uint("digital_gain", bits(20, 24, 17)),
    flag("srs_occasion", 20, 25),
    uint("retx", bits(20, 28, 26)),
    int("power_dbm", bits(24, 6, 0)),
    uint("cqi_bits", bits(24, 14, 7)),
    uint("rate_matched_cqi_bits", bits(24, 30, 15)),
    bytes("cqi_payload", 32, 28),
    hex("resampler", u32(60)),
];

/// Version 102 and later begin alike.
const HEAD: &[Field] = &[
    uint("tti", u16(0)),
    names("carrier", bits(2, 1, 0), CARRIER),
    flag("has_ack", 2, 2),
    flag("has_cqi", 2, 3),
    flag("has_ri", 2, 4),
    names("hopping", bits(2, 6, 5), HOPPING),
    uint("retx", bits(2, 11, 7)),
    uint("rv", bits(2, 13, 12)),
    uint("mirror_hopping", bits(2, 15, 14)),
    uint("tb_bytes", u16(8)),
    scaled("code_rate", u16(10), 1.0 / 1024.0, 0.0),
];

const BLOCKS: &[Field] = &[
    uint("allocation_type", bits(4, 0, 0)),
    uint("start_rb_slot_0", bits(4, 7, 1)),
    uint("start_rb_slot_1", bits(4, 14, 8)),
    uint("rbs", bits(4, 21, 15)),
];

const BLOCKS_V122: &[Field] = &[
    uint("start_rb_slot_0", bits(4, 6, 0)),
    uint("start_rb_slot_1", bits(4, 13, 7)),
    uint("rbs", bits(4, 20, 14)),
    names("dl_carrier", bits(4, 23, 21), CARRIER),
];

const DL_CARRIER_V124: &[Field] = &[names("dl_carrier", bits(4, 26, 25), CARRIER)];

const DL_CARRIER_V144: &[Field] =
    &[names("dl_carrier", bits(4, 24, 22), CARRIER), flag("ul_dmrs_occ", 4, 25)];

/// Control information and power, versions 102, 122 and 124.
const CONTROL: &[Field] = &[
    uint("rate_matched_ack_bits", bits(12, 13, 0)),
    flag("ue_srs", 12, 29),
    flag("srs_occasion", 12, 30),
    hex("ack_payload", bits(16, 19, 0)),
    uint("ack_len_0", bits(16, 23, 20)),
    uint("ack_len_1", bits(16, 27, 24)),
    uint("ri_bits", bits(16, 30, 28)),
    names("modulation", bits(20, 1, 0), MODULATION),
    uint("digital_gain", bits(20, 9, 2)),
    int("power_dbm", bits(24, 6, 0)),
    uint("cqi_bits", bits(24, 14, 7)),
    uint("dl_carriers", bits(28, 1, 0)),
    uint("ack_index", bits(28, 13, 2)),
    flag("ack_late", 28, 14),
    flag("csf_late", 28, 15),
    flag("dropped", 28, 16),
];

/// Seven bits each, as in version 144: on captures, the blocks of both clusters then carry just the
/// transport block that size and code rate state. The public description has the border one bit
/// higher.
const CLUSTERS: &[Field] =
    &[uint("start_rb_cluster_1", bits(20, 16, 10)), uint("rbs_cluster_1", bits(20, 23, 17))];

const V102: &[Field] = &[
    hex("ri_payload", bits(12, 17, 14)),
    uint("rate_matched_ri_bits", bits(12, 28, 18)),
    uint("rate_matched_cqi_bits", bits(24, 30, 15)),
];

const V122: &[Field] = &[
    hex("ri_payload", bits(12, 18, 14)),
    uint("rate_matched_ri_bits", bits(12, 28, 19)),
    uint("rate_matched_cqi_bits", bits(24, 31, 18)),
];

const TAIL_68: &[Field] = &[
    bytes("cqi_payload", 32, 28),
    hex("resampler", u32(60)),
    uint("dmrs_cyclic_shift_slot_0", bits(64, 3, 0)),
    uint("dmrs_cyclic_shift_slot_1", bits(64, 7, 4)),
    uint("dmrs_root_slot_0", bits(64, 18, 8)),
    uint("dmrs_root_slot_1", bits(64, 29, 19)),
];

const TAIL_84: &[Field] = &[
    bytes("cqi_payload", 32, 44),
    hex("resampler", u32(76)),
    uint("dmrs_cyclic_shift_slot_0", bits(80, 3, 0)),
    uint("dmrs_cyclic_shift_slot_1", bits(80, 7, 4)),
    uint("dmrs_root_slot_0", bits(80, 18, 8)),
    uint("dmrs_root_slot_1", bits(80, 29, 19)),
];

const V144: &[Field] = &[
    uint("rate_matched_ack_bits", bits(12, 13, 0)),
    hex("ri_payload", bits(12, 27, 14)),
    uint("ri_bits", bits(12, 31, 28)),
    bytes("ack_payload", 16, 16),
    uint("ack_len_0", bits(32, 6, 0)),
    uint("ack_len_1", bits(32, 13, 7)),
    uint("rate_matched_ri_bits", bits(32, 24, 14)),
    flag("ue_srs", 36, 0),
    flag("srs_occasion", 36, 1),
    names("modulation", bits(36, 4, 2), MODULATION),
    uint("digital_gain", bits(36, 12, 5)),
    uint("start_rb_cluster_1", bits(36, 19, 13)),
    uint("rbs_cluster_1", bits(36, 26, 20)),
    uint("cqi_bits", bits(40, 14, 7)),
    uint("rate_matched_cqi_bits", bits(40, 31, 18)),
    uint("dl_carriers", bits(44, 1, 0)),
    uint("ack_index", bits(44, 13, 2)),
    flag("ack_late", 44, 14),
    flag("csf_late", 44, 15),
    bytes("cqi_payload", 48, 44),
    hex("resampler", u32(92)),
    uint("dmrs_cyclic_shift_slot_0", bits(96, 3, 0)),
    uint("dmrs_cyclic_shift_slot_1", bits(96, 7, 4)),
];

const POWER_V144: &[Field] = &[int("power_dbm", bits(40, 6, 0)), flag("dropped", 44, 16)];

/// From one source (docs/reference/diag.md, records); in captures of version 161 it grows with the
/// resource blocks as power must.
const POWER_V161: &[Field] = &[scaled_int("power_dbm", u8(46), 0.25, -1.5)];

const fn report(parts: &'static [Part]) -> Part {
    Part::List { name: "transmissions", count: Count::Says(bits(1, 13, 9)), parts }
}

pub(super) const RECORD_V23: &[Part] = &[Part::Block(Block { size: 48, fields: &[OLD_HEAD, V23] })];
pub(super) const RECORD_V26: &[Part] =
    &[Part::Block(Block { size: 52, fields: &[OLD_HEAD, V23, V26] })];
pub(super) const RECORD_V43: &[Part] = &[Part::Block(Block { size: 64, fields: &[OLD_HEAD, V43] })];
pub(super) const RECORD_V102: &[Part] =
    &[Part::Block(Block { size: 68, fields: &[HEAD, BLOCKS, CONTROL, CLUSTERS, V102, TAIL_68] })];
pub(super) const RECORD_V122: &[Part] =
    &[Part::Block(Block { size: 68, fields: &[HEAD, BLOCKS_V122, CONTROL, V122, TAIL_68] })];
pub(super) const RECORD_V124: &[Part] = &[Part::Block(Block {
    size: 84,
    fields: &[HEAD, BLOCKS, DL_CARRIER_V124, CONTROL, CLUSTERS, V122, TAIL_84],
})];
pub(super) const RECORD_V144: &[Part] =
    &[Part::Block(Block { size: 100, fields: &[HEAD, BLOCKS, DL_CARRIER_V144, V144, POWER_V144] })];
pub(super) const RECORD_V161: &[Part] =
    &[Part::Block(Block { size: 100, fields: &[HEAD, BLOCKS, DL_CARRIER_V144, V144, POWER_V161] })];

pub(crate) static LAYOUTS: &[Layout] = &[
    Layout { versions: &[23, 24], parts: &[Part::Block(HEADER), report(RECORD_V23)] },
    Layout { versions: &[26], parts: &[Part::Block(HEADER), report(RECORD_V26)] },
    Layout { versions: &[43], parts: &[Part::Block(HEADER), report(RECORD_V43)] },
    Layout { versions: &[102], parts: &[Part::Block(HEADER), report(RECORD_V102)] },
    Layout { versions: &[122], parts: &[Part::Block(HEADER), report(RECORD_V122)] },
    Layout { versions: &[124], parts: &[Part::Block(HEADER), report(RECORD_V124)] },
    Layout { versions: &[144, 145], parts: &[Part::Block(HEADER), report(RECORD_V144)] },
    Layout { versions: &[161, 162], parts: &[Part::Block(HEADER), report(RECORD_V161)] },
];
