//! Networks in real time, between network namespaces.
//!
//! [`Emulation::start`] makes namespaces without a name, `near` (the device; one for each) and
//! `far` (the server), with TUN devices in them. One thread moves packets between them through a
//! network of `sounding_sim`: links, or a modelled cell. The network's time follows the clock; if
//! it cannot, [`ClockLag`] reports it. File descriptors of this process hold all resources, so none
//! is left behind, however the process ends.
//!
//! Outside the namespaces no route, address or setting of the host changes. With [`Far::Machine`]
//! the host has one more device and a table of nftables, which end with this process too.

mod burst;
mod collector;
mod config;
mod counters;
mod counts;
mod device;
mod emulation;
mod ends;
mod engine;
mod error;
mod flow;
mod gso;
mod inner;
mod inside;
mod lane;
mod lateness;
mod log;
mod name_relay;
mod names;
mod netns;
mod outside;
mod pool;
mod realtime;
mod record;
mod report;
mod run_as;
mod wait;
mod wall_clock;

pub use config::{Between, Config, Far, Logs, Realtime, SnifferTap, Tap};
pub use counts::Counts;
pub use emulation::Emulation;
pub use error::{StartError, StopError};
pub use flow::Flow;
pub use inner::{Door, InnerLink, Visit, VisitError};
pub use inside::refuse_inside;
pub use lateness::Lateness;
pub use names::Names;
pub use netns::{EnterError, Netns};
pub use pool::Slot;
pub use record::{Outcome, PacketRecord};
pub use report::{DeviceReport, DirectionReport, KernelDrops, Report, Scheduling};
pub use run_as::RunAs;
pub use sounding_estimate::Direction;
pub use sounding_host::monotonic_now;
pub use wall_clock::{BEHIND, ClockLag};
