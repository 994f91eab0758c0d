//! One field of a layout, located once and then read from many records, without reading other
//! fields.
//!
//! [`Node`](super::Node) walks a record's parts; a [`Probe`] has walked its table in advance. Parts
//! of fixed size on the way then need only arithmetic, the others a read of their counts.

use alloc::boxed::Box;
use alloc::vec::Vec;
use core::fmt;

use super::part::{Block, SUB_HEADER, fits, measure, measure_sub_packet};
use super::{Bits, Count, Field, Layout, Part, Short, SubLayout, Value};
use crate::layout::Sink;
use crate::mac::{MacPdu, nr};
use crate::radio::Rnti;
use crate::rlc::RlcHeader;
use crate::rlc_nr::StatusPdu;

/// The place of a field in one layout.
#[derive(Clone, Debug)]
pub struct Probe(Trail);

/// The item of a record that a value belongs to: its index in each list on the way, outermost
/// first.
///
/// Two fields of one item have equal numbers; sub-packets count as a list.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Item {
    at: [u16; Item::DEPTH],
    depth: u8,
}

/// Findings of a probe in one record.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Met {
    /// Values read.
    pub values: u32,
    /// Sub-packets of unknown kinds or versions.
    pub unknown: u32,
}

/// From the start of a node to a part of it, and on from there.
#[derive(Clone, Debug)]
struct Trail {
    start: Start,
    end: End,
}

/// The start of a part.
#[derive(Clone, Copy, Debug)]
struct Start {
    /// Bytes from the start of the node that no record changes.
    at: usize,
    /// Start of the block before `at`.
    block: usize,
    /// The parts between them and the target, to be measured in each record; empty in most
    /// layouts.
    between: &'static [Part],
}

#[derive(Clone, Debug)]
enum End {
    Field {
        field: Field,
        only: Option<Only>,
    },
    List {
        count: Count,
        parts: &'static [Part],
        /// The size of an item, if no record changes it.
        stride: Option<usize>,
        next: Box<Trail>,
    },
    SubPackets {
        count: Bits,
        known: &'static [SubLayout],
        /// One entry for each of `known`; `None` if that sub-packet lacks the field.
        next: Box<[Option<Trail>]>,
    },
    /// Bytes with their own encoding, which visits their fields.
    Header {
        part: &'static Part,
        /// The list in it, if the field is in one, and the field.
        list: Option<&'static str>,
        name: &'static str,
    },
}

/// A condition on another field of the same block.
#[derive(Clone, Copy, Debug)]
struct Only {
    field: Field,
    /// The choices it may have, with bars between; `None` for any number but zero.
    choices: Option<&'static str>,
}

impl Only {
    #[inline]
    fn holds(&self, block: &[u8]) -> bool {
        match (self.field.value(block), self.choices) {
            (Some(Value::Name(_, Some(name))), Some(choices)) => {
                choices.split('|').any(|choice| choice == name)
            }
            (Some(Value::Uint(number)), None) => number != 0,
            _ => false,
        }
    }
}

impl Item {
    /// Number of list levels with an index; deeper ones share the index of their parent.
    pub const DEPTH: usize = 4;

    /// The numbers, outermost list first; none for a field of the record itself.
    pub fn levels(&self) -> &[u16] {
        self.at.get(..usize::from(self.depth)).unwrap_or_default()
    }

    /// Sixteen bits for each level, the outermost in the highest, one more than its number; zero
    /// below the last.
    pub fn packed(&self) -> u64 {
        let numbered = |level| self.levels().get(level).map_or(0, |at: &u16| at.saturating_add(1));
        (0..Self::DEPTH).fold(0, |word, level| word << 16 | u64::from(numbered(level)))
    }

    /// The item of that number in a list of this one.
    #[inline]
    pub fn within(mut self, number: usize) -> Self {
        if let Some(level) = self.at.get_mut(usize::from(self.depth)) {
            *level = number as u16;
            self.depth += 1;
        }
        self
    }
}

