//! RRC of LTE (TS 36.331, with NB-IoT) and NR (TS 38.331): messages as the modem hands them over, decoded.
//!
//! * [`Messages`] finds the messages in records, and puts together those that come in segments;
//! * [`decode`] makes a tree of [`Value`]s from a message of a [`Pdu`]; it serialises to JSON, whole or redacted;
//! * [`encode`] makes a message of such a tree, for a modelled network;
//! * [`facts`](facts::facts) finds in it what counts for a rate or a delay.
//!
//! The types are tables made from the specifications' own ASN.1, release 17, by `scripts/rrc-schema`, and one engine
//! reads them by X.691. Rust types with derived decoders were tried: those of NR alone kept the compiler busy for two
//! and a half minutes before it came to generating code. The tables of both take two seconds.
//!
//! The decoder's result for 7340 different messages of the captures equals an independent one's, field by field, except
//! that it leaves out absent members with a default.
//!
//! Nothing here panics on hostile input. Depth and number of values are bounded by [`MAX_DEPTH`] and [`MAX_VALUES`];
//! additions of a later release are skipped, or kept as bytes.

#![no_std]
#![forbid(unsafe_code)]

extern crate alloc;
#[cfg(test)]
extern crate std;

mod bits;
mod decode;
mod encode;
mod error;
pub mod facts;
mod messages;
mod pdu;
mod redact;
mod schema;
mod value;

pub use bits::BitStr;
pub use decode::{Decoded, MAX_DEPTH, MAX_VALUES};
pub use encode::EncodeError;
pub use error::{DecodeError, Fault};
pub use messages::{Message, Messages};
pub use pdu::{Pdu, decode, encode};
pub use value::Value;
