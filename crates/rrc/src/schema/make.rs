//! Helpers for writing the tables.

use super::{Field, NONE, Presence, Type, UNBOUNDED};

pub(super) const fn integer(lo: i64, hi: i64) -> Type {
    Type::Integer { lo, hi }
}

pub(super) const fn bits(lo: u32, hi: u32) -> Type {
    Type::BitString { lo, hi }
}

pub(super) const fn octets(lo: u32, hi: u32) -> Type {
    Type::OctetString { lo, hi, contents: NONE }
}

/// A string of bytes that is the encoding of a type.
pub(super) const fn contents(contents: u16) -> Type {
    Type::OctetString { lo: 0, hi: UNBOUNDED, contents }
}

pub(super) const fn list(lo: u32, hi: u32, element: u16) -> Type {
    Type::SequenceOf { lo, hi, element }
}

pub(super) const fn enumerated(first: u16, root: u16) -> Type {
    Type::Enumerated { first, root, added: 0, extensible: false }
}

pub(super) const fn extensible_enumerated(first: u16, root: u16, added: u16) -> Type {
    Type::Enumerated { first, root, added, extensible: true }
}

pub(super) const fn sequence(first: u16, root: u16) -> Type {
    Type::Sequence { first, root, added: 0, extensible: false }
}

pub(super) const fn extensible_sequence(first: u16, root: u16, added: u16) -> Type {
    Type::Sequence { first, root, added, extensible: true }
}

pub(super) const fn choice(first: u16, root: u16) -> Type {
    Type::Choice { first, root, added: 0, extensible: false }
}

pub(super) const fn extensible_choice(first: u16, root: u16, added: u16) -> Type {
    Type::Choice { first, root, added, extensible: true }
}

pub(super) const fn required(name: u16, ty: u16) -> Field {
    Field { name, ty, presence: Presence::Required }
}

pub(super) const fn optional(name: u16, ty: u16) -> Field {
    Field { name, ty, presence: Presence::Optional }
}

/// Members that were added to a sequence together; the group has no name.
pub(super) const fn group(ty: u16) -> Field {
    Field { name: 0, ty, presence: Presence::Group }
}
