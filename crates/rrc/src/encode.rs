//! The inverse of decoding: encodes a tree of values as the bits of a message, by X.691 for the
//! types that the tables can describe.

use alloc::vec;
use alloc::vec::Vec;

use crate::MAX_DEPTH;
use crate::bits::BitStr;
use crate::schema::{
    Field, NONE, Presence, Type, enumerated, fields, range, type_at, written_whole,
};
use crate::value::Value;

/// Why a value cannot be encoded as a message.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum EncodeError {
    /// The type expects another kind of value there.
    #[error("{name}: a value of another type")]
    Type {
        /// The member with the value, or the member that contains it.
        name: &'static str,
    },
    /// A sequence lacks a member that is not optional.
    #[error("{name}: member is missing")]
    Missing {
        /// The member.
        name: &'static str,
    },
    /// The type has no such member, alternative or name of an enumeration.
    #[error("{name}: no member, alternative or name of its type")]
    Unknown {
        /// The name.
        name: &'static str,
    },
    /// A number is outside its range, or a list or string is longer or shorter than its type
    /// allows.
    #[error("{name}: outside the range of its type")]
    Range {
        /// The member with the value, or the member that contains it.
        name: &'static str,
    },
    /// Values are nested deeper than in any message.
    #[error("{name}: values nested more than {MAX_DEPTH} deep")]
    Deep {
        /// The innermost member.
        name: &'static str,
    },
}

/// Encodes a message of the type at `place` of the tables, filled up to whole bytes.
pub(crate) fn encode(place: u16, value: &Value<'_>) -> Result<Vec<u8>, EncodeError> {
    let mut encoder = Encoder { name: "message", depth: 0 };
    encoder.open(place, value)
}

/// Bits, the highest of each byte first.
#[derive(Debug, Default)]
struct Writer {
    bytes: Vec<u8>,
    /// Bits of the last byte that are not used yet.
    free: u32,
}

impl Writer {
    fn bits(&mut self, number: u64, count: u32) {
        for at in (0..count).rev() {
            self.flag(number >> at & 1 == 1);
        }
    }

    fn flag(&mut self, set: bool) {
        if self.free == 0 {
            self.bytes.push(0);
            self.free = 8;
        }
        self.free -= 1;
        if let Some(last) = self.bytes.last_mut() {
            *last |= u8::from(set) << self.free;
        }
    }

    /// X.691 §11.5.6.
    fn constrained(&mut self, number: u64, span: u64) {
        self.bits(number, u64::BITS - span.leading_zeros());
    }

    /// X.691 §11.9; `false` for a length that would be sent in fragments.
    fn length(&mut self, length: usize) -> bool {
        match length {
            ..128 => self.bits(length as u64, 8),
            128..16384 => self.bits(1 << 15 | length as u64, 16),
            _ => return false,
        }
        true
    }

    /// X.691 §11.6.
    fn small(&mut self, number: u16) {
        if number < 64 {
            self.bits(number.into(), 7);
        } else {
            let bytes = u16::BITS.div_ceil(8) - number.leading_zeros() / 8;
            self.bits(1, 1);
            self.bits(bytes.into(), 8);
            self.bits(number.into(), bytes * 8);
        }
    }

    /// X.691 §11.9.3.4.
    fn small_length(&mut self, length: usize) -> bool {
        if (1..=64).contains(&length) {
            self.bits(length as u64 - 1, 7);
            return true;
        }
        self.flag(true);
        self.length(length)
    }
}

struct Encoder {
    /// The innermost member that has a name, for errors.
    name: &'static str,
    depth: u32,
}

impl Encoder {
    const fn range(&self) -> EncodeError {
        EncodeError::Range { name: self.name }
    }

    /// A separate encoding: a whole message, or an addition. X.691 §11.2.
    fn open(&mut self, place: u16, value: &Value<'_>) -> Result<Vec<u8>, EncodeError> {
        let mut out = Writer::default();
        self.value(place, value, &mut out)?;
        // X.691 §11.1.3: an empty encoding takes one byte.
        Ok(if out.bytes.is_empty() { vec![0] } else { out.bytes })
    }

