//! Congestion controllers as pure state machines behind one trait: acknowledgements, estimates and time go in, a window
//! and a pacing rate come out.
//!
//! [`Controller`] is the trait, [`by_name`] the way to one, [`make`] the way to one with other [parameters](parameter), [`Registry`] the place for more, [`part`] what they are composed of. A transport drives them;
//! `sounding-sim` has one in virtual time.

#![no_std]
#![forbid(unsafe_code)]

extern crate alloc;
#[cfg(test)]
extern crate std;

pub mod bbr;
pub mod bbr3;
pub mod biscay;
mod controller;
pub mod copa;
pub mod cubic;
pub mod gcc;
pub mod ledbat;
pub mod lp;
pub mod oracle;
pub mod parameter;
pub mod part;
pub mod pcc;
mod phase;
mod radio_controller;
mod registry;
pub mod reno;
pub mod sharing;
pub mod sounding;
pub mod sprout;
mod stock;
pub mod vegas;
pub mod verus;

pub use bbr::Bbr;
pub use bbr3::Bbr3;
pub use controller::{Ack, Controller, Delivered, Departure, Loss, Recovery, Start};
pub use copa::Copa;
pub use cubic::Cubic;
pub use gcc::Gcc;
pub use ledbat::{Ledbat, LedbatPlusPlus};
pub use lp::Lp;
pub use oracle::Oracle;
pub use parameter::{Choice, ChoiceError};
pub use pcc::{Allegro, Vivace};
pub use phase::Phase;
pub use radio_controller::{Law, RadioController, span};
pub use registry::{Make, Maker, NameError, Registry, by_name, make, names, parameters};
pub use reno::Reno;
pub use sounding::Sounding;
pub use sprout::Sprout;
pub use stock::Fallback;
pub use vegas::Vegas;
pub use verus::Verus;