impl fmt::Display for Item {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (level, number) in self.levels().iter().enumerate() {
            write!(f, "{}{number}", if level > 0 { "." } else { "" })?;
        }
        Ok(())
    }
}

impl Layout {
    /// Finds the field at `path`; `None` if this layout has no such field.
    ///
    /// A path names the lists on the way and the field, separated by dots: `subframes.blocks.mcs`.
    /// The list of sub-packets is `sub_packets`, or `sub_packets:NAME` for those with one name.
    /// A MAC PDU's subheaders are `mac`, and fields of an RLC PDU's header follow `rlc`. Names
    /// that differ between versions are separated by slashes (`rv/redundancy_version`). A list
    /// that some versions lack ends in a question mark (`cells?`). A field may have a condition
    /// on a choice in the same block: `tb_bytes@rnti=c_rnti|sps_rnti`, or on a number that must not
    /// be zero: `ack_payload@ack_len!=0`.
    pub fn probe(&self, path: &'static str) -> Option<Probe> {
        let segments: Vec<_> = path.split('.').collect();
        Trail::find(self.parts, &segments).map(Probe)
    }
}

impl Probe {
    /// Gives every value in `body` to `sink`, in the order of the bytes.
    ///
    /// The bytes on the path are checked first: on an error `sink` has received no value. Bytes
    /// outside the path are not read.
    ///
    /// # Errors
    ///
    /// [`Short`] if the body ends before the path does.
    pub fn read(&self, body: &[u8], mut sink: impl FnMut(Item, Value<'_>)) -> Result<Met, Short> {
        self.0.check(body)?;
        let mut met = Met::default();
        self.0.each(body, 0, Item::default(), &mut met, &mut sink)?;
        Ok(met)
    }

    /// The field at the end of the path, in each layout of a sub-packet that has it; none within a
    /// MAC PDU.
    pub fn fields(&self) -> Vec<&Field> {
        let mut fields = Vec::new();
        self.0.fields(&mut fields);
        fields
    }

    /// Whether it was found in only a part of the sub-packets that its path leads to.
    pub fn is_partial(&self) -> bool {
        match &self.0.end {
            End::SubPackets { next, .. } => next.iter().any(Option::is_none),
            _ => false,
        }
    }
}

impl Trail {
    fn find(parts: &'static [Part], segments: &[&'static str]) -> Option<Self> {
        let (&segment, rest) = segments.split_first()?;
        let (names, condition) = match segment.split_once('@') {
            Some((names, condition)) => (names, Some(condition.split_once('=')?)),
            None => (segment, None),
        };
        let optional = names.strip_suffix('?');
        let names = optional.unwrap_or(names);
        let is_named = |found: &str| names.split('/').any(|name| name == found);
        let here = |index, end| Some(Self { start: Start::of(parts, index), end });
        for (index, part) in parts.iter().enumerate() {
            match *part {
                Part::Block(Block { fields, .. }) if rest.is_empty() => {
                    let fields = || fields.iter().copied().flatten().copied();
                    if let Some(field) = fields().find(|field| is_named(field.name)) {
                        let only = match condition {
                            Some((name, choices)) => {
                                let (name, choices) = match name.strip_suffix('!') {
                                    Some(name) => (name, None),
                                    None => (name, Some(choices)),
                                };
                                let field = fields().find(|field| field.name == name)?;
                                Some(Only { field, choices })
                            }
                            None => None,
                        };
                        return here(index, End::Field { field, only });
                    }
                }
                Part::List { name, count, parts } if is_named(name) => {
                    let next = Box::new(Self::find(parts, rest)?);
                    return here(index, End::List { count, parts, stride: fixed(parts), next });
                }
                Part::SubPackets { count, known } => {
                    let Some(wanted) = names.strip_prefix("sub_packets") else { continue };
                    let wanted = wanted.strip_prefix(':');
                    let find = |sub: &SubLayout| {
                        let is_wanted = wanted.is_none_or(|name| name == sub.name);
                        is_wanted.then(|| Self::find(sub.parts, rest)).flatten()
                    };
                    let next: Box<[_]> = known.iter().map(find).collect();
                    let found = next.iter().any(Option::is_some);
                    return found.then(|| here(index, End::SubPackets { count, known, next }))?;
                }
                Part::Mac { .. } | Part::NrControls { .. } | Part::NrControl if is_named("mac") => {
                    let &[name] = rest else { return None };
                    return here(index, End::Header { part, list: Some("mac"), name });
                }
                Part::Rlc { .. } | Part::NrStatus { .. } if is_named("rlc") => {
                    let (list, name) = match *rest {
                        [name] => (None, name),
                        [list, name] => (Some(list), name),
                        _ => return None,
                    };
                    return here(index, End::Header { part, list, name });
                }
                _ => {}
            }
        }
        optional.and_then(|_| Self::find(parts, rest))
    }

