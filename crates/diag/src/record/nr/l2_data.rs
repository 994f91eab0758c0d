//! 0xB870: the headers of the data in uplink transport blocks: which RLC PDUs were in which slot.
//!
//! Version 3.3; one source, not in a capture. Headers are logged as they are on the air. They are
//! read with 18-bit sequence numbers, as data bearers have. The record's list of radio bearers has
//! the length of each bearer's numbers.

use super::{BSR_TYPE, SN_LENGTH, VERSION};
use crate::layout::{
    Block, Count, Field, Layout, Part, bits, bytes, flag, names, network, u8, u16, uint,
};

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

pub(in super::super) static LAYOUTS: &[Layout] = &[Layout {
    versions: &[0x3_0003],
    parts: &[
        Part::Block(Block { size: 8, fields: &[VERSION, UL_HEAD] }),
        Part::List { name: "channels", count: Count::Says(bits(4, 7, 4)), parts: UL_CHANNEL },
        Part::List { name: "ttis", count: Count::Says(bits(4, 3, 0)), parts: UL_TTI },
    ],
}];
