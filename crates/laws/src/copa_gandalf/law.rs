use sounding_cc::part::Windowed;
use sounding_units::HostInstant;

use super::config::{Config, ONE};

const LEAST_LASTS_NS: u64 = 10_000_000_000;
const MIN_CWND: u64 = 2 * ONE;
const MAX_SEGS: u64 = 1 << 20;
const MAX_CWND: u64 = MAX_SEGS * ONE;
const MAX_INVERSE_DELTA: u64 = 1_000 * ONE;
const STEADY_ROUNDS: u32 = 3;
const MAX_VELOCITY: u64 = 65_536;
/// Hundredths of the window ÷ RTT: the paper's pace.
const USUAL_PACE: u32 = 200;
const EMPTY_ROUNDS: u64 = 5;
const MAX_ROUNDS: u64 = 4;
/// No path comes near.
pub(super) const MAX_RTT_US: u32 = 10_000_000;

/// One acknowledgement that delivers new data.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct CopaAck {
    /// When it arrived.
    pub now: HostInstant,
    /// When the newest packet left that it delivers.
    pub sent: HostInstant,
    /// Zero if it measured none.
    pub rtt_us: u32,
    /// Segments that it delivers.
    pub acked: u32,
    /// That packet left while the application had no more.
    pub app_limited: bool,
    /// A timeout is being repaired.
    pub timed_out: bool,
    /// Segments delivered when that packet left; wraps.
    pub sent_delivered: u32,
    /// Segments delivered, this included; wraps.
    pub delivered: u32,
}

/// What the window does.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum CopaPhase {
    /// It doubles.
    #[default]
    SlowStart,
    /// It drains the queue of slow start.
    Draining,
    /// It is about its target.
    AtTarget,
}

impl CopaPhase {
    /// All of them, by their numbers in the kernel.
    pub const ALL: [Self; 3] = [Self::SlowStart, Self::Draining, Self::AtTarget];

    /// Its name in tables and logs.
    pub const fn name(self) -> &'static str {
        match self {
            Self::SlowStart => "slow start",
            Self::Draining => "draining",
            Self::AtTarget => "at target",
        }
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Trend {
    Up,
    Down,
}

/// RTTs of a flow that has one.
#[derive(Clone, Copy, Debug)]
struct Delay {
    least: Windowed<u32>,
    standing: Windowed<u32>,
    most: Option<Windowed<u32>>,
    smoothed_ns: u64,
}

impl Delay {
    fn queueing(&self) -> u64 {
        self.standing.best().saturating_sub(self.least.best()).into()
    }
}

/// Copa in whole numbers, in its switching mode.
#[derive(Clone, Copy, Debug)]
pub struct CopaLaw {
    config: Config,
    delay: Option<Delay>,
    /// In 65 536ths of a segment.
    cwnd: u64,
    inverse_delta: u64,
    phase: CopaPhase,
    before_timeout: Option<(u64, CopaPhase)>,
    velocity: Velocity,
    round_ends_at: u32,
    empty_at: Option<HostInstant>,
    lost: bool,
    corrected: bool,
}

#[derive(Clone, Copy, Debug)]
struct Velocity {
    value: u64,
    trend: Option<Trend>,
    rounds: u32,
    cwnd: Option<u64>,
}

const STILL: Velocity = Velocity { value: 1, trend: None, rounds: 0, cwnd: None };

fn reached(seen: u32, goal: u32) -> bool {
    seen.wrapping_sub(goal) as i32 >= 0
}

impl CopaLaw {
    /// A flow that has delivered this many segments before.
    pub fn new(delivered: u32, config: Config) -> Self {
        Self {
            config,
            delay: None,
            cwnd: 10 * ONE,
            inverse_delta: config.inverse_delta,
            phase: CopaPhase::SlowStart,
            before_timeout: None,
            velocity: STILL,
            round_ends_at: delivered,
            empty_at: None,
            lost: false,
            corrected: false,
        }
    }

