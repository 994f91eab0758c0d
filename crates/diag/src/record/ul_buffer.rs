//! 0xB066, MAC uplink buffer status: samples of the backlog of every logical channel.
//!
//! Packet version 1 with sub-packet 10 of versions 3, 5 and 24. Source: docs/reference/diag.md,
//! records and layouts; 3 and 24 agree with captures field by field. Version 5 (NB-IoT modems) is
//! the head of 3 with the channels of 24: read this way, the 40 samples of each of its records in
//! the captures end where the record ends.

use alloc::vec;
use alloc::vec::Vec;

use sounding_units::Bytes;

use super::emit::{EmitError, count, put, sub_packet};
use super::sub::{HEADER, SAMPLE_COUNT, Samples, samples};
use super::{RecordError, checked_sub_packets};
use crate::LogCode;
use crate::layout::{
    Bits, Block, Children, Count, Field, Layout, Node, Part, SubLayout, bits, key, try_key, u8,
    u16, u32, uint,
};
use crate::radio::Tti;

/// The time and number of channels, which start at `$at`.
macro_rules! head {
    ($at:expr) => {
        &[
            uint("subframe", bits($at, 3, 0)),
            uint("frame", bits($at, 13, 4)),
            uint("channel_count", u8($at + 2)),
        ]
    };
}

const HEAD: &[Field] = head!(0);
const HEAD_V24: &[Field] = head!(1);
const SUBSCRIPTION: &[Field] = &[uint("subscription", u8(0))];

const CHANNEL_V3: &[Part] = &[Part::Block(Block {
    size: 12,
    fields: &[&[
        uint("channel", u8(0)),
        uint("priority", u8(1)),
        uint("new_bytes", u32(2)),
        uint("retx_bytes", u32(6)),
        uint("control_bytes", u16(10)),
    ]],
})];

const CHANNEL_V24: &[Part] = &[Part::Block(Block {
    size: 16,
    fields: &[&[
        uint("channel", u8(0)),
        uint("priority", u8(1)),
        uint("new_uncompressed_bytes", u32(2)),
        uint("new_bytes", u32(6)),
        uint("retx_bytes", u32(10)),
        uint("control_bytes", u16(14)),
    ]],
})];

const fn channels(count: Bits, parts: &'static [Part]) -> Part {
    Part::List { name: "channels", count: Count::Says(count), parts }
}

const SAMPLE_V3: &[Part] =
    &[Part::Block(Block { size: 3, fields: &[HEAD] }), channels(u8(2), CHANNEL_V3)];
const SAMPLE_V5: &[Part] =
    &[Part::Block(Block { size: 3, fields: &[HEAD] }), channels(u8(2), CHANNEL_V24)];
const SAMPLE_V24: &[Part] = &[
    Part::Block(Block { size: 4, fields: &[SUBSCRIPTION, HEAD_V24] }),
    channels(u8(3), CHANNEL_V24),
];

const fn buffer(versions: &'static [u8], parts: &'static [Part]) -> SubLayout {
    SubLayout { id: 10, name: "uplink_buffer", versions, parts }
}

pub(super) static LAYOUTS: &[Layout] = &[Layout {
    versions: &[1],
    parts: &[
        HEADER,
        Part::SubPackets {
            count: u8(1),
            known: &[
                buffer(&[3], &[SAMPLE_COUNT, samples(SAMPLE_V3)]),
                buffer(&[5], &[SAMPLE_COUNT, samples(SAMPLE_V5)]),
                buffer(&[24], &[SAMPLE_COUNT, samples(SAMPLE_V24)]),
            ],
        },
    ],
}];

static KEYS: [Keys; 3] = [
    Keys::of(SAMPLE_V3, CHANNEL_V3),
    Keys::of(SAMPLE_V5, CHANNEL_V24),
    Keys::of(SAMPLE_V24, CHANNEL_V24),
];

/// The bit paths of the fields of [`BufferSample`] and [`ChannelBacklog`], in one version.
struct Keys {
    frame: Bits,
    subframe: Bits,
    new: Bits,
    uncompressed: Option<Bits>,
    retx: Bits,
    control: Bits,
}

impl Keys {
    const fn of(sample: &[Part], channel: &[Part]) -> Self {
        Self {
            frame: key(sample, "frame"),
            subframe: key(sample, "subframe"),
            new: key(channel, "new_bytes"),
            uncompressed: try_key(channel, "new_uncompressed_bytes"),
            retx: key(channel, "retx_bytes"),
            control: key(channel, "control_bytes"),
        }
    }
}

/// The uplink buffer over a run of samples.
#[derive(Clone, Copy)]
pub struct UplinkBuffer<'a> {
    node: Node<'a>,
}

/// The uplink buffer at one moment.
#[derive(Clone, Copy)]
pub struct BufferSample<'a> {
    /// When; `None` before the first sample, which records fill with an impossible time.
    pub tti: Option<Tti>,
    node: Node<'a>,
    keys: &'static Keys,
}

