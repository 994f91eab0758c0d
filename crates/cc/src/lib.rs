//! Congestion controllers as pure state machines behind one trait: acknowledgements, estimates and
//! time go in, a window and a pacing rate come out.
//!
//! [`Controller`] is the trait, [`part`] has the components of controllers, [`parameter`] what
//! plans can set of them. `sounding-laws` and `sounding-baselines` have the controllers. A
//! transport calls them; `sounding-sim` has one in virtual time.

#![no_std]
#![forbid(unsafe_code)]

/// The example of the README is a test.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;

extern crate alloc;
#[cfg(test)]
extern crate std;

mod controller;
mod forward;
mod needs;
pub mod parameter;
pub mod part;
pub mod sharing;

pub use controller::{
    Ack, Controller, Delivered, Departure, Loss, Recovery, Revision, Stamp, Start,
};
#[doc(hidden)]
pub use forward::types as forwarded;
pub use needs::Needs;
pub use parameter::{Choice, ChoiceError};
