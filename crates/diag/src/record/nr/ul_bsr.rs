//! 0xB873, buffer status reports: the reported backlog, and the reason of the report.
//!
//! Version 2 and 3.3; one source each, none in a capture. After the channels there is a word for
//! each reporting group, or one word without a group; its meaning is not public. Both sources know
//! this for up to two groups, and read one word for more; here more groups have as many words.
//! Version 3.3 then has the control element as it was sent; version 2 ends before it.

use alloc::vec::Vec;

use super::{BSR_REASON, BSR_TYPE, VERSION};
use crate::LogCode;
use crate::layout::{
    Bits, Block, Count, Field, Layout, Node, Part, bits, hex, key, names, u8, u32, uint,
};
use crate::mac::nr::Element;
use crate::radio::Slot;
use crate::record::emit::{EmitError, count, put, whole};
use crate::record::{RecordError, checked};

const HEAD: &[Field] =
    &[uint("tti_count", bits(4, 3, 0)), hex("channels_by_priority", bits(4, 19, 4))];

const TTI: &[Field] = &[
    uint("slot", u8(0)),
    uint("frame", bits(2, 9, 0)),
    uint("harq", bits(4, 3, 0)),
    uint("carrier", bits(4, 7, 4)),
];
const REPORT_V2: &[Field] = &[
    names("bsr_reason", bits(5, 2, 0), BSR_REASON),
    names("bsr_type", bits(5, 4, 3), BSR_TYPE),
    uint("bsr_len_bytes", bits(5, 9, 6)),
    hex("groups", bits(5, 17, 10)),
    uint("channel_count", bits(5, 21, 18)),
];
const REPORT_V3_3: &[Field] = &[
    names("bsr_reason", bits(5, 4, 0), BSR_REASON),
    names("bsr_type", bits(5, 7, 5), BSR_TYPE),
    uint("bsr_len_bytes", bits(5, 11, 8)),
    hex("groups", bits(5, 19, 12)),
    uint("channel_count", bits(5, 23, 20)),
];

const CHANNEL: &[Part] = &[Part::Block(Block { size: 1, fields: &[&[uint("channel", u8(0))]] })];
const GROUP: &[Part] = &[Part::Block(Block { size: 4, fields: &[&[hex("word", u32(0))]] })];

const fn channels(count: Bits) -> Part {
    Part::List { name: "channels", count: Count::Says(count), parts: CHANNEL }
}

const fn groups(mask: Bits) -> Part {
    Part::List { name: "group_words", count: Count::Ones(mask), parts: GROUP }
}

const TTIS_V2: &[Part] = &[
    Part::Block(Block { size: 12, fields: &[TTI, REPORT_V2] }),
    channels(bits(5, 21, 18)),
    groups(bits(5, 17, 10)),
];
const TTIS_V3_3: &[Part] = &[
    Part::Block(Block { size: 12, fields: &[TTI, REPORT_V3_3] }),
    channels(bits(5, 23, 20)),
    groups(bits(5, 19, 12)),
    Part::NrControl,
];

const HEADER: Part = Part::Block(Block { size: 8, fields: &[VERSION, HEAD] });

const fn ttis(parts: &'static [Part]) -> Part {
    Part::List { name: "ttis", count: Count::Says(bits(4, 3, 0)), parts }
}

pub(in super::super) static LAYOUTS: &[Layout] = &[
    Layout { versions: &[2], parts: &[HEADER, ttis(TTIS_V2)] },
    Layout { versions: &[0x3_0003], parts: &[HEADER, ttis(TTIS_V3_3)] },
];

const FRAME: Bits = key(TTIS_V3_3, "frame");
const SLOT: Bits = key(TTIS_V3_3, "slot");
const HARQ: Bits = key(TTIS_V3_3, "harq");
const CARRIER: Bits = key(TTIS_V3_3, "carrier");

static KEYS: [Keys; 2] = [Keys::of(TTIS_V2), Keys::of(TTIS_V3_3)];

/// The bit paths of the fields of [`NrBsr`], in one version.
struct Keys {
    reason: Bits,
    kind: Bits,
    len: Bits,
    groups: Bits,
}

