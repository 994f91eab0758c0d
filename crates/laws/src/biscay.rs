//! BISCAY: the window is the flow's share of the radio link times the path's RTT, while the radio
//! is the bottleneck (BISCAY §3.2.4, §A.5.1).
//!
//! The same law runs in the kernel as `biscay.h` of `sounding-bpf`; a property test there compares
//! the two.

use sounding_cc::parameter::Values;

mod agreement;
mod controller;
mod law;
mod parameters;
mod round;
#[cfg(test)]
mod tests;

use core::time::Duration;

use sounding_units::{HostInstant, Rate};

use crate::phase::Phase;

pub use agreement::Agreement;
pub use controller::BiscayController;
pub use law::Biscay;
pub use sounding_estimate::Bound;

/// Parameters of the law.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Config {
    /// The oldest usable estimate. Default 200 ms: two of the modem's 100 ms MAC summaries
    /// (interpretation 8).
    pub max_age: Duration,
    /// The longest silence of a living daemon. Default 60 ms: twelve of its heartbeats, and with
    /// an ACK every 40 ms a killed daemon is noticed within 100 ms.
    pub max_silence: Duration,
    /// How long the path must look narrower than the radio. Default 400 ms: longer than the oldest
    /// usable estimate and two reports of 100 ms, so that a late report of a fade does not
    /// count as a narrow path.
    pub narrow_for: Duration,
    /// Queue that the window allows above the path's RTT. Default 15 ms: it covers what a report
    /// that is some 50 ms old misses of a rising link. Chosen over ten recorded links: with 10
    /// ms two of them stay 3 % below BBR's throughput, with 20 ms two exceed half of its p95
    /// delay (docs/results/biscay-vs-bbr-cubic.md).
    pub allowance: Duration,
    /// Pacing over the share, in thousandths, at most 4000. Default 1250, BBR's own probing gain
    /// (interpretation 6): the window then limits the queue to the allowance, and the flow
    /// catches up after a fade. At 1000 the same links lose 10 to 15 % of throughput.
    pub pacing_gain_permille: u32,
    /// How far the share must exceed the delivery to call the path narrow. Default 150
    /// (interpretation 1).
    pub narrow_permille: u32,
    /// How far the delivery may stay below the share for the path to be wide again. Default 100
    /// (interpretation 1).
    pub wide_permille: u32,
    /// Rounds in a row for that. Default 3: one long round may be a handover's stall, and each
    /// round is as long as the queue that the flow builds meanwhile. Chosen; pinned by
    /// `a_wire_narrower_than_the_radio_is_found_within_two_seconds`.
    pub narrow_rounds: u32,
    /// Rounds in a row to leave again. Default 4. Chosen.
    pub wide_rounds: u32,
    /// Lost part of a round that shows a path which drops rather than queues. Default 100
    /// (interpretation 10).
    pub narrow_loss_permille: u32,
    /// Smallest window on a link with a rate above zero, in segments. Default 4, as BBR.
    pub min_cwnd: u32,
    /// Largest window, in segments, at most 2^20. Default 2^16: 1 Gbit/s over 700 ms.
    pub max_cwnd: u32,
    /// Samples within 30 % of each other before the first is used. Default 2 (interpretation 8).
    pub settled_after: u32,
}

impl Default for Config {
    fn default() -> Self {
        Self::of(&Values::default())
    }
}

/// What the link carries, as published to the controllers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FeedEstimate {
    /// Rate of IP packets for the whole device; zero in an outage.
    pub rate: Rate,
    /// Host time of the newest record behind it.
    pub sampled_at: HostInstant,
    /// The bound of the rate.
    pub bound: Bound,
    /// Active flows of this device that [`PathSample::flows`] does not count.
    pub other_flows: u32,
}

/// The feed as one look at it finds it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Snapshot {
    /// `None`: nothing published, withdrawn, or unreadable.
    pub estimate: Option<FeedEstimate>,
    /// Samples in a row, the newest included, each within 30 % of the previous one; see
    /// [`Agreement`].
    pub agreeing: u32,
    /// When the publisher was last known to live.
    pub heartbeat_at: HostInstant,
}

