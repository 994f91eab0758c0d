//! Laws that set a flow's window from the estimate of its radio link, and what this kernel runs
//! beside them.
//!
//! [`Law`] is their table, [`RadioController`] a law with the algorithm that it falls back to.
//! [`OverStock`] makes a controller of a [`RadioLaw`](radio_law::RadioLaw). [`trust`] limits what a
//! peer's report does.

#![no_std]
#![forbid(unsafe_code)]

/// The example of the README is a test.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;

extern crate alloc;
#[cfg(test)]
extern crate std;

pub mod background;
pub mod bbr;
pub mod biscay;
pub mod copa_gandalf;
pub mod cqic;
pub mod cubic;
mod laws;
mod limits;
mod over_stock;
pub mod pbe_cc;
mod phase;
mod radio_controller;
pub mod radio_law;
pub mod sounding;
#[cfg(feature = "third-law")]
pub mod steady;
mod stock;
pub mod trust;

pub use background::Background;
pub use bbr::Bbr;
pub use copa_gandalf::CopaGandalf;
pub use cqic::Cqic;
pub use cubic::Cubic;
pub use laws::{Law, Named};
pub use over_stock::OverStock;
pub use pbe_cc::PbeCc;
pub use phase::Phase;
pub use radio_controller::RadioController;
pub use sounding::Sounding;
pub use stock::Fallback;
