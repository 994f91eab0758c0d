//! GCC, WebRTC's: a rate that grows until delays do, or until packets are lost
//! (draft-ietf-rmcat-gcc-02; Carlucci et al., "Analysis and Design of the Google Congestion Control
//! for WebRTC", MMSys 2016; constants as in libwebrtc's `goog_cc`).
//!
//! The feedback is acknowledgements. A packet's arrival time comes from its one-way delay, or else
//! from the acknowledgement's arrival. WebRTC has no window, and a transport needs one. Here it is
//! what WebRTC's pacer may hold back: the rate × (350 ms + RTT).

mod detector;
mod groups;
mod loss;
mod probe;
mod rate;

use core::time::Duration;

use sounding_cc::parameter::{Kind, Parameter, Values};
use sounding_cc::part::RttEstimator;
use sounding_cc::{Ack, Controller, Departure, Loss, Recovery, Start};
use sounding_estimate::MAX_RATE;
use sounding_units::{Bytes, HostInstant, Rate};

pub use detector::Gradient;
use detector::{Detector, Usage};
use groups::Groups;
use loss::LossControl;
use probe::Probe;
use rate::{Phase, RateControl};

const FIRST_RATE: Parameter = Parameter {
    name: "first_rate",
    kind: Kind::count(300, 10, 1_000_000),
    unit: "kbit/s",
    about: "the rate at the start, and after a timeout",
    source: "libwebrtc's start",
};
const DECREASE: Parameter = Parameter {
    name: "decrease",
    kind: Kind::number(0.85, 0.5, 0.99),
    unit: "",
    about: "the rate after overuse, as a part of the received rate",
    source: "draft-ietf-rmcat-gcc-02 §5.5, β; libwebrtc AimdRateControl",
};
const INCREASE: Parameter = Parameter {
    name: "increase",
    kind: Kind::number(1.08, 1.001, 4.0),
    unit: "a second",
    about: "growth factor of the rate, far from the rate at which the link was last full",
    source: "draft-ietf-rmcat-gcc-02 §5.5, η; libwebrtc AimdRateControl",
};

/// Parameters of GCC.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Config {
    /// The rate at the start.
    pub first_rate: Rate,
    /// The rate after overuse, as a part of the received rate.
    pub decrease: f64,
    /// Growth a second, as a part of the rate, far from where the link was last found full.
    pub increase: f64,
}

impl Config {
    pub(crate) const PARAMETERS: &[Parameter] = &[FIRST_RATE, DECREASE, INCREASE];

    pub(crate) fn of(values: &Values) -> Self {
        Self {
            first_rate: Rate::from_bits_per_sec(u64::from(values.count(&FIRST_RATE)) * 1000),
            decrease: values.number(&DECREASE),
            increase: values.number(&INCREASE),
        }
    }
}

impl Default for Config {
    fn default() -> Self {
        Self::of(&Values::default())
    }
}

/// The acknowledged rate is a mean over this (libwebrtc `BitrateEstimator`: 150 ms windows, 500 ms
/// for the first).
const ACKED_OVER: Duration = Duration::from_millis(150);
/// Weight of a new window; chosen for a memory of half a second.
const ACKED_WEIGHT: f64 = 0.3;
/// libwebrtc `CongestionWindow`: `QueueSize`.
const WINDOW: Duration = Duration::from_millis(350);
/// Before the first RTT sample; chosen.
const NOMINAL_RTT: Duration = Duration::from_millis(100);

/// One flow under GCC.
#[derive(Clone, Debug)]
pub struct Gcc {
    first_rate: Rate,
    mss: Bytes,
    initial_cwnd: Bytes,
    began: HostInstant,
    groups: Groups,
    detector: Detector,
    by_delay: RateControl,
    by_loss: LossControl,
    probe: Probe,
    rtt: RttEstimator,
    acked: Acked,
    before_timeout: Option<Rate>,
    /// No packet has arrived since the timeout: one segment probes whether the path works.
    asking: bool,
}

/// The acknowledged rate.
#[derive(Clone, Copy, Debug)]
struct Acked {
    since: HostInstant,
    bytes: Bytes,
    rate: Option<Rate>,
}

impl Acked {
    fn handle_ack(&mut self, now: HostInstant, bytes: Bytes) {
        self.bytes += bytes;
        let span = now - self.since;
        if span < ACKED_OVER {
            return;
        }
        let new = self.bytes.per(span).bits_per_sec() as f64;
        let before = self.rate.map_or(new, |rate| rate.bits_per_sec() as f64);
        let rate = before + ACKED_WEIGHT * (new - before);
        self.rate = Some(Rate::from_bits_per_sec(rate as u64));
        (self.since, self.bytes) = (now, Bytes::ZERO);
    }
}

impl Gcc {
    /// A flow at 300 kbit/s that probes for more.
    pub fn new(start: &Start) -> Self {
        Self::with(start, Config::default())
    }

