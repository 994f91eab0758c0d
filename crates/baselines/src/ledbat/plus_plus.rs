use core::time::Duration;

use sounding_cc::parameter::{Kind, Parameter, Values};
use sounding_cc::part::{Aimd, QueueingDelay, RttEstimator};
use sounding_cc::{Ack, Controller, Loss, Recovery, Start};
use sounding_units::{Bytes, HostInstant, Rate};

/// Queueing in both directions: LEDBAT++ uses the RTT (draft).
const TARGET: Parameter = Parameter {
    name: "target",
    kind: Kind::millis(60, 1, 1_000),
    unit: "",
    about: "the queueing delay target, in both directions together",
    source: "draft-irtf-iccrg-ledbat-plus-plus",
};
/// The gain is one over at most this (draft).
const MAX_GAIN_DIVISOR: f64 = 16.0;
/// The decrease of the window in a round, as a part of the window, if the delay is twice the target
/// (draft).
const DECREASE: f64 = 1.0;
/// The first slow start ends at this part of the target (draft).
const SLOW_START_ENDS: f64 = 0.75;
/// In segments (draft).
const SLOWED_CWND: u64 = 2;
/// Rounds from the end of the first slow start to the first slowdown, and in each slowdown before
/// the window comes back (draft).
const ROUNDS: u32 = 2;
/// Time until the next slowdown, in durations of the last: at most a tenth of the time is slow
/// (draft).
const APART: u32 = 9;

/// LEDBAT++ (draft-irtf-iccrg-ledbat-plus-plus): LEDBAT with a lower target, a gain that makes it
/// weaker than TCP on short paths, and a decrease in proportion to the window. It also slows down
/// at intervals to measure the path without a queue. So a new flow does not mistake another flow's
/// queue for path delay.
#[derive(Clone, Debug)]
pub struct LedbatPlusPlus {
    target: Duration,
    window: Aimd,
    mss: Bytes,
    rtt: RttEstimator,
    delay: QueueingDelay,
    phase: Phase,
    next_slowdown: Option<HostInstant>,
}

/// ```text
/// SlowStart ──(¾ of the target)──▶ Steering ──(it is time)──▶ Slowed ──(2 rounds)──▶ ComingBack
///                                     ▲                                                   │
///                                     └──────────────(window as it was)───────────────────┘
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Phase {
    SlowStart,
    Steering,
    Slowed { since: HostInstant, until: HostInstant },
    ComingBack { since: HostInstant },
}

impl LedbatPlusPlus {
    pub(crate) const PARAMETERS: &[Parameter] = &[TARGET];

    /// A flow that begins with two segments, in slow start.
    pub fn new(start: &Start) -> Self {
        Self::tuned(start, &Values::default())
    }

    pub(crate) fn tuned(start: &Start, values: &Values) -> Self {
        Self::with_target(start, values.time(&TARGET))
    }

    /// The same with this target for the queueing delay.
    pub fn with_target(start: &Start, target: Duration) -> Self {
        let mut window = Aimd::new(start);
        window.cap(start.segments(super::INITIAL_CWND));
        Self {
            target,
            window,
            mss: start.mss,
            rtt: RttEstimator::default(),
            delay: QueueingDelay::new(start.now),
            phase: Phase::SlowStart,
            next_slowdown: None,
        }
    }

    fn rounds(&self) -> Duration {
        self.rtt.smoothed().unwrap_or_default() * ROUNDS
    }

    fn gain(&self) -> f64 {
        let base = self.delay.base().unwrap_or_default().as_secs_f64();
        let rounds = libm::ceil(2.0 * self.target.as_secs_f64() / base.max(1e-6));
        1.0 / rounds.clamp(1.0, MAX_GAIN_DIVISOR)
    }

    /// Segments for each segment acknowledged.
    fn step(&self, queueing: Duration) -> f64 {
        let cwnd = self.window.segments();
        let excess = queueing.as_secs_f64() / self.target.as_secs_f64() - 1.0;
        let in_round = if excess <= 0.0 {
            self.gain()
        } else {
            (self.gain() - DECREASE * cwnd * excess).max(-cwnd / 2.0)
        };
        in_round / cwnd
    }

    fn advance(&mut self, now: HostInstant, queueing: Duration) {
        match self.phase {
            Phase::SlowStart
                if queueing.as_secs_f64() > SLOW_START_ENDS * self.target.as_secs_f64() =>
            {
                self.window.leave_slow_start();
                self.steer(now, self.rounds());
            }
            Phase::Steering if self.next_slowdown.is_some_and(|at| at <= now) => {
                self.window.dip(Bytes::new(self.mss.count() * SLOWED_CWND));
                self.phase = Phase::Slowed { since: now, until: now + self.rounds() };
            }
            Phase::Slowed { since, until } if until <= now => {
                self.phase = Phase::ComingBack { since };
            }
            Phase::ComingBack { since } if !self.window.in_slow_start() => {
                self.steer(now, (now - since) * APART);
            }
            _ => {}
        }
    }

    fn steer(&mut self, now: HostInstant, slow_again_after: Duration) {
        self.phase = Phase::Steering;
        self.next_slowdown = Some(now + slow_again_after);
    }
}

impl Controller for LedbatPlusPlus {
    fn handle_ack(&mut self, ack: &Ack) {
        let marked = self.window.handle_ack(ack);
        let Some(rtt) = ack.rtt.filter(|rtt| !rtt.is_zero()) else { return };
        self.rtt.handle_sample(rtt);
        let queueing = self.delay.handle_sample(ack.now, rtt);
        self.advance(ack.now, queueing);
        if marked || ack.recovery == Recovery::Fast || !ack.cwnd_limited {
            return;
        }
        let acked = self.window.in_segments(ack.acked);
        match self.phase {
            Phase::Slowed { .. } => {}
            Phase::SlowStart | Phase::ComingBack { .. } => self.window.shift(self.gain() * acked),
            Phase::Steering => self.window.shift(self.step(queueing) * acked),
        }
    }

    fn handle_loss(&mut self, loss: &Loss) {
        self.window.handle_loss(loss);
        if loss.begins_recovery && self.phase == Phase::SlowStart {
            self.steer(loss.now, self.rounds());
        }
    }

    fn handle_timeout(&mut self, now: HostInstant) {
        self.window.handle_timeout(now);
        // The start after a timeout was a slowdown too.
        self.phase = Phase::ComingBack { since: now };
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
        match self.phase {
            Phase::SlowStart => "slow start",
            Phase::Steering => "steering",
            Phase::Slowed { .. } => "slowed",
            Phase::ComingBack { .. } => "coming back",
        }
    }
}
