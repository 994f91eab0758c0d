//! CUBIC: a window that grows as the cube of the time since the last loss (RFC 9438), after
//! HyStart++ (RFC 9406).

use core::time::Duration;

use sounding_cc::parameter::{Kind, Parameter, Values};
use sounding_cc::part::{Marks, SlowStart};
use sounding_cc::{Ack, Controller, Loss, Recovery, Revision, Start};
use sounding_units::{Bytes, HostInstant, Rate};

const C: Parameter = Parameter {
    name: "c",
    kind: Kind::number(0.4, 0.001, 100.0),
    unit: "segments ÷ s³",
    about: "how steep the curve is",
    source: "RFC 9438 §5.1",
};
const BETA: Parameter = Parameter {
    name: "beta",
    kind: Kind::number(0.7, 0.1, 0.95),
    unit: "",
    about: "the part of the window that is left after a loss",
    source: "RFC 9438 §4.6",
};

/// Parameters of CUBIC.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Config {
    /// Segments per second cubed.
    pub c: f64,
    /// The part of the window that is left after a loss.
    pub beta: f64,
}

impl Config {
    /// What plans can set.
    pub const PARAMETERS: &[Parameter] = &[C, BETA];

    /// Its values as plans state them, the others as published.
    pub fn of(values: &Values) -> Self {
        Self { c: values.number(&C), beta: values.number(&BETA) }
    }

    /// Segments a round with which an AIMD of the same decrease is as fast as Reno (RFC 9438 §4.3).
    fn alpha(&self) -> f64 {
        3.0 * (1.0 - self.beta) / (1.0 + self.beta)
    }
}

impl Default for Config {
    fn default() -> Self {
        Self::of(&Values::default())
    }
}

/// In segments (RFC 9438 §4.6).
const MIN_SSTHRESH: f64 = 2.0;

/// One flow under CUBIC. Windows are in segments, as in the RFC.
#[derive(Clone, Debug)]
pub struct Cubic {
    config: Config,
    mss: Bytes,
    window: Window,
    /// `None` after the first slow start, or if slow start lasts until a loss. Where RTTs are
    /// explained later, it stays until a loss.
    slow_start: Option<SlowStart>,
    /// How far ahead the curve is evaluated. RFC 9438 §4.2 uses the smoothed RTT, Linux the
    /// minimum. With a queue of seconds, the former's window grows by the curve's value
    /// seconds later, which no deployed CUBIC does. Pinned by
    /// `cubic_over_recorded_links_is_the_kernels_to_3_percent_and_10`.
    ahead: Option<Duration>,
    last_ack: HostInstant,
    marks: Marks,
    before_timeout: Option<Window>,
}

#[derive(Clone, Copy, Debug)]
struct Window {
    cwnd: f64,
    ssthresh: f64,
    /// The window before the last cut, or less if the one before that was larger: fast convergence
    /// (RFC 9438 §4.7).
    w_max: f64,
    /// The window before the last cut.
    prior: f64,
    epoch: Option<Epoch>,
}

/// Congestion avoidance since the last loss.
#[derive(Clone, Copy, Debug)]
struct Epoch {
    /// How long the window was in use. Time in which the application had no data does not count
    /// (§5.8).
    elapsed: Duration,
    /// [`Config::c`].
    c: f64,
    /// Time of the curve's plateau, in seconds.
    k: f64,
    plateau: f64,
    /// Reno's window by now.
    reno: f64,
}

impl Cubic {
    /// A flow that begins with RFC 6928's window, in HyStart++.
    pub fn new(start: &Start) -> Self {
        Self::with(start, Config::default())
    }

    /// The same, with other parameters.
    pub fn with(start: &Start, config: Config) -> Self {
        let cwnd = start.initial_cwnd().count() as f64 / start.mss.count().max(1) as f64;
        Self {
            config,
            mss: start.mss,
            window: Window { cwnd, ssthresh: f64::INFINITY, w_max: 0.0, prior: 0.0, epoch: None },
            slow_start: Some(SlowStart::default()),
            ahead: start.rtt,
            last_ack: start.now,
            marks: Marks::default(),
            before_timeout: None,
        }
    }

    /// The same without HyStart++: slow start lasts until a loss.
    #[must_use]
    pub fn without_hystart(self) -> Self {
        Self { slow_start: None, ..self }
    }

    /// Starts again with this window, in slow start up to `ssthresh` if that is more.
    pub(crate) fn go_on(&mut self, now: HostInstant, cwnd: Bytes, ssthresh: Bytes) {
        let (cwnd, ssthresh) = (self.segments(cwnd), self.segments(ssthresh));
        self.window = Window { cwnd, ssthresh, w_max: 0.0, prior: 0.0, epoch: None };
        self.slow_start = Some(SlowStart::default());
        self.last_ack = now;
        self.before_timeout = None;
    }

    /// The window at which slow start ends at the latest.
    pub(crate) fn ssthresh(&self) -> Bytes {
        Bytes::new((self.window.ssthresh * self.mss.count() as f64) as u64)
    }

