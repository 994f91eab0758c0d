//! The rate feed of `sounding run`: what a live sender should take now.
//!
//! [`Adviser`] makes the advice from estimates. A [`Line`] carries it, beside its estimate.
//! [`Reader`] reads lines from the daemon's socket, and [`Newest`] keeps the newest ones.

#![forbid(unsafe_code)]

/// The example of the README is a test.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;

mod advice;
mod delays;
mod line;
mod newest;
mod publisher;
mod reader;
mod waiting;

pub use advice::{Advice, Adviser, Cause, Tuning};
pub use delays::{DelayEvent, DelayQueue, Delays};
pub use line::{Flow, Flows, Greeting, Line, VERSION};
pub use newest::{HeardDelay, Newest};
pub use publisher::{PublishError, Publisher};
pub use reader::{FeedError, Lines, Reader};
// With these a sender needs no other crate of this project.
pub use sounding_estimate::Direction;
pub use sounding_units::{HostInstant, Rate};
pub use waiting::Waiting;
