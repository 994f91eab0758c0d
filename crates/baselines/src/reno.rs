//! Reno: slow start, one segment per round, half after a loss (RFC 5681, RFC 6582).

use sounding_cc::part::Aimd;
use sounding_cc::{Ack, Controller, Loss, Start};
use sounding_units::{Bytes, HostInstant, Rate};

/// One flow under Reno.
#[derive(Clone, Debug)]
pub struct Reno {
    window: Aimd,
}

impl Reno {
    /// A flow that begins with RFC 6928's window, and slow start that ends with a loss.
    pub fn new(start: &Start) -> Self {
        Self { window: Aimd::new(start) }
    }

    /// The same with HyStart++ (RFC 9406).
    pub fn with_hystart(start: &Start) -> Self {
        Self { window: Aimd::new(start).with_hystart() }
    }
}

impl Controller for Reno {
    fn handle_ack(&mut self, ack: &Ack) {
        if !self.window.handle_ack(ack) {
            self.window.grow(ack);
        }
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
        if self.window.in_slow_start() { "slow start" } else { "avoidance" }
    }
}
