//! The one controller that is told the truth: what the link will have carried by when.

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