impl Keys {
    const fn of(tti: &[Part]) -> Self {
        Self {
            reason: key(tti, "bsr_reason"),
            kind: key(tti, "bsr_type"),
            len: key(tti, "bsr_len_bytes"),
            groups: key(tti, "groups"),
        }
    }
}

/// A record of buffer status reports.
#[derive(Clone, Copy, Debug)]
pub struct NrUplinkBsr<'a> {
    node: Node<'a>,
    version: usize,
}

/// One buffer status report.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NrBsr {
    /// When it was sent.
    pub slot: Option<Slot>,
    /// Component carrier it was sent on.
    pub carrier: u8,
    /// HARQ process of its block, 0..=15.
    pub harq: u8,
    /// Why it was sent, as the record numbers it.
    pub reason: u8,
    /// Its format, as the record numbers it.
    pub kind: u8,
    /// The logical channel groups with data, bit i for group i.
    pub groups: u8,
    /// The report itself; version 2 does not have it.
    pub element: Option<Element>,
}

impl NrBsr {
    /// Writes it in version 3.3, without channels and with zeroes in the words of the groups.
    fn emit(&self, out: &mut Vec<u8>) -> Result<(), EmitError> {
        let keys = &KEYS[1];
        let slot = self.slot.ok_or(EmitError::Absent { field: "slot" })?;
        let mut element = Vec::new();
        self.element.ok_or(EmitError::Absent { field: "element" })?.emit(&mut element);
        let mut tti = [0; 12];
        put(&mut tti, FRAME, "slot", slot.frame().into())?;
        put(&mut tti, SLOT, "slot", slot.slot().into())?;
        put(&mut tti, HARQ, "harq", self.harq.into())?;
        put(&mut tti, CARRIER, "carrier", self.carrier.into())?;
        put(&mut tti, keys.reason, "reason", self.reason.into())?;
        put(&mut tti, keys.kind, "kind", self.kind.into())?;
        put(&mut tti, keys.len, "element", element.len() as u64)?;
        put(&mut tti, keys.groups, "groups", self.groups.into())?;
        out.extend_from_slice(&tti);
        out.extend((0..4 * self.groups.count_ones().max(1)).map(|_| 0));
        out.extend_from_slice(&element);
        Ok(())
    }
}

impl<'a> NrUplinkBsr<'a> {
    /// The log code.
    pub const CODE: LogCode = LogCode::new(0xB873);

    /// Reads the body of a record.
    ///
    /// # Errors
    ///
    /// [`RecordError::Unsupported`] if the version is not described; [`RecordError::Corrupt`] if
    /// the body is too short for it.
    pub fn parse(body: &'a [u8]) -> Result<Self, RecordError> {
        checked(Self::CODE, LAYOUTS, body).map(|(node, version)| Self { node, version })
    }

    /// Appends the body of a record of version 3.3; parsing it gives the same values back. A record
    /// has space for 15 reports.
    ///
    /// # Errors
    ///
    /// [`EmitError::Count`] if there are more than 15 reports; another [`EmitError`] if a value
    /// does not fit its field, or is unknown where the record always has it.
    pub fn emit(reports: &[NrBsr], out: &mut Vec<u8>) -> Result<(), EmitError> {
        whole(out, |out| {
            out.extend([3, 0, 3, 0, count("reports", reports.len(), 15)? as u8, 0, 0, 0]);
            reports.iter().try_for_each(|report| report.emit(out))
        })
    }

    /// The reports, in the order of the record.
    pub fn reports(&self) -> impl Iterator<Item = NrBsr> + use<'a> {
        let keys = &KEYS[self.version];
        self.node.list("ttis").map(move |tti| {
            let number = |bits| tti.read(bits) as u8;
            NrBsr {
                slot: Slot::new(tti.read(FRAME) as u16, number(SLOT), None),
                carrier: number(CARRIER),
                harq: number(HARQ),
                reason: number(keys.reason),
                kind: number(keys.kind),
                groups: number(keys.groups),
                element: tti.nr_controls().next().map(|(_, element)| element),
            }
        })
    }
}
