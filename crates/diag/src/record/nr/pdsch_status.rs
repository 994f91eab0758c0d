//! 0xB887, PDSCH status: every downlink transport block, with its assignment and whether it
//! arrived.
//!
//! Versions 2.5, 3.3 and 3.13. A public text export has the fields and record lengths of 2.5, and
//! its sizes are sizes of TS 38.214 §5.1.3.2, so without the CRC. One source has the bits of 3.3.
//! Others derived 3.13 from their own captures: blocks match the size formula there; the rest of
//! its records is unknown. No record of any version is public.

use alloc::vec::Vec;

use sounding_units::{Bytes, Prb};

use super::{HEADER_2, HEADER_3, RNTI, SLOT, slot_keys, slot_of};
use crate::LogCode;
use crate::layout::{
    Bits, Block, Count, Field, Layout, Names, Node, Part, bits, flag, key, names, try_key, u8, uint,
};
use crate::radio::{Modulation, Slot};
use crate::record::emit::{EmitError, count, put, whole};
use crate::record::{RecordError, checked};

const MODULATION: Names = &[(1, "qpsk"), (5, "16qam"), (9, "64qam"), (12, "256qam")];
const ANTENNAS: Names = &[(1, "2x2"), (3, "4x4")];

const BLOCK: &[Field] = &[
    uint("block_frame", bits(1, 9, 0)),
    uint("block_slot", bits(1, 14, 10)),
    uint("bandwidth", bits(3, 4, 1)),
    uint("pci", bits(4, 9, 0)),
    uint("arfcn", bits(4, 31, 10)),
    uint("tb_bytes", bits(8, 21, 5)),
    uint("mcs", bits(11, 6, 2)),
    uint("rbs", bits(12, 8, 0)),
    uint("rv", bits(12, 10, 9)),
    uint("harq", bits(12, 14, 11)),
    names("rnti", bits(14, 5, 2), RNTI),
    uint("layers_less_one", bits(14, 14, 13)),
    flag("crc", 16, 0),
    flag("new", 16, 1),
    flag("ndi", 16, 2),
    uint("discard_mode", bits(16, 4, 3)),
    uint("retx", bits(17, 2, 0)),
    names("modulation", bits(18, 3, 0), MODULATION),
    names("rx_antennas", bits(18, 7, 6), ANTENNAS),
];
const K1_V2_5: &[Field] = &[uint("k1", bits(14, 8, 6))];
const K1_V3_3: &[Field] = &[uint("k1", bits(14, 9, 6))];

const BLOCK_V2_5: &[Part] = &[Part::Block(Block { size: 20, fields: &[BLOCK, K1_V2_5] })];
const BLOCK_V3_3: &[Part] = &[Part::Block(Block { size: 20, fields: &[BLOCK, K1_V3_3] })];

const BLOCK_COUNT: &[Field] = &[uint("block_count", u8(4))];

const fn blocks(parts: &'static [Part]) -> Part {
    Part::List { name: "blocks", count: Count::Says(u8(4)), parts }
}

const SLOT_HEAD: Part = Part::Block(Block { size: 8, fields: &[SLOT, BLOCK_COUNT] });
const SLOT_V2_5: &[Part] = &[SLOT_HEAD, blocks(BLOCK_V2_5)];
const SLOT_V3_3: &[Part] = &[SLOT_HEAD, blocks(BLOCK_V3_3)];

/// A slot and its only block at once.
const SLOT_V3_13: &[Part] = &[Part::Block(Block {
    size: 44,
    fields: &[&[
        uint("frame", bits(8, 14, 5)),
        uint("slot", bits(8, 19, 15)),
        uint("pci", bits(12, 9, 0)),
        uint("tb_bytes", bits(16, 22, 5)),
        uint("mcs", bits(16, 30, 26)),
        uint("rbs", bits(20, 7, 0)),
        uint("harq", bits(20, 14, 11)),
        uint("layers_less_one", bits(20, 30, 29)),
        flag("crc", 24, 0),
    ]],
})];

const fn slots(count: Bits, parts: &'static [Part]) -> Part {
    Part::List { name: "slots", count: Count::Says(count), parts }
}

