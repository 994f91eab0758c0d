//! Sprout: sends the amount that a cautious forecast of the link delivers within 100 ms (Winstein,
//! Sivaraman and Balakrishnan, "Stochastic Forecasts Achieve High Throughput and Low Delay over
//! Cellular Networks", NSDI 2013).
//!
//! There the receiver counts packets and sends its forecast along. Here acknowledgements are
//! counted at the sender. Forecast packets are acknowledged half a minimum RTT after delivery, so
//! the forecast looks that much further ahead. It assumes a separate queue per device, as in
//! cellular links, and has no fairness within a queue.

mod belief;
mod sends;

use core::time::Duration;

use sounding_cc::parameter::{Kind, Parameter, Values};
use sounding_cc::part::RttEstimator;
use sounding_cc::{Ack, Controller, Departure, Loss, Start};
use sounding_units::{Bytes, HostInstant, Rate};

use belief::{Belief, TICK, TICK_SPAN};
use sends::Sends;

const LOOK_AHEAD: Parameter = Parameter {
    name: "look_ahead",
    kind: Kind::millis(100, 20, 2_000),
    unit: "",
    about: "the delay that a packet may have",
    source: "the paper's 100 ms",
};
const RISK: Parameter = Parameter {
    name: "risk",
    kind: Kind::number(0.05, 0.001, 0.95),
    unit: "",
    about: "probability that the link carries less than forecast: a larger value gives more throughput",
    source: "the paper's 5 %, which it varies",
};
/// In segments; chosen: so that a link that comes back is noticed.
const MIN_CWND: u64 = 2;
/// The delay above the minimum that still counts as no queue: chosen, for what hosts and pairs of
/// packets add.
const IMPATIENCE: Duration = Duration::from_millis(2);
/// After a pause of this length everything learnt is forgotten.
const FORGETS_AFTER: Duration = Duration::from_secs(1);

/// One flow under Sprout.
#[derive(Clone, Debug)]
pub struct Sprout {
    look_ahead: Duration,
    risk: f64,
    mss: Bytes,
    belief: Belief,
    rtt: RttEstimator,
    tick_began: HostInstant,
    /// Acknowledged in the current tick.
    acked: Bytes,
    /// Since when packets are in flight; `None` if none are.
    busy_since: Option<HostInstant>,
    sends: Sends,
    /// When the newest packet that is acknowledged left.
    acked_sent_at: HostInstant,
    /// Whether the link had packets to deliver when the tick began.
    backlogged: bool,
    /// Segments acknowledged one look-ahead after the tick's beginning, and a tick later.
    forecast: [f64; 2],
    cwnd: Bytes,
    /// No packet has arrived since the timeout: one segment probes whether the path works.
    asking: bool,
}

impl Sprout {
    pub(crate) const PARAMETERS: &[Parameter] = &[LOOK_AHEAD, RISK];

    /// A flow without a belief yet.
    pub fn new(start: &Start) -> Self {
        Self::tuned(start, &Values::default())
    }

    pub(crate) fn tuned(start: &Start, values: &Values) -> Self {
        let cwnd = start.initial_cwnd();
        let segments = cwnd.count() as f64 / start.mss.count().max(1) as f64;
        Self {
            look_ahead: values.time(&LOOK_AHEAD),
            risk: values.number(&RISK),
            mss: Bytes::new(start.mss.count().max(1)),
            belief: Belief::new(),
            // Not from the handshake: a full packet takes longer, and that is no queue.
            rtt: RttEstimator::default(),
            tick_began: start.now,
            acked: Bytes::ZERO,
            busy_since: None,
            sends: Sends::default(),
            acked_sent_at: HostInstant::default(),
            backlogged: false,
            forecast: [segments; 2],
            cwnd,
            asking: false,
        }
    }

    fn segments(&self, bytes: Bytes) -> f64 {
        bytes.count() as f64 / self.mss.count() as f64
    }

