//! A modelled radio access network: base stations and devices, slot by slot, and the records of a
//! device's modem.
//!
//! [`Ran`] is the network. Packets go in and come out; [`Event`]s describe what happened in
//! between. No code here reads a clock, and the same seed gives the same network on any machine.

#![no_std]
#![forbid(unsafe_code)]

extern crate alloc;
#[cfg(test)]
extern crate std;

mod bearer;
mod block_sizes;
mod buffer_status;
mod byte_range;
mod carrier;
pub mod config;
mod control_users;
mod device;
mod downlink;
pub mod event;
mod frame;
mod free_prbs;
mod harq;
mod ids;
pub mod modem;
mod outputs;
mod policy;
pub mod quantity;
pub mod radio;
mod ran;
mod rnti;
mod slot;
pub mod sniffer;
mod streams;
pub mod traffic;
mod uplink;
mod wake_schedule;

pub use bearer::{Framing, Passage, Pdu, Status};
pub use byte_range::ByteRange;
pub use event::{CarrierId, DeviceId, Direction, Event};
pub use frame::{Frame, PatternError, SlotKind};
pub use outputs::{Outcome, Output};
pub use ran::Ran;
pub use rnti::rnti;
