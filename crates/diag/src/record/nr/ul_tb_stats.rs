//! 0xB881, uplink transport block statistics: sums of transmissions and retransmissions over an
//! interval.
//!
//! Versions 2.0, 2.1 and 3.1; one source for the first two and one for the last, none in a capture.

use sounding_units::Bytes;

use super::{MAC_HEAD, RECORD_COUNT_3, VERSION};
use crate::LogCode;
use crate::layout::{Bits, Block, Count, Field, Layout, Node, Part, key, u8, u16, u32, u64, uint};
use crate::record::{RecordError, checked};

const SUMS: &[Field] = &[
    uint("new_bytes", u64(0)),
    uint("retx_bytes", u64(8)),
    uint("mcs_sum", u64(16)),
    uint("rbs", u64(24)),
    uint("phr_sum", u64(32)),
];
const V2_0: &[Field] = &[
    uint("power_sum", u32(40)),
    uint("new_blocks", u32(44)),
    uint("retx_blocks", u32(48)),
    uint("dtx", u32(52)),
    uint("ri_count", u32(56)),
    uint("ri_sum", u32(60)),
    uint("cqi_count", u32(64)),
    uint("cqi_sum", u32(68)),
    uint("phr_count", u32(72)),
    uint("tpc_sum", u32(76)),
    uint("scheduled_slots", u32(80)),
    uint("unscheduled_slots", u32(84)),
    uint("pcmax", u16(88)),
    uint("flush_gaps", u16(90)),
];
const V2_1: &[Field] = &[
    uint("power_sum", u64(40)),
    uint("new_blocks", u32(48)),
    uint("retx_blocks", u32(52)),
    uint("ri_count", u32(56)),
    uint("ri_sum", u32(60)),
    uint("cqi_count", u32(64)),
    uint("cqi_sum", u32(68)),
    uint("phr_count", u32(72)),
    uint("tpc_sum", u32(76)),
    uint("scheduled_slots", u32(80)),
    uint("unscheduled_slots", u32(84)),
    uint("pcmax", u16(88)),
    uint("flush_gaps", u16(90)),
];
const V3_1: &[Field] = &[
    uint("most_power", u32(40)),
    uint("new_blocks", u32(44)),
    uint("retx_blocks", u32(48)),
    uint("ri_sum", u32(52)),
    uint("cqi_sum", u32(56)),
    uint("phr_count", u32(60)),
    uint("scheduled_slots", u32(68)),
    uint("unscheduled_slots", u32(72)),
    uint("pcmax", u16(76)),
    uint("flush_gaps", u16(78)),
];

const RECORD_V2_0: &[Part] = &[Part::Block(Block { size: 92, fields: &[SUMS, V2_0] })];
const RECORD_V2_1: &[Part] = &[Part::Block(Block { size: 96, fields: &[SUMS, V2_1] })];
const RECORD_V3_1: &[Part] = &[Part::Block(Block { size: 80, fields: &[SUMS, V3_1] })];

/// Four more bytes than other records have.
const LONG_HEADER_2: Part = Part::Block(Block { size: 20, fields: &[VERSION, MAC_HEAD] });
const LONG_HEADER_3: Part = Part::Block(Block { size: 12, fields: &[VERSION, RECORD_COUNT_3] });

const fn records(count: Bits, parts: &'static [Part]) -> Part {
    Part::List { name: "carriers", count: Count::Says(count), parts }
}

pub(in super::super) static LAYOUTS: &[Layout] = &[
    Layout { versions: &[0x2_0000], parts: &[LONG_HEADER_2, records(u8(15), RECORD_V2_0)] },
    Layout { versions: &[0x2_0001], parts: &[LONG_HEADER_2, records(u8(15), RECORD_V2_1)] },
    Layout { versions: &[0x3_0001], parts: &[LONG_HEADER_3, records(u8(7), RECORD_V3_1)] },
];

static KEYS: [Keys; 3] = [Keys::of(RECORD_V2_0), Keys::of(RECORD_V2_1), Keys::of(RECORD_V3_1)];

/// The bit paths of the fields of [`NrUplinkSums`], in one version.
struct Keys {
    new: Bits,
    retx: Bits,
    rbs: Bits,
    new_blocks: Bits,
    retx_blocks: Bits,
    scheduled: Bits,
    unscheduled: Bits,
}

impl Keys {
    const fn of(record: &[Part]) -> Self {
        Self {
            new: key(record, "new_bytes"),
            retx: key(record, "retx_bytes"),
            rbs: key(record, "rbs"),
            new_blocks: key(record, "new_blocks"),
            retx_blocks: key(record, "retx_blocks"),
            scheduled: key(record, "scheduled_slots"),
            unscheduled: key(record, "unscheduled_slots"),
        }
    }
}

/// A record of uplink statistics.
#[derive(Clone, Copy, Debug)]
pub struct NrUplinkStats<'a> {
    node: Node<'a>,
    version: usize,
}

/// Uplink transmissions over an interval.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NrUplinkSums {
    /// Bytes sent for the first time.
    pub new: Bytes,
    /// Bytes sent again.
    pub retx: Bytes,
    /// Resource blocks of all transmissions.
    pub rbs: u64,
    /// Blocks sent for the first time.
    pub new_blocks: u32,
    /// Blocks sent again.
    pub retx_blocks: u32,
    /// Slots with a transmission.
    pub scheduled_slots: u32,
    /// Slots without one.
    pub unscheduled_slots: u32,
}

impl<'a> NrUplinkStats<'a> {
    /// The log code.
    pub const CODE: LogCode = LogCode::new(0xB881);

    /// Reads the body of a record.
    ///
    /// # Errors
    ///
    /// [`RecordError::Unsupported`] if the version is not described; [`RecordError::Corrupt`] if
    /// the body is too short for it.
    pub fn parse(body: &'a [u8]) -> Result<Self, RecordError> {
        checked(Self::CODE, LAYOUTS, body).map(|(node, version)| Self { node, version })
    }

    /// The sums of each carrier.
    pub fn carriers(&self) -> impl Iterator<Item = NrUplinkSums> + use<'a> {
        let keys = &KEYS[self.version];
        self.node.list("carriers").map(move |node| NrUplinkSums {
            new: Bytes::new(node.read(keys.new)),
            retx: Bytes::new(node.read(keys.retx)),
            rbs: node.read(keys.rbs),
            new_blocks: node.read(keys.new_blocks) as u32,
            retx_blocks: node.read(keys.retx_blocks) as u32,
            scheduled_slots: node.read(keys.scheduled) as u32,
            unscheduled_slots: node.read(keys.unscheduled) as u32,
        })
    }
}
