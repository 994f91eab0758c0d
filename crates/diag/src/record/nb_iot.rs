//! 0xB244 to 0xB24C and 0xB250, from narrowband modems: their control information, transport
//! blocks, transmissions and cells.
//!
//! 0xB244 version 3, 0xB245 and 0xB246 version 2, 0xB24B version 1, 0xB24C version 4, 0xB250
//! version 1. Source: docs/reference/diag.md, records and layouts; all but 0xB250 agree with
//! captures field by field.

use super::common::{ACK, PASS};
use crate::layout::{
    Block, Count, Field, Layout, Names, Part, bits, flag, hex, int, names, u8, u16, u32, uint,
};

const MODE: Names =
    &[(0, "inband_different_pci"), (1, "inband_same_pci"), (2, "guardband"), (3, "standalone")];
const BANDWIDTH: Names = &[(0, "6_rb")];
const DCI_RNTI: Names = &[(0, "c_rnti"), (2, "temporary_c_rnti")];
const PDSCH_RNTI: Names = &[(1, "c_rnti"), (3, "ra_rnti"), (4, "temporary_c_rnti")];
const SPACING: Names = &[(4, "15_khz")];
const FORMAT: Names = &[(0, "1"), (1, "2")];
const TX_TYPE: Names = &[(1, "new")];

const fn block(size: u16, fields: &'static [&'static [Field]]) -> Part {
    Part::Block(Block { size, fields })
}

const fn list(name: &'static str, count: Count, parts: &'static [Part]) -> Part {
    Part::List { name, count, parts }
}

const HEADER: Part = block(4, &[&[uint("version", u8(0)), uint("count", u8(3))]]);

const TIME: &[Field] = &[
    uint("hyperframe", bits(0, 9, 0)),
    uint("frame", bits(0, 19, 10)),
    uint("subframe", bits(0, 23, 20)),
];

pub(super) static DCI_LAYOUTS: &[Layout] = &[Layout {
    versions: &[3],
    parts: &[
        HEADER,
        list(
            "records",
            Count::Says(u8(3)),
            &[block(
                8,
                &[
                    TIME,
                    &[
                        uint("rnti_data", bits(0, 24, 24)),
                        names("rnti", bits(0, 26, 25), DCI_RNTI),
                        flag("ul_grant", 3, 3),
                        flag("dl_grant", 3, 4),
                        flag("pdcch_order", 3, 5),
                        uint("ndi", bits(0, 30, 30)),
                        uint("subcarrier", bits(4, 4, 0)),
                        uint("rv", bits(4, 6, 5)),
                        uint("resources", bits(4, 9, 7)),
                        uint("delay", bits(4, 12, 10)),
                        uint("mcs", bits(4, 17, 13)),
                        uint("repetition", bits(4, 20, 18)),
                        uint("dci_repetition", bits(4, 22, 21)),
                        uint("harq_resource", bits(4, 26, 23)),
                    ],
                ],
            )],
        ),
    ],
}];

pub(super) static TX_LAYOUTS: &[Layout] = &[Layout {
    versions: &[2],
    parts: &[
        block(
            4,
            &[&[
                uint("version", u8(0)),
                names("subcarrier_spacing", bits(2, 7, 5), SPACING),
                uint("count", u8(3)),
            ]],
        ),
        list(
            "records",
            Count::Says(u8(3)),
            &[block(
                16,
                &[
                    TIME,
                    &[
                        names("npusch_format", bits(0, 24, 24), FORMAT),
                        flag("msg3", 3, 1),
                        uint("tbs_index", bits(0, 31, 26)),
                        uint("repetitions", u8(4)),
                        uint("resource_units", bits(4, 11, 8)),
                        uint("rv", bits(4, 12, 12)),
                        uint("tones", bits(4, 16, 13)),
                        uint("start_tone", bits(4, 23, 17)),
                        int("power_dbm", u8(7)),
                        names("tx_type", bits(8, 0, 0), TX_TYPE),
                        names("answer", bits(8, 1, 1), ACK),
                        uint("rflm", bits(8, 9, 2)),
                        flag("prach_collision", 9, 2),
                        uint("prach_collision_7680_ms", bits(8, 13, 11)),
                        hex("scrambling_mask", u32(12)),
                    ],
                ],
            )],
        ),
    ],
}];

