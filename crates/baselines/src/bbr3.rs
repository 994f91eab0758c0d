//! BBR, version 3: the model of version 1 and bounds on it that losses set, probed with care and
//! given back in part (draft-ietf-ccwg-bbr as of August 2026, whose sections are cited).
//!
//! Shared with version 1: the full-pipe test, rounds, aggregation, quanta. Bursts of losses in a
//! round are counted by acknowledgements that report some, as in Linux, because a controller does
//! not get sequence numbers.

mod probe;
mod probe_rtt;
mod signals;

use core::time::Duration;

use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::SeedableRng;
use sounding_cc::part::{Aggregation, FullPipe, Pause, Round, burst};
use sounding_cc::{Ack, Controller, Departure, Loss, Recovery, Start};
use sounding_units::{Bytes, HostInstant, Rate};

use probe::{LOSS_THRESHOLD, Probe};
use signals::{ShortTerm, Signals};

/// In segments (§2: MinPipeCwnd).
const MIN_CWND: u64 = 4;
/// In segments. No real window is this large; it limits the effect of absurd samples.
const MAX_CWND: u64 = 1 << 20;
/// In thousandths (§5.3.1.1, §5.3.2, §5.3.3).
const STARTUP_GAIN: u32 = 2770;
const DRAIN_GAIN: u32 = 500;
const DOWN_GAIN: u32 = 900;
const UP_GAIN: u32 = 1250;
const CWND_GAIN: u32 = 2000;
const UP_CWND_GAIN: u32 = 2250;
const PROBE_RTT_CWND_GAIN: u32 = 500;
/// In thousandths (§2: PacingMarginPercent).
const PACING_MARGIN: u32 = 990;
/// Rounds after which Drain ends, whatever is in flight (§5.3.2).
const DRAIN_ROUNDS: u64 = 3;
/// Bursts of losses in a round of recovery that end Startup (§5.3.1.3: StartupFullLossCnt).
const STARTUP_LOSSES: u32 = 6;
/// Before the first RTT sample (§5.6.2).
const NOMINAL_RTT: Duration = Duration::from_millis(1);

/// One flow under BBR v3.
#[derive(Clone, Debug)]
pub struct Bbr3 {
    mss: Bytes,
    initial_cwnd: Bytes,
    lots: ChaCha8Rng,
    mode: Mode,
    round: Round,
    delivered: Bytes,
    lost: Bytes,
    /// The highest rates of this and the last cycle of probing.
    bandwidth: [Rate; 2],
    full: FullPipe,
    /// The pipe was full once.
    reached: bool,
    startup_losses: StartupLosses,
    signals: Signals,
    probe: Probe,
    rtt_min: Option<(Duration, HostInstant)>,
    probe_rtt_min: Option<(Duration, HostInstant)>,
    aggregation: Aggregation,
    /// Packets that left before this number of delivered bytes measured ProbeRTT's window, not the
    /// path.
    small: core::ops::Range<Bytes>,
    idle_restart: bool,
    recovering: bool,
    /// The window before recovery or ProbeRTT reduced it.
    prior_cwnd: Bytes,
    undo: Undo,
    cwnd: Bytes,
    pacing: Rate,
}

/// ```text
/// Startup ──(pipe full, or losses)──▶ Drain ──▶ Down ──(headroom)──▶ Cruise
///    ▲                                           ▲  │                  │ (2 to 3 s, or 63 rounds)
///    │                                           │  └──────────┬───────┘
///    │                          (pipe full, losses)            ▼
///    └─(pipe not full)─ ProbeRtt ◀─(5 s)─ any    Up ◀─(a round)─ Refill
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Mode {
    Startup,
    Drain { since_round: u64 },
    Down,
    Cruise,
    Refill,
    Up,
    ProbeRtt(Pause),
}

/// Losses of the current round, in Startup.
#[derive(Clone, Copy, Debug, Default)]
struct StartupLosses {
    bursts: u32,
    /// Recovery has lasted a whole round.
    round_of_recovery: bool,
}

