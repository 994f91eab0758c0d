//! Verus (Zaki et al., "Adaptive Congestion Control for Unpredictable Cellular Networks", SIGCOMM
//! 2015). It learns the delay of packets at each window. It has a target delay, which it raises
//! while delays fall and lowers while they rise. Every 5 ms it uses the window of the target delay.
//!
//! In the paper each epoch computes the packets to send, so that a window stays in flight. Here the
//! transport keeps the window in flight.

mod profile;

use core::time::Duration;

use sounding_cc::parameter::{Kind, Parameter, Values};
use sounding_cc::{Ack, Controller, Departure, Loss, Recovery, Start};
use sounding_units::{Bytes, HostInstant, Rate};

use profile::Profile;

/// The paper's ε.
const EPOCH: Duration = Duration::from_millis(5);
/// The decrease of the target delay while delays rise, and its change otherwise, in seconds (the
/// paper's δ1, δ2).
const LITTLE: f64 = 0.001;
const MUCH: f64 = 0.002;
const RATIO: Parameter = Parameter {
    name: "ratio",
    kind: Kind::number(6.0, 1.1, 100.0),
    unit: "least delays",
    about: "the largest accepted delay: a larger value gives more throughput",
    source: "the paper's R, which it varies from 2 to 6",
};
/// Share of the old value in the largest delay (authors' program; the paper's α).
const KEPT: f64 = 0.2;
/// Share of the window that remains after a loss (authors' program; the paper's M).
const AFTER_LOSS: f64 = 0.7;
/// Slow start ends at this delay, as a multiple of the smallest (the paper's N).
const SLOW_START_ENDS: f64 = 15.0;
/// Interval at which the curve is computed.
const DRAWN_EVERY: Duration = Duration::from_secs(1);
/// In segments.
const MIN_CWND: f64 = 2.0;
/// In segments. No real window is this large; it limits the effect of absurd samples.
const MAX_CWND: f64 = (1 << 20) as f64;

/// One flow under Verus. Delays are RTTs in seconds, windows segments.
#[derive(Clone, Debug)]
pub struct Verus {
    mss: Bytes,
    ratio: f64,
    phase: Phase,
    profile: Profile,
    drawn_at: HostInstant,
    epoch_began: HostInstant,
    /// Time of the last arrival, or when the first packet left; `None` if no packet is in flight.
    silent_since: Option<HostInstant>,
    least: f64,
    /// The largest delay of the current epoch.
    largest: f64,
    /// Smoothed delay of earlier epochs.
    smoothed: f64,
    aim: f64,
    cwnd: f64,
    before_timeout: Option<(f64, Phase)>,
    timeout_at: Option<HostInstant>,
}

/// ```text
/// SlowStart ──(15 least delays)──▶ Steering ──(loss)──▶ Recovering ──(repaired)──▶ Steering
///     ▲  └──────────(loss)─────────────┼──────────────────▲
///     └───────────(timeout)────────────┘
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Phase {
    SlowStart,
    Steering,
    Recovering,
}

impl Verus {
    pub(crate) const PARAMETERS: &[Parameter] = &[RATIO];

    /// A flow whose largest accepted delay is six times the smallest.
    pub fn new(start: &Start) -> Self {
        Self::tuned(start, &Values::default())
    }

    pub(crate) fn tuned(start: &Start, values: &Values) -> Self {
        Self::with_ratio(start, values.number(&RATIO))
    }

    /// A flow whose largest accepted delay is `ratio` times the smallest: a larger value gives more
    /// throughput.
    pub fn with_ratio(start: &Start, ratio: f64) -> Self {
        Self {
            mss: Bytes::new(start.mss.count().max(1)),
            ratio,
            phase: Phase::SlowStart,
            profile: Profile::new(),
            drawn_at: start.now,
            epoch_began: start.now,
            silent_since: None,
            least: f64::INFINITY,
            largest: 0.0,
            smoothed: 0.0,
            aim: 0.0,
            cwnd: start.initial_cwnd().count() as f64 / start.mss.count().max(1) as f64,
            before_timeout: None,
            timeout_at: None,
        }
    }

    fn handle_sample(&mut self, ack: &Ack, rtt: f64) {
        self.least = self.least.min(rtt);
        self.largest = self.largest.max(rtt);
        // Delays during loss recovery do not belong to the window.
        if self.phase != Phase::Recovering {
            // Bytes dropped since then do not count in the window: the full queue had no room for
            // them.
            let dropped = ack.lost.saturating_sub(ack.sent.lost);
            let window = ack.sent.in_flight.saturating_sub(dropped);
            let window = window.count() as f64 / self.mss.count() as f64;
            self.profile.handle_sample(window.clamp(1.0, MAX_CWND), rtt);
        }
    }

