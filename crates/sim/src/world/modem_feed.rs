use alloc::collections::VecDeque;
use core::time::Duration;

use sounding_link::{Arrival, LinkEstimate, Method, Sounder};
use sounding_trace::dci::Heard;
use sounding_units::HostInstant;

use crate::{Diag, Port};

/// Settings of a device's host that reads its modem, for one direction.
#[derive(Clone, Copy, Debug)]
pub struct Listening {
    /// The device, and the direction whose controllers receive the estimates.
    pub port: Port,
    /// Configuration of the estimator.
    pub estimator: sounding_link::Config,
    /// Interval at which an estimate is published.
    pub every: Duration,
    /// From its publication to the controller: the host's own time, and the way to the sender where that is elsewhere.
    pub latency: Duration,
    /// How an estimate reaches the controllers.
    pub feedback: Feedback,
    /// Whether a sniffer of the cells is received too, if the network has one.
    pub sniffs: bool,
}

/// How a device's estimates reach the controllers of its flows.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Feedback {
    /// After the latency, independent of the network.
    #[default]
    Direct,
    /// On the acknowledgements of each flow, each with its own part, over its own RTprop (PBE-CC §4.1).
    Acks,
}

impl Listening {
    /// As the daemon does it: every 10 ms, and a controller on the same host knows at once.
    pub fn new(port: Port) -> Self {
        Self {
            port,
            estimator: sounding_link::Config::new(port.direction),
            every: Duration::from_millis(10),
            latency: Duration::ZERO,
            feedback: Feedback::Direct,
            sniffs: false,
        }
    }

    /// The same for flows of these controllers, with the span and the method that they need.
    pub fn told<'a>(mut self, controllers: impl IntoIterator<Item = &'a str> + Clone) -> Self {
        let method = sounding_cc::method(controllers.clone());
        self.estimator = self.estimator.over(sounding_cc::span(controllers.clone())).by(method);
        self.every = sounding_cc::reports_every(controllers.clone()).unwrap_or(self.every);
        let mut names = controllers.into_iter().peekable();
        if names.peek().is_some() && names.all(sounding_cc::is_remote) {
            self.feedback = Feedback::Acks;
            if method.is_none() {
                self.estimator.method = Method::Cell;
            }
        }
        self
    }
}

/// A modem's bytes on their way to controllers: through the same extraction and estimation as a live one's.
#[derive(Debug)]
pub(super) struct ModemFeed {
    listening: Listening,
    sounder: Sounder,
    publish_at: HostInstant,
    underway: VecDeque<(HostInstant, LinkEstimate)>,
}

impl ModemFeed {
    pub(super) fn new(listening: Listening, now: HostInstant) -> Self {
        Self {
            sounder: Sounder::new(listening.estimator),
            publish_at: now + listening.every,
            underway: VecDeque::new(),
            listening,
        }
    }

    pub(super) fn port(&self) -> Port {
        self.listening.port
    }

    pub(super) fn handle_diag(&mut self, diag: &Diag) {
        if diag.device == self.listening.port.device {
            self.sounder.handle_bytes(Arrival::At(diag.at), &diag.bytes, |_, _| {});
        }
    }

    /// A sniffer of the network's cells.
    pub(super) fn handle_heard(&mut self, at: HostInstant, heard: &Heard) {
        if self.listening.sniffs {
            self.sounder.handle_heard(at, heard);
        }
    }

    /// The published estimate at `now`, over a flow's RTprop.
    pub(super) fn estimate_over(&self, now: HostInstant, span: Duration) -> LinkEstimate {
        self.sounder.estimate_over(now, span)
    }

    pub(super) fn feedback(&self) -> Feedback {
        self.listening.feedback
    }

    pub(super) fn handle_time(&mut self, now: HostInstant) {
        while self.publish_at <= now {
            let mut estimate = self.sounder.estimate(self.publish_at);
            // Without an estimate, the age is the maximum.
            estimate.age = estimate.age.saturating_add(self.listening.latency);
            self.underway.push_back((self.publish_at + self.listening.latency, estimate));
            self.publish_at = self.publish_at + self.listening.every.max(Duration::from_micros(1));
        }
    }

    pub(super) fn poll_estimate(&mut self, now: HostInstant) -> Option<LinkEstimate> {
        self.underway.pop_front_if(|(due, _)| *due <= now).map(|(_, estimate)| estimate)
    }

    pub(super) fn wakeup(&self) -> HostInstant {
        self.underway.front().map_or(self.publish_at, |(due, _)| self.publish_at.min(*due))
    }
}
