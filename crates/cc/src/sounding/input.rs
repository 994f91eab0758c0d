use core::time::Duration;

use sounding_estimate::Bound;
use sounding_units::{Bytes, HostInstant, Rate};

/// What the publisher reports.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FeedUpdate {
    /// The device has this of the radio, IP.
    Carries {
        /// For the whole device.
        rate: Rate,
        /// Whether that is all there is.
        bound: Bound,
    },
    /// No grants, and no known backlog.
    Idle,
    /// The device is on the way to another cell.
    Handover,
    /// No usable estimate, or no publisher.
    Nothing,
}

/// An acknowledgement, in what the law goes by.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Ack {
    /// When it arrived.
    pub now: HostInstant,
    /// The RTT it measured, if any.
    pub rtt: Option<Duration>,
    /// The path's delivery rate over about the last round, payload, if known.
    pub rate: Option<Rate>,
    /// Delivered by it, payload.
    pub acked: Bytes,
    /// Found lost by it, payload.
    pub lost: Bytes,
    /// In flight before it, payload.
    pub in_flight: Bytes,
    /// Delivered since the flow began, in any unit, wrapping.
    pub delivered: u32,
    /// The same when what is now acknowledged left.
    pub prior_delivered: u32,
    /// Packets were found lost by what came after them, and are still being repaired.
    pub is_recovering: bool,
    /// It carries a congestion mark.
    pub is_marked: bool,
    /// The application held back what it measured.
    pub is_limited: bool,
}
