//! The controller. All its inputs come through the `handle_*` methods; it reads no clock and
//! allocates nothing.

use std::time::Duration;

use sounding_cc::{Ack, Controller, Loss, Recovery, Start};
use sounding_units::{Bytes, HostInstant, Rate};

/// Target queueing delay. Chosen: about what a base station needs to have something to schedule.
const TARGET: Duration = Duration::from_millis(25);

/// Holds the queueing delay at a target: after each round trip a segment more if packets queued for
/// less, one less if they queued for more, and half the window at a loss.
#[derive(Debug)]
pub struct Gentle {
    mss: Bytes,
    cwnd: Bytes,
    state: State,
    /// The RTT without any queue, as far as it has been seen.
    least_rtt: Duration,
    round: Round,
}

/// ```text
/// SlowStart ── packets queue, or one is lost ──▶ Holding
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum State {
    /// Twice the window each round trip.
    SlowStart,
    /// A segment more or less each round trip.
    Holding,
}

/// A round trip: from now until the first packet is acknowledged that leaves from now on.
#[derive(Clone, Copy, Debug)]
struct Round {
    /// What had been delivered at its beginning.
    begins: Bytes,
    /// The shortest RTT in it, which delayed acknowledgements and jitter touch least.
    rtt: Duration,
}

impl Gentle {
    /// A controller for a flow that begins.
    pub fn new(start: &Start) -> Self {
        Self {
            mss: start.mss,
            cwnd: start.initial_cwnd(),
            state: State::SlowStart,
            least_rtt: start.rtt.unwrap_or(Duration::MAX),
            round: Round { begins: Bytes::ZERO, rtt: Duration::MAX },
        }
    }

    fn segments(&self, count: u64) -> Bytes {
        Bytes::new(self.mss.count().saturating_mul(count))
    }

    /// Queueing delay of this round's packets; `None` before the first measurement.
    fn queueing(&self) -> Option<Duration> {
        (self.round.rtt != Duration::MAX).then(|| self.round.rtt.saturating_sub(self.least_rtt))
    }

    fn end_round(&mut self, ack: &Ack) {
        if let (State::Holding, Some(queueing)) = (self.state, self.queueing()) {
            if queueing > TARGET {
                self.cwnd = self.cwnd.saturating_sub(self.mss).max(self.segments(2));
            } else if ack.cwnd_limited {
                // A window that is not full shows nothing about the path.
                self.cwnd += self.mss;
            }
        }
        self.round = Round { begins: ack.delivered, rtt: Duration::MAX };
    }
}

impl Controller for Gentle {
    fn handle_ack(&mut self, ack: &Ack) {
        if let Some(rtt) = ack.rtt {
            self.least_rtt = self.least_rtt.min(rtt);
            self.round.rtt = self.round.rtt.min(rtt);
        }
        if ack.recovery != Recovery::None {
            return;
        }
        if self.state == State::SlowStart {
            if self.queueing().is_some_and(|queueing| queueing > TARGET) {
                self.state = State::Holding;
            } else if ack.cwnd_limited {
                self.cwnd += ack.acked;
            }
        }
        // The newest packet that this delivers left after the round had begun.
        if ack.sent.delivered >= self.round.begins {
            self.end_round(ack);
        }
    }

    fn handle_loss(&mut self, loss: &Loss) {
        // Once for all that were lost together.
        if loss.begins_recovery {
            self.cwnd = Bytes::new(self.cwnd.count() / 2).max(self.segments(2));
            self.state = State::Holding;
        }
    }

    fn handle_timeout(&mut self, _now: HostInstant) {
        self.cwnd = self.segments(2);
        self.state = State::Holding;
    }

    fn cwnd(&self) -> Bytes {
        self.cwnd
    }

    fn pacing_rate(&self) -> Option<Rate> {
        None
    }

    fn state(&self) -> &'static str {
        match self.state {
            State::SlowStart => "slow start",
            State::Holding => "holding",
        }
    }
}