/// The state to return to if losses turn out to be spurious (§5.5.11).
#[derive(Clone, Copy, Debug, Default)]
struct Undo {
    from: Option<Mode>,
    bounds: ShortTerm,
    long_term: Option<Bytes>,
}

/// The larger of two bounds. `None` is no bound, and so the largest.
fn wider<T: Ord>(one: Option<T>, other: Option<T>) -> Option<T> {
    one.zip(other).map(|(one, other)| one.max(other))
}

impl Bbr3 {
    /// A flow in Startup.
    pub fn new(start: &Start) -> Self {
        let initial_cwnd = start.initial_cwnd();
        let rtt = start.rtt.filter(|rtt| !rtt.is_zero());
        let nominal = initial_cwnd.per(rtt.unwrap_or(NOMINAL_RTT));
        Self {
            mss: start.mss,
            initial_cwnd,
            lots: ChaCha8Rng::seed_from_u64(start.seed),
            mode: Mode::Startup,
            round: Round::default(),
            delivered: Bytes::ZERO,
            lost: Bytes::ZERO,
            bandwidth: [Rate::ZERO; 2],
            full: FullPipe::default(),
            reached: false,
            startup_losses: StartupLosses::default(),
            signals: Signals::default(),
            probe: Probe::default(),
            rtt_min: rtt.map(|rtt| (rtt, start.now)),
            probe_rtt_min: rtt.map(|rtt| (rtt, start.now)),
            aggregation: Aggregation::new(start.now),
            small: Bytes::ZERO..Bytes::ZERO,
            idle_restart: false,
            recovering: false,
            prior_cwnd: Bytes::ZERO,
            undo: Undo::default(),
            cwnd: initial_cwnd,
            pacing: nominal.scaled(STARTUP_GAIN, 1000),
        }
    }

    /// The highest rate of this and the last cycle of probing, payload.
    pub fn max_bandwidth(&self) -> Rate {
        self.bandwidth[0].max(self.bandwidth[1])
    }

    /// The bandwidth, limited by losses since the last probe.
    pub fn bandwidth(&self) -> Rate {
        let most = self.max_bandwidth();
        self.signals.bounds.rate.map_or(most, |bound| bound.min(most))
    }

    fn gains(&self) -> (u32, u32) {
        match self.mode {
            Mode::Startup => (STARTUP_GAIN, CWND_GAIN),
            Mode::Drain { .. } => (DRAIN_GAIN, CWND_GAIN),
            Mode::Down => (DOWN_GAIN, CWND_GAIN),
            Mode::Cruise | Mode::Refill => (1000, CWND_GAIN),
            Mode::Up => (UP_GAIN, UP_CWND_GAIN),
            Mode::ProbeRtt(_) => (1000, PROBE_RTT_CWND_GAIN),
        }
    }

    fn least_cwnd(&self) -> Bytes {
        Bytes::new(self.mss.count() * MIN_CWND)
    }

    /// The bytes that fill the path, times `gain` thousandths; `None` before the first RTT.
    fn bdp(&self, gain: u32) -> Option<Bytes> {
        let (rtt, _) = self.rtt_min?;
        Some(self.bandwidth().scaled(gain, 1000) * rtt)
    }

    /// §5.6.4.2.
    fn with_quanta(&self, flight: Bytes) -> Bytes {
        let quanta = Bytes::new(3 * burst(self.pacing, self.mss).count());
        let most = Bytes::new(self.mss.count().saturating_mul(MAX_CWND));
        let flight = flight.max(quanta).max(self.least_cwnd()).min(most);
        let two = Bytes::new(2 * self.mss.count());
        flight + if self.mode == Mode::Up { two } else { Bytes::ZERO }
    }

    fn inflight(&self, gain: u32) -> Bytes {
        self.with_quanta(self.bdp(gain).unwrap_or(self.initial_cwnd))
    }

