//! The unaligned packed encoding rules of X.691, for the types that the tables can describe.
//!
//! Additions of a later release are skipped, because the encoding gives their length. Strings and
//! additions whose content does not decode stay bytes, and are counted. Any other part that does
//! not decode is an error.

use alloc::boxed::Box;
use alloc::vec::Vec;

use crate::bits::{BitStr, Reader};
use crate::error::{DecodeError, Fault};
use crate::schema::{
    Field, NONE, Presence, Type, enumerated, fields, range, type_at, written_whole,
};
use crate::value::Value;
use crate::{MAX_DEPTH, MAX_VALUES};

/// The result of decoding a message.
#[derive(Clone, Debug, PartialEq)]
pub struct Decoded<'a> {
    /// The message.
    pub value: Value<'a>,
    /// The number of strings in it that should hold an encoded value but do not decode. They stay
    /// bytes.
    pub unread: u32,
    /// Bits after its end, which should be less than a byte.
    pub left_bits: usize,
}

/// Decodes a message of the type at `place` of the tables.
pub(crate) fn decode(place: u16, message: &[u8]) -> Result<Decoded<'_>, DecodeError> {
    let mut reader = Reader::new(message);
    let mut decoder = Decoder { values: 0, depth: 0, unread: 0 };
    let value = decoder.value(place, &mut reader)?;
    Ok(Decoded { value, unread: decoder.unread, left_bits: reader.left() })
}

struct Decoder {
    values: u32,
    depth: u32,
    unread: u32,
}

