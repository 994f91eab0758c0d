//! 0xB14D and 0xB14E, channel state feedback on PUCCH and on PUSCH: CQI, precoder and rank as
//! reported.
//!
//! 0xB14D versions 22, 24, 43, 101, 102, 103, 142, 164; 0xB14E versions 22, 23, 42, 101, 102, 103,
//! 142, 164. Source: docs/reference/diag.md, records and layouts; 0xB14D 43, 101 and 102 and 0xB14E
//! 42 and 102 agree with captures field by field. Reporting modes and types are those of TS 36.213
//! §7.2.1 and §7.2.2.

use super::common::CARRIER;
use crate::layout::{Block, Field, Layout, Names, Part, bits, bytes, flag, names, u8, uint};

const RANK: Names = &[(0, "1"), (1, "2"), (2, "3"), (3, "4")];
const TRANSMISSION_MODE: Names = &[
    (0, "invalid"),
    (1, "single_antenna_port_0"),
    (2, "transmit_diversity"),
    (3, "open_loop_sm"),
    (4, "closed_loop_sm"),
    (5, "mu_mimo"),
    (6, "closed_loop_rank_1"),
    (7, "single_antenna_port_5"),
];
const PERIODIC_MODE: Names = &[(2, "1-1")];
const PERIODIC_MODE_V22: Names = &[(1, "1-1")];
/// Types of report (TS 36.213 §7.2.2). The fourth is the wideband CQI of modes without a precoder.
const PERIODIC_TYPE: Names =
    &[(1, "subband_cqi"), (2, "wideband_cqi_pmi"), (3, "rank"), (4, "wideband_cqi")];
/// The same, counted from 0.
const PERIODIC_TYPE_V22: Names =
    &[(0, "subband_cqi"), (1, "wideband_cqi_pmi"), (2, "rank"), (3, "wideband_cqi")];
const APERIODIC_MODE: Names = &[(0, "1-2"), (1, "2-0"), (2, "2-2"), (3, "3-0"), (4, "3-1")];

const VERSION: &[Field] = &[uint("version", u8(0))];
const TIME: &[Field] = &[uint("subframe", bits(1, 3, 0)), uint("frame", bits(1, 13, 4))];

const PERIODIC: &[Field] = &[
    names("mode", bits(1, 16, 14), PERIODIC_MODE),
    names("report_type", bits(3, 4, 1), PERIODIC_TYPE),
];
const PERIODIC_V22: &[Field] = &[
    names("mode", bits(3, 2, 1), PERIODIC_MODE_V22),
    names("report_type", bits(3, 4, 3), PERIODIC_TYPE_V22),
];
const PERIODIC_WORD: &[Field] = &[
    uint("subbands", bits(4, 3, 0)),
    uint("subband_label", bits(4, 9, 8)),
    uint("cqi_0", bits(4, 13, 10)),
    uint("cqi_1", bits(4, 17, 14)),
    uint("wideband_pmi", bits(4, 21, 18)),
    names("carrier", bits(4, 25, 22), CARRIER),
    names("transmission_mode", bits(4, 29, 26), TRANSMISSION_MODE),
];
const BANDWIDTH_PART: &[Field] =
    &[uint("bandwidth_part_size", bits(3, 7, 5)), uint("bandwidth_part", bits(4, 6, 4))];
const PERIODIC_RANK: &[Field] = &[names("rank", bits(4, 7, 7), RANK)];
const PERIODIC_V24: &[Field] = &[
    uint("csi_rs_ports", bits(8, 3, 0)),
    uint("wideband_pmi_1", bits(8, 7, 4)),
    flag("precoder_type", 9, 0),
];
const PERIODIC_V102: &[Field] = &[
    flag("alternative_cqi_table", 4, 7),
    uint("csi_rs_ports", bits(8, 3, 0)),
    uint("csi_set", bits(9, 1, 1)),
    names("rank", bits(9, 3, 2), RANK),
];
const PERIODIC_V103: &[Field] = &[uint("forced_max_rank", bits(9, 11, 4))];