    fn segments(&self, bytes: Bytes) -> f64 {
        bytes.count() as f64 / self.mss.count().max(1) as f64
    }

    fn grow(&mut self, ack: &Ack, since: Duration) {
        let acked = self.segments(ack.acked);
        if self.window.cwnd < self.window.ssthresh {
            let Some(slow_start) = &mut self.slow_start else {
                self.window.cwnd += acked;
                return;
            };
            if let Some(more) = slow_start.handle_ack(ack) {
                self.window.cwnd += self.segments(more);
                return;
            }
            self.window.ssthresh = self.window.cwnd;
        }
        // A later explanation may show that the end of slow start was too early.
        self.slow_start = self.slow_start.filter(SlowStart::is_explained);
        self.window.avoid(&self.config, acked, since, self.ahead.unwrap_or_default());
    }
}

impl Window {
    /// Congestion avoidance (RFC 9438 §4.2 to §4.5).
    fn avoid(&mut self, config: &Config, acked: f64, since: Duration, ahead: Duration) {
        let cwnd = self.cwnd;
        let (w_max, prior) = (self.w_max, self.prior);
        let epoch = self.epoch.get_or_insert_with(|| Epoch {
            elapsed: Duration::ZERO,
            c: config.c,
            k: libm::cbrt((w_max - cwnd).max(0.0) / config.c),
            plateau: w_max.max(cwnd),
            reno: cwnd,
        });
        epoch.elapsed += since;
        let alpha = if epoch.reno >= prior { 1.0 } else { config.alpha() };
        epoch.reno += alpha * acked / cwnd;
        if epoch.at(epoch.elapsed) < epoch.reno {
            self.cwnd = cwnd.max(epoch.reno);
        } else {
            let target = epoch.at(epoch.elapsed + ahead).clamp(cwnd, 1.5 * cwnd);
            self.cwnd += (target - cwnd) / cwnd * acked;
        }
    }

    fn cut(&mut self, beta: f64) {
        let converging = self.cwnd < self.w_max;
        self.w_max = if converging { self.cwnd * (1.0 + beta) / 2.0 } else { self.cwnd };
        self.prior = self.cwnd;
        self.ssthresh = (self.cwnd * beta).max(MIN_SSTHRESH);
        self.cwnd = self.ssthresh;
        self.epoch = None;
    }
}

impl Epoch {
    /// W_cubic (RFC 9438 Figure 1).
    fn at(&self, elapsed: Duration) -> f64 {
        let from_plateau = elapsed.as_secs_f64() - self.k;
        self.c * from_plateau * from_plateau * from_plateau + self.plateau
    }
}

impl Controller for Cubic {
    fn handle_ack(&mut self, ack: &Ack) {
        if let Some(rtt) = ack.rtt {
            self.ahead = Some(self.ahead.map_or(rtt, |least| least.min(rtt)));
        }
        if ack.recovery != Recovery::Timeout {
            self.before_timeout = None;
        }
        let since = ack.now - self.last_ack;
        self.last_ack = ack.now;
        if self.marks.handle_ack(ack) {
            self.window.cut(self.config.beta);
        } else if ack.recovery != Recovery::Fast && ack.cwnd_limited {
            self.grow(ack, since);
        }
    }

    fn handle_loss(&mut self, loss: &Loss) {
        if loss.begins_recovery {
            self.slow_start = None;
            self.window.cut(self.config.beta);
        }
    }

    fn handle_revision(&mut self, revision: &Revision) {
        if self.slow_start.as_mut().is_some_and(|slow_start| slow_start.handle_revision(revision)) {
            (self.window.ssthresh, self.window.epoch) = (f64::INFINITY, None);
        }
    }

    fn handle_timeout(&mut self, _now: HostInstant) {
        // The first of several timeouts in a row is the one that would be undone.
        self.before_timeout.get_or_insert(self.window);
        self.slow_start = None;
        self.window.cut(self.config.beta);
        // From here on as without a loss: the plateau is where slow start ends (RFC 9438 §4.8).
        self.window.w_max = 0.0;
        self.window.cwnd = 1.0;
    }

    fn handle_spurious_timeout(&mut self, _now: HostInstant) {
        if let Some(before) = self.before_timeout.take() {
            // The curve starts again, as in Linux. RFC 9438 §4.9 would continue the old one, which
            // may be far into its convex part by then.
            self.window = Window { w_max: 0.0, epoch: None, ..before };
        }
    }

    fn cwnd(&self) -> Bytes {
        Bytes::new((self.window.cwnd * self.mss.count() as f64) as u64)
    }

    fn pacing_rate(&self) -> Option<Rate> {
        None
    }

    fn state(&self) -> &'static str {
        match self.window.epoch {
            _ if self.window.cwnd < self.window.ssthresh => "slow start",
            Some(epoch) if epoch.at(epoch.elapsed) < epoch.reno => "reno-friendly",
            Some(epoch) if epoch.elapsed.as_secs_f64() < epoch.k => "concave",
            Some(_) => "convex",
            None => "cut",
        }
    }
}

#[cfg(test)]
mod slow_start;
