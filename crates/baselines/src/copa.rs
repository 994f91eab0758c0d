//! Copa: a window that steers towards a rate of 1 ÷ (δ × queueing delay), which drains the queue in
//! every cycle (Arun and Balakrishnan, "Copa: Practical Delay-Based Congestion Control for the
//! Internet", NSDI 2018).
//!
//! The paper does not cover timeouts: here slow start begins again, from two segments. In the
//! default mode a loss has no effect.

mod mode;
mod velocity;

use core::time::Duration;

use sounding_cc::parameter::{Kind, Parameter, Values};
use sounding_cc::part::{Round, RttEstimator, Windowed};
use sounding_cc::{Ack, Controller, Loss, Start};
use sounding_laws::copa_gandalf::DELTA;
use sounding_units::{Bytes, HostInstant, Rate};

use mode::Competition;
use velocity::{Trend, Velocity};

pub(crate) const MODE: Parameter = Parameter {
    name: "mode",
    kind: Kind::Word { default: SWITCHING, words: &[SWITCHING, "default"] },
    unit: "",
    about: "`switching` lowers δ while other flows fill the buffer; `default` keeps it",
    source: "the paper, §2.2",
};
const SWITCHING: &str = "switching";

/// Parameters of Copa.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Config {
    /// About 1.25 ÷ δ packets of queue for one flow alone.
    pub delta: f64,
    /// Whether it competes with flows that fill the buffer.
    pub competes: bool,
}

impl Config {
    pub(crate) const PARAMETERS: &[Parameter] = &[DELTA, MODE];
    /// Parameters of a flow that never competes.
    pub(crate) const DEFAULT_MODE: &[Parameter] = &[DELTA];

    pub(crate) fn of(values: &Values) -> Self {
        Self { delta: values.number(&DELTA), competes: values.word(&MODE) == SWITCHING }
    }
}

impl Default for Config {
    fn default() -> Self {
        Self::of(&Values::default())
    }
}

/// How long the minimum RTT is remembered.
const RTT_MIN_LASTS: Duration = Duration::from_secs(10);
/// In segments; chosen: one delayed acknowledgement covers two.
const MIN_CWND: f64 = 2.0;
/// In segments. No real window is this large; it limits the effect of absurd samples.
const MAX_CWND: f64 = (1 << 20) as f64;
/// One flow under Copa.
#[derive(Clone, Debug)]
pub struct Copa {
    mss: Bytes,
    /// In segments.
    cwnd: f64,
    phase: Phase,
    round: Round,
    rtt: RttEstimator,
    delay: Option<Delay>,
    velocity: Velocity,
    /// `None` in the default mode.
    competition: Option<Competition>,
    /// 1 ÷ δ while no other flow fills the buffer.
    usual_inverse_delta: f64,
    inverse_delta: f64,
    before_timeout: Option<(f64, Phase)>,
}

/// ```text
/// SlowStart ──(rate above target)──▶ Draining ──(rate below it)──▶ AtTarget
///     ▲─────────────────────────(timeout)────────────────────────────┘
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Phase {
    SlowStart,
    Draining,
    AtTarget,
}

/// The delay without a queue, and with the queue that does not drain within half an RTT or so.
#[derive(Clone, Copy, Debug)]
struct Delay {
    least: Windowed<Duration>,
    standing: Windowed<Duration>,
}

impl Delay {
    fn new(now: HostInstant, rtt: Duration) -> Self {
        let filter = |window: Duration| Windowed::min(nanos(window), now.as_nanos(), rtt);
        Self { least: filter(RTT_MIN_LASTS), standing: filter(rtt / 2) }
    }

    fn handle_sample(&mut self, now: HostInstant, rtt: Duration, stands_for: Duration) {
        self.least.update(now.as_nanos(), rtt);
        self.standing.set_window(nanos(stands_for));
        self.standing.update(now.as_nanos(), rtt);
    }

    fn queueing(&self) -> Duration {
        self.standing.best().saturating_sub(self.least.best())
    }
}

fn nanos(span: Duration) -> u64 {
    u64::try_from(span.as_nanos()).unwrap_or(u64::MAX)
}

impl Copa {
    /// A flow that competes with flows that fill the buffer.
    pub fn new(start: &Start) -> Self {
        Self::with(start, Config::default())
    }

    /// The same, with other parameters.
    pub fn with(start: &Start, config: Config) -> Self {
        let alone = Self::with_delta(start, config.delta);
        let competition = config.competes.then(|| Competition::new(alone.inverse_delta));
        Self { competition, ..alone }
    }

    /// A flow that stays in the default mode with this δ: about 1.25 ÷ δ packets of queue for it
    /// alone.
    pub fn with_delta(start: &Start, delta: f64) -> Self {
        let mut rtt = RttEstimator::default();
        if let Some(sample) = start.rtt.filter(|rtt| !rtt.is_zero()) {
            rtt.handle_sample(sample);
        }
        Self {
            mss: Bytes::new(start.mss.count().max(1)),
            cwnd: start.initial_cwnd().count() as f64 / start.mss.count().max(1) as f64,
            phase: Phase::SlowStart,
            round: Round::default(),
            rtt,
            // The handshake's RTT is not used: a full packet takes longer, without a queue.
            delay: None,
            velocity: Velocity::default(),
            competition: None,
            usual_inverse_delta: 1.0 / delta,
            inverse_delta: 1.0 / delta,
            before_timeout: None,
        }
    }

