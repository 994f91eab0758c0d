//! Integer newtypes, so that a rate is never added to a size and modem time is never compared with
//! host time.
//!
//! `Rate × Duration → Bytes`, `Bytes ÷ Duration → Rate`, `Bytes ÷ Rate → Duration`. Raw numbers
//! cross only a boundary (a BPF map, JSON, Prometheus), and there the name carries the unit.

#![no_std]
#![forbid(unsafe_code)]

/// The example of the README is a test.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;

#[cfg(test)]
extern crate std;

mod axis;
mod bytes;
mod clock;
mod clock_map;
mod decimal;
mod prb;
mod rate;
mod ratio;
mod text;
mod transfer;

pub use axis::{Axis, Earlier, Placed, Placing};
pub use bytes::Bytes;
pub use clock::{HostInstant, ModemInstant};
pub use clock_map::ClockMap;
pub use decimal::scaled_decimal;
pub use prb::Prb;
pub use rate::{ParseRateError, Rate};
pub use text::without_mark;
