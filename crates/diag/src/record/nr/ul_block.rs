//! 0xB872, uplink transport blocks: the grant, the contents, and the control elements of each.
//!
//! Version 4 has two sources that agree except for the width of some fields; the wider ones are
//! used. Version 3.8 has one source, and lacks the carrier and the reason of a buffer status
//! report. None is in a capture.

use alloc::vec::Vec;

use sounding_units::Bytes;

use super::{BSR_REASON, BSR_TYPE, NUMEROLOGY, VERSION};
use crate::LogCode;
use crate::layout::{
    Bits, Block, Count, Field, Layout, Names, Node, Part, bits, flag, hex, key, names, try_key, u8,
    u32, uint,
};
use crate::mac::nr::Controls;
use crate::radio::Slot;
use crate::record::emit::{EmitError, count, put, whole};
use crate::record::{RecordError, checked};

const HEAD: &[Field] = &[
    uint("tti_count", bits(4, 3, 0)),
    flag("type_2_scell", 4, 4),
    flag("type_2_other_cell", 4, 5),
];
const TTI: &[Field] =
    &[uint("slot", u8(0)), uint("frame", bits(2, 9, 0)), uint("block_count", bits(4, 3, 0))];

const TB_TYPE: Names = &[(0, "connected"), (4, "rnti"), (8, "initial_access")];

const BLOCK: &[Field] = &[
    names("numerology", bits(0, 2, 0), NUMEROLOGY),
    uint("harq", bits(0, 6, 3)),
    uint("grant_bytes", u32(4)),
    uint("built_bytes", u32(8)),
];
const BLOCK_V4: &[Field] = &[
    uint("carrier", bits(0, 8, 7)),
    names("type", bits(0, 12, 9), TB_TYPE),
    uint("rnti", bits(0, 15, 13)),
    flag("starts_with_segment", 2, 0),
    uint("complete_pdus", bits(2, 10, 1)),
    flag("ends_with_segment", 2, 11),
    hex("elements_requested", u8(12)),
    hex("elements_built", u8(13)),
    hex("phr_reason", bits(14, 5, 0)),
    names("bsr_reason", bits(14, 8, 6), BSR_REASON),
    names("bsr_type", bits(14, 11, 9), BSR_TYPE),
    uint("mac_len_bytes", bits(16, 5, 0)),
];
const BLOCK_V3_8: &[Field] = &[uint("mac_len_bytes", bits(20, 5, 0))];

const BLOCKS_V4: &[Part] = &[
    Part::Block(Block { size: 20, fields: &[BLOCK, BLOCK_V4] }),
    Part::NrControls { len: bits(16, 5, 0) },
];
const BLOCKS_V3_8: &[Part] = &[
    Part::Block(Block { size: 24, fields: &[BLOCK, BLOCK_V3_8] }),
    Part::NrControls { len: bits(20, 5, 0) },
];

const fn blocks(parts: &'static [Part]) -> Part {
    Part::List { name: "blocks", count: Count::Says(bits(4, 3, 0)), parts }
}

const TTI_HEAD: Part = Part::Block(Block { size: 8, fields: &[TTI] });
const TTIS_V4: &[Part] = &[TTI_HEAD, blocks(BLOCKS_V4)];
const TTIS_V3_8: &[Part] = &[TTI_HEAD, blocks(BLOCKS_V3_8)];

const HEADER: Part = Part::Block(Block { size: 8, fields: &[VERSION, HEAD] });

const fn ttis(parts: &'static [Part]) -> Part {
    Part::List { name: "ttis", count: Count::Says(bits(4, 3, 0)), parts }
}

pub(in super::super) static LAYOUTS: &[Layout] = &[
    Layout { versions: &[4], parts: &[HEADER, ttis(TTIS_V4)] },
    Layout { versions: &[0x3_0008], parts: &[HEADER, ttis(TTIS_V3_8)] },
];

const FRAME: Bits = key(TTIS_V4, "frame");
const SLOT: Bits = key(TTIS_V4, "slot");

static KEYS: [Keys; 2] = [Keys::of(BLOCKS_V4), Keys::of(BLOCKS_V3_8)];

/// The bit paths of the fields of [`NrUplinkBlock`], in one version.
struct Keys {
    numerology: Bits,
    harq: Bits,
    carrier: Option<Bits>,
    grant: Bits,
    built: Bits,
    bsr_reason: Option<Bits>,
}

impl Keys {
    const fn of(block: &[Part]) -> Self {
        Self {
            numerology: key(block, "numerology"),
            harq: key(block, "harq"),
            carrier: try_key(block, "carrier"),
            grant: key(block, "grant_bytes"),
            built: key(block, "built_bytes"),
            bsr_reason: try_key(block, "bsr_reason"),
        }
    }
}

