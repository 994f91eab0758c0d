//! Layouts as data: the meaning of the bits of a record's body, and one engine that checks and
//! reads them.
//!
//! A [`Layout`] is a constant: [`Part`]s in the order of the bytes, made of [`Field`]s. [`Node`] is
//! a place in a body that has been checked against its parts once; reading from it cannot panic.
//! Two versions of a record differ only in their constants.

mod bits;
mod field;
mod node;
mod outline;
mod part;
mod probe;
mod survey;
#[cfg(test)]
mod tests;

pub use crate::sink::{Names, Outline, Plmn, Shape, Sink, Value};
pub use bits::Bits;
pub use field::{Field, Kind};
pub use node::{Children, Node, SubPacket, SubPackets};
pub use part::{Block, Count, Layout, Part, Short, SubLayout};
pub use probe::{Item, Met, Probe};
pub use survey::Survey;

pub(crate) use bits::{bits, u8, u16, u32, u64};
pub(crate) use field::{
    bytes, flag, hex, int, names, network, plmn, plmn_digits, scaled, scaled_int, uint,
};
pub(crate) use part::{field, key, try_field, try_key};
