//! 0xB857, 0xB870: the headers of the data in transport blocks, downlink and uplink: which RLC PDUs were in which slot.
//!
//! Versions 6 and 3.3; one source each, none in a capture. Headers are logged as they are on the air. What is read of
//! them is right for 18-bit sequence numbers, as data bearers have; the radio bearers of the record say how long theirs
//! are.

use super::{BSR_TYPE, RB_MODE, RB_TYPE, SN_LENGTH, VERSION};
use crate::layout::{
    Block, Count, Field, Layout, Part, bits, bytes, flag, hex, names, network, u8, u16, u32, uint,
};

const DL_HEAD: &[Field] =
    &[uint("block_count", u32(4)), uint("last_timestamp", u16(8)), uint("channel_count", u8(10))];

const DL_CHANNEL: &[Part] = &[Part::Block(Block {
    size: 28,
    fields: &[&[
        uint("channel", u8(0)),
        names("rlc_mode", bits(1, 1, 0), RB_MODE),
        uint("rlc_sn_index", bits(1, 3, 2)),
        uint("rlc_index", bits(1, 8, 7)),
        names("type", bits(1, 13, 12), RB_TYPE),
        uint("pdcp_sn_index", bits(1, 15, 14)),
        uint("pdcp_rx_next", u32(4)),
        uint("pdcp_next_ipa", u32(8)),
        uint("rlc_rx_next", u32(12)),
        uint("rlc_rx_next_status_trigger", u32(16)),
        uint("rlc_rx_highest_status", u32(20)),
        uint("rlc_rx_next_highest", u32(24)),
    ]],
})];

const SHORT: &[Part] = &[Part::Block(Block {
    size: 11,
    fields: &[&[
        uint("len_bytes", u8(0)),
        hex("rlc_flags", bits(1, 7, 2)),
        network("rlc_sn", 1, 3, 18),
        network("pdcp_sn", 4, 3, 18),
        bytes("headers", 1, 10),
    ]],
})];
const LONG: &[Part] = &[Part::Block(Block {
    size: 11,
    fields: &[&[
        network("len_bytes", 0, 2, 16),
        hex("rlc_flags", bits(2, 7, 2)),
        network("rlc_sn", 2, 3, 18),
        network("pdcp_sn", 5, 3, 18),
        bytes("headers", 2, 9),
    ]],
})];

/// One MAC subheader (TS 38.321 §6.1.2) with the RLC and PDCP headers behind it.
const SUBHEADER: &[Part] = &[
    Part::Block(Block {
        size: 1,
        fields: &[&[uint("channel", bits(0, 5, 0)), flag("long", 0, 6)]],
    }),
    Part::List { name: "short", count: Count::When(bits(0, 6, 6), &[0]), parts: SHORT },
    Part::List { name: "long", count: Count::When(bits(0, 6, 6), &[1]), parts: LONG },
];

const DL_BLOCK: &[Part] = &[
    Part::Block(Block {
        size: 16,
        fields: &[&[
            uint("tb_bytes", u32(0)),
            uint("slot", u16(4)),
            uint("frame", u16(6)),
            uint("subheaders_in_block", u16(8)),
            uint("carrier", u16(10)),
            uint("subheader_count", u32(12)),
        ]],
    }),
    Part::List { name: "subheaders", count: Count::Says(u32(12)), parts: SUBHEADER },
];

pub(in super::super) static DOWNLINK: &[Layout] = &[Layout {
    versions: &[6],
    parts: &[
        Part::Block(Block { size: 12, fields: &[VERSION, DL_HEAD] }),
        Part::List { name: "channels", count: Count::Says(u8(10)), parts: DL_CHANNEL },
        Part::List { name: "blocks", count: Count::Says(u32(4)), parts: DL_BLOCK },
    ],
}];

const UL_HEAD: &[Field] = &[uint("tti_count", bits(4, 3, 0)), uint("channel_count", bits(4, 7, 4))];

const UL_CHANNEL: &[Part] = &[Part::Block(Block {
    size: 32,
    fields: &[&[
        uint("channel", bits(0, 2, 0)),
        names("rlc_sn_len_bits", bits(1, 6, 6), SN_LENGTH),
        uint("tx_next", bits(2, 21, 4)),
        uint("tx_next_ack", bits(2, 39, 22)),
    ]],
})];

const UL_PDU: &[Part] = &[Part::Block(Block {
    size: 4,
    fields: &[&[uint("packets", u8(0)), uint("offset", u8(1)), uint("len", u8(2))]],
})];

const UL_PACKETS: &[Part] = &[
    Part::Block(Block {
        size: 44,
        fields: &[&[
            uint("channel", bits(0, 3, 1)),
            uint("pdcp_sn_index", bits(1, 7, 6)),
            uint("pdu_count", bits(2, 3, 0)),
            uint("first_pdcp_header_bytes", bits(2, 8, 7)),
            uint("last_pdcp_header_bytes", bits(2, 10, 9)),
            uint("last_poll_sn", bits(2, 29, 12)),
            uint("rlc_start_sn", bits(2, 47, 30)),
            uint("pdcp_start_count", u16(8)),
            uint("rlc_control_pdus", bits(12, 3, 0)),
            uint("rlc_status_pdus", bits(12, 7, 4)),
            uint("first_pdcp_header_offset", bits(13, 1, 0)),
            names("rlc_sn_len_bits", bits(13, 2, 2), SN_LENGTH),
            network("first_pdcp_sn", 24, 3, 18),
            network("first_rlc_sn", 27, 3, 18),
            bytes("first_headers", 24, 8),
            network("last_pdcp_sn", 32, 3, 18),
            network("last_rlc_sn", 35, 3, 18),
            bytes("last_headers", 32, 8),
            uint("remaining_bytes", bits(40, 15, 4)),
        ]],
    }),
    Part::List { name: "pdus", count: Count::Says(bits(2, 3, 0)), parts: UL_PDU },
];

const UL_BLOCK: &[Part] = &[
    Part::Block(Block {
        size: 4,
        fields: &[&[
            flag("control_elements_built", 0, 1),
            names("bsr_type", bits(0, 4, 2), BSR_TYPE),
            uint("channels_built", bits(2, 3, 2)),
            uint("channel_count", bits(3, 2, 0)),
        ]],
    }),
    Part::List { name: "channels", count: Count::Says(bits(3, 2, 0)), parts: UL_PACKETS },
];

const UL_TTI: &[Part] = &[
    Part::Block(Block {
        size: 8,
        fields: &[&[
            uint("slot", u8(0)),
            uint("frame", bits(2, 9, 0)),
            uint("entry_count", bits(5, 4, 1)),
            uint("block_count", bits(5, 7, 5)),
        ]],
    }),
    Part::List { name: "blocks", count: Count::Says(bits(5, 7, 5)), parts: UL_BLOCK },
];

pub(in super::super) static UPLINK: &[Layout] = &[Layout {
    versions: &[0x3_0003],
    parts: &[
        Part::Block(Block { size: 8, fields: &[VERSION, UL_HEAD] }),
        Part::List { name: "channels", count: Count::Says(bits(4, 7, 4)), parts: UL_CHANNEL },
        Part::List { name: "ttis", count: Count::Says(bits(4, 3, 0)), parts: UL_TTI },
    ],
}];
