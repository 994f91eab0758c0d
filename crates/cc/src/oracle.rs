//! Controllers that are told the truth: what a link will have carried by when, and what it carries now.

use alloc::collections::VecDeque;
use core::fmt;
use core::time::Duration;

use sounding_units::{Bytes, HostInstant, Rate};

use crate::{Ack, Controller, Departure, Loss, Start};

/// How often the truth is asked again: delivery opportunities are counted in milliseconds.
const STEP: Duration = Duration::from_millis(1);

/// Sends what its share of the link can carry just as it arrives there, and so uses all of it and never queues.
///
/// `capacity` says how many bytes of payload this flow may have had carried from the beginning of time until a moment.
/// It is asked for the moment at which a packet that leaves now would be carried.
pub struct Oracle<F> {
    capacity: F,
    /// From leaving the sender to being carried by the link.
    lead: Duration,
    mss: Bytes,
    /// Of `capacity`, what was used or let pass.
    used: Bytes,
    in_flight: Bytes,
    allowed: Bytes,
    now: HostInstant,
}

impl<F: Fn(HostInstant) -> Bytes> Oracle<F> {
    /// A flow whose packets are carried `lead` after they leave, if they find no queue.
    pub fn new(start: &Start, lead: Duration, capacity: F) -> Self {
        let used = capacity(start.now + lead);
        Self {
            capacity,
            lead,
            mss: start.mss,
            used,
            in_flight: Bytes::ZERO,
            allowed: Bytes::ZERO,
            now: start.now,
        }
    }

    /// What nobody used while the clock went on is gone, but for one packet.
    fn look(&mut self, now: HostInstant) {
        let passed = (self.capacity)(self.now + self.lead);
        self.now = now;
        self.used = self.used.max(passed.saturating_sub(self.mss));
        self.allowed = (self.capacity)(now + self.lead).saturating_sub(self.used);
    }
}

impl<F> fmt::Debug for Oracle<F> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Oracle").field("lead", &self.lead).finish_non_exhaustive()
    }
}

impl<F: Fn(HostInstant) -> Bytes + Send> Controller for Oracle<F> {
    fn handle_sent(&mut self, sent: &Departure, size: Bytes) {
        self.in_flight = sent.in_flight;
        self.used += size;
        self.allowed = self.allowed - size;
    }

    fn handle_ack(&mut self, ack: &Ack) {
        self.in_flight = ack.in_flight;
        self.look(ack.now);
    }

    fn handle_loss(&mut self, loss: &Loss) {
        self.in_flight = loss.in_flight;
    }

    fn handle_timeout(&mut self, _now: HostInstant) {
        self.in_flight = Bytes::ZERO;
    }

    fn handle_time(&mut self, now: HostInstant) {
        self.look(now);
    }

    fn wakeup(&self) -> Option<HostInstant> {
        Some(self.now + STEP)
    }

    fn cwnd(&self) -> Bytes {
        self.in_flight + self.allowed
    }

    fn pacing_rate(&self) -> Option<Rate> {
        None
    }

    fn state(&self) -> &'static str {
        "oracle"
    }
}

/// What a link carries now is what it carried in this time.
const NOW: Duration = Duration::from_millis(10);
/// Chosen: with it [`Present`] carries about what the controllers do that are compared with it.
const ROOM: Duration = Duration::from_millis(6);

/// Knows what its share of the link carries now and what waits in front of it, at once and without error, and nothing of what
/// comes: what any controller that is told in time could have.
///
/// Keeps what is on the way to the link and in front of it at what the link as it is now carries in the time of the way, and a
/// little more.
pub struct Present<F> {
    capacity: F,
    /// From leaving the sender to the link.
    lead: Duration,
    mss: Bytes,
    /// On the way to the link: when each arrives there.
    underway: VecDeque<(HostInstant, Bytes)>,
    wire: Bytes,
    waiting: Bytes,
    in_flight: Bytes,
    allowed: Bytes,
    now: HostInstant,
}

impl<F: Fn(HostInstant) -> Bytes> Present<F> {
    /// A flow whose packets are at the link `lead` after they leave. `capacity` is as [`Oracle`]'s, and is never asked for
    /// what comes.
    pub fn new(start: &Start, lead: Duration, capacity: F) -> Self {
        Self {
            capacity,
            lead,
            mss: start.mss,
            underway: VecDeque::new(),
            wire: Bytes::ZERO,
            waiting: Bytes::ZERO,
            in_flight: Bytes::ZERO,
            allowed: Bytes::ZERO,
            now: start.now,
        }
    }

    fn look(&mut self, now: HostInstant) {
        let carried = (self.capacity)(now);
        let served = carried.saturating_sub((self.capacity)(self.now));
        self.now = now;
        self.waiting = self.waiting.saturating_sub(served);
        while let Some((_, size)) = self.underway.pop_front_if(|(at, _)| *at <= now) {
            self.wire = self.wire.saturating_sub(size);
            self.waiting += size;
        }
        let ago = HostInstant::from_nanos(now.as_nanos().saturating_sub(NOW.as_nanos() as u64));
        let rate = carried.saturating_sub((self.capacity)(ago)).per(NOW);
        let most = rate * (self.lead + ROOM) + self.mss;
        self.allowed = most.saturating_sub(self.waiting + self.wire);
    }
}

impl<F> fmt::Debug for Present<F> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Present").field("lead", &self.lead).finish_non_exhaustive()
    }
}

impl<F: Fn(HostInstant) -> Bytes + Send> Controller for Present<F> {
    fn handle_sent(&mut self, sent: &Departure, size: Bytes) {
        self.in_flight = sent.in_flight;
        self.underway.push_back((sent.at + self.lead, size));
        self.wire += size;
        self.allowed = self.allowed.saturating_sub(size);
    }

    fn handle_ack(&mut self, ack: &Ack) {
        self.in_flight = ack.in_flight;
        self.look(ack.now);
    }

    fn handle_loss(&mut self, loss: &Loss) {
        self.in_flight = loss.in_flight;
    }

    fn handle_timeout(&mut self, _now: HostInstant) {
        self.in_flight = Bytes::ZERO;
    }

    fn handle_time(&mut self, now: HostInstant) {
        self.look(now);
    }

    fn wakeup(&self) -> Option<HostInstant> {
        Some(self.now + STEP)
    }

    fn cwnd(&self) -> Bytes {
        self.in_flight + self.allowed
    }

    fn pacing_rate(&self) -> Option<Rate> {
        None
    }

    fn state(&self) -> &'static str {
        "present"
    }
}
