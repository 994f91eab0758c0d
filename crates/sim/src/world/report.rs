use core::time::Duration;

use sounding_cc::Ack;
use sounding_units::{Bytes, HostInstant, Rate};

use crate::{Carried, Histogram};

/// Measurements of a flow, in memory that does not grow with time.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Report {
    /// Since when.
    pub since: HostInstant,
    /// The end.
    pub until: HostInstant,
    /// Data packets that entered the network.
    pub sent: u64,
    /// Bytes of IP that these were.
    pub offered: Bytes,
    /// Data packets that left the network.
    pub arrived: u64,
    /// Bytes of IP that these were.
    pub carried: Bytes,
    /// When the first and the last of these left.
    pub arrivals: Option<(HostInstant, HostInstant)>,
    /// Payload that had not come before.
    pub delivered: Bytes,
    /// Data packets that the network dropped.
    pub dropped: u64,
    /// Packets that the sender took for lost.
    pub lost: u64,
    /// Packets that it sent again.
    pub retransmitted: u64,
    /// Times that its retransmission timer fired.
    pub timeouts: u64,
    /// Times that it should not have.
    pub spurious_timeouts: u64,
    /// From sender to receiver, each data packet.
    pub one_way: Histogram,
    /// Behind others in front of the bottleneck and through it, each data packet.
    pub queueing: Histogram,
    /// As the sender measured it, each acknowledgement.
    pub rtt: Histogram,
    /// From asking to the last byte: one for a finite flow, one for each response.
    pub completion: Histogram,
}

impl Report {
    pub(super) fn since(now: HostInstant) -> Self {
        Self { since: now, until: now, ..Self::default() }
    }

    /// Adds what was measured of another flow in the same time.
    pub(super) fn add(&mut self, other: &Self) {
        self.sent += other.sent;
        self.offered += other.offered;
        self.arrived += other.arrived;
        self.carried += other.carried;
        self.arrivals = match (self.arrivals, other.arrivals) {
            (Some((first, last)), Some((begins, ends))) => {
                Some((first.min(begins), last.max(ends)))
            }
            (mine, theirs) => mine.or(theirs),
        };
        self.delivered += other.delivered;
        self.dropped += other.dropped;
        self.lost += other.lost;
        self.retransmitted += other.retransmitted;
        self.timeouts += other.timeouts;
        self.spurious_timeouts += other.spurious_timeouts;
        self.one_way.add(&other.one_way);
        self.queueing.add(&other.queueing);
        self.rtt.add(&other.rtt);
        self.completion.add(&other.completion);
    }

    pub(super) fn handle_arrival<P>(&mut self, out: &Carried<P>, payload: Bytes) {
        self.arrived += 1;
        self.carried += out.size;
        let (first, last) = self.arrivals.unwrap_or((out.exits, out.exits));
        self.arrivals = Some((first, last.max(out.exits)));
        self.delivered += payload;
        self.one_way.record(out.exits - out.entered);
        self.queueing.record(out.left - out.joined);
    }

    pub(super) fn handle_sent(&mut self, size: Bytes) {
        self.sent += 1;
        self.offered += size;
    }

    pub(super) fn handle_ack(&mut self, ack: &Ack) {
        if let Some(rtt) = ack.rtt {
            self.rtt.record(rtt);
        }
    }

    /// Duration of the measurement.
    pub fn span(&self) -> Duration {
        self.until - self.since
    }

    /// Received bytes of IP ÷ the measured time.
    pub fn throughput(&self) -> Rate {
        self.carried.per(self.span())
    }

    /// Payload that was new, over the time that was measured.
    pub fn goodput(&self) -> Rate {
        self.delivered.per(self.span())
    }

    /// Throughput ÷ the link's capacity in that time; zero for a link without capacity.
    pub fn utilisation(&self, capacity: Bytes) -> f64 {
        if capacity == Bytes::ZERO {
            0.0
        } else {
            self.carried.count() as f64 / capacity.count() as f64
        }
    }

    /// Dropped packets ÷ (received or dropped packets).
    pub fn loss(&self) -> f64 {
        let through = self.arrived + self.dropped;
        if through == 0 { 0.0 } else { self.dropped as f64 / through as f64 }
    }
}
