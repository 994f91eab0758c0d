//! The packets that a device's application offers, without a protocol in between.

use std::collections::VecDeque;
use std::time::Duration;

use super::scenario::{Scenario, Shape};

/// The sender of one flow.
#[derive(Debug)]
pub(super) struct Source {
    shape: Shape,
    window: u32,
    rate: f64,
    turns: [Duration; 2],
    wire: Duration,
    in_flight: u32,
    /// When acknowledgements are back.
    back: VecDeque<Duration>,
    sent: f64,
}

impl Source {
    pub(super) fn new(scenario: &Scenario) -> Self {
        Self {
            shape: scenario.kind.shape,
            window: scenario.window,
            rate: scenario.rate,
            turns: scenario.turns,
            wire: scenario.wire,
            in_flight: 0,
            back: VecDeque::new(),
            sent: 0.0,
        }
    }

    /// A packet has arrived, or was lost, and the sender learns of it.
    pub(super) fn handle_outcome(&mut self, now: Duration) {
        self.back.push_back(now + self.wire);
    }

    /// How many packets leave now.
    pub(super) fn poll(&mut self, now: Duration) -> u32 {
        while self.back.pop_front_if(|at| *at <= now).is_some() {
            self.in_flight -= 1;
        }
        let count = match self.shape {
            Shape::Paced => {
                let due = self.rate * now.as_secs_f64();
                let count = (due - self.sent).max(0.0) as u32;
                self.sent += f64::from(count);
                count
            }
            Shape::OnOff if !self.is_on(now) => 0,
            Shape::Saturated | Shape::Window | Shape::OnOff => {
                self.window.saturating_sub(self.in_flight)
            }
        };
        self.in_flight += count;
        count
    }

    fn is_on(&self, now: Duration) -> bool {
        let [on, off] = self.turns;
        Duration::from_nanos((now.as_nanos() % (on + off).as_nanos()) as u64) < on
    }
}
