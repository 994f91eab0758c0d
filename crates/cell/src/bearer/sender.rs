use alloc::collections::VecDeque;

use sounding_units::HostInstant;

use super::{Bearer, Flight, Framing, PacketFate, Passage, Pdu, Status};
use crate::byte_range::ByteRange;
use crate::config::RlcMode;

/// Recent PDUs whose sequence numbers a status can still name.
const REMEMBERED: usize = 512;

/// The sending half's own state.
#[derive(Debug, Default)]
pub(super) struct Sender {
    /// The stream up to here was sent for the first time.
    sent: u64,
    /// The stream up to here belongs to packets that were begun.
    begun: u64,
    again: VecDeque<ByteRange>,
    next_sn: u32,
    /// PDUs by sequence number, oldest first; the first one's number is `next_sn` minus their
    /// count.
    recent: VecDeque<ByteRange>,
    /// A poll that no status has answered, and how much had been sent then: POLL_SN is the newest
    /// of all, not that of the PDU that polls (TS 36.322 §5.2.2.1).
    poll: Option<(HostInstant, u64)>,
    /// The newest PDU of new data.
    newest: ByteRange,
    since_poll: (u32, u64),
    /// Start of the oldest hole in the latest status, and how many statuses have named it.
    stuck: (u64, u32),
}

impl Sender {
    pub(super) fn sent(&self) -> u64 {
        self.sent
    }

    pub(super) fn begun_unsent(&self) -> u64 {
        self.begun - self.sent
    }

    pub(super) fn again_bytes(&self) -> u64 {
        self.again.iter().map(|span| span.len()).sum()
    }

    pub(super) fn send_again(&mut self, span: ByteRange) {
        let overlaps = |other: &ByteRange| other.from < span.to && span.from < other.to;
        if !span.is_empty() && !self.again.iter().any(overlaps) {
            self.again.push_back(span);
        }
    }

    /// RLC is re-established: PDUs from now on have new sequence numbers.
    pub(super) fn reset(&mut self) {
        self.again.clear();
        self.recent.clear();
        self.poll = None;
        self.since_poll = (0, 0);
        self.stuck = (0, 0);
    }

    /// Drops packets that are not sent whole yet.
    pub(super) fn forget_begun(&mut self) {
        self.sent = self.begun;
    }

    /// The PDU that carried a byte, and its number, if it is still kept.
    fn pdu_of(&self, byte: u64) -> Option<(u32, ByteRange)> {
        let at = self.recent.iter().rposition(|sent| sent.from <= byte && byte < sent.to)?;
        Some((self.next_sn - (self.recent.len() - at) as u32, self.recent[at]))
    }

    /// The numbers of the PDUs that carried `span`.
    pub(super) fn sns_of(&self, span: ByteRange) -> impl Iterator<Item = u32> + '_ {
        let mut from = span.from;
        core::iter::from_fn(move || {
            let (sn, pdu) = (from < span.to).then(|| self.pdu_of(from)).flatten()?;
            from = pdu.to;
            Some(sn)
        })
    }

    /// The number of a new PDU.
    fn number(&mut self, span: ByteRange) -> u32 {
        if self.recent.len() == REMEMBERED {
            self.recent.pop_front();
        }
        self.recent.push_back(span);
        let sn = self.next_sn;
        self.next_sn += 1;
        sn
    }
}

impl<P> Bearer<P> {
    /// Cuts the next PDU, with at most `room` bytes of the stream; `None` if there is no data.
    pub(crate) fn cut(&mut self, room: u64, now: HostInstant) -> Option<Pdu> {
        if room == 0 {
            return None;
        }
        let (span, again, known) = match self.cut_again(room) {
            Some((span, pdu)) => (span, true, pdu),
            None => (self.cut_new(room, now)?, false, None),
        };
        let poll = self.asks_for_status(span, now);
        let (sn, whole) = known.unwrap_or_else(|| (self.sender.number(span), span));
        let first = self.flight.partition_point(|packet| packet.end <= span.from);
        let last = self.flight.partition_point(|packet| packet.end <= span.to);
        let framing = Framing::of(span, whole, self.flight.range(first..));
        Some(Pdu { sn, span, again, poll, ends: last.saturating_sub(first) as u16, framing })
    }

    /// Also its PDU and that PDU's number. A PDU that is sent again keeps its number; where it does
    /// not fit, a segment of it goes (TS 36.322 §5.2.1). Data that an RLC before this one had
    /// sent gets a new number.
    fn cut_again(&mut self, room: u64) -> Option<(ByteRange, Option<(u32, ByteRange)>)> {
        let edge = self.received.edge();
        let again = &mut self.sender.again;
        // Bytes that have arrived by HARQ or another copy in between need no third transmission.
        while again.front().is_some_and(|span| span.to <= edge) {
            again.pop_front();
        }
        let from = again.front()?.from.max(edge);
        let known = self.sender.pdu_of(from);
        let whole = known.map_or(u64::MAX, |(_, pdu)| pdu.to);
        let again = &mut self.sender.again;
        let span = again.front_mut()?;
        let cut = ByteRange { from, to: span.to.min(from + room).min(whole) };
        span.from = cut.to;
        if span.is_empty() {
            again.pop_front();
        }
        let first = self.flight.partition_point(|packet| packet.end <= cut.from);
        for packet in self.flight.range_mut(first..) {
            packet.passage.rlc = true;
            if packet.end >= cut.to {
                break;
            }
        }
        Some((cut, known))
    }