/// A record of uplink transport blocks.
#[derive(Clone, Copy, Debug)]
pub struct NrUplink<'a> {
    node: Node<'a>,
    version: usize,
}

/// One uplink transport block.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NrUplinkBlock<'a> {
    /// When it was sent.
    pub slot: Option<Slot>,
    /// Component carrier, 0..=3; version 3.8 lacks it.
    pub carrier: Option<u8>,
    /// HARQ process, 0..=15.
    pub harq: u8,
    /// Its size.
    pub grant: Bytes,
    /// Its bytes without padding.
    pub built: Bytes,
    /// The record's number for the reason of a buffer status report; version 3.8 lacks it.
    pub bsr_reason: Option<u8>,
    /// The control elements in it.
    pub controls: Controls<'a>,
}

impl NrUplinkBlock<'_> {
    /// Its padding.
    pub fn padding(&self) -> Bytes {
        self.grant.saturating_sub(self.built)
    }

    /// Writes a slot with this block as version 3.8 does.
    fn emit(&self, out: &mut Vec<u8>) -> Result<(), EmitError> {
        let keys = &KEYS[1];
        let slot = self.slot.ok_or(EmitError::Absent { field: "slot" })?;
        let numerology = slot.numerology().ok_or(EmitError::Absent { field: "numerology" })?;
        for (field, value) in [("carrier", self.carrier), ("bsr_reason", self.bsr_reason)] {
            if let Some(value) = value {
                return Err(EmitError::Range { field, value: value.into() });
            }
        }
        let mut head = [0; 8];
        put(&mut head, FRAME, "slot", slot.frame().into())?;
        put(&mut head, SLOT, "slot", slot.slot().into())?;
        put(&mut head, key(TTIS_V3_8, "block_count"), "blocks", 1)?;
        let mut block = [0; 24];
        put(&mut block, keys.numerology, "numerology", numerology.into())?;
        put(&mut block, keys.harq, "harq", self.harq.into())?;
        put(&mut block, keys.grant, "grant", self.grant.count())?;
        put(&mut block, keys.built, "built", self.built.count())?;
        let controls = self.controls.bytes();
        let len = count("control elements", controls.len(), 63)?;
        put(&mut block, key(BLOCKS_V3_8, "mac_len_bytes"), "controls", len)?;
        out.extend_from_slice(&head);
        out.extend_from_slice(&block);
        out.extend_from_slice(controls);
        Ok(())
    }
}

impl<'a> NrUplink<'a> {
    /// The log code.
    pub const CODE: LogCode = LogCode::new(0xB872);

    /// Reads the body of a record.
    ///
    /// # Errors
    ///
    /// [`RecordError::Unsupported`] if the version is not described; [`RecordError::Corrupt`] if
    /// the body is too short for it.
    pub fn parse(body: &'a [u8]) -> Result<Self, RecordError> {
        checked(Self::CODE, LAYOUTS, body).map(|(node, version)| Self { node, version })
    }

    /// Appends the body of a record of version 3.8; parsing it gives the same values back. A record
    /// has space for 15 blocks.
    ///
    /// # Errors
    ///
    /// [`EmitError::Count`] if there are more than 15 blocks; another [`EmitError`] if a value does
    /// not fit its field, or is unknown where the record always has it.
    pub fn emit(blocks: &[NrUplinkBlock<'_>], out: &mut Vec<u8>) -> Result<(), EmitError> {
        whole(out, |out| {
            out.extend([8, 0, 3, 0, count("blocks", blocks.len(), 15)? as u8, 0, 0, 0]);
            blocks.iter().try_for_each(|block| block.emit(out))
        })
    }

    /// The blocks, in the order of the record.
    pub fn blocks(&self) -> impl Iterator<Item = NrUplinkBlock<'a>> + use<'a> {
        let keys = &KEYS[self.version];
        self.node.list("ttis").flat_map(move |tti| {
            tti.list("blocks").map(move |block| {
                let (frame, slot) = (tti.read(FRAME) as u16, tti.read(SLOT) as u8);
                let number = |bits| block.read(bits) as u8;
                NrUplinkBlock {
                    slot: Slot::new(frame, slot, Some(number(keys.numerology))),
                    carrier: keys.carrier.map(number),
                    harq: number(keys.harq),
                    grant: Bytes::new(block.read(keys.grant)),
                    built: Bytes::new(block.read(keys.built)),
                    bsr_reason: keys.bsr_reason.map(number),
                    controls: block.nr_controls(),
                }
            })
        })
    }
}
