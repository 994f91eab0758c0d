use super::Bits;
use crate::radio::Decibels;
use crate::sink::{Names, Plmn, Value};

/// One named number, or run of bytes, of a block.
#[derive(Clone, Copy, Debug)]
pub struct Field {
    /// Its name: lower case, with the unit where it has one.
    pub name: &'static str,
    /// Its bits, from the start of its block. For kinds of whole bytes only the start counts.
    pub bits: Bits,
    /// The kind of its value.
    pub kind: Kind,
    /// When there is no value: an absent antenna, a level that was not measured. `None` for a
    /// field that always has a value.
    pub absent: Option<Absent>,
}

/// Bits of a block that are zero where a field has no value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Absent {
    /// The bits.
    pub bits: Bits,
    /// Another number that means the same; zero if there is no other.
    pub floor: u16,
}

/// How the bits of a field become a value.
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
        /// The value of one step.
        scale: f64,
        /// The value of raw zero.
        offset: f64,
    },
    /// As [`Kind::Scaled`], of a two's complement number.
    ScaledInt {
        /// The value of one step.
        scale: f64,
        /// The value of raw zero.
        offset: f64,
    },
    /// A choice with names.
    Names(Names),
    /// That many opaque bytes.
    Bytes(u16),
    /// The identity of a network in three octets (TS 24.008 §10.5.1.3).
    Plmn,
    /// The same in six bytes, a digit in each.
    PlmnDigits,
    /// The lowest of the bits of that many bytes in network order, as protocol headers are written
    /// on the air.
    Network {
        /// Number of bytes.
        bytes: u8,
        /// How many of their bits.
        width: u8,
    },
}

