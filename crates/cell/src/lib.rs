//! A modelled radio access network: base stations and devices, slot by slot, and what a device's modem sees of it.
//!
//! [`Ran`] is the network. Packets go in and come out; [`Event`]s say what happened on the way. Nothing here reads a
//! clock, and the same seed gives the same network on any machine.

#![no_std]
#![forbid(unsafe_code)]

extern crate alloc;
#[cfg(test)]
extern crate std;

mod bearer;
mod block;
mod buffer_status;
mod carrier;
mod coding;
pub mod config;
mod device;
mod downlink;
pub mod event;
mod frame;
mod leg;
mod mobility;
pub mod modem;
mod policy;
pub mod quantity;
pub mod radio;
mod ran;
mod rnti;
mod slot;
pub mod sniffer;
mod span;
pub mod traffic;
mod uplink;

pub use bearer::{Passage, Pdu, Status};
pub use event::{CarrierId, DeviceId, Direction, Event};
pub use frame::{Frame, PatternError, SlotKind};
pub use ran::{Outcome, Output, Ran};
pub use span::Span;
