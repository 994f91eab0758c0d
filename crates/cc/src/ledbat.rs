//! LEDBAT: a background flow. It keeps 100 ms of queue while it is alone, and gives way where others already queue that
//! much (RFC 6817). LEDBAT++ is in a separate file.

mod delay;
mod plus_plus;

use core::time::Duration;

use sounding_units::{Bytes, HostInstant, Rate};

use crate::part::Aimd;
use crate::{Ack, Controller, Loss, Recovery, Start};
use delay::QueueingDelay;
pub use plus_plus::LedbatPlusPlus;

/// RFC 6817: no more than this.
const TARGET: Duration = Duration::from_millis(100);
/// Segments a round for each target that is missing (RFC 6817: at most one).
const GAIN: f64 = 1.0;
/// In segments (RFC 6817: INIT_CWND and MIN_CWND).
const INITIAL_CWND: u64 = 2;
/// In segments: how far the window may be ahead of what is in flight (RFC 6817: ALLOWED_INCREASE).
const ALLOWED_INCREASE: u64 = 1;

/// One flow under LEDBAT. There is no slow start in RFC 6817, and none here.
#[derive(Clone, Debug)]
pub struct Ledbat {
    window: Aimd,
    mss: Bytes,
    delay: QueueingDelay,
}

impl Ledbat {
    /// A flow that begins with two segments.
    pub fn new(start: &Start) -> Self {
        let mut window = Aimd::new(start);
        window.cap(start.segments(INITIAL_CWND));
        Self { window, mss: start.mss, delay: QueueingDelay::new(start.now) }
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
        let off_target = 1.0 - queueing.as_secs_f64() / TARGET.as_secs_f64();
        let acked = self.window.in_segments(ack.acked);
        self.window.shift(GAIN * off_target * acked / self.window.segments());
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