pub(super) static PDSCH_LAYOUTS: &[Layout] = &[Layout {
    versions: &[2],
    parts: &[
        HEADER,
        list(
            "records",
            Count::Says(u8(3)),
            &[block(
                8,
                &[&[
                    uint("frame", bits(0, 9, 0)),
                    uint("subframe", bits(0, 13, 10)),
                    names("rnti", bits(0, 16, 14), PDSCH_RNTI),
                    names("crc", bits(0, 17, 17), PASS),
                    uint("tb_bits", bits(0, 31, 18)),
                    uint("hyperframe", bits(4, 9, 0)),
                    uint("mcs", bits(4, 13, 10)),
                    uint("subframes", bits(4, 16, 14)),
                    flag("auto_ack", 6, 1),
                    uint("ndi", bits(4, 31, 18)),
                ]],
            )],
        ),
    ],
}];

pub(super) static SYSTEM_LAYOUTS: &[Layout] = &[Layout {
    versions: &[1],
    parts: &[block(
        12,
        &[&[
            uint("version", u8(0)),
            names("operation_mode", bits(1, 1, 0), MODE),
            names("measured_bandwidth", bits(1, 5, 2), BANDWIDTH),
            uint("pci", bits(1, 15, 6)),
            uint("earfcn", u32(4)),
            int("rsrp_dbm", bits(8, 10, 0)),
            int("srxlev_db", bits(8, 17, 11)),
        ]],
    )],
}];

/// The one record in a capture ends in zeroes, as many as two more layers and three cells would
/// take in each.
pub(super) static RESELECTION_LAYOUTS: &[Layout] = &[Layout {
    versions: &[4],
    parts: &[
        block(4, &[&[uint("version", u8(0)), uint("layer_count", u8(1))]]),
        list(
            "layers",
            Count::Says(u8(1)),
            &[
                block(4, &[&[uint("cell_count", u16(0)), uint("earfcn", u16(2))]]),
                list(
                    "cells",
                    Count::Says(u16(0)),
                    &[block(
                        8,
                        &[&[
                            uint("pci", u16(0)),
                            int("rank", u8(2)),
                            uint("t_reselection", u16(4)),
                        ]],
                    )],
                ),
            ],
        ),
        Part::Padding(96),
    ],
}];

pub(super) static PBCH_LAYOUTS: &[Layout] = &[Layout {
    versions: &[1],
    parts: &[block(
        24,
        &[&[
            uint("version", u8(0)),
            hex("payload", u32(4)),
            uint("earfcn", u32(8)),
            uint("pci", u16(12)),
            names("decoded", bits(14, 0, 0), PASS),
            names("operation_mode", bits(14, 2, 1), MODE),
            names("measured_bandwidth", bits(14, 6, 3), BANDWIDTH),
            flag("access_barring", 14, 7),
            uint("tx_antennas", u8(15)),
            uint("frame_high_bits", u8(16)),
            uint("hyperframe_low_bits", u8(17)),
            uint("sib1_schedule", u8(18)),
            uint("value_tag", u8(19)),
            uint("frame_offset", u16(20)),
            uint("hyperframe_offset", u16(22)),
        ]],
    )],
}];

#[cfg(test)]
mod tests {
    use super::*;
    use crate::layout::key;

    /// Three bytes without a meaning follow the version.
    #[test]
    fn a_found_broadcast_channel_begins_after_a_whole_word() {
        let mut body = [0xEE; 24];
        body[0] = 1;
        body[8..12].copy_from_slice(&3_450u32.to_le_bytes());
        body[12..14].copy_from_slice(&211u16.to_le_bytes());
        body[14] = 1 | 2 << 1 | 1 << 7;
        body[22..].copy_from_slice(&[7, 0]);
        let layout = &PBCH_LAYOUTS[0];
        let node = layout.node(&body).unwrap();
        let read = |name| node.read(key(layout.parts, name));
        assert_eq!(layout.survey(&body).map(|found| found.unread), Ok(0));
        assert_eq!((read("earfcn"), read("pci"), read("decoded")), (3_450, 211, 1));
        assert_eq!((read("operation_mode"), read("hyperframe_offset")), (2, 7));
    }
}
