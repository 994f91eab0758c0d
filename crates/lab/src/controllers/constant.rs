//! A live sender with a bitrate that its user chose once.

use std::time::Duration;

use sounding_cc::{Ack, Controller, Loss};
use sounding_units::{Bytes, HostInstant, Rate};

/// In flight at most, as time at the rate, as for the other live senders.
const WINDOW: Duration = Duration::from_secs(2);

/// A sender with this rate.
#[derive(Debug)]
pub(crate) struct Constant(pub(crate) Rate);

impl Controller for Constant {
    fn handle_ack(&mut self, _ack: &Ack) {}
    fn handle_loss(&mut self, _loss: &Loss) {}
    fn handle_timeout(&mut self, _now: HostInstant) {}

    fn cwnd(&self) -> Bytes {
        self.0 * WINDOW
    }

    fn pacing_rate(&self) -> Option<Rate> {
        Some(self.0)
    }

    fn state(&self) -> &'static str {
        "fixed"
    }
}
