//! 0xB063, MAC downlink transport blocks: sizes, padding and control elements.
//!
//! Packet version 1 with sub-packet 7 of versions 2 and 4; packet versions 49 and 50, which have no
//! sub-packets. Source: docs/reference/diag.md, records and layouts, and for 49 and 50 the fields
//! that two decoders agree on; 2 and 4 agree with captures field by field, 50 with the vectors of
//! another decoder. Each sample of version 1 has a fixed head with the number of bytes of MAC
//! header and control elements that follow. From 49 on each data unit and control element has a
//! separate head.

use alloc::vec;
use alloc::vec::Vec;

use sounding_units::Bytes;

use super::common::RNTI;
use super::emit::{EmitError, count, put, sub_packet};
use super::sub::{HEADER, SAMPLE_COUNT, Samples, samples};
use super::{RecordError, checked_sub_packets};
use crate::LogCode;
use crate::layout::{
    Bits, Block, Children, Count, Field, Layout, Node, Part, SubLayout, bits, bytes, flag, hex,
    key, names, try_key, u8, u16, u32, uint,
};
use crate::mac::MacPdu;
use crate::radio::{Rnti, Tti};

/// The fields of one block, which start at `$at`.
macro_rules! block {
    ($at:expr) => {
        &[
            uint("subframe", bits($at, 3, 0)),
            uint("frame", bits($at, 15, 4)),
            names("rnti", u8($at + 2), RNTI),
            uint("harq", u8($at + 3)),
            uint("area", u8($at + 4)),
            uint("pmch", u8($at + 5)),
            uint("tb_bytes", u16($at + 6)),
            uint("rlc_pdus", u8($at + 8)),
            uint("padding_bytes", u16($at + 9)),
            uint("header_len_bytes", u8($at + 11)),
        ]
    };
}

const CARRIER: &[Field] = &[uint("subscription", u8(0)), uint("cell", u8(1))];
const V2: &[Field] = block!(0);
const V4: &[Field] = block!(2);

const SAMPLE_V2: &[Part] = &[
    Part::Block(Block { size: 12, fields: &[V2] }),
    Part::Mac { len: u8(11), rnti: u8(2), uplink: false },
];
const SAMPLE_V4: &[Part] = &[
    Part::Block(Block { size: 14, fields: &[CARRIER, V4] }),
    Part::Mac { len: u8(13), rnti: u8(4), uplink: false },
];

const HEADER_V49: &[Field] = &[
    uint("version", u8(0)),
    uint("block_count", u16(4)),
    uint("channel_count", u8(6)),
    uint("reason", u8(7)),
];

const BLOCK_V49: &[Part] = &[
    Part::Block(Block {
        size: 16,
        fields: &[&[
            uint("tb_bytes", u32(0)),
            uint("padding_bytes", u32(4)),
            uint("frame", bits(8, 9, 0)),
            uint("subframe", bits(8, 13, 10)),
            names("rnti", bits(8, 18, 15), RNTI),
            uint("cell", bits(12, 3, 0)),
            uint("harq", bits(12, 7, 4)),
            uint("unit_count", u8(13)),
            uint("header_len_bytes", bits(14, 11, 0)),
        ]],
    }),
    Part::List {
        name: "units",
        count: Count::Says(u8(13)),
        parts: &[
            Part::Block(Block {
                size: 12,
                fields: &[&[
                    flag("control_element", 0, 0),
                    uint("channel", bits(0, 6, 1)),
                    uint("len_bytes", bits(0, 22, 7)),
                    bytes("first_bytes", 3, 9),
                ]],
            }),
            // Only data has these; in a control element its bytes are where their counts would be.
            Part::List {
                name: "dynamic",
                count: Count::Unless(bits(0, 0, 0), u16(9)),
                parts: &[Part::Block(Block { size: 4, fields: &[&[hex("word", u32(0))]] })],
            },
            Part::List {
                name: "pdcp_groups",
                count: Count::Unless(bits(0, 0, 0), u8(8)),
                parts: &[Part::Chain],
            },
        ],
    },
];

const BLOCKS_V49: Part =
    Part::List { name: "blocks", count: Count::Says(u16(4)), parts: BLOCK_V49 };

const fn blocks(versions: &'static [u8], parts: &'static [Part]) -> SubLayout {
    SubLayout { id: 7, name: "downlink_blocks", versions, parts }
}

pub(super) static LAYOUTS: &[Layout] = &[
    Layout {
        versions: &[1],
        parts: &[
            HEADER,
            Part::SubPackets {
                count: u8(1),
                known: &[
                    blocks(&[2], &[SAMPLE_COUNT, samples(SAMPLE_V2)]),
                    blocks(&[4], &[SAMPLE_COUNT, samples(SAMPLE_V4)]),
                ],
            },
        ],
    },
    Layout {
        versions: &[49],
        // The header is followed by undescribed statistics of 19 logical channels, 28 bytes each.
        parts: &[Part::Block(Block { size: 8 + 19 * 28, fields: &[HEADER_V49] }), BLOCKS_V49],
    },
    Layout {
        versions: &[50],
        parts: &[Part::Block(Block { size: 8, fields: &[HEADER_V49] }), BLOCKS_V49],
    },
];

static KEYS: [Keys; 2] = [Keys::of(SAMPLE_V2), Keys::of(SAMPLE_V4)];
static KEYS_V49: Keys = Keys::of(BLOCK_V49);

/// The bit paths of the fields of [`DownlinkBlock`], in one version.
struct Keys {
    cell: Option<Bits>,
    harq: Bits,
    rnti: Bits,
    frame: Bits,
    subframe: Bits,
    size: Bits,
    padding: Bits,
    /// Versions 49 and 50 count control elements too, so theirs is no count of RLC PDUs.
    rlc_pdus: Option<Bits>,
    header_len: Bits,
}

