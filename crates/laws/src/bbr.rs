//! BBR, version 1: a model of the path, its bandwidth and its RTT without queue, and a machine that
//! measures one while the other cannot be (draft-cardwell-iccrg-bbr-congestion-control-00).
//!
//! Where Linux's `tcp_bbr.c` does more than the draft, the code names it: a window with space for
//! acknowledgements that come in clumps, pacing 1 % below the bandwidth, and whole quanta. Its
//! detection of policers is left out.

mod recovery;

use core::time::Duration;

use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::{Rng, SeedableRng};
use sounding_cc::parameter::{Kind, Parameter, Values};
use sounding_cc::part::{Aggregation, FullPipe, Pause, Round, Windowed, burst};
use sounding_cc::{Ack, Controller, Departure, Loss, Revision, Start};
use sounding_units::{Bytes, HostInstant, Rate};

use recovery::Conservation;

/// Rounds the bandwidth filter remembers (§2.5: BtlBwFilterLen).
const BANDWIDTH_ROUNDS: u64 = 10;
/// §4.1.2.2: RTpropFilterLen; §4.3.5: ProbeRTTInterval.
const RTT_MIN_LASTS: Duration = Duration::from_secs(10);
/// In segments (§4.2.3.3: BBRMinPipeCwnd).
const MIN_CWND: u64 = 4;
/// In segments. No real window is this large; it limits the effect of absurd samples.
const MAX_CWND: u64 = 1 << 20;
/// 2 ÷ ln 2 and its inverse, in thousandths (§4.3.2.1, §4.3.3).
const HIGH_GAIN: u32 = 2885;
const DRAIN_GAIN: u32 = 347;
/// Phases of a cycle: one that probes, one that drains the queue of the probe, and six between
/// (§4.3.4.1).
const CYCLE: usize = 8;
const PROBE_GAIN: Parameter = Parameter {
    name: "probe_gain",
    kind: Kind::number(1.25, 1.01, 1.9),
    unit: "",
    about: "the pacing gain that probes, to three digits; the gain that drains is as far below 1",
    source: "BBR draft §4.3.4.1",
};
const CWND_GAIN: Parameter = Parameter {
    name: "cwnd_gain",
    kind: Kind::number(2.0, 1.0, 10.0),
    unit: "BDP",
    about: "the window in the steady state, to three digits",
    source: "BBR draft §4.3.4.3",
};

/// Parameters of BBR, in thousandths.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Config {
    /// The pacing gain of a probe in thousandths, 1000 to 2000; the gain of a drain is as far
    /// below 1000.
    pub probe_gain_permille: u32,
    /// The window in the steady state, in thousandths of the BDP.
    pub cwnd_gain_permille: u32,
}

impl Config {
    /// What plans can set.
    pub const PARAMETERS: &[Parameter] = &[PROBE_GAIN, CWND_GAIN];

    /// Its values as plans state them, the others as published.
    pub fn of(values: &Values) -> Self {
        let permille = |parameter| libm::round(values.number(parameter) * 1000.0) as u32;
        Self {
            probe_gain_permille: permille(&PROBE_GAIN),
            cwnd_gain_permille: permille(&CWND_GAIN),
        }
    }

    /// The pacing gain of a phase of the cycle, in thousandths.
    fn pacing_gain(&self, phase: usize) -> u32 {
        match phase {
            0 => self.probe_gain_permille,
            1 => 2000_u32.saturating_sub(self.probe_gain_permille),
            _ => 1000,
        }
    }
}

impl Default for Config {
    fn default() -> Self {
        Self::of(&Values::default())
    }
}

/// Linux paces this much below the bandwidth, in thousandths, so that no queue grows from rounding.
const PACING_MARGIN: u32 = 990;
/// Before the first RTT sample (§4.2.1).
const NOMINAL_RTT: Duration = Duration::from_millis(1);

