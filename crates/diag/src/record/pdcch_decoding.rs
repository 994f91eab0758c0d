//! 0xB130, PDCCH decoding result: every control message found, and whether it was kept.
//!
//! Versions 21, 24, 42, 43, 101, 121, 123, 141. Source: docs/reference/diag.md, records and
//! layouts; 43 and 121 agree with captures field by field. The payload is eight bytes whatever the
//! length of the message.

mod tables;

pub(super) use self::tables::LAYOUTS;
use self::tables::{HEADER_V43, HEADER_V141, TAIL, TTI, V21, V24, V42, V121, V141, one};
use super::{RecordError, checked};
use crate::LogCode;
use crate::layout::{Bits, Children, Node, Part, key, u16};
use crate::radio::{Rnti, Tti};

/// Place of the hypotheses' times in a version.
#[derive(Clone, Copy)]
enum Time {
    /// In the header.
    Header,
    /// In the header, counted from there by groups.
    Group,
    /// In each hypothesis.
    Each,
}

/// The bit paths of the fields of [`ControlMessage`], in one version.
struct Keys {
    time: Time,
    frame: Bits,
    subframe: Bits,
    carrier: Bits,
    payload: Bits,
    aggregation: Bits,
    format: Bits,
    rnti: Bits,
    payload_bits: Bits,
    start_cce: Bits,
    prune: Bits,
}

impl Keys {
    const fn of(time: Time, header: &[Part], parts: &[Part]) -> Self {
        let timed = if matches!(time, Time::Each) { parts } else { header };
        Self {
            time,
            frame: key(timed, "frame"),
            subframe: key(timed, "subframe"),
            carrier: key(header, "carrier"),
            payload: key(parts, "payload"),
            aggregation: key(parts, "aggregation"),
            format: key(parts, "format"),
            rnti: key(parts, "rnti"),
            payload_bits: key(parts, "payload_bits"),
            start_cce: key(parts, "start_cce"),
            prune: key(parts, "prune_status"),
        }
    }
}

static KEYS: [Keys; 6] = [
    Keys::of(Time::Header, &[one(8, &[TTI, TAIL])], V21),
    Keys::of(Time::Header, &[one(8, &[TTI, TAIL])], V24),
    Keys::of(Time::Header, &[one(8, &[TTI, TAIL])], V42),
    Keys::of(Time::Header, &[one(8, &[TTI, TAIL])], V121),
    Keys::of(Time::Group, &[one(8, &[HEADER_V43])], V42),
    Keys::of(Time::Each, &[one(4, &[HEADER_V141])], V141),
];

/// A run of PDCCH decoding results.
#[derive(Clone, Copy)]
pub struct PdcchDecoding<'a> {
    node: Node<'a>,
    keys: &'static Keys,
}

/// One control message found.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ControlMessage {
    /// When; `None` if the record has no valid subframe.
    pub tti: Option<Tti>,
    /// Downlink carrier, 0 for the primary.
    pub carrier: u8,
    /// The addressee.
    pub rnti: Rnti,
    /// Its format as the record numbers it: 0 is an uplink grant, 1..=7 are downlink assignments
    /// (1, 1A … 2A).
    pub format: u8,
    /// Control channel elements: 1, 2, 4 or 8; `None` for a number without a meaning.
    pub aggregation: Option<u8>,
    /// The first of them.
    pub start_cce: u8,
    /// Length of the message in bits.
    pub payload_bits: u8,
    /// The message, as the record has it.
    pub payload: [u8; 8],
    /// Why it was kept or thrown away, as the record numbers it.
    pub prune_status: u16,
}

impl ControlMessage {
    /// The modem kept it: it is a grant or an assignment that took effect.
    pub const fn kept(&self) -> bool {
        // The numbers below the first failure are successes, one for each format; so are those of
        // the NB-IoT formats.
        matches!(self.prune_status, 1..=7 | 200..=202 | 216)
    }
}

impl<'a> PdcchDecoding<'a> {
    /// The log code.
    pub const CODE: LogCode = LogCode::new(0xB130);

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

    /// The control messages, oldest first.
    pub fn messages(&self) -> ControlMessages<'a> {
        ControlMessages {
            tti: self.keys.tti(&self.node),
            carrier: self.node.read(self.keys.carrier) as u8,
            offset: 0,
            groups: self.node.list("groups"),
            hypotheses: self.node.list("hypotheses"),
            keys: self.keys,
        }
    }
}

impl Keys {
    fn tti(&self, node: &Node<'_>) -> Option<Tti> {
        Tti::new(node.read(self.frame) as u16, node.read(self.subframe) as u8)
    }
}

impl core::fmt::Debug for PdcchDecoding<'_> {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.debug_list().entries(self.messages()).finish()
    }
}

/// The control messages of a record.
pub struct ControlMessages<'a> {
    tti: Option<Tti>,
    carrier: u8,
    /// Subframes from the header's time to the group's.
    offset: u16,
    groups: Children<'a>,
    hypotheses: Children<'a>,
    keys: &'static Keys,
}

impl Iterator for ControlMessages<'_> {
    type Item = ControlMessage;

    fn next(&mut self) -> Option<ControlMessage> {
        let node = loop {
            if let Some(node) = self.hypotheses.next() {
                break node;
            }
            let group = self.groups.next()?;
            self.offset = group.read(u16(0)) as u16;
            self.hypotheses = group.list("hypotheses");
        };
        let keys = self.keys;
        let aggregation = node.read(keys.aggregation);
        Some(ControlMessage {
            tti: match keys.time {
                Time::Header => self.tti,
                Time::Group => self.tti.map(|tti| tti.after(self.offset)),
                Time::Each => keys.tti(&node),
            },
            carrier: self.carrier,
            rnti: Rnti::from_number(node.read(keys.rnti)),
            format: node.read(keys.format) as u8,
            aggregation: (aggregation < 4).then_some(1 << aggregation),
            start_cce: node.read(keys.start_cce) as u8,
            payload_bits: node.read(keys.payload_bits) as u8,
            payload: payload(&node, keys.payload),
            prune_status: node.read(keys.prune) as u16,
        })
    }
}

fn payload(node: &Node<'_>, at: Bits) -> [u8; 8] {
    let bytes = node.bytes().get(at.start()..).and_then(|bytes| bytes.first_chunk());
    bytes.copied().unwrap_or_default()
}
