//! Published congestion controllers, and every controller of the project by its name.
//!
//! [`by_name`] makes a controller, [`make`] one with other [parameters](sounding_cc::parameter). A
//! [`Registry`] can hold further ones. The daemon's build leaves this crate out.

#![no_std]
#![forbid(unsafe_code)]

/// The example of the README is a test.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;

extern crate alloc;
#[cfg(test)]
extern crate std;

pub mod bbr3;
pub mod compensated;
pub mod copa;
pub mod gcc;
pub mod ledbat;
pub mod legilimens;
pub mod lp;
pub mod oracle;
pub mod pcc;
mod registry;
pub mod reno;
pub mod scream;
pub mod smoothed;
pub mod sprout;
pub mod vegas;
pub mod verus;

pub use bbr3::Bbr3;
pub use compensated::{Compensated, Smoothing};
pub use copa::Copa;
pub use gcc::Gcc;
pub use ledbat::{Ledbat, LedbatPlusPlus};
pub use legilimens::Legilimens;
pub use lp::Lp;
pub use oracle::Oracle;
pub use pcc::{Allegro, Vivace};
pub use registry::{Make, Maker, NameError, Registry, by_name, make, names, needs, parameters};
pub use reno::Reno;
pub use scream::Scream;
pub use smoothed::Smoothed;
pub use sprout::Sprout;
pub use vegas::Vegas;
pub use verus::Verus;
