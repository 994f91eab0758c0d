use arrayvec::ArrayVec;
use sounding_units::HostInstant;

use super::{Bearer, PacketFate, Pdu, Status};
use crate::byte_range::ByteRange;
use crate::config::RlcMode;

impl<P> Bearer<P> {
    /// A PDU arrived whole, in a block that needed `repeats` transmissions beyond the first.
    pub(crate) fn handle_pdu(&mut self, now: HostInstant, pdu: &Pdu, repeats: u8) {
        let first = self.flight.partition_point(|packet| packet.end <= pdu.span.from);
        for packet in self.flight.range_mut(first..) {
            let whole = ByteRange { from: packet.end - packet.cost, to: packet.end };
            if whole.from >= pdu.span.to {
                break;
            }
            // Bytes may come twice, after a status that crossed them.
            let fresh = self.received.missing_in(whole.and(pdu.span));
            if fresh > 0 {
                packet.missing -= fresh;
                packet.passage.harq = packet.passage.harq.max(repeats);
                packet.passage.arrived = now;
            }
        }
        self.received.insert(pdu.span);
        if pdu.poll {
            let end = pdu.span.to;
            let (first, last) = self.polled.unwrap_or((end, end));
            self.polled = Some((first.min(end), last.max(end)));
        }
        self.answer_polls(now);
        self.watch_for_holes(now);
        self.hand_on(now);
    }

    /// Answers a poll when HARQ can no longer deliver data before it (TS 36.322 §5.2.3, TS 38.322
    /// §5.3.4).
    fn answer_polls(&mut self, now: HostInstant) {
        let Some((first, last)) = self.polled else { return };
        let open = self.received.holes(u64::MAX).find(|hole| hole.to > self.given_up);
        let told = open.map_or(self.received.top(), |hole| hole.from);
        if first <= told {
            self.polled = (last > told).then_some((last, last));
            self.owe_status(now);
        }
    }

    fn owe_status(&mut self, from: HostInstant) {
        self.status_due = Some(self.status_due.map_or(from, |due| due.min(from)));
    }

    /// Starts t-Reordering for the data that is missing now, unless it runs for older data.
    fn watch_for_holes(&mut self, now: HostInstant) {
        if self.reordering.is_some_and(|(_, upto)| self.received.edge() < upto) {
            return;
        }
        let top = self.received.top();
        let missing = self.received.has_holes() && top > self.given_up;
        self.reordering = missing.then_some((now, top));
    }

    /// Hands on every packet that is whole, in order.
    pub(super) fn hand_on(&mut self, now: HostInstant) {
        let edge = self.received.edge();
        while self.flight.front().is_some_and(|packet| packet.end <= edge) {
            let Some(packet) = self.flight.pop_front() else { return };
            let (payload, size) = (packet.payload, packet.size);
            self.fates.push_back(if packet.missing == 0 {
                let mut passage = packet.passage;
                passage.delivered = now;
                PacketFate::Delivered { payload, size, passage }
            } else {
                PacketFate::Lost { payload, size, entered: packet.passage.entered, at: now }
            });
        }
    }

    /// Time has reached `now`: statuses are decoded, t-Reordering and t-PollRetransmit expire.
    pub(crate) fn handle_timers(&mut self, now: HostInstant) {
        while let Some((_, status)) = self.statuses.pop_front_if(|(known, _)| *known <= now) {
            self.apply_status(now, &status);
        }
        self.handle_poll_timer(now);
        let Some((since, upto)) = self.reordering else { return };
        if now - since < self.config.t_reordering {
            return;
        }
        self.given_up = upto;
        if self.config.mode == RlcMode::Unacknowledged {
            let missing = self.received.holes(upto).last().map_or(upto, |hole| hole.to);
            self.received.skip_to(missing);
            self.hand_on(now);
        } else {
            self.answer_polls(now);
            self.owe_status(now);
        }
        self.reordering = None;
        self.watch_for_holes(now);
    }

    /// Whether [`handle_timers`](Self::handle_timers) has work. Called in every slot.
    #[inline]
    pub(crate) fn is_due(&self, now: HostInstant) -> bool {
        self.statuses.front().is_some_and(|(known, _)| *known <= now)
            || self.poll_is_due(now)
            || self.reordering.is_some_and(|(since, _)| since + self.config.t_reordering <= now)
    }

    /// Whether a status is due and may be sent now.
    pub(crate) fn owes_status(&self, now: HostInstant) -> bool {
        self.status_due.is_some_and(|from| from <= now) && now >= self.status_prohibited_until
    }

    /// The status to put into a block that goes the other way.
    pub(crate) fn take_status(&mut self, now: HostInstant) -> Status {
        self.status_due = None;
        self.status_prohibited_until = now + self.config.t_status_prohibit;
        // HARQ may still deliver data for which t-Reordering has not expired.
        let nacks: ArrayVec<_, 8> = self.received.holes(self.given_up).take(8).collect();
        let nack_sns = nacks.iter().flat_map(|&span| self.sender.sns_of(span)).take(8).collect();
        Status { edge: self.received.edge(), nacks, nack_sns }
    }
}