    fn value(
        &mut self,
        place: u16,
        value: &Value<'_>,
        out: &mut Writer,
    ) -> Result<(), EncodeError> {
        if self.depth == MAX_DEPTH {
            return Err(EncodeError::Deep { name: self.name });
        }
        self.depth += 1;
        self.of_type(type_at(place), value, out)?;
        self.depth -= 1;
        Ok(())
    }

    fn of_type(
        &mut self,
        ty: Type,
        value: &Value<'_>,
        out: &mut Writer,
    ) -> Result<(), EncodeError> {
        match (ty, value) {
            (Type::Null, Value::Null) => Ok(()),
            (Type::Boolean, &Value::Boolean(set)) => {
                out.flag(set);
                Ok(())
            }
            (Type::Integer { lo, steps, shift }, &Value::Integer(number)) => {
                let (lo, hi) = range(lo, steps, shift);
                if !(lo..=hi).contains(&number) {
                    return Err(self.range());
                }
                out.constrained(number.abs_diff(lo), hi.abs_diff(lo));
                Ok(())
            }
            (Type::Enumerated { first, root, added, extensible }, &Value::Name(name)) => {
                let mut numbers = 0..root + added;
                let number = numbers.find(|&number| enumerated(first, number) == name);
                let number = number.ok_or(EncodeError::Unknown { name })?;
                if extensible {
                    out.flag(number >= root);
                }
                match number.checked_sub(root) {
                    Some(later) => out.small(later),
                    None => out.constrained(number.into(), u64::from(root) - 1),
                }
                Ok(())
            }
            (Type::BitString { lo, hi }, Value::Bits(bits)) => {
                self.size(lo, hi, bits.len(), out)?;
                bits.bits().for_each(|bit| out.flag(bit));
                Ok(())
            }
            (Type::OctetString { lo, hi, .. }, Value::Octets(octets)) => {
                self.octets(lo, hi, octets, out)
            }
            (Type::OctetString { lo, hi, contents }, Value::Contains(value))
                if contents != NONE =>
            {
                let inner = self.open(contents, value)?;
                self.octets(lo, hi, &BitStr::of(&inner), out)
            }
            (Type::SequenceOf { lo, hi, element }, Value::List(items)) => {
                self.size(lo, hi, items.len(), out)?;
                items.iter().try_for_each(|item| self.value(element, item, out))
            }
            (Type::Sequence { first, root, added, extensible }, Value::Sequence(members)) => {
                let all = fields(first, root + added);
                let known = |name: &str| all.iter().any(|field| belongs(field, name));
                if let Some((name, _)) = members.iter().find(|(name, _)| !known(name)) {
                    return Err(EncodeError::Unknown { name });
                }
                self.sequence(all, usize::from(root), extensible, members, out)
            }
            (Type::Choice { first, root, added, extensible }, Value::Choice(name, value)) => {
                let all = fields(first, root + added);
                self.choice(all, usize::from(root), extensible, name, value, out)
            }
            _ => Err(EncodeError::Type { name: self.name }),
        }
    }

    fn octets(
        &self,
        lo: u32,
        hi: u32,
        octets: &BitStr<'_>,
        out: &mut Writer,
    ) -> Result<(), EncodeError> {
        if !octets.len().is_multiple_of(8) {
            return Err(self.range());
        }
        self.size(lo, hi, octets.len() / 8, out)?;
        octets.bytes().for_each(|byte| out.bits(byte.into(), 8));
        Ok(())
    }

    /// X.691 §16, §17, §20.
    fn size(&self, lo: u32, hi: u32, count: usize, out: &mut Writer) -> Result<(), EncodeError> {
        if !(lo as usize..=hi as usize).contains(&count) {
            return Err(self.range());
        }
        if written_whole(hi) {
            return if out.length(count) { Ok(()) } else { Err(self.range()) };
        }
        out.constrained(count as u64 - u64::from(lo), u64::from(hi - lo));
        Ok(())
    }