/// One flow under BBR.
#[derive(Clone, Debug)]
pub struct Bbr {
    config: Config,
    mss: Bytes,
    initial_cwnd: Bytes,
    lots: ChaCha8Rng,
    mode: Mode,
    round: Round,
    bandwidth: Windowed<Rate>,
    rtt_min: Option<Duration>,
    rtt_min_at: HostInstant,
    full: FullPipe,
    aggregation: Aggregation,
    conservation: Conservation,
    /// The window before recovery or ProbeRTT reduced it.
    prior_cwnd: Bytes,
    /// Packets that left before this number of delivered bytes measured ProbeRTT's four segments,
    /// not the path.
    probing: core::ops::Range<Bytes>,
    idle_restart: bool,
    cwnd: Bytes,
    pacing: Rate,
}

/// ```text
/// Startup ──(pipe full)──▶ Drain ──(flight ≤ BDP)──▶ ProbeBw
///    ▲                       │                        │  ▲
///    └──(pipe not full)── ProbeRtt ◀─(10 s without a new minimum)
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Mode {
    Startup,
    Drain,
    ProbeBw { phase: usize, since: HostInstant },
    ProbeRtt(Pause),
}

impl Bbr {
    /// A flow in Startup.
    pub fn new(start: &Start) -> Self {
        Self::with(start, Config::default())
    }

    /// The same, with other parameters.
    pub fn with(start: &Start, config: Config) -> Self {
        let initial_cwnd = start.initial_cwnd();
        let rtt = start.rtt.filter(|rtt| !rtt.is_zero());
        let nominal = initial_cwnd.per(rtt.unwrap_or(NOMINAL_RTT));
        Self {
            config,
            mss: start.mss,
            initial_cwnd,
            lots: ChaCha8Rng::seed_from_u64(start.seed),
            mode: Mode::Startup,
            round: Round::default(),
            bandwidth: Windowed::max(BANDWIDTH_ROUNDS, 0, Rate::ZERO),
            rtt_min: rtt,
            rtt_min_at: start.now,
            full: FullPipe::default(),
            aggregation: Aggregation::new(start.now),
            conservation: Conservation::default(),
            prior_cwnd: Bytes::ZERO,
            probing: Bytes::ZERO..Bytes::ZERO,
            idle_restart: false,
            cwnd: initial_cwnd,
            pacing: nominal.scaled(HIGH_GAIN, 1000),
        }
    }

    /// BtlBw: the highest rate of the last ten rounds, payload.
    pub fn bandwidth(&self) -> Rate {
        self.bandwidth.best()
    }

    /// RTprop: the smallest RTT of the last ten seconds.
    pub fn rtt_min(&self) -> Option<Duration> {
        self.rtt_min
    }

    /// The path carries at most this: larger remembered values are limited to it.
    pub fn cap_bandwidth(&mut self, limit: Rate) {
        self.bandwidth.cap(limit);
    }

    /// The path without queue is at least this long.
    pub fn raise_rtt_min(&mut self, least: Duration) {
        self.rtt_min = self.rtt_min.map(|rtt| rtt.max(least));
    }

    /// The queue is known to be empty now, so ProbeRTT is not needed.
    pub fn confirm_rtt_min(&mut self, now: HostInstant) {
        self.rtt_min_at = now;
        if let Mode::ProbeRtt(pause) = &mut self.mode {
            pause.end(now);
        }
    }

    /// The minimum is not to be trusted any longer: ProbeRTT comes next.
    pub fn doubt_rtt_min(&mut self, now: HostInstant) {
        self.rtt_min_at = now.saturating_before(RTT_MIN_LASTS + Duration::from_millis(1));
    }

    fn gains(&self) -> (u32, u32) {
        match self.mode {
            Mode::Startup => (HIGH_GAIN, HIGH_GAIN),
            Mode::Drain => (DRAIN_GAIN, HIGH_GAIN),
            Mode::ProbeBw { phase, .. } => {
                (self.config.pacing_gain(phase), self.config.cwnd_gain_permille)
            }
            Mode::ProbeRtt(_) => (1000, 1000),
        }
    }

