//! A decoded message as a tree.

use alloc::boxed::Box;
use alloc::string::String;
use alloc::vec::Vec;
use core::fmt::Write;

use serde::ser::{Serialize, SerializeMap, Serializer};

use crate::BitStr;

/// A value, with the names that the specification gives.
#[derive(Clone, Debug, PartialEq)]
pub enum Value<'a> {
    /// Only its presence counts.
    Null,
    /// True or false.
    Boolean(bool),
    /// A number.
    Integer(i64),
    /// One of an enumeration's names.
    Name(&'static str),
    /// An addition to an enumeration or choice that is later than the tables: its number among the
    /// additions.
    Later(u64),
    /// A string of bits.
    Bits(BitStr<'a>),
    /// A string of bytes.
    Octets(BitStr<'a>),
    /// A string of bytes that is the encoding of this.
    Contains(Box<Value<'a>>),
    /// Members that are there, in their order.
    Sequence(Vec<(&'static str, Value<'a>)>),
    /// Values of one type.
    List(Vec<Value<'a>>),
    /// An alternative.
    Choice(&'static str, Box<Value<'a>>),
}

impl<'a> Value<'a> {
    /// A member of a sequence, or the chosen alternative if it is the one; `None` if it is absent.
    pub fn get(&self, name: &str) -> Option<&Value<'a>> {
        match self {
            Self::Sequence(members) => {
                members.iter().find(|(found, _)| *found == name).map(|(_, value)| value)
            }
            Self::Choice(found, value) if *found == name => Some(value),
            Self::Contains(value) => value.get(name),
            _ => None,
        }
    }

    /// The value at the end of a path of members and alternatives.
    pub fn at(&self, path: &[&str]) -> Option<&Value<'a>> {
        path.iter().try_fold(self, |value, name| value.get(name))
    }

    /// A number.
    pub fn integer(&self) -> Option<i64> {
        match self {
            Self::Integer(number) => Some(*number),
            _ => None,
        }
    }

    /// A name of an enumeration.
    pub fn name(&self) -> Option<&'static str> {
        match self {
            Self::Name(name) => Some(name),
            _ => None,
        }
    }

    /// A string of at most 64 bits as a number.
    pub fn number(&self) -> Option<u64> {
        match self {
            Self::Bits(bits) => bits.number(),
            _ => None,
        }
    }

    /// The chosen alternative, and its value.
    pub fn chosen(&self) -> Option<(&'static str, &Value<'a>)> {
        match self {
            Self::Choice(name, value) => Some((name, value)),
            _ => None,
        }
    }

    /// The values of a list. Other values have no items.
    pub fn items(&self) -> &[Value<'a>] {
        match self {
            Self::List(items) => items,
            _ => &[],
        }
    }

    /// Calls `visit` with the name and value of every member and alternative, parents first. It
    /// visits the content of a value only if `visit` returns true for it.
    pub fn walk<'v>(&'v self, visit: &mut dyn FnMut(&'static str, &'v Value<'a>) -> bool) {
        let mut member = |name, value: &'v Value<'a>| {
            if visit(name, value) {
                value.walk(visit);
            }
        };
        match self {
            Self::Sequence(members) => members.iter().for_each(|(name, value)| member(name, value)),
            Self::Choice(name, value) => member(name, value),
            Self::Contains(value) => value.walk(visit),
            Self::List(items) => items.iter().for_each(|item| item.walk(visit)),
            _ => {}
        }
    }

    /// The first member or alternative of that name, anywhere within.
    pub fn find(&self, name: &str) -> Option<&Value<'a>> {
        let mut found = None;
        self.walk(&mut |here, value| {
            if found.is_none() && here == name {
                found = Some(value);
            }
            found.is_none()
        });
        found
    }
}

/// Sequences and choices become maps, lists lists, strings of bits text of 0 and 1, strings of
/// bytes hex.
impl Serialize for Value<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Self::Null => serializer.serialize_unit(),
            Self::Boolean(set) => serializer.serialize_bool(*set),
            Self::Integer(number) => serializer.serialize_i64(*number),
            Self::Name(name) => serializer.serialize_str(name),
            Self::Later(number) => {
                let mut map = serializer.serialize_map(Some(1))?;
                map.serialize_entry("later_addition", number)?;
                map.end()
            }
            Self::Bits(bits) => serializer.collect_str(&format_args!("{bits:?}")),
            Self::Octets(octets) => {
                let mut hex = String::with_capacity(octets.len() / 4);
                for byte in octets.bytes() {
                    // Writing to a string cannot fail.
                    let _ = write!(hex, "{byte:02x}");
                }
                serializer.serialize_str(&hex)
            }
            Self::Contains(value) => value.serialize(serializer),
            Self::Sequence(members) => {
                let mut map = serializer.serialize_map(Some(members.len()))?;
                for (name, value) in members {
                    map.serialize_entry(name, value)?;
                }
                map.end()
            }
            Self::List(items) => serializer.collect_seq(items),
            Self::Choice(name, value) => {
                let mut map = serializer.serialize_map(Some(1))?;
                map.serialize_entry(name, value)?;
                map.end()
            }
        }
    }
}
