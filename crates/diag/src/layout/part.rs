use super::{Bits, Field};
use crate::mac::nr;

/// The layouts of one log code for some of its versions.
#[derive(Clone, Copy, Debug)]
pub struct Layout {
    /// The versions that share it; none, if the record has no version and is always laid out so.
    pub versions: &'static [u32],
    /// Its parts, from the first byte of the body.
    pub parts: &'static [Part],
}

/// A stretch of a body.
#[derive(Clone, Copy, Debug)]
pub enum Part {
    /// A run of fixed length.
    Block(Block),
    /// The same parts, repeated.
    List {
        /// Name of the items.
        name: &'static str,
        /// Their number.
        count: Count,
        /// The parts of one item.
        parts: &'static [Part],
    },
    /// A byte with the number of items, and space for as many as the last block gives.
    Counted {
        /// Name of the items.
        name: &'static str,
        /// Place of the space in the last block.
        room: Bits,
        /// The parts of one item, each of fixed length.
        parts: &'static [Part],
    },
    /// A MAC PDU's subheaders and control elements; the last block has their length.
    Mac {
        /// Place of the byte count of the last block.
        len: Bits,
        /// Place of the addressee in the last block: not all blocks have MAC headers.
        rnti: Bits,
        /// Direction of the PDU: the elements differ.
        uplink: bool,
    },
    /// The header of an RLC PDU; the last block has its length.
    Rlc {
        /// Place of the byte count of the last block.
        len: Bits,
    },
    /// Bytes that are not read further; the last block has their number.
    Opaque {
        /// Their name.
        name: &'static str,
        /// Place of the count in the last block.
        len: Bits,
    },
    /// All bytes to the end of the body, which are not read further.
    Rest {
        /// Their name.
        name: &'static str,
    },
    /// Bytes to the end of the record or sub-packet that carry nothing, at most so many. A longer
    /// end is unread.
    Padding(u16),
    /// Control elements of an NR uplink MAC PDU, each after its subheader; the last block has their
    /// length.
    NrControls {
        /// Place of the byte count of the last block.
        len: Bits,
    },
    /// One of them, with its own length field.
    NrControl,
    /// An NR RLC status PDU; the last block has its length.
    NrStatus {
        /// Place of the byte count of the last block.
        len: Bits,
        /// Place of the length of sequence numbers in the last block.
        sn: Bits,
        /// The value there for 18 bits.
        wide: u64,
    },
    /// Words of four bytes up to and with the first whose lowest bit is clear.
    Chain,
    /// Sub-packets, each with its own id, version and length. A length is a whole number of words:
    /// up to three bytes at the end are padding, whatever the parts say.
    SubPackets {
        /// Place of the count in the last block.
        count: Bits,
        /// The known ones.
        known: &'static [SubLayout],
    },
}

/// A run of bytes of fixed length and its fields.
#[derive(Clone, Copy, Debug)]
pub struct Block {
    /// Number of bytes.
    pub size: u16,
    /// The fields in it, in groups that versions can share.
    pub fields: &'static [&'static [Field]],
}

/// Number of repetitions of a list's parts.
#[derive(Clone, Copy, Debug)]
pub enum Count {
    /// The number in the last block before the list.
    Says(Bits),
    /// The number in the last block, in a space for a fixed number of items.
    Of(Bits, u16),
    /// The number in the last block, or zero if a flag is set; the flag is the first argument.
    Unless(Bits, Bits),
    /// A fixed number.
    Fixed(u16),
    /// One, if the last block has one of these numbers, else none.
    When(Bits, &'static [u64]),
    /// The number of set bits, at least one.
    Ones(Bits),
}

/// The layout of some versions of one kind of sub-packet.
#[derive(Clone, Copy, Debug)]
pub struct SubLayout {
    /// The kind.
    pub id: u8,
    /// Name of its samples or contents.
    pub name: &'static str,
    /// The versions that share it; none, if its source reads all of them alike.
    pub versions: &'static [u8],
    /// Its parts, after the four bytes of id, version and length.
    pub parts: &'static [Part],
}

/// Bytes that a layout needs and a body lacks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Short {
    /// Offset of the bytes in the body.
    pub at: usize,
    /// Number of needed bytes from there.
    pub need: usize,
    /// Their number.
    pub have: usize,
}

/// Bytes of id, version and length before a sub-packet's contents; the length counts them.
pub(super) const SUB_HEADER: usize = 4;

impl Part {
    /// Length of this part at `at`, whose preceding block starts at `block`; an error if the body
    /// is too short for it.
    pub(super) fn measure(
        &'static self,
        body: &[u8],
        at: usize,
        block: usize,
    ) -> Result<usize, Short> {
        match *self {
            Part::Block(Block { size, .. }) => fits(body, at, usize::from(size)),
            Part::Mac { len, .. }
            | Part::Rlc { len }
            | Part::Opaque { len, .. }
            | Part::NrControls { len }
            | Part::NrStatus { len, .. } => fits(body, at, len.read(&body[block..]) as usize),
            Part::Rest { .. } => Ok(body.len().saturating_sub(at)),
            Part::Padding(most) => Ok(body.len().saturating_sub(at).min(usize::from(most))),
            Part::NrControl => {
                let head = fits(body, at, 2).map(|_| &body[at..])?;
                fits(body, at, nr::element_len(head))
            }
            Part::List { count, parts, .. } => {
                let slots = count.slots(&body[block..]);
                match parts {
                    // The most frequent case by far needs no walk.
                    [Part::Block(Block { size, .. })] => fits(body, at, slots * usize::from(*size)),
                    _ => {
                        let mut end = at;
                        for _ in 0..slots {
                            end += measure(parts, body, end)?;
                        }
                        Ok(end - at)
                    }
                }
            }
            Part::Counted { room, parts, .. } => {
                let mut end = at + fits(body, at, 1)?;
                for _ in 0..room.read(&body[block..]) {
                    end += measure(parts, body, end)?;
                }
                Ok(end - at)
            }
            Part::Chain => {
                let mut end = at;
                loop {
                    end += fits(body, end, 4)?;
                    if body[end - 4] & 1 == 0 {
                        return Ok(end - at);
                    }
                }
            }
            Part::SubPackets { count, known } => {
                let mut end = at;
                for _ in 0..count.read(&body[block..]) {
                    end += measure_sub_packet(known, body, end)?.0;
                }
                Ok(end - at)
            }
        }
    }
}

