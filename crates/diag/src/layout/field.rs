use core::fmt;

use super::Bits;
use crate::radio::Decibels;

/// What the numbers of a field stand for, by number.
pub type Names = &'static [(u64, &'static str)];

/// One named number, or run of bytes, of a block.
#[derive(Clone, Copy, Debug)]
pub struct Field {
    /// Its name: lower case, with the unit where it has one.
    pub name: &'static str,
    /// Where it is, from the start of its block. For [`Kind::Bytes`] and [`Kind::Network`] only the start counts.
    pub bits: Bits,
    /// How to read it.
    pub kind: Kind,
}

/// How the bits of a field are read.
#[derive(Clone, Copy, Debug)]
pub enum Kind {
    /// A count or an identity.
    Uint,
    /// Two's complement.
    Int,
    /// One bit.
    Flag,
    /// A bitmap or an opaque word.
    Hex,
    /// `raw × scale + offset`.
    Scaled {
        /// What one step is worth.
        scale: f64,
        /// The value of raw zero.
        offset: f64,
    },
    /// As [`Kind::Scaled`], of a two's complement number.
    ScaledInt {
        /// What one step is worth.
        scale: f64,
        /// The value of raw zero.
        offset: f64,
    },
    /// A choice with names.
    Names(Names),
    /// That many opaque bytes.
    Bytes(u16),
    /// The lowest of the bits of that many bytes in network order, as protocol headers are written on the air.
    Network {
        /// How many bytes.
        bytes: u8,
        /// How many of their bits.
        width: u8,
    },
}

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
}

impl Field {
    /// The value in `block`.
    #[inline]
    pub fn value<'a>(&self, block: &'a [u8]) -> Value<'a> {
        let raw = self.bits.read(block);
        match self.kind {
            Kind::Uint => Value::Uint(raw),
            Kind::Int => Value::Int(self.bits.read_signed(block)),
            Kind::Flag => Value::Flag(raw != 0),
            Kind::Hex => Value::Hex(raw, self.bits.width()),
            Kind::Scaled { scale, offset } => Value::Scaled(raw as f64 * scale + offset),
            Kind::ScaledInt { scale, offset } => {
                Value::Scaled(self.bits.read_signed(block) as f64 * scale + offset)
            }
            Kind::Names(names) => Value::Name(raw, name_of(names, raw)),
            Kind::Bytes(len) => {
                let start = self.bits.start();
                Value::Bytes(block.get(start..start + usize::from(len)).unwrap_or_default())
            }
            Kind::Network { bytes, width } => {
                let start = self.bits.start();
                let bytes = block.get(start..start + usize::from(bytes)).unwrap_or_default();
                let word = bytes.iter().fold(0, |word, &byte| word << 8 | u64::from(byte));
                Value::Uint(word & (u64::MAX >> (64 - width)))
            }
        }
    }

    /// The level in `block`; zero if the field holds something else.
    pub fn decibels(&self, block: &[u8]) -> Decibels {
        match self.value(block) {
            Value::Scaled(level) => Decibels::from_f64(level),
            Value::Int(level) => Decibels::from_f64(level as f64),
            _ => Decibels::default(),
        }
    }

    /// The byte after its last, from the start of its block.
    pub const fn end(&self) -> usize {
        match self.kind {
            Kind::Bytes(len) => self.bits.start() + len as usize,
            Kind::Network { bytes, .. } => self.bits.start() + bytes as usize,
            _ => self.bits.end(),
        }
    }
}

#[inline]
fn name_of(names: Names, raw: u64) -> Option<&'static str> {
    // Most tables are indexed by the number itself.
    let direct = usize::try_from(raw).ok().and_then(|at| names.get(at));
    match direct {
        Some(&(number, name)) if number == raw => Some(name),
        _ => names.iter().find(|(number, _)| *number == raw).map(|(_, name)| *name),
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
            Value::Bytes(bytes) => bytes.iter().try_for_each(|byte| write!(f, "{byte:02x}")),
        }
    }
}

pub(crate) const fn uint(name: &'static str, bits: Bits) -> Field {
    Field { name, bits, kind: Kind::Uint }
}

pub(crate) const fn int(name: &'static str, bits: Bits) -> Field {
    Field { name, bits, kind: Kind::Int }
}

pub(crate) const fn hex(name: &'static str, bits: Bits) -> Field {
    Field { name, bits, kind: Kind::Hex }
}

pub(crate) const fn flag(name: &'static str, at: u16, bit: u8) -> Field {
    Field { name, bits: super::bits(at, bit, bit), kind: Kind::Flag }
}

pub(crate) const fn names(name: &'static str, bits: Bits, names: Names) -> Field {
    Field { name, bits, kind: Kind::Names(names) }
}

pub(crate) const fn scaled(name: &'static str, bits: Bits, scale: f64, offset: f64) -> Field {
    Field { name, bits, kind: Kind::Scaled { scale, offset } }
}

pub(crate) const fn scaled_int(name: &'static str, bits: Bits, scale: f64, offset: f64) -> Field {
    Field { name, bits, kind: Kind::ScaledInt { scale, offset } }
}

pub(crate) const fn bytes(name: &'static str, at: u16, len: u16) -> Field {
    Field { name, bits: super::u8(at), kind: Kind::Bytes(len) }
}

pub(crate) const fn network(name: &'static str, at: u16, bytes: u8, width: u8) -> Field {
    assert!(width > 0 && width <= 8 * bytes && bytes <= 8, "so many bits are not in so many bytes");
    Field { name, bits: super::u8(at), kind: Kind::Network { bytes, width } }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::layout::{u8, u16};
    use std::string::ToString;

    #[test]
    fn a_choice_without_a_name_keeps_its_number() {
        let field = names("colour", u8(0), &[(0, "red"), (7, "blue")]);
        assert_eq!(field.value(&[7]), Value::Name(7, Some("blue")));
        assert_eq!(field.value(&[3]), Value::Name(3, None));
        assert_eq!(field.value(&[3]).to_string(), "3");
    }

    #[test]
    fn numbers_in_network_order_are_the_low_bits_of_their_bytes() {
        let field = network("sn", 1, 3, 18);
        assert_eq!(field.value(&[0xFF, 0xFD, 0x02, 0x03]), Value::Uint(0x1_0203));
        assert_eq!(field.end(), 4);
    }

    #[test]
    fn values_print_as_people_write_them() {
        assert_eq!(scaled("rate", u16(0), 1.0 / 1024.0, 0.0).value(&[0, 2]).to_string(), "0.5");
        assert_eq!(hex("map", u16(0)).value(&[0xF, 0]).to_string(), "0x000f");
        assert_eq!(bytes("payload", 1, 2).value(&[1, 2, 0xAB]).to_string(), "02ab");
    }
}
