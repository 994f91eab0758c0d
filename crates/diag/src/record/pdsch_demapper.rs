//! 0xB126, PDSCH demapper configuration: every downlink assignment, with its resource blocks.
//!
//! Versions 23, 28, 103, 104, 122, 123, 144. Source: docs/reference/diag.md, records and layouts;
//! 23, 123 and 144 agree with captures field by field. Bit i of a bitmap is resource block i: the
//! low word holds blocks 0..=63, the high word 64..=99.

use sounding_units::{Bytes, Prb};

use super::common::{CARRIER, MODULATION, RNTI};
use super::{RecordError, checked};
use crate::LogCode;
use crate::layout::{
    Bits, Block, Children, Count, Field, Layout, Names, Node, Part, bits, flag, hex, key, names,
    scaled, u8, u16, u32, u64, uint,
};
use crate::radio::{Modulation, Rnti, Tti};

const RANK: Names = &[(0, "1"), (1, "2"), (2, "3"), (3, "4")];
const ANTENNAS_OLD: Names = &[(0, "1"), (1, "2"), (2, "4")];
const ANTENNAS: Names = &[(0, "1"), (1, "2"), (2, "4"), (3, "4")];
const SCHEME: Names = &[
    (1, "single_antenna_port"),
    (2, "transmit_diversity"),
    (3, "open_loop_multiplexing"),
    (4, "closed_loop_multiplexing"),
    (5, "multi_user_mimo"),
    (6, "closed_loop_rank_1"),
    (7, "beamforming"),
    (8, "dual_layer_beamforming"),
];

/// All versions but 144 begin alike.
const HEAD: &[Field] = &[
    uint("version", u8(0)),
    uint("pci", bits(1, 8, 0)),
    uint("subframe", bits(1, 12, 9)),
    uint("frame", bits(1, 22, 13)),
    uint("rnti_value", u16(4)),
    names("rnti", bits(6, 3, 0), RNTI),
    hex("rbs_slot_0_low", u64(8)),
    hex("rbs_slot_0_high", u64(16)),
    hex("rbs_slot_1_low", u64(24)),
    hex("rbs_slot_1_high", u64(32)),
    uint("tb_bits_0", u16(44)),
    uint("tb_bits_1", u16(48)),
];

const ANTENNAS_V23: &[Field] = &[
    names("tx_antennas", bits(6, 9, 8), ANTENNAS_OLD),
    names("rx_antennas", bits(6, 10, 10), ANTENNAS_OLD),
    names("rank", bits(6, 15, 14), RANK),
    uint("frequency_selective_pmi", bits(40, 2, 1)),
    uint("pmi", bits(40, 7, 4)),
    names("scheme", bits(41, 3, 0), SCHEME),
];

const REPETITION_V28: &[Field] = &[
    uint("repetition", bits(41, 17, 6)),
    uint("repetitions", bits(52, 23, 8)),
    uint("narrowband", bits(52, 29, 24)),
    flag("sib1_br_collision", 55, 6),
    flag("si_br_collision", 55, 7),
];

const CODING_V23: &[Field] = &[
    names("modulation_0", bits(46, 2, 1), MODULATION),
    scaled("traffic_to_pilot", bits(46, 14, 3), 1.0 / 256.0, 0.0),
    names("modulation_1", bits(50, 2, 1), MODULATION),
    names("carrier", bits(50, 12, 9), CARRIER),
];

const CODING_V103: &[Field] = &[
    names("modulation_0", bits(46, 3, 2), MODULATION),
    scaled("traffic_to_pilot", bits(46, 15, 4), 1.0 / 256.0, 0.0),
    names("modulation_1", bits(50, 3, 2), MODULATION),
    names("carrier", bits(50, 12, 9), CARRIER),
];

const ANTENNAS_V122: &[Field] = &[
    names("tx_antennas", bits(6, 7, 6), ANTENNAS),
    names("rx_antennas", bits(6, 9, 8), ANTENNAS),
    names("rank", bits(6, 13, 12), RANK),
    uint("frequency_selective_pmi", bits(6, 15, 15)),
    uint("pmi", bits(40, 5, 2)),
    names("scheme", bits(40, 9, 6), SCHEME),
    uint("bmod_fd_symbol", bits(40, 15, 12)),
];

const VOLTAGE_V122: &[Field] =
    &[flag("mvc", 43, 2), uint("mvc_clock", bits(43, 6, 3)), flag("mvc_request_up", 43, 7)];