    /// X.691 §19. Members that are not fields of this sequence belong to another group of
    /// additions.
    fn sequence(
        &mut self,
        all: &'static [Field],
        root: usize,
        extensible: bool,
        members: &[(&'static str, Value<'_>)],
        out: &mut Writer,
    ) -> Result<(), EncodeError> {
        let (root, added) = all.split_at(root.min(all.len()));
        let present = |field: &Field| members.iter().find(|(name, _)| *name == field.name());
        // Only up to the last group that is present, as a network of an older release would encode
        // it.
        let last = added.iter().rposition(|field| is_there(field, members));
        if extensible {
            out.flag(last.is_some());
        }
        for field in root.iter().filter(|field| field.presence == Presence::Optional) {
            out.flag(present(field).is_some());
        }
        for field in root {
            match present(field) {
                Some((name, value)) => self.member(name, field.ty, value, out)?,
                None if field.presence == Presence::Optional => {}
                None => return Err(EncodeError::Missing { name: field.name() }),
            }
        }
        let Some(last) = last else { return Ok(()) };
        let added = &added[..=last];
        if !out.small_length(added.len()) {
            return Err(self.range());
        }
        added.iter().for_each(|field| out.flag(is_there(field, members)));
        for field in added.iter().filter(|field| is_there(field, members)) {
            let bytes = match (field.presence, type_at(field.ty), present(field)) {
                (Presence::Group, Type::Sequence { first, root, added, extensible }, _) => {
                    let mut inner = Writer::default();
                    let all = fields(first, root + added);
                    self.sequence(all, usize::from(root), extensible, members, &mut inner)?;
                    if inner.bytes.is_empty() { vec![0] } else { inner.bytes }
                }
                (_, _, Some((name, value))) => {
                    let outer = core::mem::replace(&mut self.name, name);
                    let bytes = self.open(field.ty, value)?;
                    self.name = outer;
                    bytes
                }
                _ => return Err(EncodeError::Missing { name: field.name() }),
            };
            self.addition(&bytes, out)?;
        }
        Ok(())
    }

    fn member(
        &mut self,
        name: &'static str,
        place: u16,
        value: &Value<'_>,
        out: &mut Writer,
    ) -> Result<(), EncodeError> {
        let outer = core::mem::replace(&mut self.name, name);
        self.value(place, value, out)?;
        self.name = outer;
        Ok(())
    }

    fn addition(&self, bytes: &[u8], out: &mut Writer) -> Result<(), EncodeError> {
        if !out.length(bytes.len()) {
            return Err(self.range());
        }
        bytes.iter().for_each(|&byte| out.bits(byte.into(), 8));
        Ok(())
    }

    /// X.691 §23.
    fn choice(
        &mut self,
        all: &'static [Field],
        root: usize,
        extensible: bool,
        name: &'static str,
        value: &Value<'_>,
        out: &mut Writer,
    ) -> Result<(), EncodeError> {
        let at = all.iter().position(|field| field.name() == name);
        let at = at.ok_or(EncodeError::Unknown { name })?;
        if extensible {
            out.flag(at >= root);
        }
        match at.checked_sub(root) {
            None => {
                out.constrained(at as u64, (root as u64).saturating_sub(1));
                self.member(name, all[at].ty, value, out)
            }
            Some(later) => {
                out.small(later as u16);
                let outer = core::mem::replace(&mut self.name, name);
                let bytes = self.open(all[at].ty, value)?;
                self.name = outer;
                self.addition(&bytes, out)
            }
        }
    }
}

/// Whether a member of that name is this field, or in the group of additions that this field
/// represents.
fn belongs(field: &Field, name: &str) -> bool {
    match (field.presence, type_at(field.ty)) {
        (Presence::Group, Type::Sequence { first, root, added, .. }) => {
            fields(first, root + added).iter().any(|field| belongs(field, name))
        }
        _ => field.name() == name,
    }
}

fn is_there(field: &Field, members: &[(&'static str, Value<'_>)]) -> bool {
    members.iter().any(|(name, _)| belongs(field, name))
}
