mod codel;
mod pie;
mod text;

use alloc::boxed::Box;
use alloc::collections::VecDeque;
use core::time::Duration;

use sounding_units::{Bytes, HostInstant};

use crate::Backlog;
use codel::{CoDel, Taken};
use pie::Pie;
pub use text::ParseQueueError;

/// The limits of a link's queue, of its size and of its delay. The packet in service does not
/// count, as in mahimahi.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct QueueLimit {
    /// The most packets; `None` for any number.
    pub packets: Option<u64>,
    /// The most bytes, counted as the link counts them; `None` for any number.
    pub bytes: Option<Bytes>,
    /// Which packet is dropped when the queue is full.
    pub drop: DropFrom,
    /// The management that drops packets before the queue is full.
    pub aqm: Aqm,
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

/// Active queue management: drops that keep the queue's delay short.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Aqm {
    /// None: only a full queue drops.
    #[default]
    None,
    /// CoDel, RFC 8289: drops packets as they leave.
    CoDel {
        /// The delay that the queue may always have.
        target: Duration,
        /// The time that a longer delay may last, and the first distance between drops.
        interval: Duration,
    },
    /// PIE, RFC 8033: drops packets as they arrive, at random.
    Pie {
        /// The delay that the queue is to have.
        reference: Duration,
        /// The time for which a burst after an idle time is spared.
        max_burst: Duration,
    },
}

impl Aqm {
    /// CoDel with its defaults: 5 ms and 100 ms (RFC 8289 §4.4, §4.3).
    pub const CODEL: Aqm =
        Aqm::CoDel { target: Duration::from_millis(5), interval: Duration::from_millis(100) };

    /// PIE with its defaults: 15 ms and 150 ms (RFC 8033 §4.2, §4.4).
    pub const PIE: Aqm =
        Aqm::Pie { reference: Duration::from_millis(15), max_burst: Duration::from_millis(150) };
}

impl QueueLimit {
    /// A queue that never drops, mahimahi's default.
    pub const INFINITE: QueueLimit =
        QueueLimit { packets: None, bytes: None, drop: DropFrom::Tail, aqm: Aqm::None };

    /// At most this many packets; the one that finds the queue full is dropped.
    pub const fn packets(packets: u64) -> Self {
        QueueLimit { packets: Some(packets), ..Self::INFINITE }
    }

    /// At most this many bytes; the packet that does not fit is dropped.
    pub const fn bytes(bytes: Bytes) -> Self {
        QueueLimit { bytes: Some(bytes), ..Self::INFINITE }
    }

    /// A queue of any size under this management.
    pub const fn managed(aqm: Aqm) -> Self {
        QueueLimit { aqm, ..Self::INFINITE }
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

/// A queue in order of arrival with limits.
#[derive(Debug)]
pub(crate) struct Queue<P> {
    waiting: VecDeque<Waiting<P>>,
    bytes: Bytes,
    limit: QueueLimit,
    manager: Manager,
}

/// The state of the management.
#[derive(Debug)]
enum Manager {
    None,
    CoDel(CoDel),
    Pie(Box<Pie>),
}

impl<P> Queue<P> {
    pub(crate) fn new(limit: QueueLimit) -> Self {
        let manager = match limit.aqm {
            Aqm::None => Manager::None,
            Aqm::CoDel { target, interval } => Manager::CoDel(CoDel::new(target, interval)),
            Aqm::Pie { reference, max_burst } => {
                Manager::Pie(Box::new(Pie::new(reference, max_burst)))
            }
        };
        Self { waiting: VecDeque::new(), bytes: Bytes::ZERO, limit, manager }
    }

    /// Seeds the random drops.
    pub(crate) fn seed(&mut self, seed: u64) {
        if let Manager::Pie(pie) = &mut self.manager {
            pie.seed(seed);
        }
    }

    pub(crate) fn backlog(&self) -> Backlog {
        Backlog { packets: self.waiting.len() as u64, bytes: self.bytes }
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.waiting.is_empty()
    }

    /// Whether a packet of this cost goes through the empty queue without any effect on it.
    pub(crate) fn would_hold_alone(&self, cost: Bytes) -> bool {
        self.waiting.is_empty()
            && matches!(self.manager, Manager::None)
            && self.limit.holds(Backlog { packets: 1, bytes: cost })
    }

    /// Adds the packet. Passes every packet that must be dropped, possibly this one, to `dropped`.
    pub(crate) fn push(&mut self, packet: Waiting<P>, mut dropped: impl FnMut(Waiting<P>)) {
        let after =
            Backlog { packets: self.waiting.len() as u64 + 1, bytes: self.bytes + packet.cost };
        if let Manager::Pie(pie) = &mut self.manager {
            let head = self.waiting.front().map(|first| first.arrival);
            if pie.drops(packet.arrival, head, self.bytes) {
                return dropped(packet);
            }
        }
        if self.limit.drop == DropFrom::Tail && !self.limit.holds(after) {
            return dropped(packet);
        }
        self.bytes = after.bytes;
        self.waiting.push_back(packet);
        while !self.limit.holds(self.backlog()) {
            match self.take() {
                Some(oldest) => dropped(oldest),
                None => break,
            }
        }
    }

    /// The packet that is served next at `now`. Passes every packet that is dropped before it to
    /// `dropped`. A queue that is not empty always has one.
    pub(crate) fn pop(
        &mut self,
        now: HostInstant,
        dropped: impl FnMut(Waiting<P>),
    ) -> Option<Waiting<P>> {
        let Self { waiting, bytes, manager, .. } = self;
        match manager {
            Manager::None => take(waiting, bytes),
            Manager::CoDel(codel) => codel.dequeue(
                now,
                || {
                    let packet = take(waiting, bytes)?;
                    let waited = now.saturating_since(packet.arrival);
                    Some(Taken { cost: packet.cost, left: *bytes, waited, packet })
                },
                dropped,
            ),
            Manager::Pie(pie) => {
                let first = waiting.front()?.arrival;
                pie.handle_departure(now, first);
                take(waiting, bytes)
            }
        }
    }

    fn take(&mut self) -> Option<Waiting<P>> {
        take(&mut self.waiting, &mut self.bytes)
    }
}

fn take<P>(waiting: &mut VecDeque<Waiting<P>>, bytes: &mut Bytes) -> Option<Waiting<P>> {
    let packet = waiting.pop_front()?;
    *bytes = *bytes - packet.cost;
    Some(packet)
}