    /// Changes the target delay, and sets its window.
    fn end_epoch(&mut self, now: HostInstant) {
        let mut largest = core::mem::take(&mut self.largest);
        if largest <= 0.0 {
            let Some(since) = self.silent_since.filter(|_| self.is_steering()) else { return };
            // Silence counts as a delay that has not ended yet (authors' program).
            largest = self.smoothed.max((now - since).as_secs_f64());
        }
        let before = self.smoothed;
        self.smoothed = if before > 0.0 { KEPT * before + (1.0 - KEPT) * largest } else { largest };
        if !self.is_steering() {
            return;
        }
        if self.smoothed > self.ratio * self.least {
            self.aim -= MUCH;
        } else if self.smoothed > before {
            self.aim -= LITTLE;
        } else {
            self.aim += MUCH;
        }
        self.aim = self.aim.clamp(self.least, 2.0 * self.ratio * self.least);
        if let Some(window) = self.profile.window(self.aim) {
            self.cwnd = window.clamp(MIN_CWND, MAX_CWND);
        }
    }

    fn is_steering(&self) -> bool {
        self.phase == Phase::Steering
    }

    fn steer(&mut self, aim: f64) {
        self.profile.draw();
        self.phase = Phase::Steering;
        self.aim = aim;
    }

    fn advance(&mut self, now: HostInstant) {
        if now >= self.drawn_at + DRAWN_EVERY {
            self.drawn_at = now;
            self.profile.draw();
        }
        if now >= self.epoch_began + EPOCH {
            // All epochs that have passed since then count as one.
            self.epoch_began = now;
            self.end_epoch(now);
        }
    }
}

impl Controller for Verus {
    fn handle_sent(&mut self, sent: &Departure, _size: Bytes) {
        self.silent_since.get_or_insert(sent.at);
    }

    fn handle_ack(&mut self, ack: &Ack) {
        self.silent_since = (ack.in_flight > Bytes::ZERO).then_some(ack.now);
        if ack.recovery != Recovery::Timeout {
            self.before_timeout = None;
        }
        let rtt = ack.rtt.filter(|rtt| !rtt.is_zero()).map(|rtt| rtt.as_secs_f64());
        if let Some(rtt) = rtt {
            self.handle_sample(ack, rtt);
        }
        let acked = ack.acked.count() as f64 / self.mss.count() as f64;
        match self.phase {
            Phase::SlowStart => {
                if ack.cwnd_limited {
                    self.cwnd = (self.cwnd + acked).min(MAX_CWND);
                }
                if let Some(rtt) = rtt.filter(|&rtt| rtt > SLOW_START_ENDS * self.least) {
                    self.steer(rtt);
                }
            }
            Phase::Recovering => {
                self.cwnd = (self.cwnd + acked / self.cwnd).min(MAX_CWND);
                if ack.recovery == Recovery::None {
                    // The delay of the reduced window (authors' program), not that of the queue
                    // before.
                    let delay = self.profile.delay(self.cwnd).or(rtt);
                    self.steer(delay.unwrap_or(self.smoothed));
                }
            }
            Phase::Steering => {}
        }
        self.advance(ack.now);
    }

    fn handle_loss(&mut self, loss: &Loss) {
        // A transport that repairs the losses of a timeout begins no other recovery meanwhile. The
        // window has started again, and losses from it count.
        let is_of_slow_start = self.phase == Phase::SlowStart
            && self.timeout_at.is_some_and(|timeout| loss.sent.at > timeout);
        if !loss.begins_recovery && !is_of_slow_start {
            return;
        }
        let lost_at = loss.sent.in_flight.count() as f64 / self.mss.count() as f64;
        self.cwnd = (AFTER_LOSS * lost_at.min(self.cwnd)).max(MIN_CWND);
        self.phase = Phase::Recovering;
    }

    fn handle_timeout(&mut self, now: HostInstant) {
        self.silent_since = None;
        self.timeout_at = Some(now);
        self.before_timeout.get_or_insert((self.cwnd, self.phase));
        self.cwnd = MIN_CWND;
        self.phase = Phase::SlowStart;
    }

    fn handle_spurious_timeout(&mut self, _now: HostInstant) {
        if let Some((cwnd, phase)) = self.before_timeout.take() {
            (self.cwnd, self.phase) = (self.cwnd.max(cwnd), phase);
        }
    }

    fn handle_time(&mut self, now: HostInstant) {
        self.advance(now);
    }

    fn wakeup(&self) -> Option<HostInstant> {
        // An epoch without a sample and without silence has no effect.
        let counts = self.largest > 0.0 || (self.is_steering() && self.silent_since.is_some());
        counts.then(|| self.epoch_began + EPOCH)
    }

    fn cwnd(&self) -> Bytes {
        Bytes::new((self.cwnd * self.mss.count() as f64) as u64)
    }

    fn pacing_rate(&self) -> Option<Rate> {
        None
    }

    fn state(&self) -> &'static str {
        match self.phase {
            Phase::SlowStart => "slow start",
            Phase::Steering => "steering",
            Phase::Recovering => "recovering",
        }
    }
}