impl Keys {
    const fn of(parts: &[Part]) -> Self {
        Self {
            cell: try_key(parts, "cell"),
            harq: key(parts, "harq"),
            rnti: key(parts, "rnti"),
            frame: key(parts, "frame"),
            subframe: key(parts, "subframe"),
            size: key(parts, "tb_bytes"),
            padding: key(parts, "padding_bytes"),
            rlc_pdus: try_key(parts, "rlc_pdus"),
            header_len: key(parts, "header_len_bytes"),
        }
    }
}

/// The downlink transport blocks that MAC took apart.
#[derive(Clone, Copy)]
pub struct MacDownlink<'a> {
    node: Node<'a>,
}

/// One downlink transport block.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DownlinkBlock<'a> {
    /// When it came; `None` if the record has no valid subframe.
    pub tti: Option<Tti>,
    /// Serving cell, 0 for the primary; 0 in versions that know one cell only.
    pub cell: u8,
    /// HARQ process, 0..=15.
    pub harq: u8,
    /// The addressee.
    pub rnti: Rnti,
    /// Its size.
    pub size: Bytes,
    /// Its padding bytes.
    pub padding: Bytes,
    /// RLC PDUs in it, where the version counts them.
    pub rlc_pdus: Option<u8>,
    /// Its header and control elements; empty from version 49 on, which has no MAC header.
    pub pdu: MacPdu<'a>,
}

impl<'a> MacDownlink<'a> {
    /// The log code.
    pub const CODE: LogCode = LogCode::new(0xB063);

    /// Reads the body of a record.
    ///
    /// # Errors
    ///
    /// [`RecordError::Unsupported`] if the version, or every sub-packet, is not described;
    /// [`RecordError::Corrupt`] if the body is too short for it.
    pub fn parse(body: &'a [u8]) -> Result<Self, RecordError> {
        checked_sub_packets(Self::CODE, LAYOUTS, body).map(|node| Self { node })
    }

    /// Appends the body of a record with one sub-packet of version 4; parsing it gives the same
    /// values back.
    ///
    /// # Errors
    ///
    /// [`EmitError::Count`] if there are more than 255 blocks; another [`EmitError`] if a value
    /// does not fit its field, or is unknown where the record always has it.
    pub fn emit(blocks: &[DownlinkBlock<'_>], out: &mut Vec<u8>) -> Result<(), EmitError> {
        let keys = &KEYS[1];
        let mut contents = vec![count("blocks", blocks.len(), 255)? as u8];
        for block in blocks {
            let mut head = [0; 14];
            block.fill(keys, &mut head)?;
            contents.extend_from_slice(&head);
            contents.extend_from_slice(block.pdu.bytes());
        }
        sub_packet(7, 4, &contents, out)
    }

    /// The transport blocks of all sub-packets that are described, oldest first.
    pub fn blocks(&self) -> DownlinkBlocks<'a> {
        DownlinkBlocks {
            samples: Samples::new(self.node, "samples", |version| &KEYS[usize::from(version > 2)]),
            nodes: self.node.list("blocks"),
        }
    }
}

/// The downlink transport blocks of a record.
pub struct DownlinkBlocks<'a> {
    /// Samples of version 1.
    samples: Samples<'a, Keys>,
    /// Items of versions 49 and 50.
    nodes: Children<'a>,
}

impl<'a> Iterator for DownlinkBlocks<'a> {
    type Item = DownlinkBlock<'a>;

    fn next(&mut self) -> Option<DownlinkBlock<'a>> {
        let own = || Some((self.nodes.next()?, &KEYS_V49));
        let (node, keys) = self.samples.next().or_else(own)?;
        let rnti = Rnti::from_number(node.read(keys.rnti));
        Some(DownlinkBlock {
            tti: Tti::new(node.read(keys.frame) as u16, node.read(keys.subframe) as u8),
            cell: keys.cell.map_or(0, |bits| node.read(bits) as u8),
            harq: node.read(keys.harq) as u8,
            rnti,
            size: Bytes::new(node.read(keys.size)),
            padding: Bytes::new(node.read(keys.padding)),
            rlc_pdus: keys.rlc_pdus.map(|bits| node.read(bits) as u8),
            pdu: node.mac().unwrap_or(MacPdu::new(&[], rnti, false)),
        })
    }
}

impl DownlinkBlock<'_> {
    fn fill(&self, keys: &Keys, head: &mut [u8]) -> Result<(), EmitError> {
        let tti = self.tti.ok_or(EmitError::Absent { field: "tti" })?;
        let cell = keys.cell.ok_or(EmitError::Absent { field: "cell" })?;
        let rlc_pdus = keys.rlc_pdus.ok_or(EmitError::Absent { field: "rlc_pdus" })?;
        let pdus = self.rlc_pdus.ok_or(EmitError::Absent { field: "rlc_pdus" })?;
        put(head, u8(0), "subscription", 1)?;
        put(head, cell, "cell", u64::from(self.cell))?;
        put(head, keys.harq, "harq", u64::from(self.harq))?;
        put(head, keys.rnti, "rnti", u64::from(self.rnti.number()))?;
        put(head, keys.frame, "tti", u64::from(tti.sfn()))?;
        put(head, keys.subframe, "tti", u64::from(tti.subframe()))?;
        put(head, keys.size, "size", self.size.count())?;
        put(head, keys.padding, "padding", self.padding.count())?;
        put(head, rlc_pdus, "rlc_pdus", u64::from(pdus))?;
        put(head, keys.header_len, "pdu", self.pdu.bytes().len() as u64)
    }
}

impl core::fmt::Debug for MacDownlink<'_> {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.debug_list().entries(self.blocks()).finish()
    }
}