const CODING_V122: &[Field] = &[
    names("modulation_0", bits(46, 3, 2), MODULATION),
    scaled("traffic_to_pilot", bits(46, 15, 4), 1.0 / 256.0, 0.0),
    names("modulation_1", bits(50, 3, 2), MODULATION),
    uint("pb", bits(50, 5, 4)),
    names("carrier", bits(50, 9, 6), CARRIER),
    flag("csi_rs", 50, 10),
    flag("zp_csi_rs", 50, 11),
    flag("csi_rs_symbol_skipped", 50, 12),
    uint("operating_mode", bits(52, 3, 0)),
    uint("strong_interferer_pci", bits(52, 12, 4)),
    uint("joint_demod_skip_reason", bits(52, 17, 13)),
];

const HEADER_V144: &[Field] = &[
    uint("version", u8(0)),
    names("carrier", bits(1, 3, 0), CARRIER),
    uint("count", bits(1, 11, 4)),
];

const ASSIGNMENT_V144: &[Field] = &[
    uint("pci", bits(0, 8, 0)),
    uint("subframe", bits(0, 12, 9)),
    uint("frame", bits(0, 22, 13)),
    names("rnti", bits(0, 26, 23), RNTI),
    names("tx_antennas", bits(0, 28, 27), ANTENNAS),
    names("rx_antennas", bits(0, 30, 29), ANTENNAS),
    uint("rnti_value", u16(4)),
    names("rank", bits(6, 3, 2), RANK),
    uint("frequency_selective_pmi", bits(6, 5, 5)),
    uint("mu_receiver_mode", bits(6, 7, 6)),
    uint("pmi", bits(7, 3, 0)),
    names("scheme", bits(7, 7, 4), SCHEME),
    hex("rbs_slot_0_low", u64(8)),
    hex("rbs_slot_0_high", u64(16)),
    hex("rbs_slot_1_low", u64(24)),
    hex("rbs_slot_1_high", u64(32)),
    uint("ue_rs_ports", bits(40, 2, 0)),
    uint("bmod_fd_symbol", bits(40, 6, 3)),
    uint("tb_bits_0", bits(40, 24, 7)),
    names("modulation_0", bits(40, 26, 25), MODULATION),
    uint("pb", bits(40, 28, 27)),
    uint("rho_b_over_rho_a", bits(40, 30, 29)),
    flag("csi_rs", 40, 31),
    flag("zp_csi_rs", 44, 0),
    flag("csi_rs_symbol_skipped", 44, 1),
    uint("traffic_to_pilot_raw", bits(44, 13, 2)),
    uint("tb_bits_1", bits(44, 31, 14)),
    names("modulation_1", bits(48, 1, 0), MODULATION),
    hex("demodulation", u32(48)),
];

const V144: &[Part] = &[Part::Block(Block { size: 56, fields: &[ASSIGNMENT_V144] })];

const fn one(size: u16, fields: &'static [&'static [Field]]) -> Part {
    Part::Block(Block { size, fields })
}

const V23: &[Part] = &[one(52, &[HEAD, ANTENNAS_V23, CODING_V23]), Part::Padding(4)];
const V28: &[Part] = &[one(56, &[HEAD, ANTENNAS_V23, CODING_V23, REPETITION_V28])];
const V103: &[Part] = &[one(56, &[HEAD, ANTENNAS_V23, CODING_V103])];
const V122: &[Part] = &[one(56, &[HEAD, ANTENNAS_V122, VOLTAGE_V122, CODING_V122])];
const V123: &[Part] = &[one(56, &[HEAD, ANTENNAS_V122, CODING_V122]), Part::Padding(8)];

pub(super) static LAYOUTS: &[Layout] = &[
    Layout { versions: &[23], parts: V23 },
    Layout { versions: &[28], parts: V28 },
    Layout { versions: &[103, 104], parts: V103 },
    Layout { versions: &[122], parts: V122 },
    Layout { versions: &[123], parts: V123 },
    Layout {
        versions: &[144],
        parts: &[
            one(8, &[HEADER_V144]),
            Part::List { name: "assignments", count: Count::Says(bits(1, 11, 4)), parts: V144 },
        ],
    },
];

