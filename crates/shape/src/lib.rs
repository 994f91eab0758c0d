//! The rate of a router's shaper, from its modem's estimate and its own queue.
//!
//! A state machine without I/O: estimates and what waits in the shaper go in, a rate and its reason
//! come out. Each direction has its own. [`autorate`] reads the settings of another program.

#![no_std]
#![forbid(unsafe_code)]

/// The example of the README is a test.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;

extern crate alloc;
#[cfg(test)]
extern crate std;

pub mod autorate;
mod law;
mod limits;
mod look;
mod tuning;

pub use law::{Decision, Reason, ShaperLaw};
pub use limits::{Limits, LimitsError};
pub use look::Queue;
pub use tuning::{Tuning, cake_interval};
