//! The shapers of this kernel by netlink: their rate, their queue, and exact restoration.
//!
//! [`Tc`] reads qdiscs, which every user may. [`Shaper::adopt`] takes the shaper at the root of a
//! device and changes only its rate. [`Shaper::build`] makes one where none stands. [`Before`] says
//! how the machine was, can be kept in a file, and puts it back, also from another process.
//! [`Flowtable`] lists fast paths that may lead past a shaper. [`netlink`] is the socket and its
//! messages, for other parts of the kernel.

/// The example of the README is a test.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;

mod before;
mod error;
mod flowtable;
mod htb;
mod ifb;
mod kind;
mod limit;
mod message;
mod numbers;
mod objects;
mod plan;
mod shaper;
mod socket;
mod tc;

/// A netlink socket and its messages.
pub mod netlink {
    pub use crate::message::{Attributes, Message, Received};
    pub use crate::socket::{Refusal, Socket};
}

pub use before::{Before, Restored};
pub use error::Error;
pub use flowtable::Flowtable;
pub use kind::Kind;
pub use objects::{Class, Device, Filter, Handle, Qdisc, Queue};
pub use plan::Plan;
pub use shaper::Shaper;
pub use tc::{Tc, check_name};
