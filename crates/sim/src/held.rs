//! Windows that do not react to the network, for tests of a network or another controller.

use alloc::boxed::Box;

use sounding_cc::{Ack, Controller, Departure, Loss, forward};
use sounding_kpi::Direction;
use sounding_link::DelayUpdate;
use sounding_units::{Bytes, HostInstant, Rate};

/// A window that never changes.
#[derive(Debug)]
pub struct Fixed(pub Bytes);

impl Controller for Fixed {
    fn handle_ack(&mut self, _ack: &Ack) {}
    fn handle_loss(&mut self, _loss: &Loss) {}
    fn handle_timeout(&mut self, _now: HostInstant) {}

    fn cwnd(&self) -> Bytes {
        self.0
    }

    fn pacing_rate(&self) -> Option<Rate> {
        None
    }

    fn state(&self) -> &'static str {
        "fixed"
    }
}

/// A window with a limit that does not come from the network, like a receive window, until it is
/// released.
#[derive(Debug)]
pub struct Held {
    most: Bytes,
    freed: HostInstant,
    now: HostInstant,
    inner: Box<dyn Controller>,
}

impl Held {
    /// A controller whose window is at most so large until it is freed.
    pub fn new(
        inner: Box<dyn Controller>,
        most: Bytes,
        now: HostInstant,
        freed: HostInstant,
    ) -> Self {
        Self { most, freed, now, inner }
    }
}

impl Controller for Held {
    forward!(inner; but handle_sent, handle_ack, handle_delays, handle_time, cwnd);

    fn handle_sent(&mut self, sent: &Departure, size: Bytes) {
        self.now = sent.at;
        self.inner.handle_sent(sent, size);
    }

    fn handle_ack(&mut self, ack: &Ack) {
        self.now = ack.now;
        self.inner.handle_ack(ack);
    }

    fn handle_delays(&mut self, now: HostInstant, data: Direction, delays: &DelayUpdate) {
        self.now = now;
        self.inner.handle_delays(now, data, delays);
    }

    fn handle_time(&mut self, now: HostInstant) {
        self.now = now;
        self.inner.handle_time(now);
    }

    fn cwnd(&self) -> Bytes {
        let cwnd = self.inner.cwnd();
        if self.now >= self.freed { cwnd } else { cwnd.min(self.most) }
    }
}
