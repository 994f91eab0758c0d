//! SCReAMv2: a window for interactive media, which grows until a queue of 30 to 60 ms stands or
//! packets are lost, and the rate that follows from it (draft-ietf-ccwg-rfc8298bis-screamv2-01,
//! July 2026; "draft" below; constants were compared with Ericsson's program).
//!
//! Acknowledgements stand for RFC 8888's feedback. A packet's delay is its one-way delay, or else
//! its RTT.
//!
//! What is not here:
//! * Priorities of streams, and the encoder's queue and frames (§4.4: `rate_adjust_factor` and
//!   `frame_size_dev` are 0). This trait has neither.
//! * The rate's bounds (`TARGET_BITRATE_MIN`, `TARGET_BITRATE_MAX`), and faster pacing near the
//!   upper one (§4.3.2). No encoder sets them.
//! * L4S (§4.2.1.3, `l4s_alpha`). No sender marks its packets for it, so `IS_L4S` is false, its
//!   default. A congestion mark is classic.
//! * More caution for loss that is not congestion, and policers (§4.5.2). Both are optional.
//! * A higher target beside other flows (§4.5.4). It is optional, and off in Ericsson's program.
//!
//! Where the draft is silent or contradicts itself: `docs/interpretations/scream.md`.

mod config;
mod delay;
mod window;

use core::time::Duration;

use sounding_cc::part::RttEstimator;
use sounding_cc::{Ack, Controller, Departure, Loss, Recovery, Start};
use sounding_estimate::MAX_RATE;
use sounding_units::{Bytes, HostInstant, Rate};

pub use config::Config;
use delay::QueueDelay;
use window::{Feedback, Window};

/// The shortest time between two reactions, if the RTT is not less, and the RTT below which growth
/// is less (draft §4.2.2).
const VIRTUAL_RTT: Duration = Duration::from_millis(25);
/// What may be in flight, as a part of the window: where delays vary most, and where they do not
/// (draft §4.3.1, REF_WND_OVERHEAD_MIN and REF_WND_OVERHEAD_MAX).
const LEAST_OVERHEAD: f64 = 1.5;
const MOST_OVERHEAD: f64 = 3.0;
/// Draft §4.3.2, RATE_PACE_MIN.
const LEAST_PACED: f64 = 50_000.0;
/// Bytes of headers that the target leaves room for in each segment (draft §4.4, PACKET_OVERHEAD).
const PACKET_OVERHEAD: f64 = 20.0;
/// The window's rate ÷ the target, so that no queue builds up at the sender (draft §4.4).
const BELOW: f64 = 1.2;
/// A segment's part of the window from which on the target is less, and how much less it is at most
/// (draft §4.4).
const SMALL: f64 = 0.1;
const LESS_IF_SMALL: f64 = 0.2;
/// The target while the queue drains for a new base delay, and how long that is: in RTTs, and at
/// least (draft §4.5.1).
const DRAINING: f64 = 0.5;
const DRAIN_ROUNDS: u32 = 5;
const LEAST_DRAIN: Duration = Duration::from_millis(200);
/// Before the first RTT sample; chosen.
const NOMINAL_RTT: Duration = Duration::from_millis(100);
/// The shortest RTT that a rate is computed of; chosen.
const LEAST_RTT: Duration = Duration::from_micros(100);

/// One flow under SCReAMv2.
#[derive(Clone, Debug)]
pub struct Scream {
    headroom: f64,
    mss: Bytes,
    window: Window,
    delay: QueueDelay,
    rtt: RttEstimator,
    /// The delivery rate over about the last round.
    delivered: Option<Rate>,
    draining_until: Option<HostInstant>,
    app_limited: bool,
    now: HostInstant,
    before_timeout: Option<f64>,
    /// No packet has arrived since the timeout: one segment probes whether the path works.
    asking: bool,
}

impl Scream {
    /// A flow that begins with a window of three segments.
    pub fn new(start: &Start) -> Self {
        Self::with(start, Config::default())
    }

    /// The same, with other parameters.
    pub fn with(start: &Start, config: Config) -> Self {
        let mut rtt = RttEstimator::default();
        if let Some(sample) = start.rtt.filter(|rtt| !rtt.is_zero()) {
            rtt.handle_sample(sample);
        }
        let mss = Bytes::new(start.mss.count().max(1));
        Self {
            headroom: config.headroom,
            mss,
            window: Window::new(start.now, mss, &config),
            delay: QueueDelay::new(start.now, config.target, config.reduces_jitter),
            rtt,
            delivered: None,
            draining_until: None,
            app_limited: false,
            now: start.now,
            before_timeout: None,
            asking: false,
        }
    }

