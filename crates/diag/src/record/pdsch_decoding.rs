//! 0xB132, PDSCH decoding result: every downlink transport block with its check, its HARQ history
//! and its code blocks.
//!
//! Versions 24, 27, 42, 44, 105, 106, 124, 125, 126, 143. Source: docs/reference/diag.md, records
//! and layouts; 126 agrees with captures field by field. Version 42 has the records of 44 under a
//! header of 8 bytes: read so, its three records in the captures end where they should. Versions up
//! to 106 write as many streams as there were, each with room for 13 or 32 energy metrics; from 124
//! on there is always room for two blocks of 15.

use super::common::{CARRIER, PASS, RNTI};
use super::{RecordError, checked};
use crate::LogCode;
use crate::layout::{
    Bits, Block, Children, Count, Field, Layout, Node, Part, bits, flag, hex, key, names, scaled,
    try_key, u8, u16, uint,
};
use crate::radio::{Rnti, Tti};

/// All headers begin alike.
const HEAD: &[Field] = &[
    uint("version", u8(0)),
    uint("pci", bits(1, 8, 0)),
    uint("subframe", bits(1, 12, 9)),
    uint("frame", bits(1, 22, 13)),
    uint("ue_category", bits(1, 27, 24)),
    uint("harq_processes", bits(1, 31, 28)),
    uint("transmission_mode", bits(5, 7, 4)),
];
const HEAD_V24: &[Field] =
    &[names("carrier", bits(7, 2, 0), CARRIER), uint("count", bits(7, 7, 3))];
const HEAD_V42: &[Field] =
    &[names("carrier", bits(6, 10, 7), CARRIER), uint("count", bits(6, 15, 11))];
const HEAD_V44: &[Field] =
    &[names("carrier", bits(10, 10, 7), CARRIER), uint("count", bits(10, 15, 11))];
const HEAD_V105: &[Field] = &[
    uint("soft_buffer_bits", bits(8, 22, 0)),
    names("carrier", bits(8, 26, 23), CARRIER),
    uint("count", bits(8, 31, 27)),
];
const C_RNTI: &[Field] = &[uint("c_rnti", u16(6))];

const ASSIGNMENT: &[Field] = &[
    uint("subframe_offset", u16(0)),
    uint("channel", u16(2)),
    uint("harq", bits(4, 3, 0)),
    names("rnti", bits(4, 7, 4), RNTI),
    uint("si_message", bits(5, 3, 0)),
    hex("si_mask", bits(5, 15, 4)),
    uint("harq_log_status", bits(7, 4, 3)),
    flag("codewords_swapped", 7, 5),
    uint("block_count", bits(7, 7, 6)),
];
const ASSIGNMENT_V124: &[Field] = &[
    uint("subframe_offset", u16(0)),
    uint("harq", bits(2, 3, 0)),
    names("rnti", bits(2, 7, 4), RNTI),
    flag("codewords_swapped", 3, 0),
    uint("block_count", bits(3, 3, 1)),
];

const STREAM: &[Field] = &[
    names("crc", bits(0, 0, 0), PASS),
    uint("ndi", bits(0, 1, 1)),
    uint("code_block_bits", bits(0, 14, 2)),
    uint("code_blocks", bits(0, 18, 15)),
    uint("iterations", bits(0, 22, 19)),
    uint("rv", bits(0, 27, 26)),
    uint("companding", bits(0, 29, 28)),
    flag("combined", 0, 30),
    flag("decob_crc", 0, 31),
    uint("resource_elements", bits(4, 25, 10)),
    uint("codeword", bits(4, 27, 27)),
];
const RETX_V24: &[Field] = &[uint("retx", bits(0, 25, 23))];
const RETX_V27: &[Field] = &[uint("retx", bits(8, 11, 0))];
const LLR_V44: &[Field] = &[uint("llr_scale", bits(8, 3, 0))];
const STREAM_V105: &[Field] = &[
    names("crc", bits(0, 0, 0), PASS),
    uint("ndi", bits(0, 1, 1)),
    uint("code_block_bits", bits(0, 14, 2)),
    uint("code_blocks_less_one", bits(0, 19, 15)),
    uint("iterations", bits(0, 23, 20)),
    uint("retx", bits(0, 29, 24)),
    uint("rv", bits(0, 31, 30)),
    uint("companding", bits(4, 1, 0)),
    flag("combined", 4, 2),
    flag("decob_crc", 4, 3),
    uint("resource_elements", bits(4, 28, 14)),
    uint("codeword", bits(4, 30, 30)),
    uint("llr_scale", bits(8, 7, 6)),
];

