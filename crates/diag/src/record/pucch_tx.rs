//! 0xB13C, PUCCH transmission report: when, where and with what power control information went up.
//!
//! Versions 21, 22, 43, 101, 121, 142. Source: docs/reference/diag.md, records and layouts; 43 and
//! 121 agree with captures field by field.

use super::common::{CARRIER, PUCCH_FORMAT};
use crate::layout::{
    Bits, Block, Count, Field, Layout, Part, bits, bytes, flag, hex, int, names, scaled, u8, u16,
    u32, uint,
};

const HEADER: Part = Part::Block(Block {
    size: 8,
    fields: &[&[
        uint("version", u8(0)),
        uint("pci", bits(1, 8, 0)),
        uint("count", bits(1, 13, 9)),
        uint("dispatch_tti", u16(4)),
    ]],
});

/// The word that begins with the format, `$bit` bits into byte 4.
macro_rules! resources {
    ($bit:expr) => {
        &[
            names("format", bits(4, $bit + 2, $bit), PUCCH_FORMAT),
            uint("start_rb_slot_0", bits(4, $bit + 9, $bit + 3)),
            uint("start_rb_slot_1", bits(4, $bit + 16, $bit + 10)),
            flag("second_slot_shortened", 4 + ($bit + 17) / 8, ($bit + 17) % 8),
            flag("ue_srs", 4 + ($bit + 18) / 8, ($bit + 18) % 8),
            uint("dmrs_sequence_slot_0", bits(4, $bit + 23, $bit + 19)),
            uint("dmrs_sequence_slot_1", bits(4, $bit + 28, $bit + 24)),
        ]
    };
}

const START: &[Field] = &[
    uint("tti", u16(0)),
    hex("cqi_payload", u16(2)),
    bytes("cyclic_shifts", 8, 14),
    uint("digital_gain", u8(22)),
    int("power_dbm", bits(23, 6, 0)),
];
const CARRIER_OF: &[Field] = &[names("carrier", bits(4, 1, 0), CARRIER)];
const RESOURCES: &[Field] = resources!(0);
const RESOURCES_AFTER_CARRIER: &[Field] = resources!(2);

const fn resampler(bits: Bits) -> Field {
    scaled("resampler", bits, 1.0 / 4_294_967_296.0, 0.0)
}

const REST_V21: &[Field] = &[resampler(u32(24)), uint("n1_pucch", u16(28))];
const REST_V22: &[Field] =
    &[uint("repetitions", bits(32, 11, 0)), uint("start_narrowband", bits(32, 19, 12))];
const ACK: &[Field] = &[
    hex("ack_payload", bits(24, 19, 0)),
    uint("ack_len", bits(24, 24, 20)),
    flag("scheduling_request", 27, 1),
    uint("dl_carriers", bits(24, 29, 26)),
];
const DL_CARRIER: &[Field] = &[names("dl_carrier", bits(24, 30, 30), CARRIER)];

/// The fields after the acknowledgements, from byte `$at` on.
macro_rules! rest {
    ($at:expr) => {
        &[
            uint("n1_pucch", u16($at)),
            uint("ack_index", bits($at + 2, 11, 0)),
            flag("ack_late", $at + 3, 4),
            flag("csf_late", $at + 3, 5),
            flag("dropped", $at + 3, 6),
            resampler(u32($at + 4)),
        ]
    };
}

const REST: &[Field] = rest!(28);
const REST_V142: &[Field] = rest!(44);
const ACK_V142: &[Field] = &[
    bytes("ack_payload", 24, 16),
    uint("ack_len", bits(40, 6, 0)),
    flag("scheduling_request", 40, 7),
    uint("dl_carriers", bits(41, 2, 0)),
    names("dl_carrier", bits(41, 5, 3), CARRIER),
    uint("rbs", bits(41, 12, 6)),
    uint("cdm_index", bits(41, 13, 13)),
];

const fn transmissions(parts: &'static [Part]) -> Part {
    Part::List { name: "transmissions", count: Count::Says(bits(1, 13, 9)), parts }
}

const fn record(size: u16, fields: &'static [&'static [Field]]) -> Part {
    Part::Block(Block { size, fields })
}

pub(super) static LAYOUTS: &[Layout] = &[
    Layout {
        versions: &[21],
        parts: &[HEADER, transmissions(&[record(32, &[START, RESOURCES, REST_V21])])],
    },
    Layout {
        versions: &[22],
        parts: &[HEADER, transmissions(&[record(36, &[START, RESOURCES, REST_V21, REST_V22])])],
    },
    Layout {
        versions: &[43],
        parts: &[HEADER, transmissions(&[record(36, &[START, RESOURCES, ACK, REST])])],
    },
    Layout {
        versions: &[101],
        parts: &[
            HEADER,
            transmissions(&[record(36, &[START, CARRIER_OF, RESOURCES_AFTER_CARRIER, ACK, REST])]),
        ],
    },
    Layout {
        versions: &[121],
        parts: &[
            HEADER,
            transmissions(&[record(
                36,
                &[START, CARRIER_OF, RESOURCES_AFTER_CARRIER, ACK, DL_CARRIER, REST],
            )]),
        ],
    },
    Layout {
        versions: &[142],
        parts: &[
            HEADER,
            transmissions(&[record(
                52,
                &[START, CARRIER_OF, RESOURCES_AFTER_CARRIER, ACK_V142, REST_V142],
            )]),
        ],
    },
];
