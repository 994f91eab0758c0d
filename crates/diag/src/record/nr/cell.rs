//! 0xB822, 0xB823, 0xB825: the device's cell, and the network's configuration.
//!
//! Versions 3 and 2.0 of 0xB822 agree with public vectors; version 1 has the same word as 3.
//! Versions 4, 3.2 and 3.3 of 0xB823 agree too: a network code has two bytes there, and 3.0 is 3.2
//! without its first three bytes. 0xB825 has one source.

use super::{NUMEROLOGY, RB_TYPE, VERSION};
use crate::layout::{
    Block, Count, Field, Layout, Names, Part, bits, flag, hex, names, u8, u16, u32, u64, uint,
};

const CELL: &[Field] = &[uint("pci", u16(4)), uint("arfcn", u32(6))];

const MIB_V3: &[Field] = &[
    uint("frame", bits(10, 9, 0)),
    flag("intra_freq_reselection", 10, 15),
    uint("pdcch_config_sib1", u8(12)),
    uint("dmrs_type_a_position", bits(13, 1, 0)),
    uint("ssb_subcarrier_offset", bits(13, 5, 2)),
    names("scs_common", bits(13, 7, 6), NUMEROLOGY),
];

/// Version 2.0 has one more bit before the subcarrier spacing; the bits between are unknown.
const MIB_V2_0: &[Field] =
    &[uint("frame", bits(10, 9, 0)), names("scs_common", bits(13, 8, 7), NUMEROLOGY)];

pub(in super::super) static MIB: &[Layout] = &[
    Layout {
        versions: &[1, 3],
        parts: &[Part::Block(Block { size: 14, fields: &[VERSION, CELL, MIB_V3] })],
    },
    Layout {
        versions: &[0x2_0000],
        parts: &[Part::Block(Block { size: 15, fields: &[VERSION, CELL, MIB_V2_0] })],
    },
];

/// Everything after the identities of a serving cell, which starts at `$at`.
macro_rules! carrier {
    ($at:expr) => {
        &[
            uint("dl_arfcn", u32($at)),
            uint("ul_arfcn", u32($at + 4)),
            uint("dl_bandwidth_mhz", u16($at + 8)),
            uint("ul_bandwidth_mhz", u16($at + 10)),
            uint("cell_id", u64($at + 12)),
            uint("mcc", u16($at + 20)),
            uint("mnc_digits", u8($at + 22)),
            uint("mnc", u16($at + 23)),
            uint("allowed_access", u8($at + 25)),
            uint("tac", u32($at + 26)),
            uint("band", u16($at + 30)),
        ]
    };
}

const CARRIER_V4: &[Field] = carrier!(6);
const CARRIER_V3_0: &[Field] = carrier!(14);
const CARRIER_V3_2: &[Field] = carrier!(17);
const SERVING: &[Field] = &[uint("pci", u16(4))];
const SERVING_V3_0: &[Field] = &[uint("pci", u16(4)), uint("ncgi", u64(6))];
const SERVING_V3_2: &[Field] = &[uint("pci", u16(7)), uint("ncgi", u64(9))];

pub(in super::super) static SERVING_CELL: &[Layout] = &[
    Layout {
        versions: &[4],
        parts: &[Part::Block(Block { size: 38, fields: &[VERSION, SERVING, CARRIER_V4] })],
    },
    Layout {
        versions: &[0x3_0000],
        parts: &[Part::Block(Block { size: 46, fields: &[VERSION, SERVING_V3_0, CARRIER_V3_0] })],
    },
    Layout {
        versions: &[0x3_0002, 0x3_0003],
        parts: &[Part::Block(Block { size: 49, fields: &[VERSION, SERVING_V3_2, CARRIER_V3_2] })],
    },
];

const STATE: Names = &[(7, "connected")];
const CONNECTIVITY: Names = &[(2, "sa")];
const BAND_TYPE: Names = &[(1, "sub6")];
const BANDWIDTH: Names = &[(12, "100mhz")];
const SYSTEM: Names = &[(2, "nr")];

const CONFIGURATION_V8: &[Field] = &[
    names("state", bits(4, 2, 0), STATE),
    flag("config_status", 5, 0),
    names("connectivity", bits(6, 1, 0), CONNECTIVITY),
    uint("active_srbs", u8(7)),
    uint("active_drbs", u8(8)),
    hex("mcg_drb_ids", u8(9)),
    uint("contiguous_group_count", u8(58)),
    uint("carrier_count", u8(59)),
    uint("radio_bearer_count", u8(60)),
];

const CONTIGUOUS: &[Part] = &[Part::Block(Block {
    size: 4,
    fields: &[&[
        uint("band", u16(0)),
        uint("dl_bandwidth_class", u8(2)),
        uint("ul_bandwidth_class", u8(3)),
    ]],
})];

const CARRIER: &[Part] = &[Part::Block(Block {
    size: 18,
    fields: &[&[
        uint("carrier", u8(0)),
        uint("pci", u16(1)),
        uint("dl_arfcn", u32(3)),
        uint("ul_arfcn", u32(7)),
        uint("band", u16(11)),
        names("band_type", u8(13), BAND_TYPE),
        names("dl_bandwidth", u8(14), BANDWIDTH),
        names("ul_bandwidth", u8(15), BANDWIDTH),
        uint("dl_mimo", u8(16)),
        uint("ul_mimo", u8(17)),
    ]],
})];

const RADIO_BEARER: &[Part] = &[Part::Block(Block {
    size: 18,
    fields: &[&[
        uint("radio_bearer", u8(0)),
        names("termination", bits(1, 1, 0), SYSTEM),
        names("dl_type", bits(2, 1, 0), RB_TYPE),
        names("dl_path", bits(3, 1, 0), SYSTEM),
        flag("dl_rohc", 4, 0),
        uint("dl_cipher", u8(5)),
        uint("dl_integrity", u8(6)),
        names("ul_type", bits(7, 1, 0), RB_TYPE),
        names("ul_path", bits(8, 1, 0), SYSTEM),
        flag("ul_rohc", 9, 0),
        uint("ul_cipher", u8(10)),
        uint("ul_integrity", u8(11)),
    ]],
})];

pub(in super::super) static CONFIGURATION: &[Layout] = &[Layout {
    versions: &[8],
    parts: &[
        Part::Block(Block { size: 61, fields: &[VERSION, CONFIGURATION_V8] }),
        Part::List { name: "contiguous_groups", count: Count::Says(u8(58)), parts: CONTIGUOUS },
        Part::List { name: "carriers", count: Count::Says(u8(59)), parts: CARRIER },
        Part::List { name: "radio_bearers", count: Count::Says(u8(60)), parts: RADIO_BEARER },
    ],
}];
