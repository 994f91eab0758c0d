//! 0xB173, PDSCH statistics: every downlink transport block, and whether it was received.
//!
//! Versions 5, 16, 24, 32, 34, 36, 37, 40, 48, 50. Source: docs/reference/diag.md, records and layouts; 16 and 36 agree with captures
//! field by field, of 48 the structure does. A subframe always leaves room for two transport blocks.

use alloc::vec::Vec;

use sounding_units::{Bytes, Prb};

use super::common::{CELL, PASS, RNTI};
use super::emit::{EmitError, count, put, whole};
use super::{RecordError, checked};
use crate::LogCode;
use crate::layout::{
    Bits, Block, Children, Count, Field, Layout, Names, Node, Part, bits, key, names, try_key, u8,
    u16, uint,
};
use crate::radio::{Modulation, Rnti, Tti};

const HEADER: Block = Block { size: 4, fields: &[&[uint("version", u8(0)), uint("count", u8(1))]] };

const DISCARDED: Names = &[(0, "none"), (1, "discarded_and_acked")];
const MODULATION: Names = &[(2, "qpsk"), (4, "16qam"), (6, "64qam"), (8, "256qam")];

const SUBFRAME: &[Field] = &[
    uint("subframe", bits(0, 3, 0)),
    uint("frame", bits(0, 15, 4)),
    uint("rbs", u8(2)),
    uint("layers", u8(3)),
    uint("transport_blocks", u8(4)),
    names("cell", bits(5, 2, 0), CELL),
];

const HSIC: &[Field] = &[uint("hsic", bits(5, 6, 3))];
const ALTERNATIVE_TBS: &[Field] = &[uint("alternative_tbs", u8(7))];

const HARQ: &[Field] = &[
    uint("harq", bits(0, 3, 0)),
    uint("rv", bits(0, 5, 4)),
    uint("ndi", bits(0, 6, 6)),
    names("crc", bits(0, 7, 7), PASS),
    names("rnti", bits(1, 3, 0), RNTI),
    uint("index", bits(1, 4, 4)),
];

const RETX: &[Field] =
    &[uint("discarded_retx_present", bits(1, 5, 5)), uint("recombined", bits(1, 6, 6))];
const RETX_V34: &[Field] =
    &[names("discarded_retx", bits(1, 5, 5), DISCARDED), uint("recombined", bits(1, 6, 6))];
const RETX_V37: &[Field] = &[
    uint("discarded_retx_present", bits(1, 5, 5)),
    names("discarded_retx", bits(1, 7, 6), DISCARDED),
    uint("recombined", bits(2, 0, 0)),
];
const RETX_V40: &[Field] = &[
    uint("discarded_retx_present", bits(1, 5, 5)),
    names("discarded_retx", bits(1, 9, 6), DISCARDED),
    uint("recombined", bits(1, 10, 10)),
];

const SIZE_AT_2: &[Field] = &[uint("tb_bytes", u16(2)), uint("mcs", u8(4)), uint("rbs", u8(5))];
const SIZE_AT_4: &[Field] = &[uint("tb_bytes", u16(4)), uint("mcs", u8(6)), uint("rbs", u8(7))];
const MODULATION_AT_6: &[Field] = &[names("modulation", u8(6), MODULATION)];
const MODULATION_AT_8: &[Field] = &[names("modulation", u8(8), MODULATION)];
const QED_AT_7: &[Field] =
    &[uint("qed2_status", bits(7, 1, 0)), uint("qed_iteration", bits(7, 7, 2))];
const QED_AT_9: &[Field] =
    &[uint("qed2_status", bits(9, 1, 0)), uint("qed_iteration", bits(9, 7, 2))];

const AREA: &[Field] = &[uint("pmch", u8(0)), uint("area", u8(1))];

const fn subframes(parts: &'static [Part]) -> Part {
    Part::List { name: "subframes", count: Count::Says(u8(1)), parts }
}

const fn blocks(parts: &'static [Part]) -> Part {
    Part::List { name: "blocks", count: Count::Of(u8(4), 2), parts }
}

const fn block(size: u16, fields: &'static [&'static [Field]]) -> Part {
    Part::Block(Block { size, fields })
}

const TB_V5: &[Part] = &[block(6, &[HARQ, RETX, SIZE_AT_2])];
const TB_V24: &[Part] = &[block(8, &[HARQ, RETX, SIZE_AT_2, MODULATION_AT_6])];
const TB_V34: &[Part] = &[block(8, &[HARQ, RETX_V34, SIZE_AT_2, MODULATION_AT_6, QED_AT_7])];
const TB_V36: &[Part] = &[block(12, &[HARQ, RETX, SIZE_AT_4, MODULATION_AT_8, QED_AT_9])];
const TB_V37: &[Part] = &[block(12, &[HARQ, RETX_V37, SIZE_AT_4, MODULATION_AT_8, QED_AT_9])];
const TB_V40: &[Part] = &[block(12, &[HARQ, RETX_V40, SIZE_AT_4, MODULATION_AT_8, QED_AT_9])];