    fn advance(&mut self, now: HostInstant) {
        if now > self.tick_began + FORGETS_AFTER {
            self.belief = Belief::new();
            self.tick_began = now;
            self.look_ahead();
        }
        let ticks = (now - self.tick_began).as_nanos() / TICK_SPAN.as_nanos();
        (0..ticks).for_each(|_| self.end_tick());
        if ticks > 0 {
            self.look_ahead();
        }
    }

    fn end_tick(&mut self) {
        self.belief.wander();
        self.tick_began = self.tick_began + TICK_SPAN;
        let packets = self.segments(self.acked);
        let is_backlogged = self.is_backlogged();
        if core::mem::replace(&mut self.backlogged, is_backlogged) && is_backlogged {
            self.belief.observe(packets);
        } else {
            self.belief.observe_at_least(packets);
        }
        self.acked = Bytes::ZERO;
    }

    /// Whether the link has packets to deliver: a packet has been in flight for longer than a path
    /// without a queue takes. In the paper, the sender announces the time of the next packet,
    /// so that silence does not count as a slow link.
    fn is_backlogged(&self) -> bool {
        let Some(path) = self.rtt.least() else { return false };
        let oldest = self.sends.first_after(self.acked_sent_at);
        oldest.is_some_and(|at| at + path + IMPATIENCE <= self.tick_began)
    }

    fn look_ahead(&mut self) {
        if self.rtt.least().is_none() || self.busy_since.is_none() {
            return;
        }
        let way_back = self.rtt.least().unwrap_or_default() / 2;
        let seconds = (self.look_ahead + way_back.min(self.look_ahead)).as_secs_f64();
        self.forecast =
            [seconds, seconds + TICK].map(|seconds| self.belief.forecast(seconds, self.risk));
    }

    /// Sets the limit in flight: the forecast from the beginning of the tick, minus the
    /// acknowledged bytes.
    fn open(&mut self, now: HostInstant) {
        let part = ((now - self.tick_began).as_secs_f64() / TICK).min(1.0);
        let [first, last] = self.forecast;
        let segments = first + (last - first) * part - self.segments(self.acked);
        let least = Bytes::new(self.mss.count() * MIN_CWND);
        self.cwnd = Bytes::new((segments * self.mss.count() as f64) as u64).max(least);
    }
}

impl Controller for Sprout {
    fn handle_sent(&mut self, sent: &Departure, size: Bytes) {
        self.sends.handle_sent(sent.at);
        if sent.in_flight <= size || self.busy_since.is_none() {
            self.busy_since = Some(sent.at);
        }
    }

    fn handle_ack(&mut self, ack: &Ack) {
        self.asking = false;
        self.rtt.handle_ack(ack);
        self.advance(ack.now);
        self.acked += ack.acked;
        self.acked_sent_at = self.acked_sent_at.max(ack.sent.at);
        if ack.in_flight == Bytes::ZERO {
            self.busy_since = None;
        }
        self.open(ack.now);
    }

    fn handle_loss(&mut self, loss: &Loss) {
        self.advance(loss.now);
        self.open(loss.now);
    }

    fn handle_timeout(&mut self, now: HostInstant) {
        self.asking = true;
        self.busy_since = None;
        self.sends.clear();
        self.advance(now);
        self.open(now);
    }

    fn handle_spurious_timeout(&mut self, now: HostInstant) {
        self.asking = false;
        self.open(now);
    }

    fn handle_time(&mut self, now: HostInstant) {
        self.advance(now);
        self.open(now);
    }

    fn wakeup(&self) -> Option<HostInstant> {
        // The belief needs no update while no packet is in flight.
        self.busy_since.map(|_| self.tick_began + TICK_SPAN)
    }

    fn cwnd(&self) -> Bytes {
        if self.asking { self.mss } else { self.cwnd }
    }

    fn pacing_rate(&self) -> Option<Rate> {
        None
    }

    fn state(&self) -> &'static str {
        if self.belief.mean() < 1.0 { "outage" } else { "forecasting" }
    }
}
