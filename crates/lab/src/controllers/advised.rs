//! A live sender that takes the feed's advice: it paces packets by it and reacts to nothing else.

use std::time::Duration;

use sounding_cc::{Ack, Controller, Loss, Start};
use sounding_estimate::LinkEstimate;
use sounding_feed::{Adviser, Tuning};
use sounding_units::{Bytes, HostInstant, Rate};

/// What an encoder sends while nothing is advised.
const LEAST: Rate = Rate::from_bits_per_sec(500_000);

/// In flight at most, as time at the advice: pacing alone is the limit.
const WINDOW: Duration = Duration::from_secs(2);

/// Headers of a packet of 1,500 bytes.
const PAYLOAD: [u32; 2] = [1_448, 1_500];

/// A sender under advice.
#[derive(Debug)]
pub(crate) struct Advised {
    /// Other constants than the direction's.
    tuning: Option<Tuning>,
    adviser: Option<Adviser>,
    rate: Rate,
    least: Bytes,
}

impl Advised {
    pub(crate) fn new(start: &Start, tuning: Option<Tuning>) -> Self {
        let least = Bytes::new(10 * start.mss.count());
        Self { tuning, adviser: None, rate: LEAST, least }
    }
}

impl Controller for Advised {
    fn handle_ack(&mut self, _ack: &Ack) {}
    fn handle_loss(&mut self, _loss: &Loss) {}
    fn handle_timeout(&mut self, _now: HostInstant) {}

    fn handle_estimate(&mut self, now: HostInstant, estimate: &LinkEstimate, _flows: u32) {
        let tuning = self.tuning.unwrap_or(Tuning::of(estimate.direction));
        let adviser = self.adviser.get_or_insert(Adviser::tuned(tuning));
        adviser.handle_estimate(now, estimate);
        self.rate = adviser.advice().map_or(LEAST, |advice| advice.rate);
    }

    fn cwnd(&self) -> Bytes {
        (self.rate * WINDOW).max(self.least)
    }

    fn pacing_rate(&self) -> Option<Rate> {
        let [payload, packet] = PAYLOAD;
        Some(self.rate.scaled(payload, packet))
    }

    fn state(&self) -> &'static str {
        let advice = self.adviser.as_ref().and_then(Adviser::advice);
        advice.map_or("unadvised", |advice| advice.cause.name())
    }
}