/// Length of `parts` at `at`; an error if the body is too short for them.
pub(super) fn measure(parts: &'static [Part], body: &[u8], at: usize) -> Result<usize, Short> {
    let mut end = at;
    let mut block = at;
    for part in parts {
        let size = part.measure(body, end, block)?;
        if matches!(part, Part::Block(_)) {
            block = end;
        }
        end += size;
    }
    Ok(end - at)
}

/// Length of the sub-packet at `at`, and of its contents if it is described.
pub(super) fn measure_sub_packet(
    known: &'static [SubLayout],
    body: &[u8],
    at: usize,
) -> Result<(usize, Option<usize>), Short> {
    fits(body, at, SUB_HEADER)?;
    let size = usize::from(u16::from_le_bytes([body[at + 2], body[at + 3]]));
    fits(body, at, size.max(SUB_HEADER))?;
    if size < SUB_HEADER {
        return Err(Short { at, need: SUB_HEADER, have: size });
    }
    let layout = SubLayout::find(known, body[at], body[at + 1]);
    let contents = layout.map(|sub| measure(sub.parts, &body[..at + size], at + SUB_HEADER));
    Ok((size, contents.transpose()?))
}

pub(super) fn fits(body: &[u8], at: usize, need: usize) -> Result<usize, Short> {
    let have = body.len().saturating_sub(at);
    if need <= have { Ok(need) } else { Err(Short { at, need, have }) }
}

impl Count {
    /// Number of items, from the block before the list.
    #[inline]
    pub(super) fn used(self, block: &[u8]) -> usize {
        match self {
            Count::Says(bits) => bits.read(block) as usize,
            Count::Of(bits, room) => (bits.read(block) as usize).min(usize::from(room)),
            Count::Unless(flag, bits) if flag.read(block) == 0 => bits.read(block) as usize,
            Count::Unless(..) => 0,
            Count::Fixed(count) => usize::from(count),
            Count::When(bits, numbers) => usize::from(numbers.contains(&bits.read(block))),
            Count::Ones(bits) => bits.read(block).count_ones().max(1) as usize,
        }
    }

    /// Number of items in the space.
    #[inline]
    pub(super) fn slots(self, block: &[u8]) -> usize {
        match self {
            Count::Of(_, room) => usize::from(room),
            _ => self.used(block),
        }
    }
}

impl SubLayout {
    pub(super) fn find(known: &'static [Self], id: u8, version: u8) -> Option<&'static Self> {
        Self::position(known, id, version).map(|index| &known[index])
    }

    pub(super) fn position(known: &[Self], id: u8, version: u8) -> Option<usize> {
        known.iter().position(|sub| sub.id == id && sub.describes(version))
    }

    /// Whether it describes this version of its kind.
    pub fn describes(&self, version: u8) -> bool {
        self.versions.is_empty() || self.versions.contains(&version)
    }
}

impl Layout {
    /// Whether it describes this version.
    pub fn describes(&self, version: u32) -> bool {
        self.versions.is_empty() || self.versions.contains(&version)
    }

    /// Every kind and version of sub-packet in it.
    pub fn sub_layouts(&self) -> impl Iterator<Item = &'static SubLayout> + use<> {
        let known = |part: &'static Part| match part {
            Part::SubPackets { known, .. } => *known,
            _ => &[],
        };
        self.parts.iter().flat_map(known)
    }
}

/// The field `name` of the first block of `parts`, so that typed views share the tables' bit paths
/// at compile time.
pub(crate) const fn try_field(parts: &[Part], name: &str) -> Option<Field> {
    let mut i = 0;
    while i < parts.len() {
        if let Part::Block(block) = &parts[i] {
            let mut group = 0;
            while group < block.fields.len() {
                let fields = block.fields[group];
                let mut f = 0;
                while f < fields.len() {
                    if same(fields[f].name, name) {
                        return Some(fields[f]);
                    }
                    f += 1;
                }
                group += 1;
            }
            return None;
        }
        i += 1;
    }
    None
}

/// As [`try_field`], its bits only.
pub(crate) const fn try_key(parts: &[Part], name: &str) -> Option<Bits> {
    match try_field(parts, name) {
        Some(field) => Some(field.bits),
        None => None,
    }
}

/// As [`try_field`], where a table without the field must not compile.
pub(crate) const fn field(parts: &[Part], name: &str) -> Field {
    match try_field(parts, name) {
        Some(field) => field,
        None => panic!("the table has no such field"),
    }
}

/// As [`field`], its bits only.
pub(crate) const fn key(parts: &[Part], name: &str) -> Bits {
    field(parts, name).bits
}

const fn same(a: &str, b: &str) -> bool {
    let (a, b) = (a.as_bytes(), b.as_bytes());
    let mut i = 0;
    while i < a.len() && i < b.len() && a[i] == b[i] {
        i += 1;
    }
    i == a.len() && i == b.len()
}