    fn sample(&mut self, at: HostInstant, rtt: u32) {
        let now = at.as_nanos();
        let Some(delay) = &mut self.delay else {
            let smoothed_ns = u64::from(rtt) * 1_000;
            self.delay = Some(Delay {
                least: Windowed::min(LEAST_LASTS_NS, now, rtt),
                standing: Windowed::min(smoothed_ns / 2, now, rtt),
                most: None,
                smoothed_ns,
            });
            return;
        };
        delay.smoothed_ns = (delay.smoothed_ns * 7 + u64::from(rtt) * 1_000) / 8;
        delay.least.update(now, rtt);
        delay.standing.set_window(delay.smoothed_ns / 2);
        delay.standing.update(now, rtt);
    }

    /// An RTT that was shown at `seen_at` is now known to be this.
    pub(super) fn revise(&mut self, now: HostInstant, seen_at: HostInstant, rtt: u32) {
        let Some(delay) = &mut self.delay else { return };
        delay.least.update(now.as_nanos(), rtt);
        if now.as_nanos().saturating_sub(seen_at.as_nanos()) <= delay.smoothed_ns / 2 {
            delay.standing.set_window(delay.smoothed_ns / 2);
            delay.standing.update(now.as_nanos(), rtt);
        }
    }

    /// The window rises at its least pace: a queue may be hidden, and what rises ever faster
    /// meanwhile would fill a buffer.
    pub(super) fn rise_slowly(&mut self) {
        if self.velocity.trend == Some(Trend::Up) {
            self.velocity.value = 1;
        }
    }

    /// From now on RTTs are on another scale, whose least is this: without what the radio added, or
    /// with it.
    pub(super) fn rebase(&mut self, now: HostInstant, least: u32, corrected: bool) {
        self.corrected = corrected;
        let Some(delay) = &mut self.delay else { return };
        let standing = delay.standing.best().max(least);
        delay.least = Windowed::min(LEAST_LASTS_NS, now.as_nanos(), least);
        delay.standing = Windowed::min(delay.smoothed_ns / 2, now.as_nanos(), standing);
    }

    fn direction(&self, delay: &Delay) -> Trend {
        let standing = u64::from(delay.standing.best());
        let is_below = self.cwnd * delay.queueing() <= self.inverse_delta * standing;
        if is_below { Trend::Up } else { Trend::Down }
    }

    fn compete(&mut self, ack: &CopaAck, is_over: bool) {
        let Some(delay) = &mut self.delay else { return };
        let smoothed = delay.smoothed_ns;
        if ack.rtt_us > 0 {
            let (now, window) = (ack.now.as_nanos(), smoothed * MAX_ROUNDS);
            let most = delay.most.get_or_insert_with(|| Windowed::max(window, now, ack.rtt_us));
            most.set_window(window);
            most.update(now, ack.rtt_us);
            let swing = most.best().saturating_sub(delay.least.best());
            let few = u64::from(delay.standing.best()) * ONE * 3 / (self.cwnd * 2);
            if delay.queueing() <= u64::from(swing / 10).max(few) {
                self.empty_at = Some(ack.now);
            }
        }
        if !is_over {
            return;
        }
        let empty_at = *self.empty_at.get_or_insert(ack.now);
        if ack.now.as_nanos().saturating_sub(empty_at.as_nanos()) <= smoothed * EMPTY_ROUNDS {
            self.inverse_delta = self.config.inverse_delta;
        } else if !self.lost {
            self.inverse_delta = (self.inverse_delta + ONE).min(MAX_INVERSE_DELTA);
        }
        self.lost = false;
    }

    fn step(&mut self, direction: Trend, acked: u64) -> u64 {
        let velocity = &mut self.velocity;
        if velocity.value > 1 && velocity.trend != Some(direction) {
            *velocity = Velocity { trend: Some(direction), cwnd: velocity.cwnd, ..STILL };
        }
        let mut moves = velocity.value * self.inverse_delta;
        if self.corrected && direction == Trend::Up {
            moves = moves.min((self.cwnd / self.config.rise).max(self.inverse_delta));
        }
        let moves = moves * acked;
        moves / self.cwnd * ONE + moves % self.cwnd * ONE / self.cwnd
    }

