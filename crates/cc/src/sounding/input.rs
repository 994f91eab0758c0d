use core::time::Duration;

use sounding_estimate::Bound;
use sounding_units::{Bytes, HostInstant, Rate};

/// What the publisher reports.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FeedUpdate {
    /// The rate of the radio for this device, IP.
    Carries {
        /// For the whole device.
        rate: Rate,
        /// Whether that is all that the radio has.
        bound: Bound,
    },
    /// No grants, and no known backlog.
    Idle,
    /// The device is on the way to another cell.
    Handover,
    /// No usable estimate, or no publisher.
    Nothing,
}

/// The fields of an acknowledgement that the law uses.
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
    /// The same count when the acknowledged data left.
    pub prior_delivered: u32,
    /// Later packets showed losses, which are still being repaired.
    pub is_recovering: bool,
    /// It carries a congestion mark.
    pub is_marked: bool,
    /// The application limited the measured rate.
    pub is_limited: bool,
}
