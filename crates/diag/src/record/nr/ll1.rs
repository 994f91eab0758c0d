//! 0xB8C9, 0xB8DD: gain control and frequency tracking of the receiver.
//!
//! Version 2.0 of 0xB8C9 is a run of tagged records. Only the first is read: it has the length of
//! the run. Version 7 of 0xB8DD has two sources that agree on what both read; its SNR words are of
//! no public unit.

use super::VERSION;
use crate::layout::{
    Block, Count, Field, Layout, Names, Part, bits, hex, names, u8, u16, u32, uint,
};

const TAG: Names = &[(0x04, "agc"), (0xFC, "full"), (0xFD, "discarded"), (0xFE, "padding")];

const AGC_V2_0: &[Field] = &[names("tag", u8(12), TAG), uint("records_len_bytes", u16(13))];

pub(in super::super) static AGC: &[Layout] = &[Layout {
    versions: &[0x2_0000],
    parts: &[
        Part::Block(Block { size: 16, fields: &[VERSION, AGC_V2_0] }),
        Part::Rest { name: "records" },
    ],
}];

const SIGNAL: Names = &[(0, "ssb0"), (1, "trs"), (2, "ssb2"), (3, "trs3")];

const FTL_V7: &[Field] = &[
    uint("frame", bits(4, 9, 0)),
    uint("subframe", bits(4, 13, 10)),
    uint("pci", bits(4, 23, 14)),
    names("signal", bits(4, 25, 24), SIGNAL),
    uint("carrier", u8(8)),
    uint("high_speed_mode", u8(11)),
];

const SNR: &[Part] = &[Part::Block(Block {
    size: 16,
    fields: &[&[
        uint("snr_raw_0", u32(0)),
        uint("snr_raw_1", u32(4)),
        uint("snr_raw_2", u32(8)),
        uint("snr_raw_3", u32(12)),
    ]],
})];

const FREQUENCY: Block = Block {
    size: 20,
    fields: &[&[
        uint("arfcn", u32(0)),
        uint("dl_frequency", u32(4)),
        uint("dl_frequency_low", u32(8)),
        hex("frequency_error", u32(12)),
        uint("frame_offset", u32(16)),
    ]],
};

pub(in super::super) static FTL: &[Layout] = &[Layout {
    versions: &[7],
    parts: &[
        Part::Block(Block { size: 28, fields: &[VERSION, FTL_V7] }),
        Part::List { name: "snr", count: Count::Fixed(4), parts: SNR },
        Part::Block(FREQUENCY),
    ],
}];