static KEYS: [Keys; 6] = [
    Keys::of(V23, key(V23, "carrier")),
    Keys::of(V28, key(V28, "carrier")),
    Keys::of(V103, key(V103, "carrier")),
    Keys::of(V122, key(V122, "carrier")),
    Keys::of(V123, key(V123, "carrier")),
    Keys::of(V144, bits(1, 3, 0)),
];

/// The bit paths of the fields of [`Demapped`], in one version.
struct Keys {
    pci: Bits,
    subframe: Bits,
    frame: Bits,
    rnti: Bits,
    rnti_value: Bits,
    low: Bits,
    high: Bits,
    tb: [Bits; 2],
    modulation: [Bits; 2],
    rank: Bits,
    /// In the header of the record.
    carrier: Bits,
}

impl Keys {
    const fn of(parts: &[Part], carrier: Bits) -> Self {
        Self {
            pci: key(parts, "pci"),
            subframe: key(parts, "subframe"),
            frame: key(parts, "frame"),
            rnti: key(parts, "rnti"),
            rnti_value: key(parts, "rnti_value"),
            low: key(parts, "rbs_slot_0_low"),
            high: key(parts, "rbs_slot_0_high"),
            tb: [key(parts, "tb_bits_0"), key(parts, "tb_bits_1")],
            modulation: [key(parts, "modulation_0"), key(parts, "modulation_1")],
            rank: key(parts, "rank"),
            carrier,
        }
    }
}

/// A demapper configuration, of one downlink assignment or of a run of them.
#[derive(Clone, Copy)]
pub struct PdschDemapper<'a> {
    node: Node<'a>,
    keys: &'static Keys,
}

/// One downlink assignment.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Demapped {
    /// When; `None` if the record has no valid subframe.
    pub tti: Option<Tti>,
    /// Physical cell identity, 0..=503.
    pub pci: u16,
    /// Downlink carrier, 0 for the primary.
    pub carrier: u8,
    /// The addressee.
    pub rnti: Rnti,
    /// The identity itself.
    pub rnti_value: u16,
    /// Resource blocks of the first slot: bit i is block i.
    pub rb_map: u128,
    /// Spatial layers, 1..=4.
    pub rank: u8,
    /// Sizes of transport blocks; zero without a block.
    pub sizes: [Bytes; 2],
    /// Their modulations; without meaning where there is no block.
    pub modulations: [Option<Modulation>; 2],
}

impl Demapped {
    /// Number of resource blocks in the first slot; the second has the same number.
    pub const fn rbs(&self) -> Prb {
        Prb::new(self.rb_map.count_ones() as u16)
    }
}

impl<'a> PdschDemapper<'a> {
    /// The log code.
    pub const CODE: LogCode = LogCode::new(0xB126);

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

    /// The assignments, oldest first.
    pub fn assignments(&self) -> Assignments<'a> {
        let list = matches!(self.node.parts(), [_, Part::List { .. }]);
        Assignments {
            single: (!list).then_some(self.node),
            nodes: self.node.list("assignments"),
            carrier: self.node.read(self.keys.carrier) as u8,
            keys: self.keys,
        }
    }
}

impl core::fmt::Debug for PdschDemapper<'_> {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.debug_list().entries(self.assignments()).finish()
    }
}

/// The assignments of a record.
pub struct Assignments<'a> {
    /// The record itself, in versions that hold one assignment.
    single: Option<Node<'a>>,
    nodes: Children<'a>,
    carrier: u8,
    keys: &'static Keys,
}

impl Iterator for Assignments<'_> {
    type Item = Demapped;

    #[inline]
    fn next(&mut self) -> Option<Demapped> {
        let (node, keys) = (self.single.take().or_else(|| self.nodes.next())?, self.keys);
        let modulation = |bits| Modulation::from_order(node.read(bits));
        Some(Demapped {
            tti: Tti::new(node.read(keys.frame) as u16, node.read(keys.subframe) as u8),
            pci: node.read(keys.pci) as u16,
            carrier: self.carrier,
            rnti: Rnti::from_number(node.read(keys.rnti)),
            rnti_value: node.read(keys.rnti_value) as u16,
            rb_map: u128::from(node.read(keys.high)) << 64 | u128::from(node.read(keys.low)),
            rank: node.read(keys.rank) as u8 + 1,
            // The record counts bits: in captures, eight times the size in MAC's record of the same
            // subframe.
            sizes: keys.tb.map(|bits| Bytes::new(node.read(bits) / 8)),
            modulations: keys.modulation.map(modulation),
        })
    }
}