pub(in super::super) static LAYOUTS: &[Layout] = &[
    Layout { versions: &[0x2_0005], parts: &[HEADER_2, slots(u8(15), SLOT_V2_5)] },
    Layout { versions: &[0x3_0003], parts: &[HEADER_3, slots(u8(7), SLOT_V3_3)] },
    Layout { versions: &[0x3_000D], parts: &[HEADER_3, slots(u8(7), SLOT_V3_13)] },
];

static KEYS: [Keys; 3] = [
    Keys::of(SLOT_V2_5, BLOCK_V2_5),
    Keys::of(SLOT_V3_3, BLOCK_V3_3),
    Keys::of(SLOT_V3_13, SLOT_V3_13),
];

/// The bit paths of the fields of [`NrPdschBlock`], in one version.
struct Keys {
    slot: slot_keys::Keys,
    pci: Bits,
    arfcn: Option<Bits>,
    size: Bits,
    mcs: Bits,
    rbs: Bits,
    layers: Bits,
    rv: Option<Bits>,
    harq: Bits,
    rnti: Option<Bits>,
    k1: Option<Bits>,
    ndi: Option<Bits>,
    new: Option<Bits>,
    retx: Option<Bits>,
    modulation: Option<Bits>,
    received: Bits,
}

impl Keys {
    const fn of(slot: &[Part], block: &[Part]) -> Self {
        Self {
            slot: slot_keys::Keys::of(slot),
            pci: key(block, "pci"),
            arfcn: try_key(block, "arfcn"),
            size: key(block, "tb_bytes"),
            mcs: key(block, "mcs"),
            rbs: key(block, "rbs"),
            layers: key(block, "layers_less_one"),
            rv: try_key(block, "rv"),
            harq: key(block, "harq"),
            rnti: try_key(block, "rnti"),
            k1: try_key(block, "k1"),
            ndi: try_key(block, "ndi"),
            new: try_key(block, "new"),
            retx: try_key(block, "retx"),
            modulation: try_key(block, "modulation"),
            received: key(block, "crc"),
        }
    }
}

/// A record of downlink transport blocks.
#[derive(Clone, Copy, Debug)]
pub struct NrPdschStatus<'a> {
    node: Node<'a>,
    version: usize,
}

/// One downlink transport block.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NrPdschBlock {
    /// When it was received; `None` while the device has no frame timing.
    pub slot: Option<Slot>,
    /// Physical cell identity, 0..=1007.
    pub pci: u16,
    /// Channel number of the carrier, 0..=3279165; version 3.13 lacks it.
    pub arfcn: Option<u32>,
    /// Size without its CRC.
    pub size: Bytes,
    /// I_MCS, 0..=31; which table it counts in is configured.
    pub mcs: u8,
    /// Resource blocks, 0..=275.
    pub rbs: Prb,
    /// Spatial layers, 1..=4.
    pub layers: u8,
    /// Redundancy version, 0..=3.
    pub rv: Option<u8>,
    /// HARQ process, 0..=15.
    pub harq: u8,
    /// The addressee: 0 is this device.
    pub rnti: Option<u8>,
    /// Slots until the device answers.
    pub k1: Option<u8>,
    /// New-data indicator.
    pub ndi: Option<bool>,
    /// Sent for the first time.
    pub new: Option<bool>,
    /// Number of earlier transmissions, 0..=7.
    pub retx: Option<u8>,
    /// Modulation.
    pub modulation: Option<Modulation>,
    /// Its CRC passed.
    pub received: bool,
}

const fn modulation_of(number: u64) -> Option<Modulation> {
    match number {
        1 => Some(Modulation::Qpsk),
        5 => Some(Modulation::Qam16),
        9 => Some(Modulation::Qam64),
        12 => Some(Modulation::Qam256),
        _ => None,
    }
}

const fn modulation_number(modulation: Modulation) -> u64 {
    match modulation {
        Modulation::Qpsk => 1,
        Modulation::Qam16 => 5,
        Modulation::Qam64 => 9,
        Modulation::Qam256 => 12,
    }
}