/// The word at 1 of newer modems.
const PERIODIC_TIME_V142: &[Field] = &[
    names("carrier", bits(1, 17, 14), CARRIER),
    uint("scell", bits(1, 22, 18)),
    names("mode", bits(1, 25, 24), PERIODIC_MODE_V22),
    names("report_type", bits(1, 29, 26), PERIODIC_TYPE),
    uint("bandwidth_part_size", bits(1, 31, 30)),
];
const PERIODIC_V142: &[Field] = &[
    uint("subbands", bits(5, 4, 1)),
    uint("bandwidth_part", bits(5, 7, 5)),
    flag("alternative_cqi_table", 6, 0),
    uint("subband_label", bits(6, 2, 1)),
    uint("cqi_0", bits(6, 6, 3)),
    uint("cqi_1", bits(6, 10, 7)),
    uint("wideband_pmi", bits(6, 14, 11)),
    names("transmission_mode", bits(8, 3, 0), TRANSMISSION_MODE),
    uint("submode", bits(8, 5, 4)),
    uint("csi_rs_ports", bits(8, 9, 6)),
    uint("wideband_pmi_1", bits(8, 13, 10)),
    flag("precoder_type", 9, 6),
    uint("csi_set", bits(8, 15, 15)),
    names("rank", bits(10, 1, 0), RANK),
    uint("cri", bits(10, 4, 2)),
    uint("ul_frame", bits(10, 14, 5)),
    uint("ul_channel", bits(10, 15, 15)),
    uint("ul_subframe", bits(12, 3, 0)),
    uint("ul_payload_len", bits(12, 8, 4)),
];
const PERIODIC_V164: &[Field] = &[
    uint("cqi_0", bits(6, 7, 4)),
    uint("cqi_1", bits(6, 11, 8)),
    uint("wideband_pmi", bits(6, 15, 12)),
    names("transmission_mode", bits(8, 3, 0), TRANSMISSION_MODE),
    names("rank", bits(10, 9, 8), RANK),
];

const APERIODIC_MODE_BITS: &[Field] = &[names("mode", bits(1, 16, 14), APERIODIC_MODE)];
const APERIODIC_MODE_V22: &[Field] = &[names("mode", bits(3, 3, 1), APERIODIC_MODE)];
const APERIODIC_WORD: &[Field] = &[
    uint("subbands", bits(4, 4, 0)),
    uint("wideband_cqi_0", bits(4, 8, 5)),
    uint("wideband_cqi_1", bits(4, 12, 9)),
    uint("subband_size", bits(4, 19, 13)),
    uint("wideband_pmi", bits(4, 23, 20)),
    uint("multiband_pmi", bits(4, 27, 24)),
    names("transmission_mode", bits(4, 31, 28), TRANSMISSION_MODE),
    bytes("subband_feedback", 8, 27),
    names("carrier", bits(35, 3, 0), CARRIER),
];
const APERIODIC_PORTS: &[Field] = &[uint("csi_rs_ports", bits(35, 7, 4))];
const RANK_V22: &[Field] = &[names("rank", bits(3, 4, 4), RANK)];
const RANK_V23: &[Field] = &[names("rank", bits(3, 1, 1), RANK)];
const SET_V42: &[Field] = &[uint("csi_set", bits(3, 2, 2))];
const RANK_V101: &[Field] = &[uint("csi_set", bits(3, 1, 1)), names("rank", bits(3, 7, 2), RANK)];
const RANK_V102: &[Field] = &[uint("csi_set", bits(3, 1, 1)), names("rank", bits(3, 2, 2), RANK)];
const APERIODIC_V103: &[Field] = &[
    names("rank", bits(3, 3, 2), RANK),
    uint("csi_set", bits(3, 1, 1)),
    uint("wideband_pmi_1", bits(3, 7, 4)),
    uint("subbands", bits(4, 4, 0)),
    uint("wideband_cqi_0", bits(4, 8, 5)),
    uint("wideband_cqi_1", bits(5, 4, 1)),
    uint("subband_size", bits(5, 8, 5)),
    uint("selected_subbands", bits(5, 11, 9)),
    uint("wideband_pmi", bits(5, 15, 12)),
    uint("multiband_pmi", bits(7, 3, 0)),
    names("transmission_mode", bits(7, 7, 4), TRANSMISSION_MODE),
    uint("forced_max_rank", u8(22)),
    flag("alternative_cqi_table", 28, 1),
    names("carrier", bits(36, 3, 0), CARRIER),
    uint("csi_rs_ports", bits(36, 7, 4)),
];
const APERIODIC_V142: &[Field] = &[
    names("carrier", bits(1, 17, 14), CARRIER),
    uint("scell", bits(1, 22, 18)),
    names("mode", bits(1, 26, 24), APERIODIC_MODE),
    uint("csi_set", bits(1, 27, 27)),
    names("rank", bits(1, 29, 28), RANK),
    uint("wideband_pmi_1", bits(1, 33, 30)),
    uint("subbands", bits(5, 6, 2)),
    uint("wideband_cqi_0", bits(5, 10, 7)),
    uint("wideband_cqi_1", bits(5, 14, 11)),
    uint("subband_size", bits(5, 18, 15)),
    uint("selected_subbands", bits(5, 21, 19)),
    uint("wideband_pmi", bits(5, 27, 24)),
    uint("multiband_pmi", bits(5, 31, 28)),
    names("transmission_mode", bits(9, 3, 0), TRANSMISSION_MODE),
    uint("csi_rs_ports", bits(35, 3, 0)),
    uint("cri", bits(36, 2, 0)),
    uint("ul_frame", bits(36, 13, 4)),
    uint("ul_subframe", bits(36, 17, 14)),
    uint("ul_payload_len", bits(36, 24, 18)),
];
const APERIODIC_V164: &[Field] = &[
    names("carrier", bits(1, 17, 14), CARRIER),
    uint("scell", bits(1, 22, 18)),
    names("mode", bits(1, 26, 24), APERIODIC_MODE),
    names("rank", bits(1, 29, 28), RANK),
    uint("wideband_cqi_0", bits(5, 10, 7)),
    uint("wideband_cqi_1", bits(5, 14, 11)),
    uint("wideband_pmi", bits(5, 27, 24)),
    names("transmission_mode", bits(9, 3, 0), TRANSMISSION_MODE),
];

