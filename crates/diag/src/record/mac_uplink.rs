//! 0xB064, MAC uplink transport blocks: grants, padding, buffer status and power headroom.
//!
//! Packet version 1 with sub-packet 8 of versions 1, 2, 3, 5 and 8. Source: docs/reference/diag.md,
//! records and layouts; 1 and 2 agree with captures field by field, 3 and 5 with the vectors of
//! another decoder. Each sample has a fixed head with the number of bytes of MAC header and control
//! elements that follow.

use alloc::vec;
use alloc::vec::Vec;

use sounding_units::Bytes;

use super::common::RNTI;
use super::emit::{EmitError, count, put, sub_packet};
use super::sub::{HEADER, SAMPLE_COUNT, Samples, samples};
use super::{RecordError, checked_sub_packets};
use crate::LogCode;
use crate::layout::{
    Bits, Block, Field, Layout, Names, Node, Part, SubLayout, bits, key, names, try_key, u8, u16,
    uint,
};
use crate::mac::MacPdu;
use crate::radio::{Rnti, Tti};

const BSR_EVENT: Names =
    &[(0, "none"), (1, "periodic"), (2, "high_data_arrival"), (3, "robustness")];
const BSR_TRIGGER: Names = &[
    (0, "none"),
    (1, "cancelled"),
    (2, "long"),
    (3, "short"),
    (4, "padding_long"),
    (5, "padding_short"),
    (6, "padding_truncated"),
];

/// The fields of one block, which start at `$at`.
macro_rules! block {
    ($at:expr) => {
        &[
            uint("harq", u8($at)),
            names("rnti", u8($at + 1), RNTI),
            uint("subframe", bits($at + 2, 3, 0)),
            uint("frame", bits($at + 2, 15, 4)),
            uint("grant_bytes", u16($at + 4)),
            uint("rlc_pdus", u8($at + 6)),
            uint("padding_bytes", u16($at + 7)),
            names("bsr_event", u8($at + 9), BSR_EVENT),
            names("bsr_trigger", u8($at + 10), BSR_TRIGGER),
            uint("header_len_bytes", u8($at + 11)),
        ]
    };
}

const CARRIER: &[Field] = &[uint("subscription", u8(0)), uint("cell", u8(1))];
const V1: &[Field] = block!(0);
const V2: &[Field] = block!(2);

const SAMPLE_V1: &[Part] = &[
    Part::Block(Block { size: 12, fields: &[V1] }),
    Part::Mac { len: u8(11), rnti: u8(1), uplink: true },
];
const SAMPLE_V2: &[Part] = &[
    Part::Block(Block { size: 14, fields: &[CARRIER, V2] }),
    Part::Mac { len: u8(13), rnti: u8(3), uplink: true },
];

const fn blocks(versions: &'static [u8], parts: &'static [Part]) -> SubLayout {
    SubLayout { id: 8, name: "uplink_blocks", versions, parts }
}

pub(super) static LAYOUTS: &[Layout] = &[Layout {
    versions: &[1],
    parts: &[
        HEADER,
        Part::SubPackets {
            count: u8(1),
            known: &[
                blocks(&[1], &[SAMPLE_COUNT, samples(SAMPLE_V1)]),
                blocks(&[2, 3, 5, 8], &[SAMPLE_COUNT, samples(SAMPLE_V2)]),
            ],
        },
    ],
}];

static KEYS: [Keys; 2] = [Keys::of(SAMPLE_V1), Keys::of(SAMPLE_V2)];

/// The bit paths of the fields of [`UplinkBlock`], in one version.
struct Keys {
    cell: Option<Bits>,
    harq: Bits,
    rnti: Bits,
    frame: Bits,
    subframe: Bits,
    grant: Bits,
    padding: Bits,
    rlc_pdus: Bits,
    event: Bits,
    trigger: Bits,
    header_len: Bits,
}

impl Keys {
    const fn of(parts: &[Part]) -> Self {
        Self {
            cell: try_key(parts, "cell"),
            harq: key(parts, "harq"),
            rnti: key(parts, "rnti"),
            frame: key(parts, "frame"),
            subframe: key(parts, "subframe"),
            grant: key(parts, "grant_bytes"),
            padding: key(parts, "padding_bytes"),
            rlc_pdus: key(parts, "rlc_pdus"),
            event: key(parts, "bsr_event"),
            trigger: key(parts, "bsr_trigger"),
            header_len: key(parts, "header_len_bytes"),
        }
    }
}

/// The uplink transport blocks that MAC built.
#[derive(Clone, Copy)]
pub struct MacUplink<'a> {
    node: Node<'a>,
}

/// Why a buffer status report was due.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BsrEvent {
    /// No report was due.
    None,
    /// The periodic timer ran out.
    Periodic,
    /// Data of a higher priority arrived.
    HighData,
    /// The retransmission timer ran out.
    Robustness,
    /// Another number.
    Other(u8),
}

/// The buffer status report that was sent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BsrTrigger {
    /// No report.
    None,
    /// The block had room for all data, so none was needed.
    Cancelled,
    /// A long one.
    Long,
    /// A short one.
    Short,
    /// A long one in place of padding.
    PaddingLong,
    /// A short one in place of padding.
    PaddingShort,
    /// A truncated one in place of padding.
    PaddingTruncated,
    /// Another number.
    Other(u8),
}

