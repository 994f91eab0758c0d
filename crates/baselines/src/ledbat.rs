//! LEDBAT: a background flow. It keeps 100 ms of queue while it is alone, and backs off if others
//! already queue that much (RFC 6817). LEDBAT++ is in a separate file.

mod plus_plus;

use core::time::Duration;

use sounding_cc::parameter::{Kind, Parameter, Values};
use sounding_cc::part::{Aimd, QueueingDelay};
use sounding_cc::{Ack, Controller, Loss, Recovery, Start};
use sounding_units::{Bytes, HostInstant, Rate};

pub use plus_plus::LedbatPlusPlus;

const TARGET: Parameter = Parameter {
    name: "target",
    kind: Kind::millis(100, 1, 100),
    unit: "",
    about: "the target for the queueing delay",
    source: "RFC 6817 §2.5: at most 100 ms",
};
const GAIN: Parameter = Parameter {
    name: "gain",
    kind: Kind::number(1.0, 0.01, 1.0),
    unit: "",
    about: "segments that the window grows by in a round without a queue",
    source: "RFC 6817 §2.5: at most 1",
};

/// Parameters of LEDBAT.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Config {
    /// The target for the queueing delay.
    pub target: Duration,
    /// Segments per round, multiplied by the distance to the target as a part of the target.
    pub gain: f64,
}

impl Config {
    pub(crate) const PARAMETERS: &[Parameter] = &[TARGET, GAIN];

    pub(crate) fn of(values: &Values) -> Self {
        Self { target: values.time(&TARGET), gain: values.number(&GAIN) }
    }
}

impl Default for Config {
    fn default() -> Self {
        Self::of(&Values::default())
    }
}

/// In segments (RFC 6817: INIT_CWND and MIN_CWND).
const INITIAL_CWND: u64 = 2;
/// The largest excess of the window over the data in flight, in segments (RFC 6817:
/// ALLOWED_INCREASE).
const ALLOWED_INCREASE: u64 = 1;

/// One flow under LEDBAT. There is no slow start in RFC 6817, and none here.
#[derive(Clone, Debug)]
pub struct Ledbat {
    config: Config,
    window: Aimd,
    mss: Bytes,
    delay: QueueingDelay,
}

impl Ledbat {
    /// A flow that begins with two segments.
    pub fn new(start: &Start) -> Self {
        Self::with(start, Config::default())
    }

    /// The same, with other parameters.
    pub fn with(start: &Start, config: Config) -> Self {
        let mut window = Aimd::new(start);
        window.cap(start.segments(INITIAL_CWND));
        Self { config, window, mss: start.mss, delay: QueueingDelay::new(start.now) }
    }
}

impl Controller for Ledbat {
    fn handle_ack(&mut self, ack: &Ack) {
        let marked = self.window.handle_ack(ack);
        // If the transport cannot separate the directions, queues on both are seen.
        let Some(delay) = ack.one_way.or(ack.rtt) else { return };
        let queueing = self.delay.handle_sample(ack.now, delay);
        if marked || ack.recovery == Recovery::Fast {
            return;
        }
        let Config { target, gain } = self.config;
        let off_target = 1.0 - queueing.as_secs_f64() / target.as_secs_f64();
        let acked = self.window.in_segments(ack.acked);
        self.window.shift(gain * off_target * acked / self.window.segments());
        let allowed = Bytes::new(self.mss.count() * ALLOWED_INCREASE);
        self.window.cap(ack.prior_in_flight + allowed);
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
        "steering"
    }
}
