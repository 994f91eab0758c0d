//! Links, networks and the hosts at their ends in virtual time. Nothing here reads a clock.
//!
//! A [`Link`] is one bottleneck. A [`Path`] is a link and a delay in the order of `mm-delay D
//! mm-link UP DOWN`. [`Pipe`] is the interface of either for emulators and simulators. A
//! [`Network`] has both directions of all devices: [`Links`] makes one of pipes, [`Radio`] is a
//! modelled radio access network, and [`Wired`] puts a wired segment behind any. A [`World`] runs
//! flows over one, hundreds of times faster than real time.

#![no_std]
#![forbid(unsafe_code)]

extern crate alloc;
#[cfg(test)]
extern crate std;

pub mod held;
mod histogram;
pub mod link;
mod link_event;
mod links;
mod losses;
mod network;
mod opportunity;
mod path;
mod pipe;
mod queue;
mod radio;
mod rate_server;
pub mod shaper;
mod soonest;
mod wired;
pub mod world;

pub use histogram::Histogram;
pub use link::Link;
pub use link_event::LinkEvent;
pub use links::{Duplex, Links};
pub use losses::{Losses, ParseLossesError};
pub use network::{Device, Diag, Network, Port};
pub use path::{Order, Path, PathConfig};
pub use pipe::{Backlog, Carried, Lost, Output, Pipe};
pub use queue::{Aqm, DropFrom, ParseQueueError, QueueLimit};
pub use radio::{Radio, Reading};
pub use wired::{Through, Wired};
pub use world::World;