/// Versions 124 to 143 begin alike.
const BLOCK_HEAD: &[Field] = &[
    names("crc", bits(0, 0, 0), PASS),
    uint("ndi", bits(0, 1, 1)),
    uint("retx", bits(0, 7, 2)),
    uint("rv", bits(0, 9, 8)),
    uint("code_block_bits", bits(0, 22, 10)),
    uint("code_blocks_less_one", bits(0, 27, 23)),
    scaled("code_rate", bits(13, 15, 5), 1.0 / 1024.0, 0.0),
    uint("combined", bits(15, 3, 1)),
];
const BLOCK_V124: &[Field] = &[
    uint("half_iterations", bits(0, 31, 28)),
    uint("channel_bits", bits(4, 18, 0)),
    uint("codeword", bits(4, 19, 19)),
    flag("llr_valid", 4, 20),
    uint("first_decoded_block", bits(4, 26, 21)),
    uint("first_decoded_block_qed", bits(8, 11, 6)),
    uint("last_decoded_block_qed", bits(8, 17, 12)),
    uint("companding", bits(8, 22, 18)),
];
const BLOCK_V143: &[Field] = &[
    uint("half_iterations", bits(4, 3, 0)),
    uint("channel_bits", bits(4, 22, 4)),
    uint("codeword", bits(4, 23, 23)),
    flag("llr_valid", 4, 24),
    uint("first_decoded_block", bits(4, 31, 26)),
    uint("companding", bits(8, 19, 18)),
];

const ENERGY: &[Part] = &[Part::Block(Block {
    size: 4,
    fields: &[&[
        uint("energy", bits(0, 20, 0)),
        uint("iteration", bits(0, 24, 21)),
        names("crc", bits(0, 25, 25), PASS),
        flag("early", 0, 26),
        flag("combined", 0, 27),
        flag("bypassed", 0, 28),
    ]],
})];

/// Up to 13 energy metrics, one for each code block.
const ENERGY_13: Part =
    Part::List { name: "code_blocks", count: Count::Of(bits(0, 18, 15), 13), parts: ENERGY };

/// Space for 32 energy metrics. One more is used than the stream's count.
const ENERGY_32: Part = Part::Block(Block { size: 32 * 4, fields: &[] });

const fn head(size: u16, fields: &'static [&'static [Field]]) -> Part {
    Part::Block(Block { size, fields })
}

const fn assignments(count: Bits, parts: &'static [Part]) -> Part {
    Part::List { name: "assignments", count: Count::Says(count), parts }
}

const fn blocks(parts: &'static [Part]) -> Part {
    Part::List { name: "blocks", count: Count::Says(bits(7, 7, 6)), parts }
}

const fn two_blocks(parts: &'static [Part]) -> Part {
    Part::List { name: "blocks", count: Count::Of(bits(3, 3, 1), 2), parts }
}