impl NrPdschBlock {
    fn read(slot: Option<Slot>, block: Node<'_>, keys: &Keys) -> Self {
        let number = |bits| block.read(bits) as u8;
        let flag = |bits| block.read(bits) != 0;
        Self {
            slot,
            pci: block.read(keys.pci) as u16,
            arfcn: keys.arfcn.map(|bits| block.read(bits) as u32),
            size: Bytes::new(block.read(keys.size)),
            mcs: number(keys.mcs),
            rbs: Prb::new(block.read(keys.rbs) as u16),
            layers: number(keys.layers) + 1,
            rv: keys.rv.map(number),
            harq: number(keys.harq),
            rnti: keys.rnti.map(number),
            k1: keys.k1.map(number),
            ndi: keys.ndi.map(flag),
            new: keys.new.map(flag),
            retx: keys.retx.map(number),
            modulation: keys.modulation.and_then(|bits| modulation_of(block.read(bits))),
            received: flag(keys.received),
        }
    }

    /// Writes a slot with this block as version 3.3 does.
    fn fill(&self, out: &mut [u8; 28]) -> Result<(), EmitError> {
        let keys = &KEYS[1];
        let (head, block) = out.split_at_mut(8);
        keys.slot.fill(self.slot, head)?;
        put(head, u8(4), "blocks", 1)?;
        let mut put = |bits: Option<Bits>, field, value: Option<u64>| match (bits, value) {
            (Some(bits), Some(value)) => put(block, bits, field, value),
            _ => Err(EmitError::Absent { field }),
        };
        let slot = self.slot.ok_or(EmitError::Absent { field: "slot" })?;
        put(try_key(BLOCK_V3_3, "block_frame"), "slot", Some(slot.frame().into()))?;
        put(try_key(BLOCK_V3_3, "block_slot"), "slot", Some(slot.slot().into()))?;
        put(Some(keys.pci), "pci", Some(self.pci.into()))?;
        put(keys.arfcn, "arfcn", self.arfcn.map(u64::from))?;
        put(Some(keys.size), "size", Some(self.size.count()))?;
        put(Some(keys.mcs), "mcs", Some(self.mcs.into()))?;
        put(Some(keys.rbs), "rbs", Some(self.rbs.count().into()))?;
        put(Some(keys.layers), "layers", self.layers.checked_sub(1).map(u64::from))?;
        put(keys.rv, "rv", self.rv.map(u64::from))?;
        put(Some(keys.harq), "harq", Some(self.harq.into()))?;
        put(keys.rnti, "rnti", self.rnti.map(u64::from))?;
        put(keys.k1, "k1", self.k1.map(u64::from))?;
        put(keys.ndi, "ndi", self.ndi.map(u64::from))?;
        put(keys.new, "new", self.new.map(u64::from))?;
        put(keys.retx, "retx", self.retx.map(u64::from))?;
        put(keys.modulation, "modulation", self.modulation.map(modulation_number))?;
        put(Some(keys.received), "received", Some(self.received.into()))
    }
}

impl<'a> NrPdschStatus<'a> {
    /// The log code.
    pub const CODE: LogCode = LogCode::new(0xB887);

    /// Reads the body of a record.
    ///
    /// # Errors
    ///
    /// [`RecordError::Unsupported`] if the version is not described; [`RecordError::Corrupt`] if
    /// the body is too short for it.
    pub fn parse(body: &'a [u8]) -> Result<Self, RecordError> {
        checked(Self::CODE, LAYOUTS, body).map(|(node, version)| Self { node, version })
    }

    /// Appends the body of a record of version 3.3; parsing it gives the same values back.
    ///
    /// # Errors
    ///
    /// [`EmitError::Count`] if there are more than 255 blocks; another [`EmitError`] if a value
    /// does not fit its field, or is unknown where the record always has it.
    pub fn emit(blocks: &[NrPdschBlock], out: &mut Vec<u8>) -> Result<(), EmitError> {
        whole(out, |out| {
            let count = count("blocks", blocks.len(), 255)? as u8;
            out.extend([3, 0, 3, 0, 0, 0, 0, count]);
            for block in blocks {
                let mut bytes = [0; 28];
                block.fill(&mut bytes)?;
                out.extend_from_slice(&bytes);
            }
            Ok(())
        })
    }

