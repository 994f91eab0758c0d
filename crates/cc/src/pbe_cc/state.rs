//! What a device reports, what an acknowledgement brings, and where the bottleneck is believed to be.

use core::time::Duration;

use sounding_estimate::{Bound, FairShare};
use sounding_units::{Bytes, HostInstant, Rate};

use crate::Phase;

/// What a device reports, of this flow's part of its link; IP.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Claim {
    /// C_t, the capacity.
    pub rate: Rate,
    /// Whether that is all there is. A floor without a fair share says only what was asked for.
    pub bound: Bound,
    /// C_f, where the users of the cells are known.
    pub fair: Option<FairShare>,
}

/// What the publisher reports.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FeedUpdate {
    /// The device has this of its cells.
    Carries(Claim),
    /// The device is on the way to another cell.
    Handover,
    /// Nothing that may be used, or no publisher speaks.
    Nothing,
}

/// An acknowledgement, in what the law goes by.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Ack {
    /// When it arrived.
    pub now: HostInstant,
    /// The RTT it measured, if any.
    pub rtt: Option<Duration>,
    /// How long what it acknowledges was on the way, but for a constant; `None` where that is unknown (interpretation 18).
    pub delay: Option<Duration>,
    /// How fast the path delivered over about the last round, payload, if known.
    pub rate: Option<Rate>,
    /// Delivered by it, payload.
    pub acked: Bytes,
    /// BtlBw: BBR's filter of delivery rates, payload.
    pub bandwidth: Rate,
    /// Delivered since the flow began, in any unit, wrapping.
    pub delivered: u32,
    /// The same when what is now acknowledged left.
    pub prior_delivered: u32,
    /// The application held back what it measured.
    pub is_limited: bool,
}

/// Where the bottleneck is believed to be, and what the law does.
///
/// ```text
/// from                  event                                             to
/// any                   no estimate, or the publisher is silent           NoEstimate
/// any that controls     the device is on the way to another cell          Handover
/// NoEstimate, Handover  an estimate with a fair share                     Ramp
/// NoEstimate, Handover  a capacity without one                            RadioLimited
/// NoEstimate, Handover  a floor without one                               Probing
/// Ramp                  the fair share is reached                         RadioLimited
/// RadioLimited          a carrier is added                                Ramp
/// Ramp, RadioLimited,   N_pkt packets are late, and less arrives than     Drain
///   Probing               was claimed
/// RadioLimited          no packet is as early as D_prop for ten seconds   Drain
/// Drain                 one RTprop                                        BottleneckElsewhere, or as before it
/// BottleneckElsewhere   N_pkt packets are on time, and C_f arrives        RadioLimited
/// RadioLimited          three rounds of less than four fifths of a claim  EstimateTooHigh
/// EstimateTooHigh       the claim is no more than 1.25 of what arrives    RadioLimited
/// Ramp                  N_pkt packets are late, and for one RTprop       Drain
///                         no more arrives
/// NoEstimate            an estimate within a second of either of the two  as before it
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum State {
    /// There is no usable estimate: BBR controls the flow.
    NoEstimate,
    /// The rate grows in a line to the fair share (§4.1).
    Ramp {
        /// Since when.
        since: HostInstant,
        /// From this rate, payload, bytes a second.
        from: u64,
    },
    /// The rate is the capacity that the device reports (§4.2.1).
    RadioLimited,
    /// Only what was asked for is known: the rate grows.
    Probing {
        /// By so many hundredths a round.
        growth: u64,
    },
    /// The device is on the way to another cell: rate and window stay as they are.
    Handover,
    /// Half of what the path carries is sent, for its queue to drain.
    Drain {
        /// Until then.
        until: HostInstant,
        /// What comes next: whether the queue is one of the Internet.
        elsewhere: bool,
    },
    /// The bottleneck is in the Internet: BBR controls the flow, and probes no further than the fair share (§4.2.3).
    BottleneckElsewhere,
    /// Less arrives than is claimed: BBR controls the flow, and sends no more than 1.25 of what arrives.
    EstimateTooHigh,
}

impl State {
    /// Its name everywhere outside the law.
    pub const fn phase(&self) -> Phase {
        match self {
            Self::NoEstimate => Phase::NoEstimate,
            Self::Ramp { .. } => Phase::Ramp,
            Self::RadioLimited => Phase::RadioLimited,
            Self::Probing { .. } => Phase::Probing,
            Self::Handover => Phase::Handover,
            Self::Drain { .. } => Phase::Drain,
            Self::BottleneckElsewhere => Phase::BottleneckElsewhere,
            Self::EstimateTooHigh => Phase::EstimateTooHigh,
        }
    }
}

/// What the device last reported, as payload in bytes a second.
#[derive(Clone, Copy, Debug)]
pub(super) struct Share {
    pub(super) rate: u64,
    pub(super) bound: Bound,
    pub(super) fair: Option<u64>,
    pub(super) carriers: u32,
}

impl Share {
    /// What the flow ramps up to.
    pub(super) fn goal(&self) -> u64 {
        self.fair.unwrap_or(self.rate)
    }

    /// Where a flow is whose bottleneck is the radio: a rate that is only what was asked for grows by so many hundredths a round.
    pub(super) fn state(&self, growth: u64) -> State {
        if self.fair.is_some() || self.bound == Bound::Capacity {
            State::RadioLimited
        } else {
            State::Probing { growth }
        }
    }
}