    fn least_cwnd(&self) -> Bytes {
        Bytes::new(self.mss.count() * MIN_CWND)
    }

    /// The bytes that fill the path, times `gain` thousandths; `None` before the first RTT.
    fn bdp(&self, gain: u32) -> Option<Bytes> {
        Some(self.bandwidth().scaled(gain, 1000) * self.rtt_min?)
    }

    /// Room for what the hosts at both ends hold back at once (§4.2.3.2), in whole even segments
    /// and two more in the phase that probes, as Linux has it.
    fn with_quanta(&self, flight: Bytes) -> Bytes {
        let mss = self.mss.count().max(1);
        let quanta = Bytes::new(3 * burst(self.pacing, self.mss).count());
        let segments = (flight + quanta).count().div_ceil(mss).min(MAX_CWND);
        let probing = matches!(self.mode, Mode::ProbeBw { phase: 0, .. });
        Bytes::new((segments.next_multiple_of(2) + if probing { 2 } else { 0 }) * mss)
    }

    fn inflight(&self, gain: u32) -> Bytes {
        self.bdp(gain).map_or(self.initial_cwnd, |bdp| self.with_quanta(bdp))
    }

    fn update_model(&mut self, ack: &Ack) {
        let round_began = self.round.handle_ack(ack);
        let limited = ack.sent.app_limited || self.probing.contains(&ack.sent.delivered);
        if let Some(rate) = ack.rate.filter(|&rate| !limited || rate >= self.bandwidth()) {
            self.bandwidth.update(self.round.count(), rate);
        }
        let bandwidth = self.bandwidth();
        self.aggregation.handle_ack(ack, round_began, bandwidth, self.cwnd, self.full.is_full());
        self.advance_cycle(ack);
        if round_began && !limited {
            self.full.handle_round(bandwidth);
        }
        if self.mode == Mode::Startup && self.full.is_full() {
            self.mode = Mode::Drain;
        }
        if self.mode == Mode::Drain && ack.in_flight <= self.inflight(1000) {
            self.enter_probe_bw(ack.now);
        }
        self.update_rtt_min(ack, round_began);
    }

    fn enter_probe_bw(&mut self, now: HostInstant) {
        // Any phase but the one that drains (§4.3.4.2).
        let lot = (self.lots.next_u32() % 7) as usize;
        self.mode = Mode::ProbeBw { phase: (CYCLE - lot) % CYCLE, since: now };
    }

    fn advance_cycle(&mut self, ack: &Ack) {
        let Mode::ProbeBw { phase, since } = self.mode else { return };
        let full_length = ack.now - since > self.rtt_min.unwrap_or_default();
        let over = match self.config.pacing_gain(phase) {
            1000 => full_length,
            gain if gain > 1000 => {
                let lost = ack.newly_lost > Bytes::ZERO;
                full_length && (lost || ack.prior_in_flight >= self.inflight(gain))
            }
            _ => full_length || ack.prior_in_flight <= self.inflight(1000),
        };
        if over {
            self.mode = Mode::ProbeBw { phase: (phase + 1) % CYCLE, since: ack.now };
        }
    }

    /// §4.1.2.3 and §4.3.5.
    fn update_rtt_min(&mut self, ack: &Ack, round_began: bool) {
        let now = ack.now;
        let expired = now > self.rtt_min_at + RTT_MIN_LASTS;
        if let Some(rtt) = ack.rtt
            && (expired || self.rtt_min.is_none_or(|least| rtt <= least))
        {
            self.rtt_min = Some(rtt);
            self.rtt_min_at = now;
        }
        let probing = matches!(self.mode, Mode::ProbeRtt(_));
        if expired && !probing && !self.idle_restart {
            self.save_cwnd();
            self.mode = Mode::ProbeRtt(Pause::default());
        }
        if let Mode::ProbeRtt(pause) = self.mode {
            self.probe_rtt(ack, pause, round_began);
        }
        self.idle_restart = false;
    }

