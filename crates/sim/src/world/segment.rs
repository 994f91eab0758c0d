use alloc::vec::Vec;

use sounding_cc::Stamp;
use sounding_link::LinkEstimate;
use sounding_units::{Bytes, HostInstant};

use super::FlowId;

/// A world's packet. Networks carry it and do not look inside.
///
/// It is copied from queue to queue, so its contents stay with the world.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Segment {
    pub(super) flow: FlowId,
    place: u32,
}

impl Segment {
    /// Its flow, for observers of a network.
    pub fn flow(&self) -> FlowId {
        self.flow
    }
}

/// The contents of the segments inside the network.
#[derive(Debug, Default)]
pub(super) struct SegmentStore {
    kinds: Vec<Kind>,
    free: Vec<u32>,
}

impl SegmentStore {
    /// A segment with these contents, until it is [taken](Self::take).
    #[inline]
    pub(super) fn put(&mut self, flow: FlowId, kind: Kind) -> Segment {
        if let Some(place) = self.free.pop() {
            self.kinds[place as usize] = kind;
            return Segment { flow, place };
        }
        let place = self.kinds.len() as u32;
        self.kinds.push(kind);
        Segment { flow, place }
    }

    /// The contents of a segment that left the network; each leaves once.
    #[inline]
    pub(super) fn take(&mut self, segment: Segment) -> Kind {
        self.free.push(segment.place);
        self.kinds[segment.place as usize]
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    Syn,
    /// With the device's report of its downlink, for this flow's part of it.
    SynAck(Option<LinkEstimate>),
    Data(Data),
    Ack(Acknowledgement),
    /// Requests one more response.
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

/// A receiver's report of received segments.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Acknowledgement {
    /// All segments before this one.
    pub(super) next: u64,
    /// Received blocks beyond `next`: first the one with the newest segment, then the highest (RFC
    /// 2018 §4).
    pub(super) blocks: [Block; BLOCKS],
    /// The time stamp of the newest segment.
    pub(super) echo: HostInstant,
    /// When that came.
    pub(super) received_at: HostInstant,
    /// The receiver's clock as the acknowledgement leaves.
    pub(super) stamp: Stamp,
    /// The device's report of its downlink, for this flow's part of it.
    pub(super) report: Option<LinkEstimate>,
}

/// Segments from `start` to before `end`; none if they are equal.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Block {
    pub(super) start: u32,
    pub(super) end: u32,
}

/// Number of blocks that fit together with a time stamp (RFC 2018 §3).
pub(super) const BLOCKS: usize = 3;

impl Acknowledgement {
    /// Bytes of IP: 52, and the option with its blocks in whole words.
    pub(super) fn size(&self) -> Bytes {
        let blocks = self.blocks.iter().filter(|block| block.start < block.end).count() as u64;
        Bytes::new(52 + if blocks == 0 { 0 } else { 4 + 8 * blocks })
    }
}
