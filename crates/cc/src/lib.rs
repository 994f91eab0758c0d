//! Congestion controllers as pure state machines behind one trait: acknowledgements, estimates and time go in, a window
//! and a pacing rate come out.
//!
//! [`Controller`] is the trait, [`by_name`] the way to one, [`part`] what they are composed of. A transport drives them;
//! `sounding-sim` has one in virtual time.

#![no_std]
#![forbid(unsafe_code)]

extern crate alloc;
#[cfg(test)]
extern crate std;

pub mod bbr;
pub mod biscay;
mod controller;
pub mod cubic;
pub mod oracle;
pub mod part;
mod registry;
pub mod reno;
pub mod sounding;

pub use bbr::Bbr;
pub use controller::{Ack, Controller, Departure, Loss, Recovery, Start};
pub use cubic::Cubic;
pub use oracle::Oracle;
pub use registry::{Make, by_name, names};
pub use reno::Reno;
pub use sounding::Sounding;
