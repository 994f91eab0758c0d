//! 0xB067, MAC uplink transmit statistics: grants received and used, buffer status reports by kind.
//!
//! Packet version 1 with sub-packet 11 of versions 1 and 2. Source: docs/reference/diag.md, records
//! and layouts; both agree with captures field by field.

use sounding_units::Bytes;

use super::sub::HEADER;
use super::{RecordError, checked_sub_packets};
use crate::LogCode;
use crate::layout::{Bits, Block, Field, Layout, Node, Part, SubLayout, key, u8, u32, uint};

/// The fields, which start at `$at`.
macro_rules! statistics {
    ($at:expr) => {
        &[
            uint("sample_count", u8($at)),
            uint("padding_bsrs", u8($at + 1)),
            uint("regular_bsrs", u8($at + 2)),
            uint("periodic_bsrs", u8($at + 3)),
            uint("cancelled_bsrs", u8($at + 4)),
            uint("granted_bytes", u32($at + 5)),
            uint("used_bytes", u32($at + 9)),
        ]
    };
}

const FIELDS_V1: &[Field] = statistics!(0);
const FIELDS_V2: &[Field] = statistics!(1);
const SUBSCRIPTION: &[Field] = &[uint("subscription", u8(0))];

const V1: &[Part] = &[Part::Block(Block { size: 16, fields: &[FIELDS_V1] })];
const V2: &[Part] = &[Part::Block(Block { size: 16, fields: &[SUBSCRIPTION, FIELDS_V2] })];

const fn statistics(versions: &'static [u8], parts: &'static [Part]) -> SubLayout {
    SubLayout { id: 11, name: "uplink_statistics", versions, parts }
}

pub(super) static LAYOUTS: &[Layout] = &[Layout {
    versions: &[1],
    parts: &[
        HEADER,
        Part::SubPackets { count: u8(1), known: &[statistics(&[1], V1), statistics(&[2], V2)] },
    ],
}];

static KEYS: [Keys; 2] = [Keys::of(V1), Keys::of(V2)];

/// The bit paths of the fields of [`UplinkStatistics`], in one version.
struct Keys {
    samples: Bits,
    padding: Bits,
    regular: Bits,
    periodic: Bits,
    cancelled: Bits,
    granted: Bits,
    used: Bits,
}

impl Keys {
    const fn of(parts: &[Part]) -> Self {
        Self {
            samples: key(parts, "sample_count"),
            padding: key(parts, "padding_bsrs"),
            regular: key(parts, "regular_bsrs"),
            periodic: key(parts, "periodic_bsrs"),
            cancelled: key(parts, "cancelled_bsrs"),
            granted: key(parts, "granted_bytes"),
            used: key(parts, "used_bytes"),
        }
    }
}

/// A record of uplink statistics.
#[derive(Clone, Copy, Debug)]
pub struct MacUplinkStats<'a> {
    node: Node<'a>,
}

/// Uplink transmissions over a run of transport blocks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct UplinkStatistics {
    /// Transport blocks counted.
    pub samples: u8,
    /// Buffer status reports sent in place of padding; the counter wraps at 256.
    pub padding_bsrs: u8,
    /// Regular ones.
    pub regular_bsrs: u8,
    /// Periodic ones.
    pub periodic_bsrs: u8,
    /// Ones that were due and not needed.
    pub cancelled_bsrs: u8,
    /// Bytes granted.
    pub granted: Bytes,
    /// Bytes of them that carried data.
    pub used: Bytes,
}

impl<'a> MacUplinkStats<'a> {
    /// The log code.
    pub const CODE: LogCode = LogCode::new(0xB067);

    /// Reads the body of a record.
    ///
    /// # Errors
    ///
    /// [`RecordError::Unsupported`] if the version, or every sub-packet, is not described;
    /// [`RecordError::Corrupt`] if the body is too short for it.
    pub fn parse(body: &'a [u8]) -> Result<Self, RecordError> {
        checked_sub_packets(Self::CODE, LAYOUTS, body).map(|node| Self { node })
    }

    /// The statistics of all sub-packets that are described.
    pub fn statistics(&self) -> impl Iterator<Item = UplinkStatistics> + use<'a> {
        self.node.sub_packets().filter_map(|sub| {
            let (node, keys) = (sub.node?, &KEYS[usize::from(sub.version > 1)]);
            Some(UplinkStatistics {
                samples: node.read(keys.samples) as u8,
                padding_bsrs: node.read(keys.padding) as u8,
                regular_bsrs: node.read(keys.regular) as u8,
                periodic_bsrs: node.read(keys.periodic) as u8,
                cancelled_bsrs: node.read(keys.cancelled) as u8,
                granted: Bytes::new(node.read(keys.granted)),
                used: Bytes::new(node.read(keys.used)),
            })
        })
    }
}