pub(super) static LAYOUTS: &[Layout] = &[
    Layout {
        versions: &[5],
        parts: &[
            Part::Block(HEADER),
            subframes(&[block(6, &[SUBFRAME]), blocks(TB_V5), block(2, &[AREA])]),
        ],
    },
    Layout {
        versions: &[16],
        parts: &[
            Part::Block(HEADER),
            subframes(&[block(6, &[SUBFRAME, HSIC]), blocks(TB_V5), block(2, &[AREA])]),
        ],
    },
    Layout {
        versions: &[24, 32],
        parts: &[
            Part::Block(HEADER),
            subframes(&[block(6, &[SUBFRAME, HSIC]), blocks(TB_V24), block(2, &[AREA])]),
        ],
    },
    Layout {
        versions: &[34],
        parts: &[
            Part::Block(HEADER),
            subframes(&[block(6, &[SUBFRAME]), blocks(TB_V34), block(2, &[AREA])]),
        ],
    },
    Layout {
        versions: &[36],
        parts: &[
            Part::Block(HEADER),
            subframes(&[block(12, &[SUBFRAME, HSIC]), blocks(TB_V36), block(4, &[AREA])]),
        ],
    },
    Layout {
        versions: &[37],
        parts: &[
            Part::Block(HEADER),
            subframes(&[
                block(12, &[SUBFRAME, ALTERNATIVE_TBS]),
                blocks(TB_V37),
                block(4, &[AREA]),
            ]),
        ],
    },
    Layout {
        versions: &[40, 48, 50],
        parts: &[
            Part::Block(HEADER),
            subframes(&[block(12, &[SUBFRAME]), blocks(TB_V40), block(4, &[AREA])]),
        ],
    },
];

static KEYS: [Keys; 7] = [
    Keys::of(TB_V5, true),
    Keys::of(TB_V5, true),
    Keys::of(TB_V24, true),
    Keys::of(TB_V34, true),
    Keys::of(TB_V36, true),
    Keys::of(TB_V37, false),
    Keys::of(TB_V40, false),
];

/// Index of the keys of version 36.
const EMITTED: usize = 4;

/// The bit paths of the fields of [`PdschBlock`], in one version.
struct Keys {
    tb_bytes: Bits,
    mcs: Bits,
    rbs: Bits,
    modulation: Option<Bits>,
    counts_crc: bool,
}

impl Keys {
    const fn of(parts: &[Part], counts_crc: bool) -> Self {
        Self {
            counts_crc,
            tb_bytes: key(parts, "tb_bytes"),
            mcs: key(parts, "mcs"),
            rbs: key(parts, "rbs"),
            modulation: try_key(parts, "modulation"),
        }
    }
}

/// A run of PDSCH statistics.
#[derive(Clone, Copy)]
pub struct PdschStat<'a> {
    node: Node<'a>,
    keys: &'static Keys,
}

/// Receptions on one cell in one subframe.
#[derive(Clone, Copy)]
pub struct PdschSubframe<'a> {
    /// When; `None` if the record has no valid subframe.
    pub tti: Option<Tti>,
    /// Resource blocks assigned.
    pub rbs: Prb,
    /// Spatial layers.
    pub layers: u8,
    /// Serving cell, 0 for the primary.
    pub cell: u8,
    node: Node<'a>,
    keys: &'static Keys,
}

/// A subframe to be written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PdschSubframeRepr<'a> {
    /// When.
    pub tti: Tti,
    /// Resource blocks assigned.
    pub rbs: Prb,
    /// Spatial layers.
    pub layers: u8,
    /// Serving cell, 0 for the primary.
    pub cell: u8,
    /// Its transport blocks, at most two.
    pub blocks: &'a [PdschBlock],
}

impl PdschSubframeRepr<'_> {
    fn fill(&self, head: &mut [u8]) -> Result<(), EmitError> {
        let blocks = count("blocks", self.blocks.len(), 2)?;
        put(head, u16(0), "tti", u64::from(self.tti.packed()))?;
        put(head, u8(2), "rbs", u64::from(self.rbs.count()))?;
        put(head, u8(3), "layers", u64::from(self.layers))?;
        put(head, u8(4), "blocks", blocks)?;
        put(head, bits(5, 2, 0), "cell", u64::from(self.cell))
    }
}

impl PdschBlock {
    fn fill(&self, keys: &Keys, block: &mut [u8]) -> Result<(), EmitError> {
        let order = keys.modulation.zip(self.modulation);
        let (order, modulation) = order.ok_or(EmitError::Absent { field: "modulation" })?;
        put(block, bits(0, 3, 0), "harq", u64::from(self.harq))?;
        put(block, bits(0, 5, 4), "rv", u64::from(self.rv))?;
        put(block, bits(0, 6, 6), "ndi", u64::from(self.ndi))?;
        put(block, bits(0, 7, 7), "received", u64::from(self.received))?;
        put(block, bits(1, 3, 0), "rnti", u64::from(self.rnti.number()))?;
        put(block, bits(1, 4, 4), "index", u64::from(self.index))?;
        put(block, keys.tb_bytes, "size", self.size.count())?;
        put(block, keys.mcs, "mcs", u64::from(self.mcs))?;
        put(block, keys.rbs, "rbs", u64::from(self.rbs.count()))?;
        put(block, order, "modulation", u64::from(modulation.bits()))
    }
}