    /// The BDP, unless the window is smaller (§5.3.3.8).
    fn target_inflight(&self) -> Bytes {
        self.bdp(1000).unwrap_or(self.initial_cwnd).min(self.cwnd)
    }

    fn probe_rtt_cwnd(&self) -> Bytes {
        self.bdp(PROBE_RTT_CWND_GAIN).unwrap_or(self.initial_cwnd).max(self.least_cwnd())
    }

    fn is_probing(&self) -> bool {
        matches!(self.mode, Mode::Startup | Mode::Refill | Mode::Up)
    }

    fn update_model(&mut self, ack: &Ack) {
        (self.delivered, self.lost) = (ack.delivered, ack.lost);
        self.signals.update(ack);
        let round_began = self.round.handle_ack(ack);
        self.probe.rounds += u64::from(round_began);
        let limited = ack.sent.app_limited || self.small.contains(&ack.sent.delivered);
        if let Some(rate) = ack.rate.filter(|&rate| !limited || rate >= self.max_bandwidth()) {
            self.bandwidth[0] = self.bandwidth[0].max(rate);
        }
        self.signals.adapt(self.is_probing(), self.max_bandwidth(), self.cwnd);
        let bandwidth = self.bandwidth();
        self.aggregation.handle_ack(ack, round_began, bandwidth, self.cwnd, self.reached);
        if round_began && !limited {
            self.full.handle_round(ack.rate.unwrap_or_default());
            self.reached |= self.full.is_full();
        }
        self.check_startup(ack, round_began);
        self.check_drain(ack);
        self.advance_probe(ack, round_began);
        self.update_rtt_min(ack, round_began);
        self.signals.advance(ack);
    }

    /// §5.3.1.3.
    fn check_startup(&mut self, ack: &Ack, round_began: bool) {
        if self.mode != Mode::Startup {
            return;
        }
        let losses = &mut self.startup_losses;
        losses.bursts += u32::from(ack.newly_lost > Bytes::ZERO);
        let lost = ack.lost - ack.sent.lost;
        let too_much = u128::from(lost.count()) * 1000
            > u128::from(ack.sent.in_flight.count()) * u128::from(LOSS_THRESHOLD);
        if round_began {
            let full = losses.round_of_recovery && losses.bursts >= STARTUP_LOSSES && too_much;
            *losses =
                StartupLosses { bursts: 0, round_of_recovery: ack.recovery == Recovery::Fast };
            if full {
                self.undo.from = Some(Mode::Startup);
                self.reached = true;
                let bdp = self.bdp(1000).unwrap_or_default();
                self.probe.bound = Some(bdp.max(self.signals.inflight_latest()));
            }
        }
        if self.reached {
            self.mode = Mode::Drain { since_round: self.round.count() };
        }
    }

    fn check_drain(&mut self, ack: &Ack) {
        if let Mode::Drain { since_round } = self.mode
            && (ack.in_flight <= self.inflight(1000)
                || self.round.count() > since_round + DRAIN_ROUNDS)
        {
            self.start_down(ack.now);
        }
    }

    /// The last window that neither recovery nor ProbeRTT made smaller (§5.6.4.4).
    fn save_cwnd(&mut self) {
        let modulated = self.recovering || matches!(self.mode, Mode::ProbeRtt(_));
        self.prior_cwnd = if modulated { self.prior_cwnd.max(self.cwnd) } else { self.cwnd };
    }

    fn save_state(&mut self) {
        self.save_cwnd();
        self.undo = Undo { from: None, bounds: self.signals.bounds, long_term: self.probe.bound };
    }

    fn set_pacing(&mut self, gain: u32) {
        let rate = self.bandwidth().scaled(gain, 1000).scaled(PACING_MARGIN, 1000);
        if self.reached || rate > self.pacing {
            // A segment a second at least: at zero the flow would never learn that the path is
            // back.
            self.pacing = rate.max(self.mss.per(Duration::from_secs(1)));
        }
    }

