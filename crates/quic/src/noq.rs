//! noq: a window, and a rate that its pacer applies.

use std::any::Any;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Instant;

use noq_proto::RttEstimator;
use noq_proto::congestion::{Controller, ControllerFactory, ControllerMetrics};
use sounding_units::Bytes;

use crate::Factory;
use crate::clock::Clock;
use crate::driver::Driver;
use crate::window::Window;

mod noting;

/// One path of a connection of noq.
#[derive(Debug)]
struct Adapter {
    clock: Clock,
    /// noq requires `Sync`, but never shares it while it changes.
    driver: Mutex<Driver>,
    initial_window: u64,
    window: Window,
    pacing_rate: Option<u64>,
    send_quantum: Option<u64>,
}

impl ControllerFactory for Factory {
    fn build(self: Arc<Self>, now: Instant, current_mtu: u16) -> Box<dyn Controller> {
        let (clock, driver) = self.begin(now, current_mtu, true);
        Box::new(Adapter::new(clock, driver))
    }
}

impl Adapter {
    fn new(clock: Clock, mut driver: Driver) -> Self {
        let mut adapter = Self {
            clock,
            initial_window: driver.initial_window(),
            window: Window::of(&mut driver, &clock),
            driver: Mutex::new(driver),
            pacing_rate: None,
            send_quantum: None,
        };
        adapter.tell(|_, _| {});
        adapter
    }

    fn tell(&mut self, what: impl FnOnce(&mut Driver, &Clock)) {
        let driver = self.driver.get_mut().unwrap_or_else(PoisonError::into_inner);
        what(driver, &self.clock);
        self.window = Window::of(driver, &self.clock);
        self.pacing_rate = driver.pacing_rate();
        self.send_quantum = driver.send_quantum();
    }

    /// The stack's own estimator of the RTT, which comes along, is smoothed, and a round older.
    fn handle_acked(&mut self, now: Instant, sent: Instant, bytes: u64, number: Option<u64>) {
        self.tell(|driver, clock| {
            let (now, sent) = (clock.host(now), clock.host(sent));
            driver.handle_acked_number(now, sent, Bytes::new(bytes), number);
        });
    }
}

impl Controller for Adapter {
    fn on_packet_sent(&mut self, now: Instant, bytes: u16, pn: u64) {
        self.tell(|driver, clock| {
            driver.handle_sent(clock.host(now), Bytes::new(bytes.into()), pn);
        });
    }

    fn on_cwnd_limited(&mut self) {
        self.tell(|driver, _| driver.handle_window_blocked());
    }

    fn on_ack(
        &mut self,
        now: Instant,
        sent: Instant,
        bytes: u64,
        pn: u64,
        _app_limited: bool,
        _rtt: &RttEstimator,
    ) {
        self.handle_acked(now, sent, bytes, Some(pn));
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

    /// The losses themselves were reported one by one.
    fn on_congestion_event(
        &mut self,
        now: Instant,
        sent: Instant,
        is_persistent_congestion: bool,
        is_ecn: bool,
        _lost_bytes: u64,
        _largest_lost_pn: u64,
    ) {
        self.tell(|driver, clock| {
            // noq also reports the previous path's losses to the current path.
            if !driver.is_own(clock.host(sent)) {
                return;
            }
            if is_ecn {
                driver.handle_marked();
            }
            if is_persistent_congestion {
                driver.handle_persistent_congestion(clock.host(now));
            }
        });
    }

    fn on_packet_lost(&mut self, lost_bytes: u16, pn: u64, now: Instant) {
        self.tell(|driver, clock| {
            driver.handle_lost(clock.host(now), pn, Bytes::new(lost_bytes.into()));
        });
    }

    fn on_spurious_congestion_event(&mut self) {
        self.tell(|driver, _| driver.handle_spurious());
    }

    fn on_mtu_update(&mut self, new_mtu: u16) {
        self.tell(|driver, _| driver.handle_mtu(new_mtu));
    }

    fn window(&self) -> u64 {
        self.window.now()
    }

    fn metrics(&self) -> ControllerMetrics {
        let mut metrics = ControllerMetrics::default();
        metrics.congestion_window = self.window.now();
        metrics.pacing_rate = self.pacing_rate;
        metrics.send_quantum = self.send_quantum;
        metrics
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
