//! 0xB97F, searcher measurements: the cells and beams that the device receives, with their levels.
//!
//! Versions 2.6, 2.7, 2.9, 2.10 and 3.0. All but 2.6 agree with public vectors of another decoder;
//! that decoder reads the number of cells of 2.9 from the byte before it where that byte is neither
//! 0 nor 255, which is the carrier's number, and the serving beam from the byte before it. Levels
//! are in steps of 1/128 dB; zero is one not measured.

use alloc::vec::Vec;

use super::VERSION;
use crate::LogCode;
use crate::layout::{
    Bits, Block, Count, Field, Layout, Node, Part, bits, int, key, scaled_int, try_key, u8, u16,
    u32, u64, uint,
};
use crate::radio::Decibels;
use crate::record::emit::{EmitError, count, put, whole};
use crate::record::{RecordError, checked};

const STEP: f64 = 1.0 / 128.0;

const fn level(name: &'static str, at: u16) -> Field {
    scaled_int(name, u32(at), STEP, 0.0).unless_itself_zero()
}

const HEAD_V2_6: &[Field] = &[uint("layer_count", u8(4)), uint("ssb_period_ms", u8(5))];
const HEAD_V2_7: &[Field] = &[int("frequency_offset", u32(8)), int("timing_offset", u32(12))];
const HEAD_V2_9: &[Field] = &[
    uint("slot", bits(4, 14, 10)),
    uint("subframe", bits(4, 18, 15)),
    uint("frame", bits(4, 28, 19)),
    uint("layer_count", u8(8)),
    uint("ssb_period_ms", u8(9)),
    int("frequency_offset", u32(12)),
    int("timing_offset", u32(16)),
];

const CARRIER_V2_6: &[Field] = &[
    uint("arfcn", u32(0)),
    uint("cell_count", u8(4)),
    uint("serving_index", u8(5)),
    uint("serving_pci", u16(6)),
    uint("serving_ssb", u8(8)),
];
const CARRIER_V2_9: &[Field] = &[
    uint("arfcn", u32(0)),
    uint("carrier", u8(4)),
    uint("cell_count", u8(5)),
    uint("serving_pci", u16(6)),
    uint("serving_index", u8(8)),
    uint("serving_ssb", u8(9)),
];
const SERVING_V2: &[Field] = &[
    level("serving_rsrp_rx0_dbm", 12),
    level("serving_rsrp_rx1_dbm", 16),
    uint("serving_rx_beam_0", u16(20)),
    uint("serving_rx_beam_1", u16(22)),
    uint("serving_rfic", u16(24)),
    uint("serving_subarray_0", u16(28)),
    uint("serving_subarray_1", u16(30)),
];
const SERVING_V3: &[Field] = &[
    level("serving_rsrp_rx0_dbm", 12),
    level("serving_rsrp_rx1_dbm", 16),
    level("serving_rsrp_rx2_dbm", 20),
    level("serving_rsrp_rx3_dbm", 24),
    uint("serving_rx_beam_0", u16(28)),
    uint("serving_rx_beam_1", u16(30)),
    uint("serving_rfic", u16(32)),
    uint("serving_subarray_0", u16(36)),
    uint("serving_subarray_1", u16(38)),
];

const BEAM: &[Field] = &[
    uint("ssb", u16(0)),
    uint("rx_beam_0", u16(4)),
    uint("rx_beam_1", u16(6)),
    uint("ssb_timing", u64(12)),
    level("rsrp_rx0_dbm", 20),
    level("rsrp_rx1_dbm", 24),
];
const FILTERED_V2: &[Field] = &[
    level("filtered_rsrp_dbm", 28),
    level("filtered_rsrq_db", 32),
    level("l2nr_rsrp_dbm", 36),
    level("l2nr_rsrq_db", 40),
];
const FILTERED_V2_10: &[Field] = &[
    level("rsrq_rx0_db", 28),
    level("rsrq_rx1_db", 32),
    level("filtered_rsrp_dbm", 68),
    level("filtered_rsrq_db", 72),
    level("l2nr_rsrp_dbm", 76),
    level("l2nr_rsrq_db", 80),
];

const BEAM_V2: &[Part] = &[Part::Block(Block { size: 44, fields: &[BEAM, FILTERED_V2] })];
const BEAM_V2_10: &[Part] = &[Part::Block(Block { size: 84, fields: &[BEAM, FILTERED_V2_10] })];