    fn round(&self) -> Duration {
        self.rtt.smoothed().unwrap_or(NOMINAL_RTT).max(LEAST_RTT)
    }

    /// The reference window.
    pub fn reference_window(&self) -> Bytes {
        Bytes::new(self.window.bytes() as u64)
    }

    /// What the window lets a stream send, in bits per second (draft §4.4).
    fn offered(&self) -> f64 {
        let mss = self.mss.count() as f64;
        let small = 1.0 - (self.window.ratio() - SMALL).clamp(0.0, LESS_IF_SMALL);
        let headers = mss / (mss + PACKET_OVERHEAD);
        small * headers / BELOW * 8.0 * self.window.bytes() / self.round().as_secs_f64()
    }

    /// The rate for a stream: the draft's `target_bitrate`.
    pub fn target(&self) -> Rate {
        let part = if self.draining_until.is_some() { DRAINING } else { 1.0 };
        rate(self.offered() * part)
    }

    fn end_drain(&mut self, now: HostInstant) {
        self.now = now;
        self.draining_until = self.draining_until.filter(|&until| until > now);
    }
}

fn rate(bits_per_sec: f64) -> Rate {
    Rate::from_bits_per_sec(bits_per_sec as u64).min(MAX_RATE)
}

impl Controller for Scream {
    fn handle_sent(&mut self, sent: &Departure, _size: Bytes) {
        self.app_limited = sent.app_limited;
        self.window.handle_sent(sent.in_flight);
    }

    fn handle_ack(&mut self, ack: &Ack) {
        let now = ack.now;
        self.asking = false;
        if ack.recovery != Recovery::Timeout {
            self.before_timeout = None;
        }
        self.end_drain(now);
        self.rtt.handle_ack(ack);
        self.delivered = ack.rate.or(self.delivered);
        let round = self.round();
        if let Some(way) = ack.one_way.or(ack.rtt)
            && self.delay.handle_sample(now, way, round)
        {
            self.draining_until = Some(now + (round * DRAIN_ROUNDS).max(LEAST_DRAIN));
        }
        if ack.ce > Bytes::ZERO {
            self.window.handle_mark(now, round);
        }
        let delivered = self.delivered.map(|rate| rate.bits_per_sec() as f64);
        self.window.handle_feedback(&Feedback {
            now,
            gone: ack.acked + ack.newly_lost - ack.ce,
            round,
            excess: self.delay.excess(),
            steadiness: self.delay.steadiness(),
            sent_of_delivered: delivered
                .filter(|&rate| rate > 0.0)
                .map(|rate| self.offered() / rate),
        });
    }

    fn handle_loss(&mut self, loss: &Loss) {
        self.window.handle_loss(loss.now, self.round());
    }

    /// The draft has no such timer (interpretation 3).
    fn handle_timeout(&mut self, now: HostInstant) {
        self.asking = true;
        self.before_timeout.get_or_insert(self.window.bytes());
        self.window.handle_timeout(now);
        self.delay.forget(now);
        (self.delivered, self.draining_until) = (None, None);
        self.now = now;
    }

    fn handle_spurious_timeout(&mut self, now: HostInstant) {
        self.asking = false;
        self.now = now;
        if let Some(bytes) = self.before_timeout.take() {
            self.window.restore(bytes);
        }
    }

    fn handle_time(&mut self, now: HostInstant) {
        self.end_drain(now);
    }

    fn wakeup(&self) -> Option<HostInstant> {
        self.draining_until
    }

    fn cwnd(&self) -> Bytes {
        if self.asking {
            return self.mss;
        }
        let overhead = LEAST_OVERHEAD + (MOST_OVERHEAD - LEAST_OVERHEAD) * self.delay.steadiness();
        Bytes::new((self.window.bytes() * overhead) as u64)
    }

    /// A flow that always has data stands for an encoder that makes what it is asked for: it leaves
    /// at the target. Frames, which leave pauses, are paced faster (draft §4.3.2;
    /// interpretation 4).
    fn pacing_rate(&self) -> Option<Rate> {
        let headroom = if self.app_limited { self.headroom } else { 1.0 };
        let target = (self.target().bits_per_sec() as f64).max(LEAST_PACED);
        Some(rate(target * headroom))
    }

