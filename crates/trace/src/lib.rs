//! Descriptions of a link over time, and the files they are kept in.
//!
//! A [`Trace`] is what mahimahi replays: moments at which one packet may leave. [`Steps`] is a rate that changes at
//! given moments, and a [`Series`] one that was sampled. A [`Schedule`] is a trace or steps;
//! [`Schedule::opportunities`] turns both into delivery opportunities. A [`LinkTrace`] is either with its end, as
//! tables hold it ([`csv`]). [`dci`] is a cell's control channel as sniffers receive it, with its formats; [`log`] is
//! what links and tunnels logged of the packets that passed.

#![no_std]
#![forbid(unsafe_code)]

extern crate alloc;
#[cfg(test)]
extern crate std;

pub mod csv;
pub mod dci;
pub mod link_trace;
pub mod log;
pub mod mahimahi;
mod opportunities;
mod schedule;
mod series;
pub mod steps;

pub use link_trace::LinkTrace;
pub use mahimahi::ParseTraceError;
pub use opportunities::{InvalidTrace, MAX_MILLIS, MAX_OPPORTUNITIES, OPPORTUNITY_PAYLOAD, Trace};
pub use schedule::{Opportunities, Schedule};
pub use series::{ParseSeriesError, Series};
pub use steps::{ParseStepsError, Step, Steps};