const STREAM_V24: &[Part] = &[head(8, &[STREAM, RETX_V24]), ENERGY_13];
const STREAM_V27: &[Part] = &[head(12, &[STREAM, RETX_V27]), ENERGY_13];
const STREAM_V44: &[Part] = &[head(12, &[STREAM, RETX_V24, LLR_V44]), ENERGY_13];
const STREAM_V106: &[Part] = &[head(12, &[STREAM_V105]), ENERGY_32];
const TB_V126: &[Part] = &[head(16 + 15 * 8, &[BLOCK_HEAD, BLOCK_V124])];
const TB_V143: &[Part] = &[head(16 + 15 * 8, &[BLOCK_HEAD, BLOCK_V143])];

const RECORD_V24: &[Part] = &[head(8, &[ASSIGNMENT]), blocks(STREAM_V24)];
const RECORD_V27: &[Part] = &[head(8, &[ASSIGNMENT]), blocks(STREAM_V27)];
const RECORD_V44: &[Part] = &[head(12, &[ASSIGNMENT]), blocks(STREAM_V44)];
const RECORD_V106: &[Part] = &[head(12, &[ASSIGNMENT]), blocks(STREAM_V106)];
const RECORD_V126: &[Part] = &[head(12, &[ASSIGNMENT_V124]), two_blocks(TB_V126)];
const RECORD_V143: &[Part] = &[head(12, &[ASSIGNMENT_V124]), two_blocks(TB_V143)];

pub(super) static LAYOUTS: &[Layout] = &[
    Layout {
        versions: &[24],
        parts: &[head(8, &[HEAD, HEAD_V24]), assignments(bits(7, 7, 3), RECORD_V24)],
    },
    Layout {
        versions: &[27],
        parts: &[head(8, &[HEAD, HEAD_V24]), assignments(bits(7, 7, 3), RECORD_V27)],
    },
    Layout {
        versions: &[42],
        parts: &[head(8, &[HEAD, HEAD_V42]), assignments(bits(6, 15, 11), RECORD_V44)],
    },
    Layout {
        versions: &[44],
        parts: &[head(12, &[HEAD, HEAD_V44]), assignments(bits(10, 15, 11), RECORD_V44)],
    },
    Layout {
        versions: &[105, 106],
        parts: &[head(12, &[HEAD, HEAD_V105]), assignments(bits(8, 31, 27), RECORD_V106)],
    },
    Layout {
        versions: &[124, 125, 126],
        parts: &[head(16, &[HEAD, C_RNTI, HEAD_V44]), assignments(bits(10, 15, 11), RECORD_V126)],
    },
    Layout {
        versions: &[143],
        parts: &[head(16, &[HEAD, C_RNTI, HEAD_V44]), assignments(bits(10, 15, 11), RECORD_V143)],
    },
];

static KEYS: [Keys; 7] = [
    Keys::of(bits(7, 2, 0), RECORD_V24, STREAM_V24),
    Keys::of(bits(7, 2, 0), RECORD_V27, STREAM_V27),
    Keys::of(bits(6, 10, 7), RECORD_V44, STREAM_V44),
    Keys::of(bits(10, 10, 7), RECORD_V44, STREAM_V44),
    Keys::of(bits(8, 26, 23), RECORD_V106, STREAM_V106),
    Keys::of(bits(10, 10, 7), RECORD_V126, TB_V126),
    Keys::of(bits(10, 10, 7), RECORD_V143, TB_V143),
];

/// The bit paths of the fields of [`DecodedBlock`], in one version.
struct Keys {
    carrier: Bits,
    offset: Bits,
    harq: Bits,
    rnti: Bits,
    crc: Bits,
    ndi: Bits,
    retx: Bits,
    rv: Bits,
    codeword: Bits,
    resource_elements: Option<Bits>,
}

impl Keys {
    const fn of(carrier: Bits, record: &[Part], block: &[Part]) -> Self {
        Self {
            carrier,
            offset: key(record, "subframe_offset"),
            harq: key(record, "harq"),
            rnti: key(record, "rnti"),
            crc: key(block, "crc"),
            ndi: key(block, "ndi"),
            retx: key(block, "retx"),
            rv: key(block, "rv"),
            codeword: key(block, "codeword"),
            resource_elements: try_key(block, "resource_elements"),
        }
    }
}

