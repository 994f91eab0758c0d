use std::time::Duration;

use sounding_sim::world::FlowId;

/// TCP and IPv4 with timestamps.
pub(super) const HEADERS: u64 = 52;

/// A packet that arrived: when, after how long, when the radio had sent it, how large, and whose.
#[derive(Clone, Copy, Debug)]
pub(super) struct Arrival {
    pub(super) at: Duration,
    pub(super) delay: Duration,
    /// From entering the radio's queue, or that of the wire, until its last byte had been sent once.
    pub(super) queueing: Duration,
    pub(super) sent: Duration,
    pub(super) size: u64,
    pub(super) flow: FlowId,
}
