//! What the kernel's programs report, in the types in which it is shown.

use std::net::SocketAddr;
use std::num::NonZeroU64;
use std::time::Duration;

use sounding_estimate::{Bound, State};
use sounding_laws::Phase;
use sounding_units::{HostInstant, Rate};

/// Why a flow is in its phase.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reason {
    /// It has just begun.
    Connected,
    /// The feed is fresh.
    Fresh,
    /// No estimate published, or withdrawn.
    Absent,
    /// The estimate is too old.
    Stale,
    /// The heartbeat stopped.
    Silent,
    /// The feed cannot be true.
    Absurd,
    /// The path carries less than the radio.
    Narrow,
    /// The path carries the radio's share again.
    Wide,
    /// A number this version does not know.
    Unknown(u32),
}

impl From<u32> for Reason {
    fn from(code: u32) -> Self {
        match code {
            0 => Self::Connected,
            1 => Self::Fresh,
            2 => Self::Absent,
            3 => Self::Stale,
            4 => Self::Silent,
            5 => Self::Absurd,
            6 => Self::Narrow,
            7 => Self::Wide,
            other => Self::Unknown(other),
        }
    }
}

/// One flow's change of phase. Changes between [`Phase::RadioLimited`], [`Phase::Probing`] and
/// [`Phase::Hold`] can happen at every report of the modem, and are not published.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Transition {
    /// When, by the kernel's clock.
    pub at: HostInstant,
    /// The phase left.
    pub from: Phase,
    /// The phase entered.
    pub to: Phase,
    /// Why.
    pub reason: Reason,
    /// The flow's part of the link, of IP packets, by the last accepted estimate.
    pub share: Rate,
    /// BBR's bandwidth filter, payload.
    pub e2e: Rate,
    /// Flows that shared the link.
    pub flows: u32,
    /// The socket's SO_COOKIE, if it was ever read.
    pub cookie: Option<NonZeroU64>,
    /// AF_INET or AF_INET6.
    pub family: u32,
    /// Local port.
    pub local_port: u16,
    /// Remote port.
    pub remote_port: u16,
    /// The place of the modem that it leaves by, if it leaves by one.
    pub modem: Option<usize>,
}

/// What a peer says of its link, all of this flow's part. A device without room for the whole
/// option repeats the rate alone: the rest is then what it said before.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PeerClaim {
    /// What the link carries, of IP packets, before any limit.
    pub rate: Option<Rate>,
    /// What the rate bounds.
    pub bound: Bound,
    /// What an equal division of the cells would give, up to
    /// [`PeersConfig::at_most`](crate::PeersConfig::at_most)(crate::PeersConfig::at_most).
    pub fair: Option<Rate>,
    /// Users with data of its primary carrier, it included. 31: that or more.
    pub users: Option<u32>,
    /// Carriers that are active for it. 7: that or more.
    pub carriers: Option<u32>,
    /// What the link is doing; `None` of a device that only says rates (version 1).
    pub state: Option<State>,
    /// How old the estimate was when it was sent, in steps of 16 ms. 240 ms: that or more.
    pub age: Duration,
}

/// Why a peer is reported.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ReportCause {
    /// It is its connection's first option.
    First,
    /// It is counted as [`PeerCounts::overstated`](crate::PeerCounts::overstated) from here on.
    Overstated,
}

/// What a connection's peer says, when that is worth an event.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PeerReport {
    /// When.
    pub at: HostInstant,
    /// Why.
    pub cause: ReportCause,
    /// The port at this end.
    pub local_port: u16,
    /// The peer.
    pub remote: SocketAddr,
    /// What it says.
    pub claim: PeerClaim,
    /// What was delivered at most in the last ten round trips, of payload.
    pub delivered: Rate,
}

/// The parts of peers' reports that were not used, by sockets of the network namespace in which
/// [`Peers::attach`](crate::Peers::attach) was called.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct PeerCounts {
    /// Segments with the option that TCP drops: they acknowledge data that was never sent, or the
    /// time stamp is missing that both ends agreed on.
    pub forged: u64,
    /// Segments with an option of a later version that this one cannot read.
    pub unreadable: u64,
    /// Connections whose peer said more than [`PeersConfig::at_most`](crate::PeersConfig::at_most).
    pub limited: u64,
    /// Connections whose peer said for sixteen round trips in a row more than three times what was
    /// delivered. It may believe so: then the path is narrower than its radio.
    pub overstated: u64,
}

/// What became of the sockets of a walk.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Walked {
    /// Sockets that were reached.
    pub reached: u64,
    /// Sockets whose kernel refuses it: before Linux 6.12 callbacks are asked for only as a
    /// connection begins.
    pub refused: u64,
}

/// Packets of media so far.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ArrivalsCounts {
    /// All of them.
    pub packets: u64,
    /// Packets whose times were corrected.
    pub corrected: u64,
    /// Packets that had no time: the kernel writes it only while any socket asks for times.
    pub unstamped: u64,
    /// Packets that this process does not know: it did not read them in time.
    pub unnoted: u64,
}

/// What became of sockets so far.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct BackgroundCounts {
    /// Flows that began under it.
    pub flows: u64,
    /// Times that a flow went by delay, because its receiver had no usable clock.
    pub by_delay: u64,
    /// Flows for which the kernel had no memory. They send two segments a round trip.
    pub without_memory: u64,
    /// Sockets of the cgroup that were given it.
    pub chosen: u64,
    /// Sockets of the cgroup that kept another algorithm.
    pub refused: u64,
    /// Sockets of the cgroup whose receive windows are set.
    pub received: u64,
}
