//! The types of the specifications as data: what X.691 needs to know of each to find its bits.

mod make;
#[rustfmt::skip]
pub(crate) mod tables;

use tables::{ENUMS, FIELDS, NAMES, TYPES};

/// A type; other types, fields and names are given by their place in the tables.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Type {
    Null,
    Boolean,
    /// A number of a [`range`].
    Integer {
        lo: i32,
        steps: u32,
        shift: u8,
    },
    /// One of `root` names, or one of those `added` later.
    Enumerated {
        first: u16,
        root: u16,
        added: u16,
        extensible: bool,
    },
    BitString {
        lo: u32,
        hi: u32,
    },
    /// Bytes, which may be the encoding of another type.
    OctetString {
        lo: u32,
        hi: u32,
        contents: u16,
    },
    Sequence {
        first: u16,
        root: u16,
        added: u16,
        extensible: bool,
    },
    SequenceOf {
        lo: u32,
        hi: u32,
        element: u16,
    },
    Choice {
        first: u16,
        root: u16,
        added: u16,
        extensible: bool,
    },
}

/// A member of a sequence, or an alternative of a choice.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Field {
    name: u16,
    pub(crate) ty: u16,
    pub(crate) presence: Presence,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Presence {
    Required,
    Optional,
    /// Not a member but a group of members that were added together.
    Group,
}

/// The size of a string or list without an upper bound.
pub(crate) const UNBOUNDED: u32 = u32::MAX;

/// Whether a length of at most `hi` is written whole instead of counted from its minimum: a length
/// that is read can then be below the minimum. X.691 §11.9.4.
pub(crate) fn written_whole(hi: u32) -> bool {
    hi >= 65536
}

/// The first and the last number of an integer type.
pub(crate) fn range(lo: i32, steps: u32, shift: u8) -> (i64, i64) {
    let lo = i64::from(lo);
    (lo, lo + ((i64::from(steps) + 1) << shift) - 1)
}

/// The contents of an octet string that are opaque, or named in no table.
pub(crate) const NONE: u16 = u16::MAX;

/// All names, one after the other: a reference to each would take as much room again.
static TEXT: &str = match str::from_utf8(&joined::<{ length(NAMES) }>(NAMES)) {
    Ok(text) => text,
    Err(_) => panic!("a name is not UTF-8"),
};

/// The length of each.
static LENGTHS: [u8; NAMES.len()] = lengths(NAMES);

/// Where every [`STRIDE`]th begins: where each one does would take a fifth of the text's room.
static BEGINS: [u32; NAMES.len() / STRIDE + 1] = begins(NAMES);
const STRIDE: usize = 16;

const fn length(names: &[&str]) -> usize {
    let (mut length, mut at) = (0, 0);
    while at < names.len() {
        length += names[at].len();
        at += 1;
    }
    length
}

const fn joined<const N: usize>(names: &[&str]) -> [u8; N] {
    let (mut text, mut end, mut at) = ([0; N], 0, 0);
    while at < names.len() {
        let name = names[at].as_bytes();
        let (_, rest) = text.split_at_mut(end);
        let (place, _) = rest.split_at_mut(name.len());
        place.copy_from_slice(name);
        end += name.len();
        at += 1;
    }
    text
}

const fn lengths<const N: usize>(names: &[&str]) -> [u8; N] {
    let (mut lengths, mut at) = ([0; N], 0);
    while at < names.len() {
        assert!(names[at].len() <= u8::MAX as usize, "a name is too long for its length");
        lengths[at] = names[at].len() as u8;
        at += 1;
    }
    lengths
}

const fn begins<const N: usize>(names: &[&str]) -> [u32; N] {
    let (mut begins, mut begin, mut at) = ([0; N], 0, 0);
    while at < names.len() {
        if at % STRIDE == 0 {
            begins[at / STRIDE] = begin as u32;
        }
        begin += names[at].len();
        at += 1;
    }
    begins
}

/// The name at a place of the table.
fn name_at(place: u16) -> &'static str {
    let place = usize::from(place);
    let first = place / STRIDE * STRIDE;
    let (Some(&begin), Some(&length)) = (BEGINS.get(place / STRIDE), LENGTHS.get(place)) else {
        return "";
    };
    let before = LENGTHS.get(first..place).unwrap_or_default().iter().map(|&one| usize::from(one));
    let begin = begin as usize + before.sum::<usize>();
    TEXT.get(begin..begin + usize::from(length)).unwrap_or_default()
}

impl Field {
    pub(crate) fn name(&self) -> &'static str {
        name_at(self.name)
    }
}

/// The type at a place of the table; the tables name no place outside it.
pub(crate) fn type_at(place: u16) -> Type {
    TYPES.get(usize::from(place)).copied().unwrap_or(Type::Null)
}

pub(crate) fn fields(first: u16, count: u16) -> &'static [Field] {
    let first = usize::from(first);
    FIELDS.get(first..first + usize::from(count)).unwrap_or_default()
}

/// Every member and alternative there is.
#[cfg(test)]
pub(crate) fn all_fields() -> &'static [Field] {
    FIELDS
}

/// The name of value `number` of an enumeration whose names start at `first`.
pub(crate) fn enumerated(first: u16, number: u16) -> &'static str {
    let name = ENUMS.get(usize::from(first) + usize::from(number));
    name.map_or("", |&name| name_at(name))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_tables_name_no_place_outside_themselves() {
        let exists = |place: u16| assert!(usize::from(place) < TYPES.len(), "type {place}");
        for ty in TYPES {
            match *ty {
                Type::Sequence { first, root, added, .. }
                | Type::Choice { first, root, added, .. } => {
                    assert!(usize::from(first + root + added) <= FIELDS.len(), "{ty:?}");
                }
                Type::Enumerated { first, root, added, .. } => {
                    assert!(usize::from(first + root + added) <= ENUMS.len(), "{ty:?}");
                }
                Type::SequenceOf { element, .. } => exists(element),
                Type::OctetString { contents, .. } if contents != NONE => exists(contents),
                _ => {}
            }
        }
        FIELDS.iter().for_each(|field| exists(field.ty));
        FIELDS.iter().for_each(|field| assert!(usize::from(field.name) < NAMES.len()));
        ENUMS.iter().for_each(|&name| assert!(usize::from(name) < NAMES.len()));
    }

    #[test]
    fn a_name_is_found_in_the_text_of_all() {
        for (place, name) in NAMES.iter().enumerate() {
            assert_eq!(name_at(place as u16), *name);
        }
        assert_eq!(name_at(u16::MAX), "", "there is no such place");
        assert!(NAMES.len() < usize::from(u16::MAX));
    }

    #[test]
    fn a_range_of_more_than_32_bits_keeps_its_ends() {
        for (lo, hi) in [(0, 549_755_813_887), (0, 17_179_869_183), (-140, -44), (7, 7)] {
            let Type::Integer { lo: kept, steps, shift } = make::integer(lo, hi) else { panic!() };
            assert_eq!(range(kept, steps, shift), (lo, hi));
        }
        assert!(size_of::<Type>() <= 12);
    }

    #[test]
    fn ranges_are_the_right_way_up() {
        for ty in TYPES {
            match *ty {
                Type::Integer { lo, steps, shift } => {
                    let (lo, hi) = range(lo, steps, shift);
                    assert!(lo <= hi, "{ty:?}");
                }
                Type::BitString { lo, hi }
                | Type::OctetString { lo, hi, .. }
                | Type::SequenceOf { lo, hi, .. } => assert!(lo <= hi, "{ty:?}"),
                _ => {}
            }
        }
    }
}