const CELL_HEAD: Part = Part::Block(Block {
    size: 16,
    fields: &[&[
        uint("pci", u16(0)),
        uint("frame", u16(2)),
        uint("beam_count", u8(4)),
        level("rsrp_dbm", 8),
        level("rsrq_db", 12),
    ]],
});

const fn beams(parts: &'static [Part]) -> Part {
    Part::List { name: "beams", count: Count::Says(u8(4)), parts }
}

const CELL_V2: &[Part] = &[CELL_HEAD, beams(BEAM_V2)];
const CELL_V2_10: &[Part] = &[CELL_HEAD, beams(BEAM_V2_10)];

const fn cells(count: Bits, parts: &'static [Part]) -> Part {
    Part::List { name: "cells", count: Count::Says(count), parts }
}

const LAYER_V2_6: &[Part] =
    &[Part::Block(Block { size: 32, fields: &[CARRIER_V2_6, SERVING_V2] }), cells(u8(4), CELL_V2)];
const LAYER_V2_9: &[Part] =
    &[Part::Block(Block { size: 32, fields: &[CARRIER_V2_9, SERVING_V2] }), cells(u8(5), CELL_V2)];
const LAYER_V2_10: &[Part] = &[
    Part::Block(Block { size: 32, fields: &[CARRIER_V2_9, SERVING_V2] }),
    cells(u8(5), CELL_V2_10),
];
const LAYER_V3_0: &[Part] = &[
    Part::Block(Block { size: 40, fields: &[CARRIER_V2_9, SERVING_V3] }),
    cells(u8(5), CELL_V2_10),
];

const fn layers(count: Bits, parts: &'static [Part]) -> Part {
    Part::List { name: "layers", count: Count::Says(count), parts }
}

const HEADER_V2_6: Part = Part::Block(Block { size: 8, fields: &[VERSION, HEAD_V2_6] });
const HEADER_V2_7: Part = Part::Block(Block { size: 16, fields: &[VERSION, HEAD_V2_6, HEAD_V2_7] });
const HEADER_V2_9: Part = Part::Block(Block { size: 20, fields: &[VERSION, HEAD_V2_9] });

pub(in super::super) static LAYOUTS: &[Layout] = &[
    Layout { versions: &[0x2_0006], parts: &[HEADER_V2_6, layers(u8(4), LAYER_V2_6)] },
    Layout { versions: &[0x2_0007], parts: &[HEADER_V2_7, layers(u8(4), LAYER_V2_6)] },
    Layout { versions: &[0x2_0009], parts: &[HEADER_V2_9, layers(u8(8), LAYER_V2_9)] },
    Layout { versions: &[0x2_000A], parts: &[HEADER_V2_9, layers(u8(8), LAYER_V2_10)] },
    Layout { versions: &[0x3_0000], parts: &[HEADER_V2_9, layers(u8(8), LAYER_V3_0)] },
];

static KEYS: [Keys; 5] = [
    Keys::of(LAYER_V2_6),
    Keys::of(LAYER_V2_6),
    Keys::of(LAYER_V2_9),
    Keys::of(LAYER_V2_10),
    Keys::of(LAYER_V3_0),
];

/// Bit paths in a layer, which differ between versions; those in a cell do not.
struct Keys {
    arfcn: Bits,
    carrier: Option<Bits>,
    serving_pci: Bits,
}

impl Keys {
    const fn of(layer: &[Part]) -> Self {
        Self {
            arfcn: key(layer, "arfcn"),
            carrier: try_key(layer, "carrier"),
            serving_pci: key(layer, "serving_pci"),
        }
    }
}

const PCI: Bits = key(CELL_V2, "pci");
const RSRP: Bits = key(CELL_V2, "rsrp_dbm");
const RSRQ: Bits = key(CELL_V2, "rsrq_db");

/// A record of measured cells.
#[derive(Clone, Copy, Debug)]
pub struct NrSearcher<'a> {
    node: Node<'a>,
    version: usize,
}

/// One measured cell.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NrCell {
    /// Channel number, 0..=3279165.
    pub arfcn: u32,
    /// Component carrier, 255 for none; versions before 2.9 lack it.
    pub carrier: Option<u8>,
    /// Physical cell identity, 0..=1007.
    pub pci: u16,
    /// The device is served by it.
    pub serving: bool,
    /// SS-RSRP in dBm, if it was measured.
    pub rsrp: Option<Decibels>,
    /// SS-RSRQ in dB, if it was measured.
    pub rsrq: Option<Decibels>,
}

