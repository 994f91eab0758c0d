//! The ways to a modem's Diag and the session over them, a capture served on a pty at its own pace,
//! sniffers of its cells, and the map from modem time to host time.

/// The example of the README is a test.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;

mod answer;
pub mod beside;
mod drains;
mod live;
mod memory;
mod modelled;
mod poll_interval;
mod probe;
mod pty;
mod pump;
mod readings;
mod reopening;
mod replay;
mod replay_schedule;
mod retry;
mod sim;
mod sniffer;
mod stamps;
mod transport;

pub use modelled::uplink_capture;
pub use probe::{Probe, probe};
pub use pty::Pty;
pub use pump::{Bytes, Packets, Pump, Turn};
pub use readings::{Polled, Readings};
pub use replay::{Replay, Summary};
pub use replay_schedule::ReplaySchedule;
pub use retry::Retry;
pub use sim::{
    Behaviour, Fed, Feed, Made, Mischief, Place, Records, Script, Simulation, Tally, feed,
};
pub use sniffer::{Sniffer, SnifferLog, SnifferSource, SnifferStatus, UnknownSniffer};
pub use sounding_diag::capture::Framing;
pub use sounding_host::{monotonic_now, prefer_this_thread};
pub use sounding_units::ClockMap;
pub use transport::{
    CharDevice, DiagChar, OpenError, Port, READ_SIZE, Read, Router, RouterSocket, Source,
    SourceError, Stream, Tcp, Transport, Unframed,
};
