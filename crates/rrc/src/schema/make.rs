//! Helpers for writing the tables.

use super::{Field, NONE, Presence, Type, UNBOUNDED};

/// The first number is one of 32 bits. How many there are is one of 32 bits too, or a multiple of
/// 256: the compiler refuses another.
pub(super) const fn integer(lo: i64, hi: i64) -> Type {
    assert!(lo >= i32::MIN as i64 && lo <= i32::MAX as i64);
    let steps = hi.abs_diff(lo);
    let shift = if steps > u32::MAX as u64 { 8 } else { 0 };
    let kept = ((steps + 1) >> shift) - 1;
    assert!(kept <= u32::MAX as u64 && ((kept + 1) << shift) - 1 == steps);
    Type::Integer { lo: lo as i32, steps: kept as u32, shift }
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
