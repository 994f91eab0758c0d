//! 0xB8A7, channel state feedback: the device's report of the channel: CQI, rank, precoding, beams.
//!
//! Versions 2.1 and 3.5; one source, whose order of the bits a converter from another vendor's
//! interface confirms; none in a capture. Which of two forms a report has is taken from the bit
//! that both known kinds of report differ in.

use super::{HEADER_2, HEADER_3, SLOT, slot_keys, slot_of};
use crate::LogCode;
use crate::layout::{
    Bits, Block, Count, Field, Layout, Node, Part, bits, flag, hex, key, u8, uint,
};
use crate::radio::Slot;
use crate::record::{RecordError, checked};

const METRICS: &[Field] = &[
    uint("cri", bits(0, 2, 0)),
    uint("ri", bits(0, 4, 3)),
    uint("cqi", bits(0, 8, 5)),
    uint("cri_width", bits(48, 2, 0)),
    uint("ri_width", bits(48, 4, 3)),
    uint("cqi_width", bits(48, 12, 10)),
    uint("pmi_x1_width", bits(48, 16, 13)),
];
const PMI_V2_1: &[Field] = &[uint("pmi_x1", bits(0, 16, 9)), uint("pmi_x2", bits(3, 3, 3))];
const PMI_V3_5: &[Field] = &[uint("pmi_x1", bits(0, 18, 9)), uint("pmi_x2", bits(3, 4, 3))];

const CSI_V2_1: &[Part] = &[Part::Block(Block { size: 52, fields: &[METRICS, PMI_V2_1] })];
const CSI_V3_5: &[Part] = &[Part::Block(Block { size: 52, fields: &[METRICS, PMI_V3_5] })];

const LEVELS: &[Part] = &[Part::Block(Block {
    size: 52,
    fields: &[&[
        flag("resource_set", 0, 0),
        uint("resource_width", bits(0, 7, 6)),
        uint("rsrp_width", bits(1, 3, 1)),
        uint("rsrp_index_0", u8(4)),
        uint("rsrp_index_1", u8(5)),
        uint("rsrp_index_2", u8(6)),
        uint("rsrp_index_3", u8(7)),
        uint("resource_0", u8(8)),
        uint("resource_1", u8(9)),
        uint("resource_2", u8(10)),
        uint("resource_3", u8(11)),
    ]],
})];

/// A report. Its first part has `$width` bits.
macro_rules! report {
    ($width:expr, $csi:expr) => {
        &[
            Part::Block(Block {
                size: 8,
                fields: &[&[
                    uint("report", bits(1, 3, 0)),
                    hex("quantities", u8(2)),
                    uint("csi_1_bits", $width),
                ]],
            }),
            Part::List { name: "csi", count: Count::When(bits(2, 6, 6), &[0]), parts: $csi },
            Part::List { name: "levels", count: Count::When(bits(2, 6, 6), &[1]), parts: LEVELS },
        ]
    };
}

const REPORT_V2_1: &[Part] = report!(bits(3, 5, 2), CSI_V2_1);
const REPORT_V3_5: &[Part] = report!(bits(3, 6, 2), CSI_V3_5);

const REPORT_COUNT: &[Field] = &[uint("report_count", u8(4))];

const fn reports(parts: &'static [Part]) -> Part {
    Part::List { name: "reports", count: Count::Says(u8(4)), parts }
}

const SLOT_V2_1: &[Part] =
    &[Part::Block(Block { size: 8, fields: &[SLOT, REPORT_COUNT] }), reports(REPORT_V2_1)];
const SLOT_V3_5: &[Part] =
    &[Part::Block(Block { size: 16, fields: &[SLOT, REPORT_COUNT] }), reports(REPORT_V3_5)];

const fn slots(count: Bits, parts: &'static [Part]) -> Part {
    Part::List { name: "slots", count: Count::Says(count), parts }
}

pub(in super::super) static LAYOUTS: &[Layout] = &[
    Layout { versions: &[0x2_0001], parts: &[HEADER_2, slots(u8(15), SLOT_V2_1)] },
    Layout { versions: &[0x3_0005], parts: &[HEADER_3, slots(u8(7), SLOT_V3_5)] },
];

/// The fields of the view are at the same places in both versions.
static SLOT_KEYS: slot_keys::Keys = slot_keys::Keys::of(SLOT_V3_5);
const REPORT: Bits = key(REPORT_V3_5, "report");
const CRI: Bits = key(CSI_V3_5, "cri");
const RI: Bits = key(CSI_V3_5, "ri");
const CQI: Bits = key(CSI_V3_5, "cqi");

/// A record of channel state feedback.
#[derive(Clone, Copy, Debug)]
pub struct NrCsf<'a> {
    node: Node<'a>,
}

/// A report of channel state.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NrCsi {
    /// When it was sent.
    pub slot: Option<Slot>,
    /// Its number among the configured reports.
    pub report: u8,
    /// Wideband CQI, 0..=15; which table it counts in is configured.
    pub cqi: u8,
    /// Rank, 1..=4: the number of layers that the device requests.
    pub rank: u8,
    /// Index of the CSI-RS resource.
    pub cri: u8,
}

impl<'a> NrCsf<'a> {
    /// The log code.
    pub const CODE: LogCode = LogCode::new(0xB8A7);

    /// Reads the body of a record.
    ///
    /// # Errors
    ///
    /// [`RecordError::Unsupported`] if the version is not described; [`RecordError::Corrupt`] if
    /// the body is too short for it.
    pub fn parse(body: &'a [u8]) -> Result<Self, RecordError> {
        checked(Self::CODE, LAYOUTS, body).map(|(node, _)| Self { node })
    }

    /// The reports of channel state; those of beam levels are left out.
    pub fn reports(&self) -> impl Iterator<Item = NrCsi> + use<'a> {
        self.node.list("slots").flat_map(|item| {
            let slot = slot_of(&SLOT_KEYS, item);
            item.list("reports").flat_map(move |report| {
                report.list("csi").map(move |csi| NrCsi {
                    slot,
                    report: report.read(REPORT) as u8,
                    cqi: csi.read(CQI) as u8,
                    rank: csi.read(RI) as u8 + 1,
                    cri: csi.read(CRI) as u8,
                })
            })
        })
    }
}