    /// The direction of the window's change; `None` without an RTT.
    fn direction(&self) -> Option<Trend> {
        let delay = self.delay?;
        let (queueing, standing) =
            (delay.queueing().as_secs_f64(), delay.standing.best().as_secs_f64());
        // Compares cwnd ÷ standing with 1 ÷ (δ × queueing), without a division by an empty queue.
        let is_below = self.cwnd * queueing <= self.inverse_delta * standing;
        Some(if is_below { Trend::Up } else { Trend::Down })
    }

    /// Starts when the window first reaches its target. Until then it drains the queue of slow
    /// start.
    fn compete(&mut self, ack: &Ack, round_began: bool) {
        let (Some(delay), Some(smoothed)) = (self.delay, self.rtt.smoothed()) else { return };
        let Some(competition) = &mut self.competition else { return };
        if let Some(rtt) = ack.rtt {
            let (least, queueing) = (delay.least.best(), delay.queueing());
            let segment = delay.standing.best().as_secs_f64() / self.cwnd;
            competition.handle_sample(ack.now, rtt, least, queueing, smoothed, segment);
        }
        if round_began {
            self.inverse_delta = competition.handle_round(ack.now, smoothed);
        }
    }
}

impl Controller for Copa {
    fn handle_ack(&mut self, ack: &Ack) {
        if ack.recovery != sounding_cc::Recovery::Timeout {
            self.before_timeout = None;
        }
        if let Some(rtt) = ack.rtt.filter(|rtt| !rtt.is_zero()) {
            self.rtt.handle_sample(rtt);
            // A queue counts that does not drain within half an RTT.
            let stands_for = self.rtt.smoothed().unwrap_or(rtt) / 2;
            self.delay
                .get_or_insert_with(|| Delay::new(ack.now, rtt))
                .handle_sample(ack.now, rtt, stands_for);
        }
        let round_began = self.round.handle_ack(ack);
        if self.phase == Phase::AtTarget {
            self.compete(ack, round_began);
        }
        let Some(direction) = self.direction() else { return };
        let acked = ack.acked.count() as f64 / self.mss.count() as f64;
        let may_grow = !ack.sent.app_limited;
        if self.phase == Phase::SlowStart {
            if direction == Trend::Up {
                self.cwnd += if may_grow { acked } else { 0.0 };
                self.cwnd = self.cwnd.min(MAX_CWND);
                return;
            }
            self.phase = Phase::Draining;
            self.velocity = Velocity::default();
        }
        if direction == Trend::Up {
            self.phase = Phase::AtTarget;
        }
        if round_began {
            self.velocity.handle_round(self.cwnd);
        }
        let moves = self.velocity.step(direction) * self.inverse_delta;
        let step = moves / self.cwnd * acked;
        match direction {
            Trend::Up if may_grow => self.cwnd += step,
            Trend::Up => {}
            Trend::Down => self.cwnd -= step,
        }
        self.cwnd = self.cwnd.clamp(MIN_CWND, MAX_CWND);
    }

    fn handle_loss(&mut self, loss: &Loss) {
        if loss.begins_recovery
            && let Some(competition) = &mut self.competition
        {
            self.inverse_delta = competition.handle_loss();
        }
    }

    fn handle_timeout(&mut self, _now: HostInstant) {
        self.before_timeout.get_or_insert((self.cwnd, self.phase));
        self.cwnd = MIN_CWND;
        self.phase = Phase::SlowStart;
        self.velocity = Velocity::default();
    }

    fn handle_spurious_timeout(&mut self, _now: HostInstant) {
        if let Some((cwnd, phase)) = self.before_timeout.take() {
            self.cwnd = self.cwnd.max(cwnd);
            self.phase = phase;
        }
    }

    fn cwnd(&self) -> Bytes {
        Bytes::new((self.cwnd * self.mss.count() as f64) as u64)
    }

    /// Twice the window ÷ the standing RTT, so that pacing spreads packets and the window limits
    /// them.
    fn pacing_rate(&self) -> Option<Rate> {
        let standing = self.delay.map(|delay| delay.standing.best()).or(self.rtt.smoothed())?;
        let rate = self.cwnd().per(standing).scaled(2, 1);
        Some(rate.max(self.mss.per(Duration::from_secs(1))))
    }

    fn state(&self) -> &'static str {
        match self.phase {
            Phase::SlowStart => "slow start",
            Phase::Draining => "draining",
            Phase::AtTarget if self.inverse_delta > self.usual_inverse_delta => "competitive",
            Phase::AtTarget => "default",
        }
    }
}