/// The backlog of one logical channel.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ChannelBacklog {
    /// Logical channel, 1..=10.
    pub channel: u8,
    /// Its priority, a rank: 1 is the most urgent.
    pub priority: u8,
    /// Data that was not sent yet.
    pub new: Bytes,
    /// Data to retransmit.
    pub retx: Bytes,
    /// RLC status reports.
    pub control: Bytes,
}

/// A sample to be written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BufferSampleRepr<'a> {
    /// When; `None` for a sample before the first.
    pub tti: Option<Tti>,
    /// The logical channels.
    pub channels: &'a [ChannelBacklog],
}

impl ChannelBacklog {
    fn fill(&self, keys: &Keys, bytes: &mut [u8]) -> Result<(), EmitError> {
        put(bytes, u8(0), "channel", u64::from(self.channel))?;
        put(bytes, u8(1), "priority", u64::from(self.priority))?;
        put(bytes, keys.new, "new", self.new.count())?;
        put(bytes, keys.retx, "retx", self.retx.count())?;
        put(bytes, keys.control, "control", self.control.count())
    }

    /// All that waits.
    pub fn total(&self) -> Bytes {
        self.new + self.retx + self.control
    }
}

impl<'a> UplinkBuffer<'a> {
    /// The log code.
    pub const CODE: LogCode = LogCode::new(0xB066);

    /// Reads the body of a record.
    ///
    /// # Errors
    ///
    /// [`RecordError::Unsupported`] if the version, or every sub-packet, is not described;
    /// [`RecordError::Corrupt`] if the body is too short for it.
    pub fn parse(body: &'a [u8]) -> Result<Self, RecordError> {
        checked_sub_packets(Self::CODE, LAYOUTS, body).map(|node| Self { node })
    }

    /// Appends the body of a record with one sub-packet of version 24; parsing it gives the same
    /// values back.
    ///
    /// # Errors
    ///
    /// [`EmitError::Count`] if there are more than 255 samples, or channels of one; another
    /// [`EmitError`] if a value does not fit its field, or is unknown where the record always has
    /// it.
    pub fn emit(samples: &[BufferSampleRepr<'_>], out: &mut Vec<u8>) -> Result<(), EmitError> {
        let keys = &KEYS[2];
        let mut contents = vec![count("samples", samples.len(), 255)? as u8];
        for sample in samples {
            let mut head = [1, 0, 0, 0];
            let (frame, subframe) =
                sample.tti.map_or((1023, 15), |tti| (tti.sfn(), tti.subframe()));
            put(&mut head, keys.frame, "tti", u64::from(frame))?;
            put(&mut head, keys.subframe, "tti", u64::from(subframe))?;
            put(&mut head, u8(3), "channels", count("channels", sample.channels.len(), 255)?)?;
            contents.extend_from_slice(&head);
            for channel in sample.channels {
                let mut bytes = [0; 16];
                channel.fill(keys, &mut bytes)?;
                contents.extend_from_slice(&bytes);
            }
        }
        sub_packet(10, 24, &contents, out)
    }

    /// The samples of all sub-packets that are described, oldest first.
    pub fn samples(&self) -> BufferSamples<'a> {
        BufferSamples(Samples::new(self.node, "samples", |version| match version {
            3 => &KEYS[0],
            5 => &KEYS[1],
            _ => &KEYS[2],
        }))
    }
}

impl core::fmt::Debug for UplinkBuffer<'_> {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.debug_list().entries(self.samples()).finish()
    }
}

impl<'a> BufferSample<'a> {
    /// The logical channels.
    pub fn channels(&self) -> Backlogs<'a> {
        Backlogs { nodes: self.node.list("channels"), keys: self.keys }
    }

    /// All that waits in all channels.
    pub fn total(&self) -> Bytes {
        self.channels().map(|channel| channel.total()).sum()
    }
}

impl core::fmt::Debug for BufferSample<'_> {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.debug_struct("BufferSample")
            .field("tti", &self.tti)
            .field("total", &self.total())
            .finish_non_exhaustive()
    }
}

/// The samples of a record.
pub struct BufferSamples<'a>(Samples<'a, Keys>);

impl<'a> Iterator for BufferSamples<'a> {
    type Item = BufferSample<'a>;

    fn next(&mut self) -> Option<BufferSample<'a>> {
        let (node, keys) = self.0.next()?;
        let tti = Tti::new(node.read(keys.frame) as u16, node.read(keys.subframe) as u8);
        Some(BufferSample { tti, node, keys })
    }
}

/// The logical channels of a sample.
pub struct Backlogs<'a> {
    nodes: Children<'a>,
    keys: &'static Keys,
}

impl Iterator for Backlogs<'_> {
    type Item = ChannelBacklog;

    #[inline]
    fn next(&mut self) -> Option<ChannelBacklog> {
        let (node, keys) = (self.nodes.next()?, self.keys);
        let uncompressed = keys.uncompressed.map_or(0, |bits| node.read(bits));
        Some(ChannelBacklog {
            channel: node.read(u8(0)) as u8,
            priority: node.read(u8(1)) as u8,
            new: Bytes::new(node.read(keys.new) + uncompressed),
            retx: Bytes::new(node.read(keys.retx)),
            control: Bytes::new(node.read(keys.control)),
        })
    }
}
