//! Copa: a window that steers towards a rate of 1 ÷ (δ × queueing delay), which drains the queue in every cycle (Arun and
//! Balakrishnan, "Copa: Practical Delay-Based Congestion Control for the Internet", NSDI 2018).
//!
//! The paper does not cover timeouts: here slow start begins again, from two segments. In the default mode a loss has no
//! effect.

mod mode;
mod velocity;

use core::time::Duration;

use sounding_cc::parameter::{Kind, Parameter, Values};
use sounding_cc::part::{Round, RttEstimator, Windowed};
use sounding_cc::{Ack, Controller, Loss, Revision, Start};
use sounding_estimate::Direction;
use sounding_units::{Bytes, HostInstant, Rate};

use mode::Competition;
use velocity::{Trend, Velocity};

/// At the range's lower end competition stops, because no window is that large.
pub(crate) const DELTA: Parameter = Parameter {
    name: "delta",
    kind: Kind::number(0.5, 0.001, 10.0),
    unit: "",
    about: "a flow alone keeps about 1.25 ÷ δ packets in the queue: a smaller value gives more throughput, a larger one less delay",
    source: "the paper, §2.1 and §2.2",
};
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
/// While RTTs are without what the radio added, the window grows in a round by no more than this part of it, and at least by the usual
/// step: docs/interpretations/gandalf.md, interpretation 27.
const CORRECTED_RISE: f64 = 1.0 / 16.0;