/// The end-to-end side's knowledge; the shadow is a BBR in parallel.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PathSample {
    /// The path's RTT without queue, as a minimum that looks back some minutes and began with the
    /// flow: one that begins in mid-flow takes the queue it finds for the path and keeps it
    /// (interpretation 5).
    pub rtt_min: Option<Duration>,
    /// Payload of a segment in bytes.
    pub mss: u32,
    /// BBR's bandwidth filter, payload.
    pub e2e: Rate,
    /// Active flows that share the link, this one included.
    pub flows: u32,
    /// The whole device's link rate, IP, if the estimate is already this flow's part of it.
    pub link: Option<Rate>,
    /// BBR's window in segments.
    pub shadow_cwnd: u32,
    /// BBR's pacing rate, payload.
    pub shadow_pacing: Rate,
}

/// Retransmission timeouts since the last step.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Timeout {
    /// None fired.
    #[default]
    None,
    /// One fired.
    Fired,
    /// One had fired and turned out spurious.
    Undone,
}

/// Settings of the sender until the next step.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Command {
    /// Window in segments, at least 2.
    pub cwnd: u32,
    /// Pacing rate, payload.
    pub pacing: Rate,
    /// Given once, when the flow enters [`State::BottleneckElsewhere`]: the limit of the shadow's
    /// bandwidth filter from now on, payload. The filter still remembers the rounds in which
    /// the path was wide, and would build a longer queue. A shadow that measures the RTT by
    /// draining does so at once.
    pub cut: Option<Rate>,
    /// The RTT without queue, where the path was found to have got longer than
    /// [`PathSample::rtt_min`] remembers; the shadow's own minimum must not be below it.
    pub longer: Option<Duration>,
}

/// Where the law believes the bottleneck is.
///
/// ```text
/// NoEstimate ───(feed fresh, RTT known)────────────────▶ RadioLimited
/// RadioLimited ─(feed stale, silent, absurd, absent)───▶ NoEstimate
/// RadioLimited ─(path narrower than the radio)─────────▶ BottleneckElsewhere
/// BottleneckElsewhere ─(path carries the share again)──▶ RadioLimited
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum State {
    /// No usable estimate: the shadow controls the flow. `None` until the flow's first estimate,
    /// which has to agree with the one before it.
    NoEstimate(Option<FallbackReason>),
    /// The radio is the bottleneck: the share sets the window.
    RadioLimited {
        /// How the flow entered this state.
        after: Cleared,
        /// Rounds in a row that showed a narrower path.
        narrow: Option<Narrow>,
        /// Window cap while restarting after a timeout, in segments.
        ramp: Option<u32>,
    },
    /// The path carries less than the radio: the shadow controls the flow.
    BottleneckElsewhere {
        /// Rounds in a row that showed otherwise.
        wide_rounds: u32,
    },
}

impl State {
    /// Its name everywhere outside the law.
    pub const fn phase(&self) -> Phase {
        match self {
            Self::NoEstimate(_) => Phase::NoEstimate,
            Self::RadioLimited { .. } => Phase::RadioLimited,
            Self::BottleneckElsewhere { .. } => Phase::BottleneckElsewhere,
        }
    }
}

/// How a flow entered [`State::RadioLimited`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Cleared {
    /// The feed is fresh.
    Fresh,
    /// The path carries the radio's share again.
    Wide,
}

/// Rounds in a row that showed a path narrower than the radio, or longer than it was.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Narrow {
    /// Number of rounds, at least 1.
    pub rounds: u32,
    /// When the first of them ended.
    pub since: HostInstant,
    /// The window was lowered to find out which.
    pub asked: Option<Asked>,
}

/// Values before the window was lowered, for comparison.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Asked {
    /// Rounds since, from 0.
    pub rounds: u32,
    /// Smallest RTT of the round before.
    pub rtt: Duration,
}

/// Why there is no usable estimate.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FallbackReason {
    /// No estimate published, or withdrawn.
    Absent,
    /// The estimate is older than [`Config::max_age`].
    Stale,
    /// The heartbeat is older than [`Config::max_silence`].
    Silent,
    /// More than 100 Gbit/s, or more than a second in the future.
    Absurd,
}