/// One uplink transport block.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct UplinkBlock<'a> {
    /// When it was granted; `None` if the record has no valid subframe.
    pub tti: Option<Tti>,
    /// Serving cell, 0 for the primary; 0 in versions that know one cell only.
    pub cell: u8,
    /// HARQ process, 0..=15.
    pub harq: u8,
    /// The addressee of the grant.
    pub rnti: Rnti,
    /// Size of the grant.
    pub grant: Bytes,
    /// Its padding bytes.
    pub padding: Bytes,
    /// RLC PDUs in it.
    pub rlc_pdus: u8,
    /// Why a buffer status report was due.
    pub event: BsrEvent,
    /// The report that was sent.
    pub trigger: BsrTrigger,
    /// Its header and control elements.
    pub pdu: MacPdu<'a>,
}

impl<'a> MacUplink<'a> {
    /// The log code.
    pub const CODE: LogCode = LogCode::new(0xB064);

    /// Reads the body of a record.
    ///
    /// # Errors
    ///
    /// [`RecordError::Unsupported`] if the version, or every sub-packet, is not described;
    /// [`RecordError::Corrupt`] if the body is too short for it.
    pub fn parse(body: &'a [u8]) -> Result<Self, RecordError> {
        checked_sub_packets(Self::CODE, LAYOUTS, body).map(|node| Self { node })
    }

    /// Appends the body of a record with one sub-packet of version 2; parsing it gives the same
    /// values back.
    ///
    /// # Errors
    ///
    /// [`EmitError::Count`] if there are more than 255 blocks; another [`EmitError`] if a value
    /// does not fit its field, or is unknown where the record always has it.
    pub fn emit(blocks: &[UplinkBlock<'_>], out: &mut Vec<u8>) -> Result<(), EmitError> {
        let keys = &KEYS[1];
        let mut contents = vec![count("blocks", blocks.len(), 255)? as u8];
        for block in blocks {
            let mut head = [0; 14];
            block.fill(keys, &mut head)?;
            contents.extend_from_slice(&head);
            contents.extend_from_slice(block.pdu.bytes());
        }
        sub_packet(8, 2, &contents, out)
    }

    /// The transport blocks of all sub-packets that are described, oldest first.
    pub fn blocks(&self) -> UplinkBlocks<'a> {
        UplinkBlocks(Samples::new(self.node, "samples", |version| &KEYS[usize::from(version > 1)]))
    }
}

/// The uplink transport blocks of a record.
pub struct UplinkBlocks<'a>(Samples<'a, Keys>);

impl<'a> Iterator for UplinkBlocks<'a> {
    type Item = UplinkBlock<'a>;

    fn next(&mut self) -> Option<UplinkBlock<'a>> {
        let (node, keys) = self.0.next()?;
        let rnti = Rnti::from_number(node.read(keys.rnti));
        Some(UplinkBlock {
            tti: Tti::new(node.read(keys.frame) as u16, node.read(keys.subframe) as u8),
            cell: keys.cell.map_or(0, |bits| node.read(bits) as u8),
            harq: node.read(keys.harq) as u8,
            rnti,
            grant: Bytes::new(node.read(keys.grant)),
            padding: Bytes::new(node.read(keys.padding)),
            rlc_pdus: node.read(keys.rlc_pdus) as u8,
            event: BsrEvent::from_number(node.read(keys.event) as u8),
            trigger: BsrTrigger::from_number(node.read(keys.trigger) as u8),
            pdu: node.mac().unwrap_or(MacPdu::new(&[], rnti, true)),
        })
    }
}

impl UplinkBlock<'_> {
    fn fill(&self, keys: &Keys, head: &mut [u8]) -> Result<(), EmitError> {
        let tti = self.tti.ok_or(EmitError::Absent { field: "tti" })?;
        let cell = keys.cell.ok_or(EmitError::Absent { field: "cell" })?;
        put(head, u8(0), "subscription", 1)?;
        put(head, cell, "cell", u64::from(self.cell))?;
        put(head, keys.harq, "harq", u64::from(self.harq))?;
        put(head, keys.rnti, "rnti", u64::from(self.rnti.number()))?;
        put(head, keys.frame, "tti", u64::from(tti.sfn()))?;
        put(head, keys.subframe, "tti", u64::from(tti.subframe()))?;
        put(head, keys.grant, "grant", self.grant.count())?;
        put(head, keys.padding, "padding", self.padding.count())?;
        put(head, keys.rlc_pdus, "rlc_pdus", u64::from(self.rlc_pdus))?;
        put(head, keys.event, "event", u64::from(self.event.number()))?;
        put(head, keys.trigger, "trigger", u64::from(self.trigger.number()))?;
        put(head, keys.header_len, "pdu", self.pdu.bytes().len() as u64)
    }
}

impl BsrEvent {
    const fn number(self) -> u8 {
        match self {
            Self::None => 0,
            Self::Periodic => 1,
            Self::HighData => 2,
            Self::Robustness => 3,
            Self::Other(other) => other,
        }
    }

    const fn from_number(number: u8) -> Self {
        match number {
            0 => Self::None,
            1 => Self::Periodic,
            2 => Self::HighData,
            3 => Self::Robustness,
            other => Self::Other(other),
        }
    }
}

impl BsrTrigger {
    const fn number(self) -> u8 {
        match self {
            Self::None => 0,
            Self::Cancelled => 1,
            Self::Long => 2,
            Self::Short => 3,
            Self::PaddingLong => 4,
            Self::PaddingShort => 5,
            Self::PaddingTruncated => 6,
            Self::Other(other) => other,
        }
    }

    const fn from_number(number: u8) -> Self {
        match number {
            0 => Self::None,
            1 => Self::Cancelled,
            2 => Self::Long,
            3 => Self::Short,
            4 => Self::PaddingLong,
            5 => Self::PaddingShort,
            6 => Self::PaddingTruncated,
            other => Self::Other(other),
        }
    }
}

impl core::fmt::Debug for MacUplink<'_> {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.debug_list().entries(self.blocks()).finish()
    }
}