    /// The same, with other parameters.
    pub fn with(start: &Start, config: Config) -> Self {
        let mut rtt = RttEstimator::default();
        if let Some(sample) = start.rtt.filter(|rtt| !rtt.is_zero()) {
            rtt.handle_sample(sample);
        }
        let first_rate = config.first_rate;
        Self {
            first_rate,
            mss: Bytes::new(start.mss.count().max(1)),
            initial_cwnd: start.initial_cwnd(),
            began: start.now,
            groups: Groups::default(),
            detector: Detector::new(),
            by_delay: RateControl::new(start.now, &config),
            by_loss: LossControl::new(start.now, first_rate),
            probe: Probe::begin(first_rate),
            rtt,
            acked: Acked { since: start.now, bytes: Bytes::ZERO, rate: None },
            before_timeout: None,
            asking: false,
        }
    }

    fn round(&self) -> Duration {
        self.rtt.smoothed().unwrap_or(NOMINAL_RTT)
    }

    /// The rate that delay and loss leave.
    pub fn target(&self) -> Rate {
        let least = self.mss.per(Duration::from_millis(500));
        self.by_delay.rate().min(self.by_loss.rate()).clamp(least, MAX_RATE)
    }

    /// How delays changed with the last group of packets; `None` before the second group, and after
    /// a timeout.
    pub fn gradient(&self) -> Option<Gradient> {
        self.detector.gradient()
    }

    fn set(&mut self, now: HostInstant, rate: Rate) {
        self.by_delay.set(now, rate);
        self.by_loss.set(now, rate);
    }

    fn handle_arrival(&mut self, ack: &Ack, way: Duration) {
        let sent = ack.sent.at - self.began;
        let arrived = sent + way;
        let found = self.probe.handle_arrival(ack.now, ack.sent.at, arrived, ack.acked);
        if let Some(found) = found.filter(|&found| found > self.target()) {
            self.set(ack.now, found);
        }
        if let Some(delta) = self.groups.handle_packet(sent, arrived) {
            self.detector.handle_delta(&delta);
        }
    }
}

impl Controller for Gcc {
    fn handle_sent(&mut self, sent: &Departure, size: Bytes) {
        if sent.app_limited {
            // The application has no data for a probe now.
            self.probe.postpone();
        } else {
            self.probe.handle_sent(sent.at, size, self.mss);
        }
    }

    fn handle_ack(&mut self, ack: &Ack) {
        self.asking = false;
        if ack.recovery != Recovery::Timeout {
            self.before_timeout = None;
        }
        self.rtt.handle_ack(ack);
        self.acked.handle_ack(ack.now, ack.acked);
        if let Some(way) = ack.one_way.or(ack.rtt) {
            self.handle_arrival(ack, way);
        }
        if let Some(acked) = self.acked.rate {
            let (usage, rtt) = (self.detector.usage(), self.round());
            if usage == Usage::Over {
                self.probe = Probe::None;
            }
            self.by_delay.handle_usage(ack.now, usage, rtt, acked, self.mss);
        }
        self.by_loss.handle_feedback(ack.now, ack.acked, ack.newly_lost, self.mss, self.round());
        self.by_loss.cap(self.by_delay.rate());
    }

    fn handle_loss(&mut self, _loss: &Loss) {}

    /// WebRTC has no such timer. Nothing is known of the path any longer, and it is probed for as
    /// at the beginning.
    fn handle_timeout(&mut self, now: HostInstant) {
        self.asking = true;
        self.before_timeout.get_or_insert(self.target());
        self.set(now, self.first_rate.min(self.target()));
        self.groups = Groups::default();
        self.detector = Detector::new();
        self.acked = Acked { since: now, bytes: Bytes::ZERO, rate: None };
        self.probe = Probe::begin(self.target());
    }

    fn handle_spurious_timeout(&mut self, now: HostInstant) {
        self.asking = false;
        if let Some(rate) = self.before_timeout.take() {
            self.set(now, rate.max(self.target()));
            self.probe = Probe::None;
        }
    }

    fn cwnd(&self) -> Bytes {
        if self.asking {
            return self.mss;
        }
        let rate = self.pacing_rate().unwrap_or_default();
        (rate * (self.round() + WINDOW)).max(self.initial_cwnd)
    }

    fn pacing_rate(&self) -> Option<Rate> {
        let probing = self.probe.rate().unwrap_or_default();
        Some(self.target().max(probing).min(MAX_RATE))
    }

    fn state(&self) -> &'static str {
        match (self.probe, self.detector.usage(), self.by_delay.phase()) {
            (Probe::Due { .. } | Probe::Sending { .. }, ..) => "probing",
            (_, Usage::Over, _) => "overuse",
            (_, Usage::Under, _) => "underuse",
            (_, Usage::Normal, Phase::Increase) => "increasing",
            (_, Usage::Normal, Phase::Hold) => "holding",
        }
    }
}
