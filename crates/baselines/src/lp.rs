//! TCP-LP: Reno that treats a one-way delay above 15 % of its range as a sign of another flow, and
//! backs off before a loss (Kuzmanovic and Knightly, "TCP-LP: Low-Priority Service via End-Point
//! Congestion Control", IEEE/ACM ToN 2006).
//!
//! Only differences of delays are used, so the clocks at both ends may differ. Linux's `tcp_lp.c`
//! compares a delay that includes the clocks' difference with 15 % of this difference, and so never
//! backs off.

use sounding_cc::parameter::{Kind, Parameter, Values};
use sounding_cc::part::{Aimd, RttEstimator};
use sounding_cc::{Ack, Controller, Loss, Recovery, Start};
use sounding_units::{Bytes, HostInstant, Rate};

const THRESHOLD: Parameter = Parameter {
    name: "threshold",
    kind: Kind::number(0.15, 0.01, 1.0),
    unit: "",
    about: "the part of the range of delays above which the flow backs off",
    source: "the paper's δ",
};
/// Weight of a new sample in the smoothed delay (the paper's γ).
const SMOOTHING: f64 = 1.0 / 8.0;
const INFERENCE: Parameter = Parameter {
    name: "inference",
    kind: Kind::count(3, 0, 1_000),
    unit: "RTTs",
    about: "how long the flow yields after a sign of other traffic",
    source: "the paper's itt",
};

/// One flow under TCP-LP.
///
/// The first slow start measures the largest delay, up to its first loss. Before that, no delay
/// counts as a sign. Chosen: with an empty range at the start, every queue would be above the
/// threshold, and the range would never grow.
#[derive(Clone, Debug)]
pub struct Lp {
    threshold: f64,
    inference: u32,
    window: Aimd,
    mss: Bytes,
    rtt: RttEstimator,
    delay: Option<OneWay>,
    /// When the window was last cut after a sign of other traffic.
    gave_way_at: Option<HostInstant>,
}

/// In seconds.
#[derive(Clone, Copy, Debug)]
struct OneWay {
    least: f64,
    most: f64,
    /// `None` until a packet was delivered that left after the window was cut: earlier packets do
    /// not show the effect of the cut.
    smoothed: Option<f64>,
}

impl OneWay {
    fn handle_sample(&mut self, delay: f64) {
        self.least = self.least.min(delay);
        self.most = self.most.max(delay);
        self.smoothed =
            Some(self.smoothed.map_or(delay, |smoothed| smoothed + (delay - smoothed) * SMOOTHING));
    }

    fn shows_others(&self, threshold: f64) -> bool {
        let threshold = self.least + (self.most - self.least) * threshold;
        self.smoothed.is_some_and(|smoothed| smoothed > threshold)
    }
}

impl Lp {
    pub(crate) const PARAMETERS: &[Parameter] = &[THRESHOLD, INFERENCE];

    /// A flow that begins with RFC 6928's window.
    pub fn new(start: &Start) -> Self {
        Self::tuned(start, &Values::default())
    }

    pub(crate) fn tuned(start: &Start, values: &Values) -> Self {
        Self {
            threshold: values.number(&THRESHOLD),
            inference: values.count(&INFERENCE),
            window: Aimd::new(start),
            mss: start.mss,
            rtt: RttEstimator::default(),
            delay: None,
            gave_way_at: None,
        }
    }

    fn is_inferring(&self, now: HostInstant) -> bool {
        let span = self.rtt.smoothed().unwrap_or_default() * self.inference;
        self.gave_way_at.is_some_and(|at| now < at + span)
    }

    fn give_way(&mut self, now: HostInstant) {
        if self.is_inferring(now) {
            self.window.dip(self.mss);
            self.window.leave_slow_start();
        } else {
            self.window.cut();
        }
        self.gave_way_at = Some(now);
        if let Some(delay) = &mut self.delay {
            delay.smoothed = None;
        }
    }
}

impl Controller for Lp {
    fn handle_ack(&mut self, ack: &Ack) {
        let marked = self.window.handle_ack(ack);
        self.rtt.handle_ack(ack);
        if let Some(delay) = ack.one_way.or(ack.rtt).map(|delay| delay.as_secs_f64())
            && self.gave_way_at.is_none_or(|at| ack.sent.at >= at)
        {
            let unknown = OneWay { least: delay, most: delay, smoothed: None };
            self.delay.get_or_insert(unknown).handle_sample(delay);
        }
        let others = self.delay.is_some_and(|delay| delay.shows_others(self.threshold));
        if others && !self.window.in_first_slow_start() && ack.recovery == Recovery::None {
            self.give_way(ack.now);
        } else if !marked && !self.is_inferring(ack.now) {
            self.window.grow(ack);
        }
    }

    fn handle_loss(&mut self, loss: &Loss) {
        self.window.handle_loss(loss);
    }

    fn handle_timeout(&mut self, now: HostInstant) {
        self.window.handle_timeout(now);
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
