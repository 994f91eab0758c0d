//! One that knows the present of the radio, and nothing of what comes: what any controller that is told in time could have.

use std::collections::VecDeque;
use std::time::Duration;

use sounding_cc::{Ack, Controller, Departure, Loss, Start};
use sounding_units::{Bytes, HostInstant, Rate};

use super::contender::Knows;

/// How often it looks.
const STEP: Duration = Duration::from_millis(1);
/// What the radio carries now is what it carried in this time.
const NOW: Duration = Duration::from_millis(10);
/// Chosen: it carries about what the controllers do that are compared with it.
const ROOM: Duration = Duration::from_millis(6);

/// Keeps what is on the way to the radio and in front of it at what the radio as it is now carries in the time of the way,
/// and [`ROOM`] more.
#[derive(Debug)]
pub(super) struct Present {
    knows: Knows,
    mss: Bytes,
    /// On the way to the radio: when each arrives there.
    underway: VecDeque<(HostInstant, Bytes)>,
    wire: Bytes,
    waiting: Bytes,
    in_flight: Bytes,
    allowed: Bytes,
    now: HostInstant,
}

impl Present {
    pub(super) fn new(start: &Start, knows: Knows) -> Self {
        Self {
            knows,
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
        let served = self.knows.by(now).saturating_sub(self.knows.by(self.now));
        self.now = now;
        self.waiting = self.waiting.saturating_sub(served);
        while let Some((_, size)) = self.underway.pop_front_if(|(at, _)| *at <= now) {
            self.wire = self.wire.saturating_sub(size);
            self.waiting += size;
        }
        let ago = HostInstant::from_nanos(now.as_nanos().saturating_sub(NOW.as_nanos() as u64));
        let rate = self.knows.by(now).saturating_sub(self.knows.by(ago)).per(NOW);
        let most = rate * (self.knows.lead + ROOM) + self.mss;
        self.allowed = most.saturating_sub(self.waiting + self.wire);
    }
}

impl Controller for Present {
    fn handle_sent(&mut self, sent: &Departure, size: Bytes) {
        self.in_flight = sent.in_flight;
        self.underway.push_back((sent.at + self.knows.lead, size));
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
