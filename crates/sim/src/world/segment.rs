use sounding_units::{Bytes, HostInstant};

use super::FlowId;

/// What a world puts into its network. Networks carry it and do not look inside.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Segment {
    pub(super) flow: FlowId,
    pub(super) kind: Kind,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    Syn,
    SynAck,
    Data(Data),
    Ack(Acknowledgement),
    /// Asks for one more response.
    Request(u64),
    Datagram,
}

/// A segment of a byte stream that is cut at sending, so that segments can be counted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Data {
    /// Segments before it.
    pub(super) number: u64,
    /// Payload.
    pub(super) size: u32,
    /// The time stamp that is echoed (RFC 7323).
    pub(super) sent_at: HostInstant,
}

/// What a receiver has.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Acknowledgement {
    /// All segments before this one.
    pub(super) next: u64,
    /// And these, counted from `next`: the one that holds what came last, then the highest (RFC 2018 §4).
    pub(super) blocks: [Block; BLOCKS],
    /// The time stamp of what came last.
    pub(super) echo: HostInstant,
    /// When that came.
    pub(super) received_at: HostInstant,
}

/// Segments from `start` to before `end`; none if they are equal.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Block {
    pub(super) start: u32,
    pub(super) end: u32,
}

/// As many as fit beside a time stamp (RFC 2018 §3).
pub(super) const BLOCKS: usize = 3;

impl Acknowledgement {
    /// Bytes of IP: 52, and the option with its blocks in whole words.
    pub(super) fn size(&self) -> Bytes {
        let blocks = self.blocks.iter().filter(|block| block.start < block.end).count() as u64;
        Bytes::new(52 + if blocks == 0 { 0 } else { 4 + 8 * blocks })
    }
}
