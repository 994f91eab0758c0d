//! Vegas: a window that keeps two to four segments in the queue, counted from how much longer than its minimum the RTT is
//! (Brakmo and Peterson, "TCP Vegas: End to End Congestion Avoidance on a Global Internet", IEEE JSAC 1995).
//!
//! Loss and timeouts are answered as Reno does. The minimum is of all time, as published: where a path grows longer,
//! Vegas takes the difference for a queue.

use core::time::Duration;

use sounding_units::{Bytes, HostInstant, Rate};

use crate::part::{Aimd, Round};
use crate::{Ack, Controller, Loss, Start};

/// Segments in the queue below which the window grows (Linux `tcp_vegas.c`; the paper compares 1 and 2).
const ALPHA: f64 = 2.0;
/// And above which it shrinks (Linux `tcp_vegas.c`; the paper compares 3 and 4).
const BETA: f64 = 4.0;
/// And with which slow start ends (the paper's γ).
const GAMMA: f64 = 1.0;

/// One flow under Vegas.
#[derive(Clone, Debug)]
pub struct Vegas {
    window: Aimd,
    base: Option<Duration>,
    round: Round,
    /// The least RTT of the round.
    least: Option<Duration>,
    /// Slow start grows in every other round, so that the round between measures a window that stands still.
    grows: bool,
}

impl Vegas {
    /// A flow that begins with RFC 6928's window.
    pub fn new(start: &Start) -> Self {
        let base = start.rtt.filter(|rtt| !rtt.is_zero());
        Self { window: Aimd::new(start), base, round: Round::default(), least: None, grows: true }
    }

    /// A round is over: what it measured, in segments of the window that wait in the queue.
    fn queued(&mut self) -> Option<f64> {
        let (least, base) = (self.least.take()?, self.base?);
        let queueing = least.saturating_sub(base).as_secs_f64();
        Some(self.window.segments() * queueing / least.as_secs_f64())
    }

    fn judge(&mut self, queued: f64) {
        if self.window.in_slow_start() {
            self.grows = !self.grows;
            if queued > GAMMA {
                // The window without a queue, and a segment (Linux). Otherwise slow start's excess would have to be
                // taken back one segment a round.
                self.window.shift(GAMMA - queued);
                self.window.leave_slow_start();
            }
        } else if queued < ALPHA {
            self.window.shift(1.0);
        } else if queued > BETA {
            self.window.shift(-1.0);
        }
    }
}

impl Controller for Vegas {
    fn handle_ack(&mut self, ack: &Ack) {
        let marked = self.window.handle_ack(ack);
        if let Some(rtt) = ack.rtt.filter(|rtt| !rtt.is_zero()) {
            self.base = Some(self.base.map_or(rtt, |base| base.min(rtt)));
            self.least = Some(self.least.map_or(rtt, |least| least.min(rtt)));
        }
        if self.round.handle_ack(ack)
            && let Some(queued) = self.queued()
            && ack.recovery != crate::Recovery::Fast
            && !ack.sent.app_limited
            && !marked
        {
            self.judge(queued);
        }
        if self.window.in_slow_start() && self.grows && !marked {
            self.window.grow(ack);
        }
    }

    fn handle_loss(&mut self, loss: &Loss) {
        self.window.handle_loss(loss);
    }

    fn handle_timeout(&mut self, now: HostInstant) {
        self.window.handle_timeout(now);
        self.grows = true;
    }

    fn handle_spurious_timeout(&mut self, now: HostInstant) {
        self.window.handle_spurious_timeout(now);
    }

    fn cwnd(&self) -> Bytes {
        self.window.cwnd()
    }

    fn pacing_rate(&self) -> Option<Rate> {
        None
    }

    fn state(&self) -> &'static str {
        if self.window.in_slow_start() { "slow start" } else { "avoidance" }
    }
}
