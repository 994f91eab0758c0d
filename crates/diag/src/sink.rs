//! Receivers of the fields of a record.

use core::fmt;

/// The meanings of a field's numbers.
pub type Names = &'static [(u64, &'static str)];

/// A field's value.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Value<'a> {
    /// A count or an identity.
    Uint(u64),
    /// A number that may be negative.
    Int(i64),
    /// One bit.
    Flag(bool),
    /// A bitmap or an opaque word, with its width in bits.
    Hex(u64, u8),
    /// A number in the unit of the field's name.
    Scaled(f64),
    /// A choice: its number, and its name where it has one.
    Name(u64, Option<&'static str>),
    /// Opaque bytes.
    Bytes(&'a [u8]),
    /// The identity of a network.
    Plmn(Plmn),
}

/// The country and the code of a network, as their six digits; a code of two digits has 15 as its
/// third.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Plmn([u8; 6]);

impl Plmn {
    /// Reads three octets, low half of each first; the third of the code is in the second octet (TS
    /// 24.008 §10.5.1.3).
    pub const fn from_octets([a, b, c]: [u8; 3]) -> Self {
        Self([a & 15, a >> 4, b & 15, c & 15, c >> 4, b >> 4])
    }

    /// Reads a digit from each byte.
    pub const fn from_digits(digits: [u8; 6]) -> Self {
        Self(digits)
    }
}

/// Country and code with a dash between. A digit that is none is printed in hex, so that no network
/// looks like one.
impl fmt::Display for Plmn {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let [a, b, c, x, y, z] = self.0;
        write!(f, "{a:x}{b:x}{c:x}-{x:x}{y:x}")?;
        if z == 15 { Ok(()) } else { write!(f, "{z:x}") }
    }
}

impl fmt::Display for Value<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match *self {
            Value::Uint(number) => write!(f, "{number}"),
            Value::Int(number) => write!(f, "{number}"),
            Value::Flag(set) => write!(f, "{set}"),
            Value::Hex(word, width) => {
                write!(f, "0x{word:0digits$x}", digits = usize::from(width).div_ceil(4))
            }
            Value::Scaled(number) => write!(f, "{number}"),
            Value::Name(_, Some(name)) => f.write_str(name),
            Value::Name(number, None) => write!(f, "{number}"),
            Value::Plmn(plmn) => write!(f, "{plmn}"),
            Value::Bytes(bytes) => bytes.iter().try_for_each(|byte| write!(f, "{byte:02x}")),
        }
    }
}

/// Receives the fields of a record in the order of its table.
pub trait Sink {
    /// One field.
    fn field(&mut self, name: &'static str, value: Value<'_>);
    /// A list of that name begins; items follow.
    fn begin_list(&mut self, name: &'static str);
    /// An item of the innermost list begins; its fields and lists follow.
    fn begin_item(&mut self);
    /// The item is complete.
    fn end_item(&mut self);
    /// The list is complete.
    fn end_list(&mut self);
}

/// The values that a field can have.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Shape {
    /// One bit.
    Flag,
    /// A number from zero to less than 2⁶³, or a bitmap.
    Uint,
    /// Sixty-four bits without a sign.
    Word,
    /// A whole number that may be negative.
    Int,
    /// A number in the unit of the field's name.
    Real,
    /// The name of a choice, or the identity of a network.
    Text,
    /// Opaque bytes.
    Bytes,
}

/// Receives the fields and lists of a layout, in the order of its parts.
///
/// A [`Sink`] of a record of this layout receives no others.
pub trait Outline {
    /// A field.
    fn field(&mut self, name: &'static str, shape: Shape);
    /// A list of that name begins; the fields and lists of its items follow. `is_single` if it has
    /// at most one item.
    fn begin_list(&mut self, name: &'static str, is_single: bool);
    /// The list is complete.
    fn end_list(&mut self);
}
