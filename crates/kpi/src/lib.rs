//! Which number lives where in which record: turns checked log records into the few KPIs that say what the radio
//! grants, and nothing else.

#![no_std]
#![forbid(unsafe_code)]

#[cfg(test)]
extern crate std;

mod codes;
mod extract;
mod sample;

pub use codes::codes;
pub use extract::extract;
pub use sample::{Allocation, Backlog, Coding, Direction, Grant, Kpi, Layer, Signal};
