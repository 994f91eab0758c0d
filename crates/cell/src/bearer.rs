//! One direction of a data radio bearer: packets, the RLC that carries them, and the truth about
//! each packet.
//!
//! RLC and PDCP are modelled as one. The packets of a bearer form one stream of bytes, and a PDU
//! carries a span of it. The receiver delivers a packet once the stream is complete up to the
//! packet's end. LTE's RLC AM, and NR's RLC AM with PDCP's reordering, do the same (TS 36.322
//! §5.1.3, TS 38.322 §5.2.3, TS 38.323 §5.2.2). The model does it without a copy of the bytes.

mod framing;
mod receiver;
mod sender;
#[cfg(test)]
mod tests;

use alloc::collections::VecDeque;

use arrayvec::ArrayVec;
use sounding_units::{Bytes, HostInstant};

use crate::byte_range::{ByteRange, ReceivedRanges};
use crate::config::RlcConfig;

pub use framing::Framing;
use sender::Sender;

/// A bearer's part of a transport block.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Pdu {
    /// Sequence number of the AMD PDU, counted from zero without wrapping.
    pub sn: u32,
    /// The bytes of the stream that it carries.
    pub span: ByteRange,
    /// RLC sends it again.
    pub again: bool,
    /// Requests a status from the receiver (polling).
    pub poll: bool,
    /// The packets that end in it.
    pub ends: u16,
    /// Where they begin and end.
    pub framing: Framing,
}

/// A receiver's report of received and missing data (TS 36.322 §6.2.1.6, TS 38.322 §6.2.2.5).
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Status {
    /// All bytes before this place have arrived.
    pub edge: u64,
    /// The missing part.
    pub nacks: ArrayVec<ByteRange, 8>,
    /// The sequence numbers of the PDUs that were missing first, as far as the sender still knows
    /// them.
    pub nack_sns: ArrayVec<u32, 8>,
}

impl Status {
    /// Its size in a block: header, ACK_SN, and a NACK_SN with segment offsets each.
    pub(crate) fn size(&self) -> u64 {
        4 + 6 * self.nacks.len() as u64
    }
}

/// When a packet passed where. The truth about its delay, for judging only.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Passage {
    /// It entered the bearer's queue.
    pub entered: HostInstant,
    /// Its first byte was sent for the first time: until then it waited for the scheduler or, in
    /// the uplink, for a grant.
    pub began: HostInstant,
    /// Its last byte was sent for the first time.
    pub sent: HostInstant,
    /// All its bytes had arrived: from `sent` on the air, HARQ and RLC.
    pub arrived: HostInstant,
    /// It was handed on: from `arrived` on it waited for others before it.
    pub delivered: HostInstant,
    /// The most transmissions that a block with bytes of it needed beyond the first.
    pub harq: u8,
    /// Whether RLC had to send bytes of it again.
    pub rlc: bool,
}

/// The fate of a packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum PacketFate<P> {
    Delivered { payload: P, size: Bytes, passage: Passage },
    Lost { payload: P, size: Bytes, entered: HostInstant, at: HostInstant },
}

#[derive(Debug)]
struct Waiting<P> {
    payload: P,
    size: Bytes,
    entered: HostInstant,
}

/// A packet that has been sent at least in part.
#[derive(Debug)]
struct Flight<P> {
    payload: P,
    size: Bytes,
    end: u64,
    cost: u64,
    missing: u64,
    passage: Passage,
}

/// One direction of a bearer, sender and receiver in one.
#[derive(Debug)]
pub(crate) struct Bearer<P> {
    config: RlcConfig,
    waiting: VecDeque<Waiting<P>>,
    /// Bytes of `waiting`, as they will be in the stream.
    waiting_bytes: u64,
    flight: VecDeque<Flight<P>>,
    sender: Sender,
    received: ReceivedRanges,
    /// Since when t-Reordering runs, for missing data below the offset.
    reordering: Option<(HostInstant, u64)>,
    /// t-Reordering has expired for missing data below this offset.
    given_up: u64,
    /// Ends of the first and the last PDU that polled for a status and have no answer yet.
    polled: Option<(u64, u64)>,
    /// A status is due from this time on.
    status_due: Option<HostInstant>,
    status_prohibited_until: HostInstant,
    /// Statuses for the sender whose blocks are being decoded, by when they are.
    statuses: VecDeque<(HostInstant, Status)>,
    fates: VecDeque<PacketFate<P>>,
}

impl<P> Bearer<P> {
    pub(crate) fn new(config: RlcConfig) -> Self {
        Self {
            config,
            waiting: VecDeque::new(),
            waiting_bytes: 0,
            flight: VecDeque::new(),
            sender: Sender::default(),
            received: ReceivedRanges::default(),
            reordering: None,
            given_up: 0,
            polled: None,
            status_due: None,
            statuses: VecDeque::new(),
            status_prohibited_until: HostInstant::default(),
            fates: VecDeque::new(),
        }
    }

    /// A packet enters the queue, or finds it full.
    pub(crate) fn handle_packet(&mut self, now: HostInstant, size: Bytes, payload: P) {
        let cost = self.cost(size);
        if self.backlog() + cost > self.config.queue.count() {
            self.fates.push_back(PacketFate::Lost { payload, size, entered: now, at: now });
            return;
        }
        self.waiting_bytes += cost;
        self.waiting.push_back(Waiting { payload, size, entered: now });
    }

    /// Bytes that have not been sent for the first time.
    pub(crate) fn backlog(&self) -> u64 {
        self.waiting_bytes + self.sender.begun_unsent()
    }

    /// Bytes that could be sent now: new ones and those to be sent again.
    pub(crate) fn demand(&self) -> u64 {
        self.backlog() + self.sender.again_bytes()
    }

    /// Whether anything is queued, in flight or due.
    pub(crate) fn is_busy(&self) -> bool {
        !self.waiting.is_empty() || !self.flight.is_empty() || self.status_due.is_some()
    }

    pub(crate) fn has_fates(&self) -> bool {
        !self.fates.is_empty()
    }

    pub(crate) fn drain_fates(&mut self) -> impl Iterator<Item = PacketFate<P>> {
        self.fates.drain(..)
    }

    /// The connection moves to another cell: RLC and PDCP are re-established (TS 36.323 §5.2, TS
    /// 38.323 §5.1.2). The new cell sends unconfirmed data again. Where the old cell does not
    /// forward, that data is lost with the queue.
    pub(crate) fn reestablish(&mut self, now: HostInstant, forward: bool) {
        self.reordering = None;
        self.polled = None;
        self.status_due = None;
        self.statuses.clear();
        let holes: ArrayVec<ByteRange, 64> = {
            let top = ByteRange { from: self.received.top(), to: self.sender.sent() };
            let holes = self.received.holes(u64::MAX);
            holes.chain(core::iter::once(top)).filter(|hole| !hole.is_empty()).take(64).collect()
        };
        self.sender.reset();
        if forward {
            for hole in holes {
                self.sender.send_again(hole);
            }
        } else {
            self.sender.forget_begun();
            self.received.skip_to(self.sender.sent());
            self.hand_on(now);
            self.waiting_bytes = 0;
            let lost = self.waiting.drain(..).map(|packet| {
                let Waiting { payload, size, entered } = packet;
                PacketFate::Lost { payload, size, entered, at: now }
            });
            self.fates.extend(lost);
        }
    }

    /// Bytes of a packet in the stream: with PDCP's header and a part of RLC's and MAC's headers.
    fn cost(&self, size: Bytes) -> u64 {
        size.count() + self.config.packet_overhead.count()
    }
}