    /// Whether the bytes on the path are there.
    #[inline]
    fn check(&self, body: &[u8]) -> Result<(), Short> {
        // Counts are read from earlier bytes, so these must exist.
        fits(body, 0, self.start.at)?;
        let (at, from) = self.start.locate(body, 0)?;
        let block = body.get(from..).unwrap_or_default();
        match &self.end {
            End::Field { field, .. } => fits(body, at, field.end()).map(|_| ()),
            End::Header { part, .. } => part.measure(body, at, from).map(|_| ()),
            End::List { count, parts, stride, .. } => {
                let slots = count.slots(block);
                if let Some(stride) = stride {
                    return fits(body, at, slots * stride).map(|_| ());
                }
                let mut end = at;
                for _ in 0..slots {
                    end += measure(parts, body, end)?;
                }
                Ok(())
            }
            End::SubPackets { count, known, .. } => {
                let mut end = at;
                for _ in 0..count.read(block) {
                    end += measure_sub_packet(known, body, end)?.0;
                }
                Ok(())
            }
        }
    }

    fn each<F: FnMut(Item, Value<'_>)>(
        &self,
        body: &[u8],
        node: usize,
        item: Item,
        met: &mut Met,
        sink: &mut F,
    ) -> Result<(), Short> {
        let (at, from) = self.start.locate(body, node)?;
        let block = body.get(from..).unwrap_or_default();
        match &self.end {
            End::Field { field, only } => {
                let bytes = body.get(at..).unwrap_or_default();
                if only.is_none_or(|only| only.holds(bytes))
                    && let Some(value) = field.value(bytes)
                {
                    met.values += 1;
                    sink(item, value);
                }
            }
            End::List { count, parts, stride, next } => {
                let mut at = at;
                let used = count.used(block);
                if let (Some(stride), End::Field { field, only: None }) = (stride, &next.end) {
                    // The most frequent case by far needs no descent.
                    for number in 0..used {
                        let bytes = body.get(at + next.start.at..).unwrap_or_default();
                        if let Some(value) = field.value(bytes) {
                            met.values += 1;
                            sink(item.within(number), value);
                        }
                        at += stride;
                    }
                    return Ok(());
                }
                for number in 0..used {
                    next.each(body, at, item.within(number), met, sink)?;
                    at += match stride {
                        Some(stride) => *stride,
                        // Nothing follows the last item, so its size need not be known.
                        None if number + 1 == used => 0,
                        None => measure(parts, body, at)?,
                    };
                }
            }
            End::SubPackets { count, known, next } => {
                let mut at = at;
                for number in 0..count.read(block) as usize {
                    let Some(&[id, version, l0, l1]) =
                        body.get(at..).and_then(|rest| rest.first_chunk::<SUB_HEADER>())
                    else {
                        return Ok(());
                    };
                    let end = at + usize::from(u16::from_le_bytes([l0, l1]));
                    let body = body.get(..end).unwrap_or_default();
                    match SubLayout::position(known, id, version) {
                        None => met.unknown += 1,
                        Some(index) => {
                            if let Some(Some(next)) = next.get(index) {
                                let contents = at + SUB_HEADER;
                                next.each(body, contents, item.within(number), met, sink)?;
                            }
                        }
                    }
                    at = end;
                }
            }
            End::Header { part, list, name } => {
                let bytes = body.get(at..at + part.measure(body, at, from)?).unwrap_or_default();
                let mut pick = Pick { list: *list, name, item, number: 0, open: None, met, sink };
                match **part {
                    Part::Mac { rnti, uplink, .. } => {
                        let rnti = Rnti::from_number(rnti.read(block));
                        MacPdu::new(bytes, rnti, uplink).visit(&mut pick);
                    }
                    Part::Rlc { .. } => RlcHeader::new(bytes).visit(&mut pick),
                    Part::NrControls { .. } | Part::NrControl => {
                        nr::Controls::new(bytes).visit(&mut pick);
                    }
                    Part::NrStatus { sn, wide, .. } => {
                        StatusPdu::new(bytes, sn.read(block) == wide).visit(&mut pick);
                    }
                    _ => {}
                }
            }
        }
        Ok(())
    }

