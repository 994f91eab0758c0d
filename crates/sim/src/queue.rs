use alloc::collections::VecDeque;

use sounding_units::{Bytes, HostInstant};

use crate::Backlog;

/// The size of a link's queue. The packet in service does not count, as in mahimahi.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct QueueLimit {
    /// The most packets; `None` for any number.
    pub packets: Option<u64>,
    /// The most bytes, counted as the link counts them; `None` for any number.
    pub bytes: Option<Bytes>,
    /// Which packet is dropped when the queue is full.
    pub drop: DropFrom,
}

/// Which packet a full queue drops.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum DropFrom {
    /// The one that arrives.
    #[default]
    Tail,
    /// The oldest, until the one that arrives fits.
    Head,
}

impl QueueLimit {
    /// A queue that never drops, mahimahi's default.
    pub const INFINITE: QueueLimit =
        QueueLimit { packets: None, bytes: None, drop: DropFrom::Tail };

    /// At most this many packets; the one that finds the queue full is dropped.
    pub const fn packets(packets: u64) -> Self {
        QueueLimit { packets: Some(packets), ..Self::INFINITE }
    }

    /// At most this many bytes; the packet that does not fit is dropped.
    pub const fn bytes(bytes: Bytes) -> Self {
        QueueLimit { bytes: Some(bytes), ..Self::INFINITE }
    }

    fn holds(&self, backlog: Backlog) -> bool {
        self.packets.is_none_or(|limit| backlog.packets <= limit)
            && self.bytes.is_none_or(|limit| backlog.bytes <= limit)
    }
}

/// A waiting packet, with the link's data about it.
#[derive(Debug)]
pub(crate) struct Waiting<P> {
    pub(crate) payload: P,
    /// As the link counts it: with the link's own overhead.
    pub(crate) cost: Bytes,
    pub(crate) arrival: HostInstant,
}

/// A queue in order of arrival with a limit.
#[derive(Debug)]
pub(crate) struct Queue<P> {
    waiting: VecDeque<Waiting<P>>,
    bytes: Bytes,
    limit: QueueLimit,
}

impl<P> Queue<P> {
    pub(crate) fn new(limit: QueueLimit) -> Self {
        Self { waiting: VecDeque::new(), bytes: Bytes::ZERO, limit }
    }

    pub(crate) fn backlog(&self) -> Backlog {
        Backlog { packets: self.waiting.len() as u64, bytes: self.bytes }
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.waiting.is_empty()
    }

    /// Whether the queue is empty and a packet of this cost would fit.
    pub(crate) fn would_hold_alone(&self, cost: Bytes) -> bool {
        self.waiting.is_empty() && self.limit.holds(Backlog { packets: 1, bytes: cost })
    }

    /// Adds the packet. Passes every packet that must be dropped, possibly this one, to `dropped`.
    pub(crate) fn push(&mut self, packet: Waiting<P>, mut dropped: impl FnMut(Waiting<P>)) {
        let after =
            Backlog { packets: self.waiting.len() as u64 + 1, bytes: self.bytes + packet.cost };
        if self.limit.drop == DropFrom::Tail && !self.limit.holds(after) {
            return dropped(packet);
        }
        self.bytes = after.bytes;
        self.waiting.push_back(packet);
        while !self.limit.holds(self.backlog()) {
            match self.pop() {
                Some(oldest) => dropped(oldest),
                None => break,
            }
        }
    }

    pub(crate) fn pop(&mut self) -> Option<Waiting<P>> {
        let packet = self.waiting.pop_front()?;
        self.bytes = self.bytes - packet.cost;
        Some(packet)
    }
}
