//! What the stack may send: the window, the rate, and silences.

use sounding_units::HostInstant;

use super::{Driver, MAX_RATE, MAX_WINDOW};

impl Driver {
    /// The bytes that may be in flight outside of silences: two segments at least, because a
    /// controller makes no progress with less (RFC 9002 §7.2).
    pub fn window(&self) -> u64 {
        self.controller.cwnd().count().min(MAX_WINDOW).max(self.least())
    }

    /// The bytes that may be in flight during a silence.
    pub fn silent_window(&self) -> u64 {
        self.silence.window(self.least())
    }

    /// The end of a silence that has begun. To be asked after each event: it calls the application
    /// for a new one.
    pub fn poll_silence(&mut self) -> Option<HostInstant> {
        let until = self.controller.not_before().filter(|&until| until > self.now)?;
        self.silence.handle(self.now, until);
        Some(until)
    }

    fn least(&self) -> u64 {
        self.mtu.count().saturating_mul(2)
    }

    /// The window that a connection begins with, in bytes.
    pub fn initial_window(&self) -> u64 {
        self.start.initial_cwnd().count()
    }

    /// The rate at which packets may leave, in bytes a second: finite, and at least two segments a
    /// second; `None` for the stack's choice.
    pub fn pacing_rate(&self) -> Option<u64> {
        let rate = self.controller.pacing_rate()?;
        Some(rate.bytes_per_sec().min(MAX_RATE).max(self.least()))
    }

    /// The burst at that rate in bytes: a millisecond's worth, ten segments at most and two at
    /// least.
    pub fn send_quantum(&self) -> Option<u64> {
        let mtu = self.mtu.count();
        Some((self.pacing_rate()? / 1000).clamp(2 * mtu, 10 * mtu))
    }
}