    fn probe_rtt(&mut self, ack: &Ack, mut pause: Pause, round_began: bool) {
        let small = self.least_cwnd();
        let over = pause.handle_ack(ack, &mut self.round, round_began, small, &mut self.probing);
        self.mode = Mode::ProbeRtt(pause);
        if over {
            self.rtt_min_at = ack.now;
            self.cwnd = self.cwnd.max(self.prior_cwnd);
            if self.full.is_full() {
                self.enter_probe_bw(ack.now);
            } else {
                self.mode = Mode::Startup;
            }
        }
    }

    /// The last window that neither recovery nor ProbeRTT made smaller (§4.2.3.4).
    fn save_cwnd(&mut self) {
        let modulated = self.conservation.is_recovering() || matches!(self.mode, Mode::ProbeRtt(_));
        self.prior_cwnd = if modulated { self.prior_cwnd.max(self.cwnd) } else { self.cwnd };
    }

    fn set_pacing(&mut self, gain: u32) {
        let rate = self.bandwidth().scaled(gain, 1000).scaled(PACING_MARGIN, 1000);
        if self.full.is_full() || rate > self.pacing {
            // A segment a second at least: at zero the flow would never learn that the path is
            // back.
            self.pacing = rate.max(self.mss.per(Duration::from_secs(1)));
        }
    }

    /// §4.2.3.6.
    fn set_cwnd(&mut self, ack: &Ack, gain: u32) {
        let target = match self.bdp(gain) {
            Some(bdp) => self.with_quanta(bdp + self.aggregation.allowance(self.bandwidth())),
            None => self.initial_cwnd,
        };
        if !self.modulate_for_recovery(ack) {
            if self.full.is_full() {
                self.cwnd = (self.cwnd + ack.acked).min(target);
            } else if self.cwnd < target || ack.delivered < self.initial_cwnd {
                self.cwnd += ack.acked;
            }
            self.cwnd = self.cwnd.max(self.least_cwnd());
        }
        if matches!(self.mode, Mode::ProbeRtt(_)) {
            self.cwnd = self.cwnd.min(self.least_cwnd());
        }
    }
}

impl Controller for Bbr {
    fn handle_sent(&mut self, sent: &Departure, size: Bytes) {
        if sent.in_flight <= size && sent.app_limited {
            self.idle_restart = true;
            if matches!(self.mode, Mode::ProbeBw { .. }) {
                self.set_pacing(1000);
            }
        }
    }

    fn handle_ack(&mut self, ack: &Ack) {
        self.update_model(ack);
        let (pacing_gain, cwnd_gain) = self.gains();
        self.set_pacing(pacing_gain);
        self.set_cwnd(ack, cwnd_gain);
    }

    /// RTprop is the least on the scale that holds from now on: it cannot stay below the path that
    /// the radio's delays are taken off.
    fn handle_revision(&mut self, revision: &Revision) {
        if let Revision::Rebase { least, .. } = *revision {
            self.rtt_min = Some(least);
        }
    }

    fn handle_loss(&mut self, loss: &Loss) {
        if loss.begins_recovery {
            self.save_cwnd();
            self.conservation = Conservation::begin();
        }
    }

    fn handle_timeout(&mut self, _now: HostInstant) {
        self.save_cwnd();
        self.conservation = Conservation::after_timeout();
        // A timeout is no sign of a full pipe; Linux resets the detection.
        if !self.full.is_full() {
            self.full = FullPipe::default();
        }
        self.cwnd = self.mss;
    }

    fn handle_spurious_timeout(&mut self, _now: HostInstant) {
        self.conservation = Conservation::default();
        self.cwnd = self.cwnd.max(self.prior_cwnd);
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
            Mode::Drain => "drain",
            Mode::ProbeBw { phase: 0, .. } => "probe up",
            Mode::ProbeBw { phase: 1, .. } => "probe down",
            Mode::ProbeBw { .. } => "cruise",
            Mode::ProbeRtt(_) => "probe rtt",
        }
    }
}
