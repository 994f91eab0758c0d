//! Writes records with the tables that read them, by the names of their fields: for records without
//! a dedicated emitter, in every described version.

use alloc::vec::Vec;

use super::emit::{EmitError, whole};
use super::layouts;
use crate::LogCode;
use crate::layout::{Bits, Block, Count, Field, Kind, Part, SubLayout};

/// The contents of a record, or of an item of one of its lists. Missing fields are zero.
///
/// Counts and lengths may be missing: they are computed from the parts that follow.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Form {
    fields: Vec<(&'static str, Entry)>,
    lists: Vec<(&'static str, Vec<Form>)>,
    /// Kind and version of a sub-packet.
    kind: Option<(u8, u8)>,
}

#[derive(Clone, Debug, PartialEq)]
enum Entry {
    Number(i64),
    Level(f64),
    Bytes(Vec<u8>),
}

impl Form {
    /// All zeroes.
    pub const fn new() -> Self {
        Self { fields: Vec::new(), lists: Vec::new(), kind: None }
    }

    /// A sub-packet of a kind and version.
    pub fn sub_packet(id: u8, version: u8) -> Self {
        Self { kind: Some((id, version)), ..Self::new() }
    }

    /// A number, a choice or a flag, as its bits have it.
    #[must_use]
    pub fn number(mut self, name: &'static str, number: impl Into<i64>) -> Self {
        self.fields.push((name, Entry::Number(number.into())));
        self
    }

    /// A number in the unit of the field's name, written to the nearest step.
    #[must_use]
    pub fn level(mut self, name: &'static str, level: impl Into<f64>) -> Self {
        self.fields.push((name, Entry::Level(level.into())));
        self
    }

    /// Opaque bytes; the headers and elements of MAC and RLC are called `mac`, `rlc` and `status`.
    #[must_use]
    pub fn bytes(mut self, name: &'static str, bytes: impl Into<Vec<u8>>) -> Self {
        self.fields.push((name, Entry::Bytes(bytes.into())));
        self
    }

    /// The items of a list; the list of sub-packets is called `sub_packets`.
    #[must_use]
    pub fn list(mut self, name: &'static str, items: Vec<Self>) -> Self {
        self.lists.push((name, items));
        self
    }

    fn entry(&self, name: &str) -> Option<&Entry> {
        self.fields.iter().find(|(found, _)| *found == name).map(|(_, entry)| entry)
    }

    fn raw(&self, name: &'static str) -> Result<&[u8], EmitError> {
        match self.entry(name) {
            Some(Entry::Bytes(bytes)) => Ok(bytes),
            Some(_) => Err(EmitError::Unknown { field: name }),
            None => Ok(&[]),
        }
    }

    fn items(&self, name: &str) -> &[Self] {
        self.lists.iter().find(|(found, _)| *found == name).map_or(&[], |(_, items)| items)
    }

    /// A name that `parts` do not have.
    fn stranger(&self, parts: &[Part]) -> Option<&'static str> {
        let field = |name: &str| parts.iter().any(|part| has_field(part, name));
        let list = |name: &str| parts.iter().any(|part| list_name(part) == Some(name));
        let fields = self.fields.iter().map(|(name, _)| *name).filter(|name| !field(name));
        fields.chain(self.lists.iter().map(|(name, _)| *name).filter(|name| !list(name))).next()
    }
}

fn has_field(part: &Part, name: &str) -> bool {
    match part {
        Part::Block(block) => {
            block.fields.iter().copied().flatten().any(|found| found.name == name)
        }
        _ => content_name(part) == Some(name),
    }
}

const fn content_name(part: &Part) -> Option<&'static str> {
    match part {
        Part::Opaque { name, .. } | Part::Rest { name } => Some(name),
        Part::Mac { .. } | Part::NrControls { .. } | Part::NrControl => Some("mac"),
        Part::Rlc { .. } => Some("rlc"),
        Part::NrStatus { .. } => Some("status"),
        Part::Chain => Some("chain"),
        _ => None,
    }
}

const fn list_name(part: &Part) -> Option<&'static str> {
    match part {
        Part::List { name, .. } | Part::Counted { name, .. } => Some(name),
        Part::SubPackets { .. } => Some("sub_packets"),
        _ => None,
    }
}