    fn state(&self) -> &'static str {
        if self.asking {
            "asking"
        } else if self.draining_until.is_some() {
            "draining"
        } else if self.window.reacted_within(self.round(), self.now) {
            "reducing"
        } else {
            "increasing"
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const RTT: Duration = Duration::from_millis(40);

    fn at(ms: u64) -> HostInstant {
        HostInstant::from_nanos(ms * 1_000_000)
    }

    fn flow(config: Config) -> Scream {
        Scream::with(&Start::tcp(at(0), Some(RTT), 1), config)
    }

    fn ack(ms: u64, queue_ms: u64) -> Ack {
        let way = Duration::from_millis(20 + queue_ms);
        let rtt = Some(way + RTT / 2);
        Ack { now: at(ms), acked: Bytes::new(1448), one_way: Some(way), rtt, ..Ack::default() }
    }

    fn sent(app_limited: bool, in_flight: u64) -> Departure {
        Departure { app_limited, in_flight: Bytes::new(in_flight), ..Departure::default() }
    }

    /// Two seconds of a flow whose window is in use, with a queue of so long.
    fn used(flow: &mut Scream, from: u64, queue_ms: u64) {
        for ms in (from..from + 2000).step_by(2) {
            let in_flight = flow.reference_window().count();
            flow.handle_sent(&sent(false, in_flight), Bytes::new(1448));
            flow.handle_ack(&ack(ms, queue_ms));
        }
    }

    #[test]
    fn the_target_is_the_window_in_a_round_trip_less_what_the_draft_takes_off() {
        let mut flow = flow(Config::default());
        used(&mut flow, 0, 0);
        let window = flow.reference_window().count() as f64;
        assert!(window > 15.0 * 1448.0, "{window}");
        let expected = 8.0 * window / 0.040 / 1.2 * 1448.0 / 1468.0;
        assert!((flow.target().bits_per_sec() as f64 / expected - 1.0).abs() < 1e-3);
        // Three segments in the window: a fifth less.
        let first = Scream::new(&Start::tcp(at(0), Some(RTT), 1)).target();
        let expected = 0.8 * 8.0 * 3.0 * 1448.0 / 0.040 / 1.2 * 1448.0 / 1468.0;
        assert!((first.bits_per_sec() as f64 / expected - 1.0).abs() < 1e-3);
    }

    #[test]
    fn an_application_that_makes_pauses_is_paced_faster() {
        let mut flow = flow(Config::default());
        let target = flow.target().mbit_per_sec();
        let paced = |flow: &Scream| flow.pacing_rate().unwrap().mbit_per_sec() / target;
        assert!((paced(&flow) - 1.0).abs() < 1e-3);
        flow.handle_sent(&sent(true, 0), Bytes::new(1448));
        assert!((paced(&flow) - 1.5).abs() < 1e-3);
    }

    #[test]
    fn three_windows_may_be_in_flight_and_half_as_much_where_delays_vary() {
        let mut steady = flow(Config { reduces_jitter: true, ..Config::default() });
        let mut varying = steady.clone();
        for step in 0..10 {
            used(&mut steady, 2000 * step, 0);
            used(&mut varying, 2000 * step, 0);
            for ms in 0..20 {
                varying.handle_ack(&ack(2000 * step + 1990 + ms, 25 * (ms / 10)));
            }
        }
        let overhead =
            |flow: &Scream| flow.cwnd().count() as f64 / flow.reference_window().count() as f64;
        assert!(overhead(&steady) > 2.9, "{}", overhead(&steady));
        assert!(overhead(&varying) < overhead(&steady), "{}", overhead(&varying));
        assert!((overhead(&flow(Config::default())) - 3.0).abs() < 0.01);
    }

    #[test]
    fn a_standing_queue_halves_the_rate_for_five_rounds_until_the_base_is_known() {
        let mut flow = flow(Config::default());
        let mut drains = 0;
        used(&mut flow, 0, 0);
        for ms in (2000..22_000).step_by(2) {
            let before = flow.target();
            let was = flow.state();
            flow.handle_ack(&ack(ms, 25));
            if flow.state() == "draining" && was != "draining" {
                drains += 1;
                let part = flow.target().bits_per_sec() as f64 / before.bits_per_sec() as f64;
                assert!((part - 0.5).abs() < 0.01, "{part}");
                let until = flow.wakeup().unwrap();
                assert!(until >= at(ms) + RTT * 5 && until <= at(ms) + RTT * 10);
                flow.handle_time(until);
                assert_eq!(flow.wakeup(), None);
            }
        }
        assert_eq!(drains, 1);
    }

    #[test]
    fn after_a_timeout_one_segment_asks_and_a_mistake_is_taken_back() {
        let mut flow = flow(Config::default());
        used(&mut flow, 0, 0);
        let before = flow.reference_window();
        let mut mistaken = flow.clone();
        mistaken.handle_timeout(at(2100));
        assert_eq!(mistaken.cwnd(), Bytes::new(1448));
        mistaken.handle_spurious_timeout(at(2110));
        assert_eq!(mistaken.reference_window(), before);
        flow.handle_timeout(at(2100));
        for from in [2200, 4200, 6200] {
            used(&mut flow, from, 0);
        }
        assert!(flow.reference_window() > before, "{:?}", flow.window);
    }
}
