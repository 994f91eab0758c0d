use std::time::Duration;

use sounding_sim::Device;
use sounding_units::{Bytes, HostInstant};

use crate::{Direction, Flow};

/// The times and the fate of one packet, on CLOCK_MONOTONIC.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PacketRecord {
    /// The device whose radio it passed.
    pub device: Device,
    /// Its direction.
    pub direction: Direction,
    /// Bytes of IP.
    pub size: Bytes,
    /// Its flow.
    pub flow: Flow,
    /// When it was read from the device of its sender.
    pub entered: HostInstant,
    /// Its fate.
    pub outcome: Outcome,
}

/// The fate of a packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// At the receiver.
    Delivered {
        /// When it joined the queue of the link.
        joined: HostInstant,
        /// When the link had carried its last byte.
        left: HostInstant,
        /// When it was due at the receiver.
        due: HostInstant,
        /// When it had been handed to the receiver's kernel.
        written: HostInstant,
    },
    /// Dropped by the full queue of the link.
    Dropped {
        /// When.
        at: HostInstant,
    },
    /// Refused by the device of the receiver.
    Refused {
        /// When.
        at: HostInstant,
    },
}

impl PacketRecord {
    /// The time spent in the queue and on the link; `None` unless delivered.
    pub fn queueing_delay(&self) -> Option<Duration> {
        match self.outcome {
            Outcome::Delivered { joined, left, .. } => Some(left - joined),
            Outcome::Dropped { .. } | Outcome::Refused { .. } => None,
        }
    }

    /// The time from the sender's device to the receiver's, as scheduled; `None` unless delivered.
    pub fn one_way_delay(&self) -> Option<Duration> {
        match self.outcome {
            Outcome::Delivered { due, .. } => Some(due - self.entered),
            Outcome::Dropped { .. } | Outcome::Refused { .. } => None,
        }
    }
}
