use alloc::collections::VecDeque;
use core::time::Duration;

use sounding_cc::Needs;
use sounding_kpi::Direction;
use sounding_link::{Arrival, DelayUpdate, LinkEstimate, Sounder};
use sounding_trace::dci::Heard;
use sounding_units::{Bytes, HostInstant};

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
    /// From its publication to the controller: the host's own time, and the way to the sender
    /// where that is elsewhere.
    pub latency: Duration,
    /// How an estimate reaches the controllers.
    pub feedback: Feedback,
    /// Whether a sniffer of the cells is received too, if the network has one.
    pub sniffs: bool,
    /// Whether controllers receive the delays that the radio made too.
    pub delays: bool,
}

/// How a device's estimates reach the controllers of its flows.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Feedback {
    /// After the latency, independent of the network.
    #[default]
    Direct,
    /// On the acknowledgements of each flow, each with its own part, over its own RTprop (PBE-CC
    /// §4.1).
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
            delays: false,
        }
    }

    /// The same for flows of controllers with these needs; those that ask nothing of a modem have
    /// none.
    #[must_use]
    pub fn told(mut self, controllers: impl IntoIterator<Item = Option<Needs>> + Clone) -> Self {
        let needs = Needs::of_all(controllers.clone().into_iter().flatten());
        self.estimator = self.estimator.over(needs.span).by(needs.method);
        self.every = needs.every.unwrap_or(self.every);
        self.delays = needs.delays;
        // One that asks nothing is not at the far end, and neither is an upload's.
        let is_far = self.port.direction == Direction::Downlink;
        if is_far && needs.remote && controllers.into_iter().all(|needs| needs.is_some()) {
            self.feedback = Feedback::Acks;
        }
        self
    }
}

/// A host takes at least this long for a packet. In the model all of one time leave at once.
const APART: Duration = Duration::from_micros(1);

/// A modem's bytes on their way to controllers: through the same extraction and estimation as a
/// live one's.
#[derive(Debug)]
pub(super) struct ModemFeed {
    listening: Listening,
    sounder: Sounder,
    publish_at: HostInstant,
    underway: VecDeque<(HostInstant, LinkEstimate)>,
    delays_underway: VecDeque<(HostInstant, DelayUpdate)>,
    /// When the last packet entered, by its stamp.
    stamped: Option<HostInstant>,
}

impl ModemFeed {
    pub(super) fn new(listening: Listening, now: HostInstant) -> Self {
        let sounder = Sounder::new(listening.estimator);
        Self {
            sounder: if listening.delays { sounder.with_delays() } else { sounder },
            delays_underway: VecDeque::new(),
            publish_at: now + listening.every,
            underway: VecDeque::new(),
            stamped: None,
            listening,
        }
    }

    pub(super) fn port(&self) -> Port {
        self.listening.port
    }

    /// A packet enters the network; those of the uplink are known to the device's host. If that has
    /// to know which is which, it stamps each with a time of its own, as a kernel does, and
    /// this is the time.
    pub(super) fn handle_entered(
        &mut self,
        now: HostInstant,
        port: Port,
        size: Bytes,
    ) -> Option<HostInstant> {
        let up = Port { direction: Direction::Uplink, ..self.listening.port };
        if port != up || !self.listening.delays {
            return None;
        }
        let stamp = self.stamped.map_or(now, |last| now.max(last + APART));
        self.stamped = Some(stamp);
        self.sounder.handle_entered(stamp, size);
        Some(stamp)
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
            let due = self.publish_at + self.listening.latency;
            self.underway.push_back((due, estimate));
            if let Some(mut delays) = self.sounder.take_delays() {
                if delays.heard_at > HostInstant::default() {
                    delays.heard_at = delays.heard_at + self.listening.latency;
                }
                self.delays_underway.push_back((due, delays));
            }
            self.publish_at = self.publish_at + self.listening.every.max(Duration::from_micros(1));
        }
    }

    pub(super) fn poll_delays(&mut self, now: HostInstant) -> Option<DelayUpdate> {
        self.delays_underway.pop_front_if(|(due, _)| *due <= now).map(|(_, delays)| delays)
    }

    pub(super) fn poll_estimate(&mut self, now: HostInstant) -> Option<LinkEstimate> {
        self.underway.pop_front_if(|(due, _)| *due <= now).map(|(_, estimate)| estimate)
    }

    pub(super) fn wakeup(&self) -> HostInstant {
        self.underway.front().map_or(self.publish_at, |(due, _)| self.publish_at.min(*due))
    }
}