impl Decoder {
    fn value<'a>(&mut self, place: u16, reader: &mut Reader<'a>) -> Result<Value<'a>, DecodeError> {
        self.values += 1;
        self.depth += 1;
        if self.values > MAX_VALUES {
            return Err(reader.fail(Fault::Many));
        }
        if self.depth > MAX_DEPTH {
            return Err(reader.fail(Fault::Deep));
        }
        let value = self.of_type(type_at(place), reader);
        self.depth -= 1;
        value
    }

    fn of_type<'a>(&mut self, ty: Type, reader: &mut Reader<'a>) -> Result<Value<'a>, DecodeError> {
        Ok(match ty {
            Type::Null => Value::Null,
            Type::Boolean => Value::Boolean(reader.flag()?),
            Type::Integer { lo, steps, shift } => {
                let (lo, hi) = range(lo, steps, shift);
                let number = reader.constrained(hi.abs_diff(lo))?;
                Value::Integer(lo.wrapping_add_unsigned(number))
            }
            Type::Enumerated { first, root, added, extensible } => {
                if extensible && reader.flag()? {
                    match reader.small()? {
                        number if number < u64::from(added) => {
                            Value::Name(enumerated(first, root + number as u16))
                        }
                        number => Value::Later(number),
                    }
                } else {
                    let number = reader.constrained(u64::from(root) - 1)?;
                    Value::Name(enumerated(first, number as u16))
                }
            }
            Type::BitString { lo, hi } => {
                let count = size(lo, hi, reader)?;
                Value::Bits(BitStr::new(reader.run(count as usize)?))
            }
            Type::OctetString { lo, hi, contents } => {
                let count = size(lo, hi, reader)?;
                self.contents(contents, reader.run(count as usize * 8)?)?
            }
            Type::SequenceOf { lo, hi, element } => {
                let count = size(lo, hi, reader)?;
                let mut items = Vec::new();
                for _ in 0..count {
                    items.push(self.value(element, reader)?);
                }
                Value::List(items)
            }
            Type::Sequence { first, root, added, extensible } => {
                let mut members = Vec::new();
                self.sequence(first, root, added, extensible, reader, &mut members)?;
                Value::Sequence(members)
            }
            Type::Choice { first, root, added, extensible } => {
                self.choice(first, root, added, extensible, reader)?
            }
        })
    }

    /// A run of bytes that may hold an encoding; if it does not decode as such, it stays bytes.
    fn contents<'a>(&mut self, contents: u16, run: Reader<'a>) -> Result<Value<'a>, DecodeError> {
        if contents == NONE {
            return Ok(Value::Octets(BitStr::new(run)));
        }
        let depth = self.depth;
        match self.value(contents, &mut run.clone()) {
            Ok(value) => Ok(Value::Contains(Box::new(value))),
            Err(error) if error.fault.is_limit() => Err(error),
            Err(_) => {
                self.depth = depth;
                self.unread += 1;
                Ok(Value::Octets(BitStr::new(run)))
            }
        }
    }

    /// X.691 §19.
    fn sequence<'a>(
        &mut self,
        first: u16,
        root: u16,
        added: u16,
        extensible: bool,
        reader: &mut Reader<'a>,
        members: &mut Vec<(&'static str, Value<'a>)>,
    ) -> Result<(), DecodeError> {
        let all = fields(first, root + added);
        let (root, added) = all.split_at(usize::from(root).min(all.len()));
        let extended = extensible && reader.flag()?;
        let optional = |field: &&Field| field.presence == Presence::Optional;
        let mut present = reader.run(root.iter().filter(optional).count())?;
        for field in root {
            if field.presence == Presence::Required || present.flag()? {
                members.push((field.name(), self.value(field.ty, reader)?));
            }
        }
        if !extended {
            return Ok(());
        }
        let count = reader.small_length()?;
        let mut present = reader.run(count as usize)?;
        for i in 0..count as usize {
            if !present.flag()? {
                continue;
            }
            let bytes = reader.length()? as usize;
            let mut run = reader.run(bytes * 8)?;
            match added.get(i) {
                Some(field) => self.addition(field, &mut run, members)?,
                None => members.push(("later_addition", Value::Octets(BitStr::new(run)))),
            }
        }
        Ok(())
    }

    fn addition<'a>(
        &mut self,
        field: &Field,
        run: &mut Reader<'a>,
        members: &mut Vec<(&'static str, Value<'a>)>,
    ) -> Result<(), DecodeError> {
        if let (Presence::Group, Type::Sequence { first, root, added, extensible }) =
            (field.presence, type_at(field.ty))
        {
            let (before, depth, whole) = (members.len(), self.depth, *run);
            let read = self.sequence(first, root, added, extensible, run, members);
            return match read {
                Err(error) if !error.fault.is_limit() => {
                    self.depth = depth;
                    self.unread += 1;
                    members.truncate(before);
                    members.push(("unread_addition", Value::Octets(BitStr::new(whole))));
                    Ok(())
                }
                read => read,
            };
        }
        let value = match self.contents(field.ty, *run)? {
            Value::Contains(value) => *value,
            bytes => bytes,
        };
        members.push((field.name(), value));
        Ok(())
    }

    /// X.691 §23. The alternatives' tags are automatic, so that their order is that of the text.
    fn choice<'a>(
        &mut self,
        first: u16,
        root: u16,
        added: u16,
        extensible: bool,
        reader: &mut Reader<'a>,
    ) -> Result<Value<'a>, DecodeError> {
        let all = fields(first, root + added);
        if !(extensible && reader.flag()?) {
            let number = reader.constrained(u64::from(root) - 1)?;
            let Some(field) = all.get(number as usize) else {
                return Err(reader.fail(Fault::OutOfRange));
            };
            return Ok(Value::Choice(field.name(), Box::new(self.value(field.ty, reader)?)));
        }
        let number = reader.small()?;
        let bytes = reader.length()? as usize;
        let run = reader.run(bytes * 8)?;
        let later = usize::try_from(number).ok().and_then(|at| all.get(usize::from(root) + at));
        let Some(field) = later else { return Ok(Value::Later(number)) };
        let value = match self.contents(field.ty, run)? {
            Value::Contains(value) => value,
            bytes => Box::new(bytes),
        };
        Ok(Value::Choice(field.name(), value))
    }
}

/// Number of units of a string or list. X.691 §16, §17, §20.
fn size(lo: u32, hi: u32, reader: &mut Reader<'_>) -> Result<u32, DecodeError> {
    if written_whole(hi) {
        let count = reader.length()?;
        return if (lo..=hi).contains(&count) {
            Ok(count)
        } else {
            Err(reader.fail(Fault::OutOfRange))
        };
    }
    reader.constrained(u64::from(hi - lo)).map(|more| lo + more as u32)
}