impl Field {
    /// The value in `block`; `None` if the block marks it as absent.
    #[inline]
    pub fn value<'a>(&self, block: &'a [u8]) -> Option<Value<'a>> {
        let raw = self.absent.map(|absent| (absent.bits.read(block), u64::from(absent.floor)));
        match raw {
            Some((0, _)) => None,
            Some((raw, floor)) if raw == floor => None,
            _ => Some(self.read(block)),
        }
    }

    #[inline]
    fn read<'a>(&self, block: &'a [u8]) -> Value<'a> {
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
            Kind::Plmn => Value::Plmn(Plmn::from_octets(self.array(block))),
            Kind::PlmnDigits => Value::Plmn(Plmn::from_digits(self.array(block))),
            Kind::Network { bytes, width } => {
                let start = self.bits.start();
                let bytes = block.get(start..start + usize::from(bytes)).unwrap_or_default();
                let word = bytes.iter().fold(0, |word, &byte| word << 8 | u64::from(byte));
                Value::Uint(word & (u64::MAX >> (64 - width)))
            }
        }
    }

    fn array<const N: usize>(&self, block: &[u8]) -> [u8; N] {
        let bytes = block.get(self.bits.start()..).and_then(|rest| rest.first_chunk());
        bytes.copied().unwrap_or([15; N])
    }

    /// The level in `block`; `None` without a level, or if the field has another kind.
    pub fn decibels(&self, block: &[u8]) -> Option<Decibels> {
        match self.value(block)? {
            Value::Scaled(level) => Some(Decibels::from_f64(level)),
            Value::Int(level) => Some(Decibels::from_f64(level as f64)),
            _ => None,
        }
    }

    /// The same field, which has a value only if `bits` of its block are not all zero.
    pub(crate) const fn unless_zero(self, bits: Bits) -> Self {
        Self { absent: Some(Absent { bits, floor: 0 }), ..self }
    }

    /// The same field, in which this number means the same as zero, where zero means that there is
    /// no value.
    pub(crate) const fn or_unless(self, floor: u16) -> Self {
        match self.absent {
            Some(absent) => Self { absent: Some(Absent { floor, ..absent }), ..self },
            None => self,
        }
    }

    /// The same field, in which zero means that there is no value.
    pub(crate) const fn unless_itself_zero(self) -> Self {
        self.unless_zero(self.bits)
    }

    /// The byte after the last that reading it needs, from the start of its block.
    pub const fn end(&self) -> usize {
        let own = match self.kind {
            Kind::Bytes(len) => self.bits.start() + len as usize,
            Kind::Plmn => self.bits.start() + 3,
            Kind::PlmnDigits => self.bits.start() + 6,
            Kind::Network { bytes, .. } => self.bits.start() + bytes as usize,
            _ => self.bits.end(),
        };
        match self.absent {
            Some(Absent { bits, .. }) if bits.end() > own => bits.end(),
            _ => own,
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

const fn plain(name: &'static str, bits: Bits, kind: Kind) -> Field {
    Field { name, bits, kind, absent: None }
}

pub(crate) const fn uint(name: &'static str, bits: Bits) -> Field {
    plain(name, bits, Kind::Uint)
}

pub(crate) const fn int(name: &'static str, bits: Bits) -> Field {
    plain(name, bits, Kind::Int)
}

pub(crate) const fn hex(name: &'static str, bits: Bits) -> Field {
    plain(name, bits, Kind::Hex)
}

pub(crate) const fn flag(name: &'static str, at: u16, bit: u8) -> Field {
    plain(name, super::bits(at, bit, bit), Kind::Flag)
}

pub(crate) const fn names(name: &'static str, bits: Bits, names: Names) -> Field {
    plain(name, bits, Kind::Names(names))
}

pub(crate) const fn scaled(name: &'static str, bits: Bits, scale: f64, offset: f64) -> Field {
    plain(name, bits, Kind::Scaled { scale, offset })
}

pub(crate) const fn scaled_int(name: &'static str, bits: Bits, scale: f64, offset: f64) -> Field {
    plain(name, bits, Kind::ScaledInt { scale, offset })
}

pub(crate) const fn bytes(name: &'static str, at: u16, len: u16) -> Field {
    plain(name, super::u8(at), Kind::Bytes(len))
}

pub(crate) const fn plmn(name: &'static str, at: u16) -> Field {
    plain(name, super::u8(at), Kind::Plmn)
}

pub(crate) const fn plmn_digits(name: &'static str, at: u16) -> Field {
    plain(name, super::u8(at), Kind::PlmnDigits)
}

pub(crate) const fn network(name: &'static str, at: u16, bytes: u8, width: u8) -> Field {
    assert!(width > 0 && width <= 8 * bytes && bytes <= 8, "so many bits are not in so many bytes");
    plain(name, super::u8(at), Kind::Network { bytes, width })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::layout::{u8, u16};
    use std::string::{String, ToString};

    fn printed(field: Field, block: &[u8]) -> String {
        field.value(block).map_or("nothing".into(), |value| value.to_string())
    }

    #[test]
    fn a_choice_without_a_name_keeps_its_number() {
        let field = names("colour", u8(0), &[(0, "red"), (7, "blue")]);
        assert_eq!(field.value(&[7]), Some(Value::Name(7, Some("blue"))));
        assert_eq!(field.value(&[3]), Some(Value::Name(3, None)));
        assert_eq!(printed(field, &[3]), "3");
    }

    #[test]
    fn numbers_in_network_order_are_the_low_bits_of_their_bytes() {
        let field = network("sn", 1, 3, 18);
        assert_eq!(field.value(&[0xFF, 0xFD, 0x02, 0x03]), Some(Value::Uint(0x1_0203)));
        assert_eq!(field.end(), 4);
    }

    #[test]
    fn values_print_as_people_write_them() {
        assert_eq!(printed(scaled("rate", u16(0), 1.0 / 1024.0, 0.0), &[0, 2]), "0.5");
        assert_eq!(printed(hex("map", u16(0)), &[0xF, 0]), "0x000f");
        assert_eq!(printed(bytes("payload", 1, 2), &[1, 2, 0xAB]), "02ab");
    }

    #[test]
    fn a_network_prints_as_country_and_code() {
        assert_eq!(printed(plmn("plmn", 1), &[9, 0x13, 0x00, 0x21]), "310-120");
        assert_eq!(printed(plmn("plmn", 0), &[0x62, 0xF2, 0x20]), "262-02");
        assert_eq!(printed(plmn("plmn", 0), &[0xFF; 3]), "fff-ff");
        assert_eq!(printed(plmn_digits("plmn", 0), &[2, 6, 2, 0, 1, 15]), "262-01");
        assert_eq!((plmn("plmn", 1).end(), plmn_digits("plmn", 1).end()), (4, 7));
    }

    #[test]
    fn a_level_that_was_not_measured_is_none() {
        let level = scaled("level", u8(0), 1.0, -180.0);
        assert_eq!(level.value(&[0, 7]), Some(Value::Scaled(-180.0)));
        assert_eq!(level.unless_itself_zero().value(&[0, 7]), None);
        assert_eq!(level.unless_itself_zero().decibels(&[0, 7]), None);
        // Whether zero is a value depends on another field.
        assert_eq!(level.unless_zero(u8(1)).value(&[0, 7]), Some(Value::Scaled(-180.0)));
        assert_eq!(level.unless_zero(u8(1)).value(&[7, 0]), None);
        let floored = level.unless_itself_zero().or_unless(40);
        assert_eq!(floored.value(&[40]), None);
        assert_eq!(floored.value(&[0]), None);
        assert_eq!(floored.value(&[41]), Some(Value::Scaled(-139.0)));
    }
}
