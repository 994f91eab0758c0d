use std::time::Instant;

use crate::clock::Clock;
use crate::driver::Driver;

/// The window of a stack, which asks for it without the time, and in which a silence ends without
/// an event.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Window {
    open: u64,
    silent: u64,
    silent_until: Option<Instant>,
}

impl Window {
    /// As of the driver's last event.
    pub(crate) fn of(driver: &mut Driver, clock: &Clock) -> Self {
        let silent_until = driver.poll_silence().map(|until| clock.instant(until));
        Self { open: driver.window(), silent: driver.silent_window(), silent_until }
    }

    /// The bytes that may be in flight now.
    pub(crate) fn now(&self) -> u64 {
        match self.silent_until {
            Some(until) if Instant::now() < until => self.silent,
            _ => self.open,
        }
    }
}

#[cfg(test)]
mod tests;
