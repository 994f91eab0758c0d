//! 0xB896, 0xB89B: the device's reports of the downlink: payloads, and their contents.
//!
//! 0xB896 version 3.0; 0xB89B versions 2.2 and 3.0. One source each, none in a capture.

use super::{HEADER_2, HEADER_3, SLOT};
use crate::layout::{
    Bits, Block, Count, Layout, Names, Part, bits, flag, hex, names, u8, u32, uint,
};

const CHANNEL: Names = &[
    (1, "pucch_format_1"),
    (2, "pucch_format_2"),
    (3, "pucch_format_3"),
    (4, "pucch_format_4"),
    (5, "pusch"),
];

const WORD: &[Part] = &[Part::Block(Block { size: 4, fields: &[&[hex("payload", u32(0))]] })];

const fn words(name: &'static str, count: Bits) -> Part {
    Part::List { name, count: Count::Says(count), parts: WORD }
}

const PAYLOADS: &[Part] = &[
    Part::Block(Block {
        size: 12,
        fields: &[&[
            names("channel", bits(0, 2, 0), CHANNEL),
            uint("symbols", bits(1, 6, 3)),
            uint("harq_bits", bits(1, 9, 7)),
            uint("sr_bits", bits(1, 15, 14)),
            uint("csi_1_bits", u8(4)),
            uint("csi_2_bits", u8(5)),
            uint("harq_word_count", u8(8)),
            uint("sr_word_count", u8(9)),
            uint("csi_1_word_count", u8(10)),
            uint("csi_2_word_count", u8(11)),
        ]],
    }),
    words("harq", u8(8)),
    words("sr", u8(9)),
    words("csi_1", u8(10)),
    words("csi_2", u8(11)),
];

const PAYLOAD_SLOT: &[Part] = &[
    Part::Block(Block { size: 8, fields: &[SLOT, &[uint("channel_count", bits(4, 3, 0))]] }),
    Part::List { name: "channels", count: Count::Says(bits(4, 3, 0)), parts: PAYLOADS },
];

const fn slots(count: Bits, parts: &'static [Part]) -> Part {
    Part::List { name: "slots", count: Count::Says(count), parts }
}

pub(in super::super) static PAYLOAD: &[Layout] =
    &[Layout { versions: &[0x3_0000], parts: &[HEADER_3, slots(u8(7), PAYLOAD_SLOT)] }];

const HARQ: &[Part] = &[Part::Block(Block {
    size: 4,
    fields: &[&[
        uint("harq", bits(0, 7, 4)),
        uint("bit_offset", bits(1, 3, 0)),
        flag("crc_late", 2, 6),
        flag("crc", 2, 7),
    ]],
})];
const SR: &[Part] = &[Part::Block(Block { size: 4, fields: &[&[flag("sr", 0, 3)]] })];
const CSF: &[Part] = &[Part::Block(Block { size: 4, fields: &[&[uint("report", bits(0, 7, 4))]] })];

/// The contents of one channel; `$harq` is the number of HARQ answers.
macro_rules! contents {
    ($harq:expr) => {
        &[
            Part::Block(Block {
                size: 8,
                fields: &[&[
                    names("channel", bits(0, 2, 0), CHANNEL),
                    uint("symbols", bits(1, 6, 3)),
                    hex("requested", bits(1, 9, 7)),
                    uint("harq_bits", bits(1, 12, 10)),
                    uint("sr_count", bits(3, 2, 1)),
                    uint("csf_count", bits(3, 5, 4)),
                    uint("harq_count", $harq),
                ]],
            }),
            Part::List { name: "harq", count: Count::Says($harq), parts: HARQ },
            Part::List { name: "sr", count: Count::Says(bits(3, 2, 1)), parts: SR },
            Part::List { name: "csf", count: Count::Says(bits(3, 5, 4)), parts: CSF },
        ]
    };
}

const CONTENTS_V2_2: &[Part] = contents!(u8(4));
const CONTENTS_V3_0: &[Part] = contents!(bits(4, 2, 0));

/// The transmissions of one slot.
macro_rules! transmissions {
    ($contents:expr) => {
        &[
            Part::Block(Block { size: 8, fields: &[SLOT, &[uint("channel_count", u8(4))]] }),
            Part::List { name: "channels", count: Count::Says(u8(4)), parts: $contents },
        ]
    };
}

const SLOT_V2_2: &[Part] = transmissions!(CONTENTS_V2_2);
const SLOT_V3_0: &[Part] = transmissions!(CONTENTS_V3_0);

pub(in super::super) static INFORMATION: &[Layout] = &[
    Layout { versions: &[0x2_0002], parts: &[HEADER_2, slots(u8(15), SLOT_V2_2)] },
    Layout { versions: &[0x3_0000], parts: &[HEADER_3, slots(u8(7), SLOT_V3_0)] },
];
