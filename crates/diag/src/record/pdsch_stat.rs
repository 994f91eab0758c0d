//! 0xB173, PDSCH statistics: every downlink transport block, and whether it was received.
//!
//! Versions 5, 16, 24, 32, 34, 36, 37, 40, 48, 50. Source: docs/reference/diag.md, records and
//! layouts; 16 and 36 agree with captures field by field, of 48 the structure does. A subframe
//! always leaves room for two transport blocks. Version 50 lacks the number of resource blocks of a
//! subframe, and what follows it is one byte earlier.

mod tables;

use alloc::vec::Vec;

use sounding_units::{Bytes, Prb};

pub(super) use self::tables::LAYOUTS;
use self::tables::{HEAD, HEAD_V50, TB_V5, TB_V24, TB_V34, TB_V36, TB_V37, TB_V40};
use super::emit::{EmitError, count, put, whole};
use super::{RecordError, checked};
use crate::LogCode;
use crate::layout::{Bits, Children, Node, Part, bits, key, try_key, u8, u16};
use crate::radio::{Modulation, Rnti, Tti};

static KEYS: [Keys; 8] = [
    Keys::of(HEAD, TB_V5, true),
    Keys::of(HEAD, TB_V5, true),
    Keys::of(HEAD, TB_V24, true),
    Keys::of(HEAD, TB_V34, true),
    Keys::of(HEAD, TB_V36, true),
    Keys::of(HEAD, TB_V37, false),
    Keys::of(HEAD, TB_V40, false),
    Keys::of(HEAD_V50, TB_V40, false),
];

/// Index of the keys of version 36.
const EMITTED: usize = 4;

/// The bit paths of the fields of [`PdschBlock`], in one version.
struct Keys {
    subframe_rbs: Option<Bits>,
    layers: Bits,
    cell: Bits,
    tb_bytes: Bits,
    mcs: Bits,
    rbs: Bits,
    modulation: Option<Bits>,
    counts_crc: bool,
}

impl Keys {
    const fn of(head: &[Part], parts: &[Part], counts_crc: bool) -> Self {
        Self {
            subframe_rbs: try_key(head, "rbs"),
            layers: key(head, "layers"),
            cell: key(head, "cell"),
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
    /// Resource blocks assigned; if the version lacks them, those of the larger transport block,
    /// which has them all.
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
    ///
    /// # Errors
    ///
    /// [`RecordError::Unsupported`] if the version is not described; [`RecordError::Corrupt`] if
    /// the body is too short for it.
    pub fn parse(body: &'a [u8]) -> Result<Self, RecordError> {
        let (node, index) = checked(Self::CODE, LAYOUTS, body)?;
        Ok(Self { node, keys: &KEYS[index] })
    }

    /// Appends the body of a record of version 36; parsing it gives the same values back.
    ///
    /// At most 255 subframes of at most two blocks each, with known modulation.
    ///
    /// # Errors
    ///
    /// [`EmitError::Count`] if there are more than 255 subframes; another [`EmitError`] if a value
    /// does not fit its field, or is unknown where the record always has it.
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

    /// Whether the sizes of blocks include their CRC, as they do up to version 36. In later
    /// versions they do not, like those in the tables.
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
        let (node, keys) = (self.nodes.next()?, self.keys);
        let blocks = || node.list("blocks").map(|block| block.read(keys.rbs)).max();
        let rbs =
            keys.subframe_rbs.map_or_else(|| blocks().unwrap_or_default(), |at| node.read(at));
        Some(PdschSubframe {
            tti: Tti::new(node.read(bits(0, 15, 4)) as u16, node.read(bits(0, 3, 0)) as u8),
            rbs: Prb::new(rbs as u16),
            layers: node.read(keys.layers) as u8,
            cell: node.read(keys.cell) as u8,
            node,
            keys,
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn version_50_has_the_number_of_blocks_where_others_have_the_layers() {
        // Frame 300, subframe 7; two layers, one block, the second secondary cell; room for a
        // second block.
        let mut record = [0; 40];
        record[..2].copy_from_slice(&(300u16 << 4 | 7).to_le_bytes());
        record[2..5].copy_from_slice(&[2, 1, 2]);
        record[12] = 5 | 1 << 7;
        record[16..18].copy_from_slice(&1_383u16.to_le_bytes());
        record[18..21].copy_from_slice(&[20, 25, 6]);
        let mut next = record;
        next[2..5].copy_from_slice(&[4, 1, 0]);
        let body = [&[50, 2, 0, 0][..], &record, &next].concat();
        let read = PdschStat::parse(&body).unwrap();
        let cells: Vec<_> = read.subframes().map(|s| (s.cell, s.layers, s.rbs.count())).collect();
        assert_eq!(cells, [(2, 2, 25), (0, 4, 25)]);
        let blocks: Vec<_> = read.subframes().flat_map(|s| s.blocks()).collect();
        assert_eq!(blocks.len(), 2);
        assert_eq!((blocks[0].harq, blocks[0].size, blocks[0].mcs), (5, Bytes::new(1_383), 20));
        assert_eq!(blocks[0].modulation.map(Modulation::bits), Some(6));
    }
}
