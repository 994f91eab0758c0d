//! Logs of links and tunnels about the packets that passed them: mm-link of mahimahi, and
//! Pantheon's tunnel.
//!
//! Both are lines of a time in milliseconds since the log began and what happened then:
//!
//! ```text
//! # base timestamp: 39        about the whole
//! 46 # 1504                   this many bytes could have left
//! 46 + 1504                   a packet of this many bytes joined the queue, or entered the tunnel
//! 98 - 1504 52                and left, this many milliseconds later
//! 98 d 1 1504                 this many packets of this many bytes together were dropped
//! ```
//!
//! mm-link writes whole milliseconds, counts the 4 bytes of a TUN header with each packet and each
//! opportunity, and its delay is that of the queue. Pantheon writes thousandths of a millisecond,
//! joins the logs of both ends of its tunnel, so that its delay is that of the whole way, and names
//! the flow behind each packet where there are several. Neither says which packet an arrival was:
//! only what left, when, and after how long.

mod line;

pub use line::{BadLine, Problem, parse_line};

use alloc::string::String;
use core::time::Duration;

use sounding_units::Bytes;

/// No log has longer lines, except lines about the whole log. Longer lines are cut at this length.
pub const LONGEST: usize = 4096;

/// The header of a TUN device, which mm-link counts with every packet.
pub const TUN_HEADER: Bytes = Bytes::new(4);

/// The program that wrote the log.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Source {
    /// mahimahi's mm-link.
    MmLink,
    /// Pantheon's tunnel.
    Pantheon,
}

impl Source {
    /// Its name.
    pub const fn name(self) -> &'static str {
        match self {
            Self::MmLink => "mahimahi",
            Self::Pantheon => "pantheon",
        }
    }
}

/// The contents of a line. Times count from the start of the log; sizes are those in the log.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Line {
    /// Something about the whole.
    About(About),
    /// A packet came.
    Arrived {
        /// When.
        at: Duration,
        /// Number of bytes.
        size: Bytes,
        /// The flow; not named if there is only one.
        flow: Option<u32>,
    },
    /// A packet left.
    Departed {
        /// When.
        at: Duration,
        /// Number of bytes.
        size: Bytes,
        /// The time since its arrival.
        delay: Duration,
        /// The flow; not named if there is only one.
        flow: Option<u32>,
    },
    /// Packets were dropped.
    Dropped {
        /// When.
        at: Duration,
        /// The number of packets.
        packets: u64,
        /// Their total size.
        size: Bytes,
    },
    /// An opportunity to send this number of bytes.
    Opportunity {
        /// When.
        at: Duration,
        /// Number of bytes.
        size: Bytes,
    },
}

impl Line {
    /// The time of the event; `None` for a line about the whole log.
    pub fn at(&self) -> Option<Duration> {
        match self {
            Self::About(_) => None,
            Self::Arrived { at, .. }
            | Self::Departed { at, .. }
            | Self::Dropped { at, .. }
            | Self::Opportunity { at, .. } => Some(*at),
        }
    }
}

/// A log's header lines.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum About {
    /// mm-link's first line: which link it was, and its trace.
    Link {
        /// The name of the trace's file.
        trace: String,
        /// Whether it is the way from the device.
        up: bool,
    },
    /// When the trace began.
    Base(Duration),
    /// Delays of mahimahi's stages around the link, one way, in all.
    Delay(Duration),
    /// Anything else.
    Other,
}