    /// An acknowledgement, with the RTT that is to be believed.
    pub(super) fn handle_ack(&mut self, ack: &CopaAck) {
        let acked = u64::from(ack.acked).min(MAX_SEGS);
        if !ack.timed_out {
            self.before_timeout = None;
        }
        if ack.rtt_us > 0 {
            self.sample(ack.now, ack.rtt_us.min(MAX_RTT_US));
        }
        let is_over = reached(ack.sent_delivered, self.round_ends_at);
        if is_over {
            self.round_ends_at = ack.delivered;
        }
        if self.phase == CopaPhase::AtTarget {
            self.compete(ack, is_over);
        }
        let Some(delay) = self.delay else { return };
        let direction = self.direction(&delay);
        if self.phase == CopaPhase::SlowStart {
            if direction == Trend::Up {
                let grown = self.cwnd + if ack.app_limited { 0 } else { acked * ONE };
                self.cwnd = grown.min(MAX_CWND);
                return;
            }
            self.phase = CopaPhase::Draining;
            self.velocity = STILL;
        }
        if direction == Trend::Up {
            self.phase = CopaPhase::AtTarget;
        }
        if is_over {
            self.velocity.handle_round(self.cwnd);
        }
        let step = self.step(direction, acked);
        match direction {
            Trend::Down => self.cwnd = self.cwnd.saturating_sub(step),
            Trend::Up if !ack.app_limited => self.cwnd += step.min(MAX_CWND),
            Trend::Up => {}
        }
        self.cwnd = self.cwnd.clamp(MIN_CWND, MAX_CWND);
    }

    pub(super) fn handle_loss(&mut self) {
        self.lost = true;
        self.inverse_delta = (self.inverse_delta / 2).max(self.config.inverse_delta);
    }

    pub(super) fn handle_timeout(&mut self) {
        self.before_timeout.get_or_insert((self.cwnd, self.phase));
        self.cwnd = MIN_CWND;
        self.phase = CopaPhase::SlowStart;
        self.velocity = STILL;
    }

    pub(super) fn handle_spurious_timeout(&mut self) {
        if let Some((cwnd, phase)) = self.before_timeout.take() {
            self.cwnd = self.cwnd.max(cwnd);
            self.phase = phase;
        }
    }

    /// The window, segments.
    pub fn cwnd(&self) -> u32 {
        u32::try_from(self.cwnd / ONE).unwrap_or(u32::MAX)
    }

    /// Twice the window ÷ the standing RTT, bytes/s of payload; `None` without an RTT. Another pace
    /// holds for corrected RTTs after slow start: slow start needs room to double.
    pub fn pacing(&self, mss: u32) -> Option<u64> {
        let mss = u64::from(mss.clamp(1, 65_535));
        let standing = u64::from(self.delay?.standing.best()).max(1);
        let is_own = self.corrected && self.phase != CopaPhase::SlowStart;
        let pace = u64::from(if is_own { self.config.pace } else { USUAL_PACE });
        Some((u64::from(self.cwnd()) * mss * pace * 10_000 / standing).max(mss))
    }

    /// What the window does.
    pub fn phase(&self) -> CopaPhase {
        self.phase
    }

    /// 1 ÷ δ in 65 536ths; it is more than two of them beside a flow that keeps the queue.
    pub fn inverse_delta(&self) -> u64 {
        self.inverse_delta
    }

    /// The smallest RTT of ten seconds and the standing one, microseconds.
    pub fn rtts(&self) -> Option<(u32, u32)> {
        self.delay.map(|delay| (delay.least.best(), delay.standing.best()))
    }
}

impl Velocity {
    fn handle_round(&mut self, cwnd: u64) {
        let Some(before) = self.cwnd.replace(cwnd) else { return };
        let trend = if cwnd > before { Trend::Up } else { Trend::Down };
        if self.trend != Some(trend) {
            (self.trend, self.rounds, self.value) = (Some(trend), 1, 1);
            return;
        }
        self.rounds = (self.rounds + 1).min(STEADY_ROUNDS);
        if self.rounds >= STEADY_ROUNDS {
            self.value = (self.value * 2).min(MAX_VELOCITY);
        }
    }
}
