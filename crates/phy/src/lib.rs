//! 3GPP tables and procedures. Each table names its section; the numbers are CSV files in
//! `tables/`.
//!
//! | module | what |
//! |---|---|
//! | [`lte`], [`nr`], [`hspa`] | the specifications of each: sizes, schemes, reports, timing |
//! | [`frame`] | frame, subframe and slot numbers |
//! | [`channel`] | path loss, shadowing and noise |
//! | [`abstraction`] | from SINR to block errors and CQI without simulating symbols |

#![no_std]
#![forbid(unsafe_code)]

/// The example of the README is a test.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;

#[cfg(test)]
extern crate std;

pub mod abstraction;
mod allowed;
pub mod channel;
pub mod frame;
pub mod hspa;
pub mod lte;
mod modulation;
pub mod nr;

pub use allowed::Allowed;
pub use modulation::{Modulation, Scheme};