/// Appends the body of a record of `code` in `version` with the contents of `form`; decoding it
/// gives them back.
///
/// # Errors
///
/// [`EmitError::Version`] if this version is not described; another [`EmitError`] if `form` lacks a
/// field or has one of another kind, or a number or the whole does not fit. `out` then stays
/// unchanged.
pub fn compose(
    code: LogCode,
    version: u32,
    form: &Form,
    out: &mut Vec<u8>,
) -> Result<(), EmitError> {
    let described = layouts(code).unwrap_or_default();
    let layout = described.iter().find(|layout| layout.describes(version));
    let layout = layout.ok_or(EmitError::Version { code, version })?;
    whole(out, |out| {
        let start = out.len();
        write(layout.parts, form, out)?;
        let body = &mut out[start..];
        if !layout.versions.is_empty() {
            put(code.version_bits(), "version", version.into(), body)?;
        }
        match body.len() {
            ..=crate::packet::MAX_BODY => Ok(()),
            len => Err(EmitError::Long { len }),
        }
    })
}

fn write(parts: &'static [Part], form: &Form, out: &mut Vec<u8>) -> Result<(), EmitError> {
    if let Some(field) = form.stranger(parts) {
        return Err(EmitError::Unknown { field });
    }
    let mut block = out.len();
    for part in parts {
        match *part {
            Part::Block(Block { size, fields }) => {
                block = out.len();
                out.resize(block + usize::from(size), 0);
                for field in fields.iter().copied().flatten() {
                    if let Some(entry) = form.entry(field.name) {
                        fill(field, entry, &mut out[block..])?;
                    }
                }
            }
            Part::List { name, count, parts } => {
                let items = form.items(name);
                announce(count, name, items.len(), &mut out[block..])?;
                items.iter().try_for_each(|item| write(parts, item, out))?;
                let slots = if let Count::Of(_, room) = count { usize::from(room) } else { 0 };
                (items.len()..slots).try_for_each(|_| write(parts, &Form::new(), out))?;
            }
            Part::Counted { name, room, parts } => {
                let items = form.items(name);
                if room.read(&out[block..]) == 0 {
                    put(room, name, items.len() as u64, &mut out[block..])?;
                }
                let slots = room.read(&out[block..]) as usize;
                let few = u8::try_from(items.len()).ok().filter(|&few| usize::from(few) <= slots);
                let count = few.ok_or(mismatch(name, items.len(), slots))?;
                out.push(count);
                items.iter().try_for_each(|item| write(parts, item, out))?;
                (items.len()..slots).try_for_each(|_| write(parts, &Form::new(), out))?;
            }
            Part::Mac { len, .. } | Part::NrControls { len } => {
                content("mac", Some(len), form, block, out)?;
            }
            Part::NrControl => content("mac", None, form, block, out)?,
            Part::Rlc { len } => content("rlc", Some(len), form, block, out)?,
            Part::NrStatus { len, .. } => content("status", Some(len), form, block, out)?,
            Part::Opaque { name, len } => content(name, Some(len), form, block, out)?,
            Part::Rest { name } => content(name, None, form, block, out)?,
            Part::Padding(_) => {}
            Part::Chain => match form.raw("chain")? {
                [] => out.extend([0; 4]),
                chain => out.extend(chain),
            },
            Part::SubPackets { count, known } => {
                let items = form.items("sub_packets");
                announce(Count::Says(count), "sub_packets", items.len(), &mut out[block..])?;
                items.iter().try_for_each(|item| write_sub_packet(known, item, out))?;
            }
        }
    }
    Ok(())
}

fn write_sub_packet(
    known: &'static [SubLayout],
    form: &Form,
    out: &mut Vec<u8>,
) -> Result<(), EmitError> {
    let (id, version) = form.kind.ok_or(EmitError::Absent { field: "sub_packet" })?;
    let found = known.iter().find(|sub| sub.id == id && sub.describes(version));
    let sub = found.ok_or(EmitError::Range { field: "sub_packet", value: u64::from(id) })?;
    let start = out.len();
    out.extend([id, version, 0, 0]);
    write(sub.parts, form, out)?;
    let len = out.len() - start;
    let announced = u16::try_from(len).map_err(|_| EmitError::Long { len })?;
    out[start + 2..start + 4].copy_from_slice(&announced.to_le_bytes());
    Ok(())
}

