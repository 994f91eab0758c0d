//! RRC of LTE (TS 36.331, with NB-IoT) and NR (TS 38.331): messages as the modem hands them over, decoded.
//!
//! * [`decode`] makes a tree of [`Value`]s from a message of a [`Pdu`]; it serialises to JSON, whole or redacted;
//! * [`facts`](facts::facts) finds in it what counts for a rate or a delay.
//!
//! The types are tables made from the specifications' own ASN.1, release 17, by `scripts/rrc-schema`, and one engine
//! reads them by X.691. Generated Rust types for both specifications, at a derived decoder for each, would take longer
//! to compile than the rest of the project together.
//!
//! Nothing here panics on hostile input. Depth and number of values are bounded by [`MAX_DEPTH`] and [`MAX_VALUES`];
//! what a later release adds is skipped, or kept as bytes.

#![no_std]
#![forbid(unsafe_code)]

extern crate alloc;
#[cfg(test)]
extern crate std;

mod bits;
mod decode;
mod error;
pub mod facts;
mod pdu;
mod schema;
mod value;

pub use bits::BitStr;
pub use decode::{Decoded, MAX_DEPTH, MAX_VALUES};
pub use error::{DecodeError, Fault};
pub use pdu::{Pdu, decode};
pub use value::{Redacted, Value, is_private};
