//! Vegas: a window that keeps two to four segments in the queue, counted from how much longer than
//! its minimum the RTT is (Brakmo and Peterson, "TCP Vegas: End to End Congestion Avoidance on a
//! Global Internet", IEEE JSAC 1995).
//!
//! Loss and timeouts are answered as Reno does. The minimum covers all time, as published: where a
//! path grows longer, Vegas takes the difference for a queue.

use core::time::Duration;

use sounding_cc::parameter::{Kind, Parameter, Values};
use sounding_cc::part::{Aimd, Round};
use sounding_cc::{Ack, Controller, Loss, Start};
use sounding_units::{Bytes, HostInstant, Rate};

/// The paper compares 1 and 2.
const ALPHA: Parameter = Parameter {
    name: "alpha",
    kind: Kind::number(2.0, 0.0, 1_000.0),
    unit: "segments",
    about: "the window grows while fewer wait in the queue",
    source: "Linux tcp_vegas.c; the paper's α",
};
/// The paper compares 3 and 4.
const BETA: Parameter = Parameter {
    name: "beta",
    kind: Kind::number(4.0, 0.0, 1_000.0),
    unit: "segments",
    about: "the window shrinks while more wait in the queue",
    source: "Linux tcp_vegas.c; the paper's β",
};
const GAMMA: Parameter = Parameter {
    name: "gamma",
    kind: Kind::number(1.0, 0.0, 1_000.0),
    unit: "segments",
    about: "slow start ends when more wait in the queue",
    source: "Linux tcp_vegas.c; the paper's γ",
};

/// Parameters of Vegas: segments in the queue.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Config {
    /// The window grows while fewer packets wait.
    pub alpha: f64,
    /// It shrinks while more packets wait.
    pub beta: f64,
    /// Slow start ends when more packets wait.
    pub gamma: f64,
}

impl Config {
    pub(crate) const PARAMETERS: &[Parameter] = &[ALPHA, BETA, GAMMA];

    pub(crate) fn of(values: &Values) -> Self {
        Self {
            alpha: values.number(&ALPHA),
            beta: values.number(&BETA),
            gamma: values.number(&GAMMA),
        }
    }

    /// Between α and β the window does not change, so α must not exceed β.
    pub(crate) fn fits(values: &Values) -> Result<(), &'static str> {
        let Self { alpha, beta, .. } = Self::of(values);
        if alpha <= beta { Ok(()) } else { Err("`alpha` is at most `beta`") }
    }
}

impl Default for Config {
    fn default() -> Self {
        Self::of(&Values::default())
    }
}

/// One flow under Vegas.
#[derive(Clone, Debug)]
pub struct Vegas {
    config: Config,
    window: Aimd,
    base: Option<Duration>,
    round: Round,
    /// The least RTT of the round.
    least: Option<Duration>,
    /// Slow start grows in every other round, so that the rounds between measure a constant
    /// window.
    grows: bool,
}

impl Vegas {
    /// A flow that begins with RFC 6928's window.
    pub fn new(start: &Start) -> Self {
        Self::with(start, Config::default())
    }

    /// The same, with other parameters.
    pub fn with(start: &Start, config: Config) -> Self {
        let base = start.rtt.filter(|rtt| !rtt.is_zero());
        let window = Aimd::new(start);
        Self { config, window, base, round: Round::default(), least: None, grows: true }
    }

    /// A round has ended. Returns its measurement: the segments of the window that wait in the
    /// queue.
    fn queued(&mut self) -> Option<f64> {
        let (least, base) = (self.least.take()?, self.base?);
        let queueing = least.saturating_sub(base).as_secs_f64();
        Some(self.window.segments() * queueing / least.as_secs_f64())
    }

    fn judge(&mut self, queued: f64) {
        let Config { alpha, beta, gamma } = self.config;
        if self.window.in_slow_start() {
            self.grows = !self.grows;
            if queued > gamma {
                // The window without a queue, and a segment (Linux). Otherwise slow start's excess
                // would shrink by only one segment per round.
                self.window.shift(gamma - queued);
                self.window.leave_slow_start();
            }
        } else if queued < alpha {
            self.window.shift(1.0);
        } else if queued > beta {
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
            && ack.recovery != sounding_cc::Recovery::Fast
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
