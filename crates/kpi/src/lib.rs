//! Which number lives where in which record: turns checked log records into the few KPIs that say what the radio
//! grants, and nothing else.
//!
//! Two ways in. An [`Extractor`] gives the grants, backlogs and levels that a link estimate is made of, as types. A
//! [`Subscription`] gives any number that has a name in the [`registry`], and reads nothing but that number.

#![no_std]
#![forbid(unsafe_code)]

extern crate alloc;
#[cfg(test)]
extern crate std;

pub mod board;
mod codes;
mod extract;
pub mod registry;
mod sample;
mod subscription;

pub use codes::{channel_codes, codes, grant_codes};
pub use extract::{Extractor, extract};
pub use sample::{
    Allocation, Backlog, BufferStatus, Carriers, Change, Channel, Coding, Connection, CqiTable,
    Grant, Kpi, Layer, Signal,
};
pub use sounding_estimate::Direction;
pub use subscription::{Counts, Reading, Subscription, UnknownKpi, Unread};