fn content(
    name: &'static str,
    len: Option<Bits>,
    form: &Form,
    block: usize,
    out: &mut Vec<u8>,
) -> Result<(), EmitError> {
    let bytes = form.raw(name)?;
    if let Some(len) = len {
        put(len, name, bytes.len() as u64, &mut out[block..])?;
    }
    out.extend(bytes);
    Ok(())
}

const fn mismatch(list: &'static str, count: usize, announced: usize) -> EmitError {
    EmitError::Mismatch { list, count, announced }
}

/// Writes the number of items, unless a field already has; then that has to be right.
fn announce(
    count: Count,
    list: &'static str,
    items: usize,
    block: &mut [u8],
) -> Result<(), EmitError> {
    let says = match count {
        Count::Says(bits) | Count::Of(bits, _) => Some(bits),
        Count::Unless(flag, bits) => (flag.read(block) == 0).then_some(bits),
        Count::Fixed(_) | Count::When(..) | Count::Ones(_) => None,
    };
    if let Some(bits) = says.filter(|bits| bits.read(block) == 0) {
        put(bits, list, items as u64, block)?;
    }
    let announced = match count {
        Count::Says(bits) => bits.read(block) as usize,
        Count::Of(bits, room) => (bits.read(block) as usize).min(usize::from(room)),
        Count::Unless(flag, bits) => match flag.read(block) {
            0 => bits.read(block) as usize,
            _ => 0,
        },
        Count::Fixed(count) => usize::from(count),
        Count::When(bits, numbers) => usize::from(numbers.contains(&bits.read(block))),
        Count::Ones(bits) => bits.read(block).count_ones().max(1) as usize,
    };
    if announced == items { Ok(()) } else { Err(mismatch(list, items, announced)) }
}

fn fill(field: &Field, entry: &Entry, block: &mut [u8]) -> Result<(), EmitError> {
    let unknown = EmitError::Unknown { field: field.name };
    match (field.kind, entry) {
        (Kind::Bytes(_) | Kind::Plmn | Kind::PlmnDigits, Entry::Bytes(bytes)) => {
            let place = block.get_mut(field.bits.start()..field.end()).ok_or(unknown)?;
            let place = place.get_mut(..bytes.len()).ok_or(EmitError::Long { len: bytes.len() })?;
            place.copy_from_slice(bytes);
            Ok(())
        }
        (Kind::Network { bytes, width }, &Entry::Number(number)) => {
            let number = number.cast_unsigned();
            if number > u64::MAX >> (64 - width) {
                return Err(EmitError::Range { field: field.name, value: number });
            }
            let start = field.bits.start();
            let place = block.get_mut(start..start + usize::from(bytes)).ok_or(unknown)?;
            // The higher bits of the first byte may belong to another field.
            let all = &number.to_be_bytes()[8 - usize::from(bytes)..];
            let mask = (u64::MAX >> (64 - width)).to_be_bytes();
            let masks = &mask[8 - usize::from(bytes)..];
            for ((byte, number), mask) in place.iter_mut().zip(all).zip(masks) {
                *byte = *byte & !mask | number;
            }
            Ok(())
        }
        (Kind::Scaled { scale, offset }, &Entry::Level(level)) => {
            put(field.bits, field.name, steps(level, scale, offset).cast_unsigned(), block)
        }
        (Kind::ScaledInt { scale, offset }, &Entry::Level(level)) => {
            put_signed(field, steps(level, scale, offset), block)
        }
        (Kind::Int, &Entry::Number(number)) => put_signed(field, number, block),
        (Kind::Uint | Kind::Flag | Kind::Hex | Kind::Names(_), &Entry::Number(number)) => {
            put(field.bits, field.name, number.cast_unsigned(), block)
        }
        _ => Err(unknown),
    }
}

fn steps(level: f64, scale: f64, offset: f64) -> i64 {
    let steps = (level - offset) / scale;
    (if steps < 0.0 { steps - 0.5 } else { steps + 0.5 }) as i64
}

fn put(bits: Bits, field: &'static str, value: u64, block: &mut [u8]) -> Result<(), EmitError> {
    if bits.write(value, block) { Ok(()) } else { Err(EmitError::Range { field, value }) }
}

fn put_signed(field: &Field, number: i64, block: &mut [u8]) -> Result<(), EmitError> {
    let unused = 64 - field.bits.width();
    let value = number.cast_unsigned();
    if number << unused >> unused != number {
        return Err(EmitError::Range { field: field.name, value });
    }
    put(field.bits, field.name, value << unused >> unused, block)
}
