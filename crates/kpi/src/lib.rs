//! Turns checked log records into KPIs: named numbers, read from one field of one record.
//!
//! There are two interfaces. An [`Extractor`] gives the grants, backlogs and levels for a link
//! estimate, as types. A [`Subscription`] gives any number that has a name in the [`registry`], and
//! reads only that number.

#![no_std]
#![forbid(unsafe_code)]

/// The example of the README is a test.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;

extern crate alloc;
#[cfg(test)]
extern crate std;

pub mod board;
mod codes;
mod extract;
pub mod registry;
mod rlc;
mod sample;
mod subscription;

pub use codes::{channel_codes, codes, grant_codes, is_read, rlc_codes};
pub use extract::{Extractor, Moment, Moments, extract};
pub use rlc::{RlcPart, RlcPdu};
pub use sample::{
    Allocation, Backlog, BufferStatus, Carriers, Change, Channel, Coding, Connection, CqiTable,
    Grant, Kpi, Layer, Signal,
};
pub use sounding_estimate::Direction;
pub use subscription::{Counts, Reading, Subscription, UnknownKpi, Unread};
