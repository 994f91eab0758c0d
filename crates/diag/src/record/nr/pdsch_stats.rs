//! 0xB888, PDSCH statistics: blocks and bytes that arrived, failed and were repeated, since the
//! counters began.
//!
//! Versions 2.2, 3.0 and 3.1; each has one source. The source of 3.1 reports that the counters in
//! its captures add up. No record is public.

use sounding_units::Bytes;

use super::{HEADER_2, MAC_HEAD, RECORD_COUNT_3, VERSION};
use crate::LogCode;
use crate::layout::{
    Bits, Block, Count, Field, Layout, Node, Part, bits, hex, key, u8, u32, u64, uint,
};
use crate::record::{RecordError, checked};

const CARRIER: &[Field] = &[uint("carrier", u32(0))];

/// The counters, which start at `$at`.
macro_rules! counters {
    ($at:expr) => {
        &[
            uint("slots", u32($at)),
            uint("blocks", u32($at + 4)),
            uint("blocks_passed", u32($at + 8)),
            uint("blocks_failed", u32($at + 12)),
            uint("retx", u32($at + 16)),
            uint("ack_as_nack", u32($at + 20)),
            uint("harq_failures", u32($at + 24)),
            uint("passed_bytes", u64($at + 28)),
            uint("failed_bytes", u64($at + 36)),
            uint("tb_bytes", u64($at + 44)),
            uint("padding_bytes", u64($at + 52)),
            uint("retx_bytes", u64($at + 60)),
        ]
    };
}

const COUNTERS: &[Field] = counters!(4);
const COUNTERS_V3_1: &[Field] = counters!(8);

const CARRIERS: &[Part] = &[Part::Block(Block { size: 72, fields: &[CARRIER, COUNTERS] })];
/// Version 3.1 has one more word after the carrier. Its meaning is not public.
const CARRIERS_V3_1: &[Part] =
    &[Part::Block(Block { size: 76, fields: &[CARRIER, COUNTERS_V3_1] })];

const HEAD_V3_0: &[Field] = &[
    uint("total_slots", bits(8, 27, 4)),
    uint("carrier_count", bits(8, 31, 28)),
    hex("cumulative", u8(12)),
];

const fn carriers(count: Bits, parts: &'static [Part]) -> Part {
    Part::List { name: "carriers", count: Count::Says(count), parts }
}

pub(in super::super) static LAYOUTS: &[Layout] = &[
    Layout {
        versions: &[0x2_0002],
        parts: &[
            Part::Block(Block { size: 28, fields: &[VERSION, MAC_HEAD] }),
            carriers(u8(15), CARRIERS),
        ],
    },
    Layout {
        versions: &[0x3_0000],
        parts: &[
            Part::Block(Block { size: 20, fields: &[VERSION, RECORD_COUNT_3, HEAD_V3_0] }),
            carriers(bits(8, 31, 28), CARRIERS),
        ],
    },
    Layout { versions: &[0x3_0001], parts: &[HEADER_2, carriers(u8(15), CARRIERS_V3_1)] },
];

static KEYS: [Keys; 3] = [Keys::of(CARRIERS), Keys::of(CARRIERS), Keys::of(CARRIERS_V3_1)];

/// The bit paths of the fields of [`NrPdschCounters`], in one version.
struct Keys {
    carrier: Bits,
    slots: Bits,
    blocks: Bits,
    passed: Bits,
    failed: Bits,
    retx: Bits,
    passed_bytes: Bits,
    failed_bytes: Bits,
    padding: Bits,
    retx_bytes: Bits,
}

impl Keys {
    const fn of(carrier: &[Part]) -> Self {
        Self {
            carrier: key(carrier, "carrier"),
            slots: key(carrier, "slots"),
            blocks: key(carrier, "blocks"),
            passed: key(carrier, "blocks_passed"),
            failed: key(carrier, "blocks_failed"),
            retx: key(carrier, "retx"),
            passed_bytes: key(carrier, "passed_bytes"),
            failed_bytes: key(carrier, "failed_bytes"),
            padding: key(carrier, "padding_bytes"),
            retx_bytes: key(carrier, "retx_bytes"),
        }
    }
}

/// A record of downlink counters.
#[derive(Clone, Copy, Debug)]
pub struct NrPdschStats<'a> {
    node: Node<'a>,
    version: usize,
}

/// Downlink blocks of one carrier since the counters began.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NrPdschCounters {
    /// Component carrier.
    pub carrier: u32,
    /// Slots.
    pub slots: u32,
    /// Blocks decoded.
    pub blocks: u32,
    /// Blocks whose CRC passed.
    pub passed: u32,
    /// Blocks whose CRC failed.
    pub failed: u32,
    /// Blocks that were repeats.
    pub retx: u32,
    /// Bytes of blocks whose CRC passed.
    pub passed_bytes: Bytes,
    /// Bytes of blocks whose CRC failed.
    pub failed_bytes: Bytes,
    /// Padding bytes.
    pub padding: Bytes,
    /// Bytes of repeats.
    pub retx_bytes: Bytes,
}

impl<'a> NrPdschStats<'a> {
    /// The log code.
    pub const CODE: LogCode = LogCode::new(0xB888);

    /// Reads the body of a record.
    ///
    /// # Errors
    ///
    /// [`RecordError::Unsupported`] if the version is not described; [`RecordError::Corrupt`] if
    /// the body is too short for it.
    pub fn parse(body: &'a [u8]) -> Result<Self, RecordError> {
        checked(Self::CODE, LAYOUTS, body).map(|(node, version)| Self { node, version })
    }

    /// The counters of each carrier.
    pub fn carriers(&self) -> impl Iterator<Item = NrPdschCounters> + use<'a> {
        let keys = &KEYS[self.version];
        self.node.list("carriers").map(move |node| {
            let (number, bytes) =
                (|bits| node.read(bits) as u32, |bits| Bytes::new(node.read(bits)));
            NrPdschCounters {
                carrier: number(keys.carrier),
                slots: number(keys.slots),
                blocks: number(keys.blocks),
                passed: number(keys.passed),
                failed: number(keys.failed),
                retx: number(keys.retx),
                passed_bytes: bytes(keys.passed_bytes),
                failed_bytes: bytes(keys.failed_bytes),
                padding: bytes(keys.padding),
                retx_bytes: bytes(keys.retx_bytes),
            }
        })
    }
}