const fn layout(versions: &'static [u32], parts: &'static [Part]) -> Layout {
    Layout { versions, parts }
}

const fn record(size: u16, fields: &'static [&'static [Field]]) -> Part {
    Part::Block(Block { size, fields })
}

pub(super) static PERIODIC_LAYOUTS: &[Layout] = &[
    layout(
        &[22],
        &[record(8, &[VERSION, TIME, PERIODIC_V22, BANDWIDTH_PART, PERIODIC_RANK, PERIODIC_WORD])],
    ),
    layout(
        &[24],
        &[record(
            12,
            &[VERSION, TIME, PERIODIC, BANDWIDTH_PART, PERIODIC_RANK, PERIODIC_WORD, PERIODIC_V24],
        )],
    ),
    layout(&[43], &[record(12, &[VERSION, TIME, PERIODIC, PERIODIC_RANK, PERIODIC_WORD])]),
    layout(&[101, 102], &[record(12, &[VERSION, TIME, PERIODIC, PERIODIC_WORD, PERIODIC_V102])]),
    layout(
        &[103],
        &[record(12, &[VERSION, TIME, PERIODIC, PERIODIC_WORD, PERIODIC_V102, PERIODIC_V103])],
    ),
    layout(&[142], &[record(16, &[VERSION, TIME, PERIODIC_TIME_V142, PERIODIC_V142])]),
    layout(&[164], &[record(14, &[VERSION, TIME, PERIODIC_TIME_V142, PERIODIC_V164])]),
];

pub(super) static APERIODIC_LAYOUTS: &[Layout] = &[
    layout(&[22], &[record(36, &[VERSION, TIME, APERIODIC_MODE_V22, RANK_V22, APERIODIC_WORD])]),
    layout(
        &[23],
        &[record(
            36,
            &[VERSION, TIME, APERIODIC_MODE_BITS, RANK_V23, APERIODIC_WORD, APERIODIC_PORTS],
        )],
    ),
    layout(
        &[42],
        &[record(
            36,
            &[
                VERSION,
                TIME,
                APERIODIC_MODE_BITS,
                RANK_V23,
                SET_V42,
                APERIODIC_WORD,
                APERIODIC_PORTS,
            ],
        )],
    ),
    layout(
        &[101],
        &[record(
            36,
            &[VERSION, TIME, APERIODIC_MODE_BITS, RANK_V101, APERIODIC_WORD, APERIODIC_PORTS],
        )],
    ),
    layout(
        &[102],
        &[record(
            36,
            &[VERSION, TIME, APERIODIC_MODE_BITS, RANK_V102, APERIODIC_WORD, APERIODIC_PORTS],
        )],
    ),
    layout(&[103], &[record(37, &[VERSION, TIME, APERIODIC_MODE_BITS, APERIODIC_V103])]),
    layout(&[142], &[record(40, &[VERSION, TIME, APERIODIC_V142])]),
    layout(&[164], &[record(10, &[VERSION, TIME, APERIODIC_V164])]),
];