/// One downlink transport block.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PdschBlock {
    /// HARQ process, 0..=15.
    pub harq: u8,
    /// Redundancy version, 0..=3.
    pub rv: u8,
    /// New data indicator: it toggles for new data.
    pub ndi: bool,
    /// The block was received.
    pub received: bool,
    /// The addressee.
    pub rnti: Rnti,
    /// First or second block of the subframe.
    pub index: u8,
    /// Its size.
    pub size: Bytes,
    /// Modulation and coding scheme, 0..=31; 29 and up repeat an earlier one.
    pub mcs: u8,
    /// Resource blocks.
    pub rbs: Prb,
    /// Modulation; unknown before version 24.
    pub modulation: Option<Modulation>,
}

impl<'a> PdschStat<'a> {
    /// The log code.
    pub const CODE: LogCode = LogCode::new(0xB173);

    /// Reads the body of a record.
    pub fn parse(body: &'a [u8]) -> Result<Self, RecordError> {
        let (node, index) = checked(Self::CODE, LAYOUTS, body)?;
        Ok(Self { node, keys: &KEYS[index] })
    }

    /// Appends the body of a record of version 36; parsing it gives the same values back.
    ///
    /// At most 255 subframes of at most two blocks each, with known modulation.
    pub fn emit(subframes: &[PdschSubframeRepr<'_>], out: &mut Vec<u8>) -> Result<(), EmitError> {
        let keys = &KEYS[EMITTED];
        let records = count("subframes", subframes.len(), 255)? as u8;
        whole(out, |out| {
            out.extend_from_slice(&[36, records, 0, 0]);
            subframes.iter().try_for_each(|subframe| {
                let mut bytes = [0; 12 + 2 * 12 + 4];
                let (head, blocks) = bytes.split_at_mut(12);
                subframe.fill(head)?;
                for (block, bytes) in subframe.blocks.iter().zip(blocks.chunks_mut(12)) {
                    block.fill(keys, bytes)?;
                }
                out.extend_from_slice(&bytes);
                Ok(())
            })
        })
    }

    /// Whether the sizes of blocks include their CRC, as they do up to version 36. In later versions they do not, like
    /// those in the tables.
    pub fn counts_crc(&self) -> bool {
        self.keys.counts_crc
    }

    /// The subframes with an assignment, oldest first.
    pub fn subframes(&self) -> Subframes<'a> {
        Subframes { nodes: self.node.list("subframes"), keys: self.keys }
    }
}

impl core::fmt::Debug for PdschStat<'_> {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.debug_list().entries(self.subframes()).finish()
    }
}

/// The subframes of a record.
pub struct Subframes<'a> {
    nodes: Children<'a>,
    keys: &'static Keys,
}

impl<'a> Iterator for Subframes<'a> {
    type Item = PdschSubframe<'a>;

    fn next(&mut self) -> Option<PdschSubframe<'a>> {
        let node = self.nodes.next()?;
        Some(PdschSubframe {
            tti: Tti::new(node.read(bits(0, 15, 4)) as u16, node.read(bits(0, 3, 0)) as u8),
            rbs: Prb::new(node.read(u8(2)) as u16),
            layers: node.read(u8(3)) as u8,
            cell: node.read(bits(5, 2, 0)) as u8,
            node,
            keys: self.keys,
        })
    }
}

impl<'a> PdschSubframe<'a> {
    /// The transport blocks of the subframe.
    pub fn blocks(&self) -> Blocks<'a> {
        Blocks { nodes: self.node.list("blocks"), keys: self.keys }
    }
}

impl core::fmt::Debug for PdschSubframe<'_> {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.debug_struct("PdschSubframe")
            .field("tti", &self.tti)
            .field("rbs", &self.rbs)
            .field("layers", &self.layers)
            .field("cell", &self.cell)
            .finish_non_exhaustive()
    }
}

/// The transport blocks of a subframe.
pub struct Blocks<'a> {
    nodes: Children<'a>,
    keys: &'static Keys,
}

impl Iterator for Blocks<'_> {
    type Item = PdschBlock;

    fn next(&mut self) -> Option<PdschBlock> {
        let (node, keys) = (self.nodes.next()?, self.keys);
        Some(PdschBlock {
            harq: node.read(bits(0, 3, 0)) as u8,
            rv: node.read(bits(0, 5, 4)) as u8,
            ndi: node.read(bits(0, 6, 6)) != 0,
            received: node.read(bits(0, 7, 7)) != 0,
            rnti: Rnti::from_number(node.read(bits(1, 3, 0))),
            index: node.read(bits(1, 4, 4)) as u8,
            size: Bytes::new(node.read(keys.tb_bytes)),
            mcs: node.read(keys.mcs) as u8,
            rbs: Prb::new(node.read(keys.rbs) as u16),
            modulation: keys.modulation.and_then(|bits| Modulation::from_bits(node.read(bits))),
        })
    }
}
