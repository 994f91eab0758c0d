//! Decodes RRC messages of LTE (TS 36.331, with NB-IoT) and NR (TS 38.331), in the form in which
//! the modem logs them.
//!
//! * [`Messages`] finds the messages in records, and joins the segments of a message;
//! * [`decode`] makes a tree of [`Value`]s from a message of a [`Pdu`]; it serialises to JSON,
//!   whole or redacted;
//! * [`encode`] makes a message from such a tree, for a modelled network;
//! * [`visit`] goes through such a tree with the numbers of its choices and enumerations;
//! * [`facts`](facts::facts) finds the values in it that matter for a rate or a delay.
//!
//! `scripts/rrc-schema` makes tables of the types from the specifications' ASN.1, release 17. One
//! engine reads the tables by X.691. We also tried Rust types with derived decoders. For NR alone
//! the compiler needed two and a half minutes before it began to generate code. The tables of LTE
//! and NR together take two seconds.
//!
//! For 7340 different messages of the captures, the result equals that of an independent decoder,
//! field by field. One difference remains: this decoder leaves out absent members with a default.
//!
//! Nothing here panics on hostile input. Depth and number of values are bounded by [`MAX_DEPTH`]
//! and [`MAX_VALUES`]; additions of a later release are skipped, or kept as bytes.

#![no_std]
#![forbid(unsafe_code)]

/// The example of the README is a test.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;

extern crate alloc;
#[cfg(test)]
extern crate std;

mod bits;
mod decode;
mod encode;
mod error;
pub mod facts;
mod messages;
mod numbered;
mod pdu;
mod redact;
mod schema;
mod value;

pub use bits::BitStr;
pub use decode::Decoded;
pub use encode::EncodeError;
pub use error::{DecodeError, Fault};
pub use messages::{Message, Messages};
pub use numbered::{Visitor, visit};
pub use pdu::{Pdu, decode, encode};
pub use value::Value;

/// Values within values. The deepest that the captures hold are capabilities, each release's within
/// that of the one before.
pub const MAX_DEPTH: u32 = 200;

/// Values of one message.
pub const MAX_VALUES: u32 = 1 << 17;
