//! Descriptions of a link over time, and the files they are kept in.
//!
//! A [`Trace`] is what mahimahi replays: moments at which one packet may leave. [`Steps`] is a rate that changes at
//! given moments. A [`Schedule`] is either; [`Schedule::opportunities`] turns both into delivery opportunities. [`dci`] is
//! what sniffers hear of a cell, and its formats; [`log`] is what links and tunnels logged of the packets that passed.

#![no_std]
#![forbid(unsafe_code)]

extern crate alloc;
#[cfg(test)]
extern crate std;

pub mod course;
pub mod csv;
pub mod dci;
pub mod log;
pub mod mahimahi;
mod opportunities;
mod schedule;
pub mod steps;

pub use course::Course;
pub use mahimahi::ParseTraceError;
pub use opportunities::{InvalidTrace, MAX_MILLIS, MAX_OPPORTUNITIES, Trace};
pub use schedule::{OPPORTUNITY_PAYLOAD, Opportunities, Schedule};
pub use steps::{ParseStepsError, Step, Steps};