/// A run of PDSCH decoding results.
#[derive(Clone, Copy)]
pub struct PdschDecoding<'a> {
    node: Node<'a>,
    keys: &'static Keys,
}

/// One transport block, decoded or not.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DecodedBlock {
    /// When it came; `None` if the record has no valid subframe.
    pub tti: Option<Tti>,
    /// Downlink carrier, 0 for the primary.
    pub carrier: u8,
    /// HARQ process, 0..=15.
    pub harq: u8,
    /// The addressee.
    pub rnti: Rnti,
    /// Number of the codeword, 0 or 1.
    pub codeword: u8,
    /// Its check was right.
    pub received: bool,
    /// New data indicator: it toggles for new data.
    pub ndi: bool,
    /// Number of earlier transmissions: 0 for a first one.
    pub retx: u16,
    /// Redundancy version, 0..=3.
    pub rv: u8,
    /// Resource elements that carried it; unknown from version 124 on.
    pub resource_elements: Option<u16>,
}

impl<'a> PdschDecoding<'a> {
    /// The log code.
    pub const CODE: LogCode = LogCode::new(0xB132);

    /// Reads the body of a record.
    ///
    /// # Errors
    ///
    /// [`RecordError::Unsupported`] if the version is not described; [`RecordError::Corrupt`] if
    /// the body is too short for it.
    pub fn parse(body: &'a [u8]) -> Result<Self, RecordError> {
        let (node, index) = checked(Self::CODE, LAYOUTS, body)?;
        Ok(Self { node, keys: &KEYS[index] })
    }

    /// Physical identity of the serving cell, 0..=503.
    pub fn pci(&self) -> u16 {
        self.node.read(bits(1, 8, 0)) as u16
    }

    /// The transport blocks, oldest first.
    pub fn blocks(&self) -> DecodedBlocks<'a> {
        let start =
            Tti::new(self.node.read(bits(1, 22, 13)) as u16, self.node.read(bits(1, 12, 9)) as u8);
        let no_blocks = self.node.list("");
        DecodedBlocks {
            start,
            carrier: self.node.read(self.keys.carrier) as u8,
            assignments: self.node.list("assignments"),
            assignment: self.node,
            blocks: no_blocks,
            keys: self.keys,
        }
    }
}

impl core::fmt::Debug for PdschDecoding<'_> {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.debug_list().entries(self.blocks()).finish()
    }
}

/// The transport blocks of a record.
pub struct DecodedBlocks<'a> {
    start: Option<Tti>,
    carrier: u8,
    assignments: Children<'a>,
    /// The assignment whose blocks are next.
    assignment: Node<'a>,
    blocks: Children<'a>,
    keys: &'static Keys,
}

impl Iterator for DecodedBlocks<'_> {
    type Item = DecodedBlock;

    fn next(&mut self) -> Option<DecodedBlock> {
        let block = loop {
            if let Some(block) = self.blocks.next() {
                break block;
            }
            self.assignment = self.assignments.next()?;
            self.blocks = self.assignment.list("blocks");
        };
        let (keys, assignment) = (self.keys, &self.assignment);
        let offset = assignment.read(keys.offset) as u16;
        Some(DecodedBlock {
            tti: self.start.map(|start| start.after(offset)),
            carrier: self.carrier,
            harq: assignment.read(keys.harq) as u8,
            rnti: Rnti::from_number(assignment.read(keys.rnti)),
            codeword: block.read(keys.codeword) as u8,
            received: block.read(keys.crc) != 0,
            ndi: block.read(keys.ndi) != 0,
            retx: block.read(keys.retx) as u16,
            rv: block.read(keys.rv) as u8,
            resource_elements: keys.resource_elements.map(|bits| block.read(bits) as u16),
        })
    }
}
