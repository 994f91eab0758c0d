use arrayvec::ArrayVec;
use sounding_units::HostInstant;

use super::{Bearer, Fate, Pdu, Status};
use crate::config::Mode;
use crate::span::Span;

impl<P> Bearer<P> {
    /// A PDU arrived whole, in a block that needed `repeats` transmissions beyond the first.
    pub(crate) fn handle_pdu(&mut self, now: HostInstant, pdu: &Pdu, repeats: u8) {
        let first = self.flight.partition_point(|packet| packet.end <= pdu.span.from);
        for packet in self.flight.range_mut(first..) {
            let whole = Span { from: packet.end - packet.cost, to: packet.end };
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
        self.status_due |= pdu.poll;
        self.watch_for_holes(now);
        self.hand_on(now);
    }

    /// Starts t-Reordering for what is missing now, unless it runs for something older.
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
                Fate::Delivered { payload, size, passage }
            } else {
                Fate::Lost { payload, size, entered: packet.passage.entered, at: now }
            });
        }
    }

    /// Time has reached `now`: t-Reordering and t-PollRetransmit.
    pub(crate) fn handle_timers(&mut self, now: HostInstant) {
        self.handle_poll_timer(now);
        let Some((since, upto)) = self.reordering else { return };
        if now - since < self.config.t_reordering {
            return;
        }
        self.given_up = upto;
        if self.config.mode == Mode::Unacknowledged {
            let missing = self.received.holes(upto).last().map_or(upto, |hole| hole.to);
            self.received.skip_to(missing);
            self.hand_on(now);
        } else {
            self.status_due = true;
        }
        self.reordering = None;
        self.watch_for_holes(now);
    }

    /// When [`handle_timers`](Self::handle_timers) has something to do.
    pub(crate) fn timer(&self) -> Option<HostInstant> {
        let reordering = self.reordering.map(|(since, _)| since + self.config.t_reordering);
        match (reordering, self.poll_timer()) {
            (Some(a), Some(b)) => Some(a.min(b)),
            (a, b) => a.or(b),
        }
    }

    /// Whether the receiver owes a status and may send it.
    pub(crate) fn owes_status(&self, now: HostInstant) -> bool {
        self.status_due && now >= self.status_prohibited_until
    }

    /// The status to put into a block that goes the other way.
    pub(crate) fn take_status(&mut self, now: HostInstant) -> Status {
        self.status_due = false;
        self.status_prohibited_until = now + self.config.t_status_prohibit;
        // What t-Reordering has not given up on may still come by HARQ.
        let nacks: ArrayVec<_, 8> = self.received.holes(self.given_up).take(8).collect();
        let nack_sns = nacks.iter().flat_map(|&span| self.sender.sns_of(span)).take(8).collect();
        Status { edge: self.received.edge(), nacks, nack_sns }
    }
}
