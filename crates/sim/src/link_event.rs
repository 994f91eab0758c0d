use sounding_units::{Bytes, HostInstant};

/// Events at a link, in order of time: the source of a log.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LinkEvent {
    /// A packet arrived.
    Arrived {
        /// When.
        at: HostInstant,
        /// Bytes of IP.
        size: Bytes,
    },
    /// A packet departed.
    Departed {
        /// When.
        at: HostInstant,
        /// When it had arrived.
        arrival: HostInstant,
        /// Bytes of IP.
        size: Bytes,
        /// Number of used opportunities of the trace, up to and including the one that carried its
        /// last byte. Zero for a link with rate steps, which has no opportunities.
        opportunities: u64,
    },
    /// A packet was dropped.
    Dropped {
        /// When.
        at: HostInstant,
        /// Bytes of IP.
        size: Bytes,
    },
}
