//! Descriptions of a link over time, and their file formats.
//!
//! A [`Trace`] is a list of times at which one packet may leave, as mahimahi replays it. [`Steps`]
//! is a rate that changes at given times. A [`Series`] is a sampled rate. A [`Schedule`] is a trace
//! or steps; [`Schedule::opportunities`] turns both into delivery opportunities. A [`LinkTrace`] is
//! a trace or steps with an end, as in tables ([`csv`]). [`Carried`] makes a trace of the bytes
//! that a link carried. [`dci`] reads and writes the sniffer formats of a cell's control channel.
//! [`log`] reads the packet logs of links and tunnels.

#![no_std]
#![forbid(unsafe_code)]

/// The example of the README is a test.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;

extern crate alloc;
#[cfg(test)]
extern crate std;

mod carried;
pub mod csv;
pub mod dci;
pub mod link_trace;
pub mod log;
pub mod mahimahi;
mod opportunities;
mod schedule;
mod series;
pub mod steps;

pub use carried::Carried;
pub use link_trace::LinkTrace;
pub use mahimahi::ParseTraceError;
pub use opportunities::{InvalidTrace, MAX_MILLIS, MAX_OPPORTUNITIES, OPPORTUNITY_PAYLOAD, Trace};
pub use schedule::{Opportunities, Schedule};
pub use series::{ParseSeriesError, Series};
pub use steps::{ParseStepsError, Step, Steps, parse_time};