    /// The blocks, in the order of the record.
    pub fn blocks(&self) -> impl Iterator<Item = NrPdschBlock> + use<'a> {
        let keys = &KEYS[self.version];
        let flat = self.version == 2;
        self.node.list("slots").flat_map(move |item| {
            let slot = slot_of(&keys.slot, item);
            let own = flat.then_some(item).into_iter();
            own.chain(item.list("blocks")).map(move |block| NrPdschBlock::read(slot, block, keys))
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::vec;

    /// A public text export of version 2.5 has two records of 88 bytes with two blocks and one of
    /// 116 with three, with the 16 bytes before a body counted; these are the numbers of one of
    /// the first.
    const EXPORTED: [(u16, u8, u64, u8, u8, bool); 2] =
        [(631, 16, 1281, 5, 3, true), (632, 3, 469, 8, 5, false)];

    #[test]
    fn records_of_version_2_5_are_as_long_as_an_export_says() {
        let keys = &KEYS[0];
        let mut body = vec![0; 16];
        (body[0], body[2], body[15]) = (5, 2, 2);
        let mut wanted = Vec::new();
        for (frame, slot, size, harq, k1, received) in EXPORTED {
            let (mut head, mut block) = ([0; 8], [0; 20]);
            let slot = Slot::new(frame, slot, Some(1));
            keys.slot.fill(slot, &mut head).unwrap();
            head[4] = 1;
            let numbers = [
                (Some(keys.pci), 186),
                (keys.arfcn, 644_736),
                (Some(keys.size), size),
                (Some(keys.mcs), 18),
                (Some(keys.rbs), 4),
                (Some(keys.layers), 3),
                (Some(keys.harq), u64::from(harq)),
                (keys.k1, u64::from(k1)),
                (keys.new, 1),
                (keys.modulation, 9),
                (Some(keys.received), u64::from(received)),
            ];
            for (bits, number) in numbers {
                assert!(bits.is_some_and(|bits| bits.write(number, &mut block)));
            }
            body.extend(head);
            body.extend(block);
            wanted.push(NrPdschBlock {
                slot,
                pci: 186,
                arfcn: Some(644_736),
                size: Bytes::new(size),
                mcs: 18,
                rbs: Prb::new(4),
                layers: 4,
                rv: Some(0),
                harq,
                rnti: Some(0),
                k1: Some(k1),
                ndi: Some(false),
                new: Some(true),
                retx: Some(0),
                modulation: Some(Modulation::Qam64),
                received,
            });
        }
        assert_eq!(body.len() + 16, 88);
        let status = NrPdschStatus::parse(&body).unwrap();
        assert_eq!(status.blocks().collect::<Vec<_>>(), wanted);
    }

    #[test]
    fn a_slot_of_version_3_13_is_its_own_block() {
        let mut body = vec![0; 52];
        (body[0], body[2], body[7]) = (13, 3, 1);
        // Frame 700, slot 12; 217 resource blocks, HARQ 9, three layers; CRC passed.
        body[16..20].copy_from_slice(&(700u32 << 5 | 12 << 15).to_le_bytes());
        body[24..28].copy_from_slice(&(100_000u32 << 5 | 27 << 26).to_le_bytes());
        body[28..32].copy_from_slice(&(217u32 | 9 << 11 | 2 << 29).to_le_bytes());
        body[32] = 1;
        let status = NrPdschStatus::parse(&body).unwrap();
        let found: Vec<_> = status.blocks().collect();
        let [block] = found[..] else { panic!("{found:?}") };
        assert_eq!(block.slot, Slot::new(700, 12, None));
        assert_eq!((block.size, block.mcs), (Bytes::new(100_000), 27));
        assert_eq!((block.rbs, block.harq, block.layers), (Prb::new(217), 9, 3));
        assert_eq!((block.received, block.new), (true, None));
    }
}