/// One carrier for [`NrSearcher::emit`].
#[derive(Clone, Copy, Debug)]
pub struct NrLayerRepr<'a> {
    /// Channel number, 0..=3279165.
    pub arfcn: u32,
    /// Component carrier.
    pub carrier: u8,
    /// Physical cell identity of the serving cell; `None` if the carrier has none.
    pub serving_pci: Option<u16>,
    /// The cells: their channel number, carrier and whether they serve are those of the layer.
    pub cells: &'a [NrCell],
}

const fn level_of(raw: i64) -> Option<Decibels> {
    // A step is 78.125 ten-thousandths of a decibel.
    if raw == 0 { None } else { Some(Decibels::of_128ths(raw as i32)) }
}

impl NrLayerRepr<'_> {
    fn emit(&self, out: &mut Vec<u8>) -> Result<(), EmitError> {
        let keys = &KEYS[4];
        let mut layer = [0; 40];
        put(&mut layer, keys.arfcn, "arfcn", self.arfcn.into())?;
        put(&mut layer, key(LAYER_V3_0, "carrier"), "carrier", self.carrier.into())?;
        put(
            &mut layer,
            key(LAYER_V3_0, "cell_count"),
            "cells",
            count("cells", self.cells.len(), 255)?,
        )?;
        let serving = self.serving_pci.unwrap_or(u16::MAX);
        put(&mut layer, keys.serving_pci, "serving_pci", serving.into())?;
        let index = self.cells.iter().position(|cell| Some(cell.pci) == self.serving_pci);
        put(&mut layer, key(LAYER_V3_0, "serving_index"), "cells", index.unwrap_or(255) as u64)?;
        out.extend_from_slice(&layer);
        for cell in self.cells {
            let mut bytes = [0; 16];
            put(&mut bytes, PCI, "pci", cell.pci.into())?;
            let steps = |level: Option<Decibels>| level.map_or(0, Decibels::as_128ths);
            put(&mut bytes, RSRP, "rsrp", steps(cell.rsrp).cast_unsigned().into())?;
            put(&mut bytes, RSRQ, "rsrq", steps(cell.rsrq).cast_unsigned().into())?;
            out.extend_from_slice(&bytes);
        }
        Ok(())
    }
}

impl<'a> NrSearcher<'a> {
    /// The log code.
    pub const CODE: LogCode = LogCode::new(0xB97F);

    /// Reads the body of a record.
    ///
    /// # Errors
    ///
    /// [`RecordError::Unsupported`] if the version is not described; [`RecordError::Corrupt`] if
    /// the body is too short for it.
    pub fn parse(body: &'a [u8]) -> Result<Self, RecordError> {
        checked(Self::CODE, LAYOUTS, body).map(|(node, version)| Self { node, version })
    }

    /// Appends the body of a record of version 3.0 without beams; parsing it gives the same values
    /// back.
    ///
    /// # Errors
    ///
    /// [`EmitError::Count`] if there are more than 255 layers; another [`EmitError`] if a value
    /// does not fit its field, or is unknown where the record always has it.
    pub fn emit(layers: &[NrLayerRepr<'_>], out: &mut Vec<u8>) -> Result<(), EmitError> {
        whole(out, |out| {
            let mut header = [0; 20];
            header[2] = 3;
            header[8] = count("layers", layers.len(), 255)? as u8;
            out.extend_from_slice(&header);
            layers.iter().try_for_each(|layer| layer.emit(out))
        })
    }

    /// The cells of all carriers, in the order of the record.
    pub fn cells(&self) -> impl Iterator<Item = NrCell> + use<'a> {
        let keys = &KEYS[self.version];
        self.node.list("layers").flat_map(move |layer| {
            let serving = layer.read(keys.serving_pci);
            layer.list("cells").map(move |cell| NrCell {
                arfcn: layer.read(keys.arfcn) as u32,
                carrier: keys.carrier.map(|bits| layer.read(bits) as u8),
                pci: cell.read(PCI) as u16,
                serving: cell.read(PCI) == serving,
                rsrp: level_of(cell.read_signed(RSRP)),
                rsrq: level_of(cell.read_signed(RSRQ)),
            })
        })
    }
}
