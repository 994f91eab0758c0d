//! Descriptions of a link over time, and the files they are kept in.
//!
//! A [`Trace`] is what mahimahi replays: moments at which one packet may leave. [`Steps`] is a rate that changes at
//! given moments, and a [`Series`] one that was sampled. A [`Schedule`] is a trace or steps; [`Schedule::opportunities`] turns both into delivery opportunities. [`dci`] is
//! what sniffers hear of a cell, and its formats.

#![no_std]
#![forbid(unsafe_code)]

extern crate alloc;
#[cfg(test)]
extern crate std;

pub mod dci;
pub mod mahimahi;
mod opportunities;
mod schedule;
mod series;
pub mod steps;

pub use mahimahi::ParseTraceError;
pub use opportunities::{InvalidTrace, MAX_MILLIS, MAX_OPPORTUNITIES, Trace};
pub use schedule::{OPPORTUNITY_PAYLOAD, Opportunities, Schedule};
pub use series::{ParseSeriesError, Series};
pub use steps::{ParseStepsError, Step, Steps};
