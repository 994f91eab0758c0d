//! Reno: slow start, one segment a round, half upon loss (RFC 5681, RFC 6582; bytes are counted as in RFC 3465).

use sounding_units::{Bytes, HostInstant, Rate};

use crate::{Ack, Controller, Loss, Recovery, Start};

/// One flow under Reno.
#[derive(Clone, Debug)]
pub struct Reno {
    mss: Bytes,
    cwnd: Bytes,
    ssthresh: Bytes,
    /// Acknowledged in congestion avoidance and not yet turned into window.
    credit: Bytes,
    /// Marks on packets that left before so much was delivered were answered already (RFC 3168 §6.1.2).
    answered: Bytes,
    before_timeout: Option<(Bytes, Bytes)>,
}

impl Reno {
    /// A flow that begins with RFC 6928's window.
    pub fn new(start: &Start) -> Self {
        Self {
            mss: start.mss,
            cwnd: start.initial_cwnd(),
            ssthresh: Bytes::new(u64::MAX),
            credit: Bytes::ZERO,
            answered: Bytes::ZERO,
            before_timeout: None,
        }
    }

    fn segments(&self, count: u64) -> Bytes {
        Bytes::new(self.mss.count() * count)
    }

    fn cut(&mut self) {
        self.ssthresh = Bytes::new(self.cwnd.count() / 2).max(self.segments(2));
        self.cwnd = self.ssthresh;
        self.credit = Bytes::ZERO;
    }

    fn grow(&mut self, acked: Bytes) {
        if self.cwnd < self.ssthresh {
            self.cwnd = (self.cwnd + acked).min(self.ssthresh.max(self.cwnd + self.mss));
            return;
        }
        self.credit += acked;
        if self.credit >= self.cwnd {
            self.credit = self.credit - self.cwnd;
            self.cwnd += self.mss;
        }
    }
}

impl Controller for Reno {
    fn handle_ack(&mut self, ack: &Ack) {
        if ack.recovery != Recovery::Timeout {
            self.before_timeout = None;
        }
        if ack.ce > Bytes::ZERO
            && ack.sent.delivered >= self.answered
            && ack.recovery == Recovery::None
        {
            self.answered = ack.delivered;
            self.cut();
        } else if ack.recovery != Recovery::Fast && ack.cwnd_limited {
            self.grow(ack.acked);
        }
    }

    fn handle_loss(&mut self, loss: &Loss) {
        if loss.begins_recovery {
            self.cut();
        }
    }

    fn handle_timeout(&mut self, _now: HostInstant) {
        // The first of several timeouts in a row is the one that would be undone.
        self.before_timeout.get_or_insert((self.cwnd, self.ssthresh));
        self.cut();
        self.cwnd = self.mss;
    }

    fn handle_spurious_timeout(&mut self, _now: HostInstant) {
        if let Some((cwnd, ssthresh)) = self.before_timeout.take() {
            self.cwnd = self.cwnd.max(cwnd);
            self.ssthresh = self.ssthresh.max(ssthresh);
        }
    }

    fn cwnd(&self) -> Bytes {
        self.cwnd
    }

    fn pacing_rate(&self) -> Option<Rate> {
        None
    }

    fn state(&self) -> &'static str {
        if self.cwnd < self.ssthresh { "slow start" } else { "avoidance" }
    }
}