    /// A PDU was in flight on an RLC entity that no longer sends. Another entity sends the part
    /// that has not arrived.
    pub(crate) fn recover(&mut self, pdu: &Pdu) {
        if self.config.mode == RlcMode::Acknowledged && self.received.missing_in(pdu.span) > 0 {
            self.sender.send_again(pdu.span);
        }
    }

    fn cut_new(&mut self, room: u64, now: HostInstant) -> Option<ByteRange> {
        let from = self.sender.sent;
        let to = from + room;
        while self.sender.begun < to && self.begin_packet(now) {}
        let cut = ByteRange { from, to: to.min(self.sender.begun) };
        if cut.is_empty() {
            return None;
        }
        self.sender.sent = cut.to;
        self.sender.newest = cut;
        // Only the last few packets can have been without a last byte before.
        for packet in self.flight.iter_mut().rev() {
            if packet.end <= from {
                break;
            }
            if packet.end <= cut.to {
                packet.passage.sent = now;
            }
        }
        Some(cut)
    }

    /// Moves the next packet from the queue to the stream; `false` if the queue is empty.
    fn begin_packet(&mut self, now: HostInstant) -> bool {
        while let Some(packet) = self.waiting.pop_front() {
            let cost = self.cost(packet.size);
            self.waiting_bytes -= cost;
            if now - packet.entered > self.config.discard {
                let super::Waiting { payload, size, entered } = packet;
                self.fates.push_back(PacketFate::Lost { payload, size, entered, at: now });
                continue;
            }
            self.sender.begun += cost;
            self.flight.push_back(Flight {
                payload: packet.payload,
                size: packet.size,
                end: self.sender.begun,
                cost,
                missing: cost,
                passage: Passage {
                    entered: packet.entered,
                    began: now,
                    sent: now,
                    arrived: now,
                    delivered: now,
                    harq: 0,
                    rlc: false,
                },
            });
            return true;
        }
        false
    }

    /// Whether the PDU just cut polls (TS 36.322 §5.2.2.1): after a number of PDUs or bytes, and on
    /// the last PDU.
    fn asks_for_status(&mut self, span: ByteRange, now: HostInstant) -> bool {
        if self.config.mode == RlcMode::Unacknowledged {
            return false;
        }
        let last = self.waiting.is_empty()
            && self.sender.begun == self.sender.sent
            && self.sender.again.is_empty();
        let (pdus, bytes) = &mut self.sender.since_poll;
        *pdus += 1;
        *bytes += span.len();
        let due = *pdus >= self.config.poll_pdu || *bytes >= self.config.poll_byte.count();
        if due || last {
            self.sender.since_poll = (0, 0);
            self.sender.poll = Some((now, self.sender.sent));
        }
        due || last
    }

    /// The receiver reported received and missing data, in a block that is decoded at `known`.
    pub(crate) fn handle_status(&mut self, known: HostInstant, status: &Status) {
        self.statuses.push_back((known, status.clone()));
    }

    pub(super) fn apply_status(&mut self, now: HostInstant, status: &Status) {
        let sender = &mut self.sender;
        let refused = status.nacks.last().map_or(0, |nack| nack.to);
        if sender.poll.is_some_and(|(_, upto)| status.edge.max(refused) >= upto) {
            sender.poll = None;
        }
        let Some(oldest) = status.nacks.first() else { return };
        sender.stuck = match sender.stuck {
            (from, times) if from == oldest.from => (from, times + 1),
            _ => (oldest.from, 1),
        };
        if sender.stuck.1 > self.config.max_retx {
            // The radio link has failed for this PDU: connections are re-established without it.
            self.received.skip_to(oldest.to);
            self.hand_on(now);
            return;
        }
        for &nack in &status.nacks {
            self.sender.send_again(nack);
        }
    }

    /// The sender's timers have reached `now`.
    pub(super) fn handle_poll_timer(&mut self, now: HostInstant) {
        let Some((since, _)) = self.sender.poll else { return };
        if now - since < self.config.t_poll_retransmit {
            return;
        }
        self.sender.poll = None;
        // The newest PDU is sent again with a poll (TS 36.322 §5.2.2.3).
        let newest = self.sender.newest;
        if self.received.edge() < newest.to {
            self.sender.send_again(newest);
        }
    }

    /// Whether the sender's timer has expired.
    pub(super) fn poll_is_due(&self, now: HostInstant) -> bool {
        self.sender.poll.is_some_and(|(since, _)| since + self.config.t_poll_retransmit <= now)
    }
}