    fn fields<'s>(&'s self, fields: &mut Vec<&'s Field>) {
        match &self.end {
            End::Field { field, .. } => fields.push(field),
            End::List { next, .. } => next.fields(fields),
            End::SubPackets { next, .. } => {
                next.iter().flatten().for_each(|next| next.fields(fields));
            }
            End::Header { .. } => {}
        }
    }
}

impl Start {
    fn of(parts: &'static [Part], index: usize) -> Self {
        let (mut at, mut block) = (0, 0);
        for (i, part) in parts[..index].iter().enumerate() {
            let Some(size) = fixed_part(part) else {
                return Self { at, block, between: &parts[i..index] };
            };
            if matches!(part, Part::Block(_)) {
                block = at;
            }
            at += size;
        }
        Self { at, block, between: &[] }
    }

    /// The part, and the block before it.
    #[inline]
    fn locate(&self, body: &[u8], node: usize) -> Result<(usize, usize), Short> {
        let (mut at, mut block) = (node + self.at, node + self.block);
        for part in self.between {
            let size = part.measure(body, at, block)?;
            if matches!(part, Part::Block(_)) {
                block = at;
            }
            at += size;
        }
        Ok((at, block))
    }
}

/// Length of `parts`, if it is the same in every record.
fn fixed(parts: &[Part]) -> Option<usize> {
    parts.iter().map(fixed_part).sum()
}

fn fixed_part(part: &Part) -> Option<usize> {
    match *part {
        Part::Block(Block { size, .. }) => Some(usize::from(size)),
        Part::List { count: Count::Of(_, room), parts, .. } => {
            fixed(parts).map(|size| size * usize::from(room))
        }
        Part::List { count: Count::Fixed(count), parts, .. } => {
            fixed(parts).map(|size| size * usize::from(count))
        }
        _ => None,
    }
}

/// Takes one field from an encoding that visits its fields.
struct Pick<'p, F> {
    list: Option<&'static str>,
    name: &'static str,
    item: Item,
    number: usize,
    /// The list that is being visited.
    open: Option<&'static str>,
    met: &'p mut Met,
    sink: &'p mut F,
}

impl<F: FnMut(Item, Value<'_>)> Sink for Pick<'_, F> {
    fn field(&mut self, name: &'static str, value: Value<'_>) {
        if self.open == self.list && name == self.name {
            let within = self.list.map(|_| self.item.within(self.number));
            self.met.values += 1;
            (self.sink)(within.unwrap_or(self.item), value);
        }
    }
    fn begin_list(&mut self, name: &'static str) {
        (self.open, self.number) = (Some(name), 0);
    }
    fn begin_item(&mut self) {}
    fn end_item(&mut self) {
        self.number += 1;
    }
    fn end_list(&mut self) {
        self.open = None;
    }
}
