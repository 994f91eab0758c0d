//! Where the bottleneck is believed to be.

use sounding_estimate::Bound;
use sounding_units::HostInstant;

use crate::phase::Phase;

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
/// Drain                 one RTprop                                        BottleneckElsewhere, or
/// as before it
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
    /// The bottleneck is in the Internet: BBR controls the flow, and probes no further than the
    /// fair share (§4.2.3).
    BottleneckElsewhere,
    /// Less arrives than is claimed: BBR controls the flow, and sends no more than 1.25 of what
    /// arrives.
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

    /// Where a flow is whose bottleneck is the radio: a rate that is only what was asked for grows
    /// by so many hundredths a round.
    pub(super) fn state(&self, growth: u64) -> State {
        if self.fair.is_some() || self.bound == Bound::Capacity {
            State::RadioLimited
        } else {
            State::Probing { growth }
        }
    }
}
