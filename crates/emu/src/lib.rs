//! The link in real time, between two network namespaces.
//!
//! [`Emulation::start`] makes two namespaces without a name, `near` (the device) and `far` (the server), with a TUN
//! device in each, and one thread that moves packets between them through the links of `sounding_sim`. Everything is
//! held by file descriptors of this process, so nothing stays behind when it ends, however it ends.
//!
//! Nothing outside the two namespaces is touched: no route, address or setting of the host.

mod collector;
mod config;
mod counters;
mod counts;
mod device;
mod emulation;
mod engine;
mod error;
mod log;
mod netns;
mod pool;
mod realtime;
mod record;
mod report;
mod wait;

pub use config::{Config, Custom, Direction, Logs, Realtime, Way};
pub use counts::Counts;
pub use emulation::Emulation;
pub use error::{StartError, StopError};
pub use netns::{EnterError, Netns};
pub use pool::Slot;
pub use record::{Flow, Outcome, PacketRecord};
pub use report::{DirectionReport, KernelDrops, Lateness, Report, Scheduling};
pub use sounding_host::monotonic_now;
