//! 0xB857: the headers of the data in downlink transport blocks: which RLC PDUs were in which slot.
//!
//! Version 6; one source, not in a capture. Headers are logged as they are on the air. They are
//! read with 18-bit sequence numbers, as data bearers have. The record's list of radio bearers has
//! the length of each bearer's numbers.

use sounding_units::Bytes;

use super::{RB_MODE, RB_TYPE, VERSION};
use crate::LogCode;
use crate::layout::{
    Bits, Block, Count, Field, Layout, Node, Part, bits, bytes, flag, hex, key, names, network, u8,
    u16, u32, uint,
};
use crate::record::{RecordError, checked};

const HEAD: &[Field] =
    &[uint("block_count", u32(4)), uint("last_timestamp", u16(8)), uint("channel_count", u8(10))];

const CHANNEL: &[Part] = &[Part::Block(Block {
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

/// One MAC subheader (TS 38.321 §6.1.2) with the RLC and PDCP headers after it.
const SUBHEADER: &[Part] = &[
    Part::Block(Block {
        size: 1,
        fields: &[&[uint("channel", bits(0, 5, 0)), flag("long", 0, 6)]],
    }),
    Part::List { name: "short", count: Count::When(bits(0, 6, 6), &[0]), parts: SHORT },
    Part::List { name: "long", count: Count::When(bits(0, 6, 6), &[1]), parts: LONG },
];

const BLOCK: &[Part] = &[
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

pub(in super::super) static LAYOUTS: &[Layout] = &[Layout {
    versions: &[6],
    parts: &[
        Part::Block(Block { size: 12, fields: &[VERSION, HEAD] }),
        Part::List { name: "channels", count: Count::Says(u8(10)), parts: CHANNEL },
        Part::List { name: "blocks", count: Count::Says(u32(4)), parts: BLOCK },
    ],
}];

const SIZE: Bits = key(BLOCK, "tb_bytes");
const SLOT: Bits = key(BLOCK, "slot");
const FRAME: Bits = key(BLOCK, "frame");
const CARRIER: Bits = key(BLOCK, "carrier");
const IN_BLOCK: Bits = key(BLOCK, "subheaders_in_block");
const LISTED: Bits = key(BLOCK, "subheader_count");
const CHANNEL_OF: Bits = key(SUBHEADER, "channel");
const SHORT_LEN: Bits = key(SHORT, "len_bytes");
/// A long length in network order: its higher byte, and its lower.
const LONG_LEN: [Bits; 2] = [u8(0), u8(1)];

/// The logical channel id of padding (TS 38.321 Table 6.2.1-1).
const PADDING: u64 = 63;

/// A record of the data in downlink transport blocks.
#[derive(Clone, Copy, Debug)]
pub struct NrDownlinkData<'a> {
    node: Node<'a>,
}

/// One downlink transport block that holds data.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NrDataBlock {
    /// System frame number, 0..=1023 in an undamaged record.
    pub frame: u16,
    /// Slot within the frame. The record does not contain its duration.
    pub slot: u16,
    /// Component carrier, 0 for the primary.
    pub carrier: u16,
    /// Its size.
    pub size: Bytes,
    /// Bytes that its subheaders account for, including the subheaders; `None` if the record
    /// leaves some of them out.
    pub used: Option<Bytes>,
}

impl<'a> NrDownlinkData<'a> {
    /// The log code.
    pub const CODE: LogCode = LogCode::new(0xB857);

    /// Reads the body of a record.
    ///
    /// # Errors
    ///
    /// [`RecordError::Unsupported`] if the version is not described; [`RecordError::Corrupt`] if
    /// the body is too short for it.
    pub fn parse(body: &'a [u8]) -> Result<Self, RecordError> {
        checked(Self::CODE, LAYOUTS, body).map(|(node, _)| Self { node })
    }

    /// The blocks, in the order of the record.
    pub fn blocks(&self) -> impl Iterator<Item = NrDataBlock> + use<'a> {
        self.node.list("blocks").map(|block| {
            let all_listed = block.read(IN_BLOCK) == block.read(LISTED);
            NrDataBlock {
                frame: block.read(FRAME) as u16,
                slot: block.read(SLOT) as u16,
                carrier: block.read(CARRIER) as u16,
                size: Bytes::new(block.read(SIZE)),
                used: all_listed.then(|| block.list("subheaders").map(used_by).sum()),
            }
        })
    }
}

/// Bytes of a subheader and its data. The subheader has two bytes with a short length, three with a
/// long one (TS 38.321 §6.1.2).
fn used_by(subheader: Node<'_>) -> Bytes {
    if subheader.read(CHANNEL_OF) == PADDING {
        return Bytes::ZERO;
    }
    let short = subheader.list("short").map(|it| it.read(SHORT_LEN) + 2);
    let long = subheader.list("long").map(|it| {
        let [high, low] = LONG_LEN.map(|byte| it.read(byte));
        (high << 8 | low) + 3
    });
    Bytes::new(short.chain(long).sum())
}
