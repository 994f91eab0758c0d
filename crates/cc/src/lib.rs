//! Congestion controllers as pure state machines behind one trait: acknowledgements, estimates and time go in, a window
//! and a pacing rate come out.
//!
//! [`Controller`] is the trait. [`by_name`] makes a controller, [`make`] one with other [parameters](parameter).
//! A [`Registry`] can hold further controllers, [`part`] has their components. A transport calls them; `sounding-sim` has one in
//! virtual time.

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
pub mod bbr3;
pub mod biscay;
pub mod compensated;
mod controller;
pub mod copa;
pub mod cqic;
pub mod cubic;
mod forward;
pub mod gcc;
pub mod kernel_copa;
mod laws;
pub mod ledbat;
pub mod legilimens;
mod limits;
pub mod lp;
mod needs;
pub mod oracle;
mod over_stock;
pub mod parameter;
pub mod part;
pub mod pbe_cc;
pub mod pcc;
mod phase;
mod radio_controller;
pub mod radio_law;
mod registry;
pub mod reno;
pub mod scream;
pub mod sharing;
pub mod smoothed;
pub mod sounding;
pub mod sprout;
#[cfg(feature = "third-law")]
pub mod steady;
mod stock;
pub mod trust;
pub mod vegas;
pub mod verus;

pub use background::Background;
pub use bbr::Bbr;
pub use bbr3::Bbr3;
pub use compensated::{Compensated, Smoothing};
pub use controller::{
    Ack, Controller, Delivered, Departure, Loss, Recovery, Revision, Stamp, Start,
};
pub use copa::Copa;
pub use cqic::Cqic;
pub use cubic::Cubic;
#[doc(hidden)]
pub use forward::types as forwarded;
pub use gcc::Gcc;
pub use laws::Law;
pub use ledbat::{Ledbat, LedbatPlusPlus};
pub use legilimens::Legilimens;
pub use lp::Lp;
pub use needs::Needs;
pub use oracle::Oracle;
pub use over_stock::OverStock;
pub use parameter::{Choice, ChoiceError};
pub use pbe_cc::PbeCc;
pub use pcc::{Allegro, Vivace};
pub use phase::Phase;
pub use radio_controller::RadioController;
pub use registry::{Make, Maker, NameError, Registry, by_name, make, names, needs, parameters};
pub use reno::Reno;
pub use scream::Scream;
pub use smoothed::Smoothed;
pub use sounding::Sounding;
pub use sprout::Sprout;
pub use stock::Fallback;
pub use vegas::Vegas;
pub use verus::Verus;