/// While RTTs are without what the radio added, packets leave at this many times the window ÷ the standing RTT, in tenths.
/// Acknowledgements that waited for one grant come together. At Copa's twice the window ÷ RTT they make a burst, which fills a
/// queue where the rate alone would fill none: docs/interpretations/gandalf.md, interpretation 29.
const CORRECTED_PACE: u32 = 11;
const USUAL_PACE: u32 = 20;

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
    /// RTTs are without what the radio added, of a flow whose data goes this way.
    corrected: Option<Direction>,
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

    /// What an earlier sample was without what the radio added.
    fn handle_revision(&mut self, revision: &Revision, stands_for: Duration) {
        match *revision {
            Revision::Sample { now, seen_at, after, .. } => {
                self.least.update(now.as_nanos(), after);
                if now - seen_at <= stands_for {
                    self.standing.update(now.as_nanos(), after);
                }
            }
            Revision::Rebase { now, least, .. } => {
                let standing = self.standing.best().max(least);
                self.least = Windowed::min(nanos(RTT_MIN_LASTS), now.as_nanos(), least);
                self.standing = Windowed::min(nanos(stands_for), now.as_nanos(), standing);
            }
        }
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

    /// A flow that stays in the default mode with this δ: about 1.25 ÷ δ packets of queue for it alone.
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
            corrected: None,
        }
    }

    /// A queue counts that does not drain within this: half an RTT, and a whole one in downloads that are corrected, where a dip of the
    /// radio that is over sooner needs no smaller window (docs/interpretations/gandalf.md, interpretation 29).
    fn stands_for(&self) -> Option<Duration> {
        let smoothed = self.rtt.smoothed()?;
        let is_long = self.corrected == Some(Direction::Downlink) && self.phase == Phase::AtTarget;
        Some(if is_long { smoothed } else { smoothed / 2 })
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

    /// Starts when the window first reaches its target. Until then it drains the queue of slow start.
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
            let stands_for = self.stands_for().unwrap_or(rtt / 2);
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
        let mut moves = self.velocity.step(direction) * self.inverse_delta;
        if self.corrected.is_some() && direction == Trend::Up {
            moves = moves.min((self.cwnd * CORRECTED_RISE).max(self.inverse_delta));
        }
        let step = moves / self.cwnd * acked;
        match direction {
            Trend::Up if may_grow => self.cwnd += step,
            Trend::Up => {}
            Trend::Down => self.cwnd -= step,
        }
        self.cwnd = self.cwnd.clamp(MIN_CWND, MAX_CWND);
    }

    fn handle_revision(&mut self, revision: &Revision) {
        if let Revision::Rebase { corrected, .. } = *revision {
            self.corrected = corrected;
        }
        let stands_for = self.stands_for();
        if let (Some(delay), Some(stands_for)) = (&mut self.delay, stands_for) {
            delay.handle_revision(revision, stands_for);
        }
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

    /// Twice the window ÷ the standing RTT, so that pacing spreads packets and the window limits them; 1.1 times after slow start
    /// while RTTs are without what the radio added.
    fn pacing_rate(&self) -> Option<Rate> {
        let standing = self.delay.map(|delay| delay.standing.best()).or(self.rtt.smoothed())?;
        let is_even = self.corrected.is_some() && self.phase != Phase::SlowStart;
        let tenths = if is_even { CORRECTED_PACE } else { USUAL_PACE };
        let rate = self.cwnd().per(standing).scaled(tenths, 10);
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

#[cfg(test)]
mod tests {
    use super::*;
    use sounding_cc::Departure;

    const RTT: Duration = Duration::from_millis(40);
    const SEGMENT: Bytes = Bytes::new(1_448);

    fn at(round: u32) -> HostInstant {
        HostInstant::from_nanos(1_000_000_000) + RTT * round
    }

    /// A flow whose slow start has ended, and how it goes on: a round with this RTT, and the window after it in segments.
    fn begun() -> (Copa, impl FnMut(&mut Copa, u32, Duration) -> f64) {
        let mut copa = Copa::new(&Start::tcp(at(0), None, 1));
        let mut delivered = Bytes::new(0);
        let mut round = move |copa: &mut Copa, of: u32, rtt: Duration| {
            let before = delivered;
            for _ in 0..copa.cwnd as u32 {
                delivered += SEGMENT;
                let sent = Departure { at: at(of), delivered: before, ..Departure::default() };
                let (now, rtt) = (at(of) + rtt, Some(rtt));
                copa.handle_ack(&Ack {
                    now,
                    acked: SEGMENT,
                    rtt,
                    delivered,
                    sent,
                    ..Ack::default()
                });
            }
            copa.cwnd
        };
        for (of, rtt) in [(0, RTT), (1, RTT), (2, RTT), (4, RTT * 2)] {
            round(&mut copa, of, rtt);
        }
        (copa, round)
    }

    /// Windows of rounds without a queue, after slow start ended at one, in segments.
    fn windows(corrected: Option<Direction>) -> [f64; 16] {
        let (mut copa, mut round) = begun();
        let now = at(5);
        copa.handle_revision(&Revision::Rebase { now, least: RTT, corrected });
        core::array::from_fn(|of| round(&mut copa, 8 + of as u32, RTT))
    }

    #[test]
    fn corrected_packets_leave_evenly_and_a_downloads_queue_stands_for_an_rtt() {
        // The window in an RTT, and how long a queue must stand, in RTTs.
        let of = |copa: &Copa| {
            let standing = copa.delay.unwrap().standing.best();
            let paced = copa.pacing_rate().unwrap().bits_per_sec() as f64;
            let usual = copa.cwnd().per(standing).bits_per_sec() as f64;
            let stands = copa.stands_for().unwrap().as_secs_f64();
            [paced / usual, stands / copa.rtt.smoothed().unwrap().as_secs_f64()]
        };
        let (mut copa, mut round) = begun();
        let mut seen = |copa: &mut Copa, corrected| {
            copa.handle_revision(&Revision::Rebase { now: at(5), least: RTT, corrected });
            round(copa, 8, RTT);
            of(copa).map(|part| (part * 10.0).round() / 10.0)
        };
        assert_eq!(seen(&mut copa, None), [2.0, 0.5]);
        assert_eq!(seen(&mut copa, Some(Direction::Uplink)), [1.1, 0.5]);
        assert_eq!(seen(&mut copa, Some(Direction::Downlink)), [1.1, 1.0]);
        copa.handle_timeout(at(9));
        assert_eq!(of(&copa).map(|part| (part * 10.0).round() / 10.0), [2.0, 0.5]);
    }

    #[test]
    fn a_corrected_window_grows_by_a_sixteenth_a_round_or_the_usual_step() {
        let grown = |windows: [f64; 16]| {
            let pairs = windows.windows(2).map(|pair| (pair[0], pair[1] - pair[0]));
            pairs.collect::<alloc::vec::Vec<_>>()
        };
        let corrected = grown(windows(Some(Direction::Uplink)));
        // A window grows within its round, and with it the part of it.
        let most = |cwnd: f64| (cwnd * CORRECTED_RISE * 1.04).max(2.0);
        assert!(corrected.iter().all(|(cwnd, more)| *more <= most(*cwnd) + 1e-9), "{corrected:?}");
        assert!(corrected.iter().all(|(_, more)| *more > 1.5), "{corrected:?}");
        let stock = grown(windows(None));
        assert!(stock.iter().any(|(cwnd, more)| *more > 2.0 * most(*cwnd)), "{stock:?}");
    }
}