    /// §5.6.4.6 and §5.6.4.7.
    fn set_cwnd(&mut self, ack: &Ack, gain: u32) {
        let allowance = self.aggregation.allowance(self.bandwidth());
        let target =
            self.with_quanta(self.bdp(gain).map_or(self.initial_cwnd, |bdp| bdp + allowance));
        if self.reached {
            self.cwnd = (self.cwnd + ack.acked).min(target);
        } else if self.cwnd < target || ack.delivered < self.initial_cwnd {
            self.cwnd += ack.acked;
        }
        let least = self.least_cwnd();
        self.cwnd = self.cwnd.max(least);
        let headroom = self.probe.with_headroom(self.mss, least);
        let long_term = match self.mode {
            Mode::Startup | Mode::Drain { .. } => None,
            Mode::Down | Mode::Refill | Mode::Up => self.probe.bound,
            Mode::Cruise => headroom,
            Mode::ProbeRtt(_) => {
                Some(headroom.map_or(self.probe_rtt_cwnd(), |room| room.min(self.probe_rtt_cwnd())))
            }
        };
        for bound in [long_term, self.signals.bounds.inflight].into_iter().flatten() {
            self.cwnd = self.cwnd.min(bound.max(least));
        }
    }
}

impl Controller for Bbr3 {
    fn handle_sent(&mut self, sent: &Departure, size: Bytes) {
        if sent.in_flight > size || !sent.app_limited {
            return;
        }
        self.idle_restart = true;
        match self.mode {
            Mode::Down | Mode::Cruise | Mode::Refill | Mode::Up => self.set_pacing(1000),
            Mode::ProbeRtt(pause) if pause.has_lasted(sent.at) => self.leave_probe_rtt(sent.at),
            _ => {}
        }
    }

    fn handle_ack(&mut self, ack: &Ack) {
        if self.recovering && ack.recovery == Recovery::None {
            self.recovering = false;
            self.cwnd = self.cwnd.max(self.prior_cwnd);
        }
        self.update_model(ack);
        let (pacing_gain, cwnd_gain) = self.gains();
        self.set_pacing(pacing_gain);
        self.set_cwnd(ack, cwnd_gain);
    }

    fn handle_loss(&mut self, loss: &Loss) {
        self.lost += loss.size;
        if loss.begins_recovery {
            self.save_state();
            self.recovering = true;
        }
        self.signals.handle_loss(self.delivered);
        self.judge_loss(loss);
    }

    fn handle_timeout(&mut self, _now: HostInstant) {
        self.save_state();
        self.recovering = true;
        self.cwnd = self.mss;
    }

    /// §5.5.11.2.
    fn handle_spurious_timeout(&mut self, _now: HostInstant) {
        self.recovering = false;
        self.cwnd = self.cwnd.max(self.prior_cwnd);
        self.full = FullPipe::default();
        let bounds = &mut self.signals.bounds;
        bounds.rate = wider(bounds.rate, self.undo.bounds.rate);
        bounds.inflight = wider(bounds.inflight, self.undo.bounds.inflight);
        self.probe.bound = wider(self.probe.bound, self.undo.long_term);
        let in_probe_rtt = matches!(self.mode, Mode::ProbeRtt(_));
        match self.undo.from.take() {
            Some(Mode::Startup) if self.mode != Mode::Startup => {
                self.reached = false;
                if !in_probe_rtt {
                    self.mode = Mode::Startup;
                }
            }
            Some(Mode::Up) if self.mode != Mode::Up && !in_probe_rtt => self.start_refill(),
            _ => {}
        }
    }

    fn cwnd(&self) -> Bytes {
        self.cwnd
    }

    fn pacing_rate(&self) -> Option<Rate> {
        Some(self.pacing)
    }

    fn state(&self) -> &'static str {
        match self.mode {
            Mode::Startup => "startup",
            Mode::Drain { .. } => "drain",
            Mode::Down => "probe down",
            Mode::Cruise => "cruise",
            Mode::Refill => "refill",
            Mode::Up => "probe up",
            Mode::ProbeRtt(_) => "probe rtt",
        }
    }
}
