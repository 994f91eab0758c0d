//! quinn: a window. Its pacer makes a rate of 5/4 of the window per smoothed RTT, whatever the
//! controller would have.

use std::any::Any;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Instant;

use quinn_proto::RttEstimator;
use quinn_proto::congestion::{Controller, ControllerFactory};
use sounding_units::Bytes;

use crate::Factory;
use crate::clock::Clock;
use crate::driver::Driver;
use crate::window::Window;

mod noting;

/// One connection of quinn.
#[derive(Debug)]
struct Adapter {
    clock: Clock,
    /// quinn requires `Sync`, but never shares it while it changes.
    driver: Mutex<Driver>,
    window: Window,
    initial_window: u64,
}

impl ControllerFactory for Factory {
    fn build(self: Arc<Self>, now: Instant, current_mtu: u16) -> Box<dyn Controller> {
        let (clock, driver) = self.begin(now, current_mtu, false);
        Box::new(Adapter::new(clock, driver))
    }
}

impl Adapter {
    fn new(clock: Clock, mut driver: Driver) -> Self {
        let (window, initial_window) = (Window::of(&mut driver, &clock), driver.initial_window());
        Self { clock, driver: Mutex::new(driver), window, initial_window }
    }

    fn tell(&mut self, what: impl FnOnce(&mut Driver, &Clock)) {
        let driver = self.driver.get_mut().unwrap_or_else(PoisonError::into_inner);
        what(driver, &self.clock);
        self.window = Window::of(driver, &self.clock);
    }

    /// The stack's own estimator of the RTT, which comes along, is smoothed, and a round older.
    fn handle_acked(&mut self, now: Instant, sent: Instant, bytes: u64) {
        self.tell(|driver, clock| {
            driver.handle_acked(clock.host(now), clock.host(sent), Bytes::new(bytes));
        });
    }
}

impl Controller for Adapter {
    fn on_sent(&mut self, now: Instant, bytes: u64, last_packet_number: u64) {
        self.tell(|driver, clock| {
            driver.handle_sent(clock.host(now), Bytes::new(bytes), last_packet_number);
        });
    }

    fn on_ack(
        &mut self,
        now: Instant,
        sent: Instant,
        bytes: u64,
        _app_limited: bool,
        _rtt: &RttEstimator,
    ) {
        self.handle_acked(now, sent, bytes);
    }

    fn on_end_acks(
        &mut self,
        now: Instant,
        in_flight: u64,
        app_limited: bool,
        _largest_packet_num_acked: Option<u64>,
    ) {
        self.tell(|driver, clock| {
            driver.handle_acks_end(clock.host(now), Bytes::new(in_flight), app_limited);
        });
    }

    fn on_congestion_event(
        &mut self,
        now: Instant,
        sent: Instant,
        is_persistent_congestion: bool,
        lost_bytes: u64,
    ) {
        self.tell(|driver, clock| {
            let (now, left) = (clock.host(now), clock.host(sent));
            // quinn also reports the previous path's losses to the current path.
            if !driver.is_own(left) {
                return;
            }
            if lost_bytes == 0 {
                driver.handle_marked();
            }
            driver.handle_lost_together(now, left, Bytes::new(lost_bytes));
            if is_persistent_congestion {
                driver.handle_persistent_congestion(now);
            }
        });
    }

    fn on_mtu_update(&mut self, new_mtu: u16) {
        self.tell(|driver, _| driver.handle_mtu(new_mtu));
    }

    /// quinn sends a datagram while the bytes in flight with it are less than the window, not equal
    /// to it. Of two segments that would be one.
    fn window(&self) -> u64 {
        self.window.now() + 1
    }

    fn clone_box(&self) -> Box<dyn Controller> {
        let mut driver = self.driver.lock().unwrap_or_else(PoisonError::into_inner);
        Box::new(Self::new(self.clock, driver.renewed()))
    }

    fn initial_window(&self) -> u64 {
        self.initial_window
    }

    fn into_any(self: Box<Self>) -> Box<dyn Any> {
        self
    }
}

#[cfg(test)]
mod tests;
