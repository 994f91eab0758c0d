//! The rate feed of `sounding run`: what a live sender should take now.
//!
//! [`Adviser`] makes the advice from estimates. A [`Line`] carries it, beside its
//! estimate. [`Reader`] reads lines from the daemon's socket.

#![forbid(unsafe_code)]

/// The example of the README is a test.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;

mod advice;
mod line;
mod publisher;
mod reader;
mod waiting;

pub use advice::{Advice, Adviser, Cause, Tuning};
pub use line::{Greeting, Line, VERSION};
pub use publisher::{PublishError, Publisher};
pub use reader::{FeedError, Lines, Reader};
pub use waiting::Waiting;
