use super::part::{Block, SUB_HEADER, measure};
use super::{Bits, Layout, Part, Short, Sink, SubLayout, Value};
use crate::mac::{MacPdu, nr};
use crate::radio::Rnti;
use crate::rlc::RlcHeader;
use crate::rlc_nr::StatusPdu;

/// A place in a body whose bytes were checked against its parts.
#[derive(Clone, Copy, Debug)]
pub struct Node<'a> {
    body: &'a [u8],
    at: usize,
    parts: &'static [Part],
}

impl Layout {
    /// A body checked against this layout.
    ///
    /// # Errors
    ///
    /// [`Short`] if the body ends before the layout does.
    pub fn node<'a>(&self, body: &'a [u8]) -> Result<Node<'a>, Short> {
        measure(self.parts, body, 0)?;
        Ok(Node::new(body, 0, self.parts))
    }
}

impl<'a> Node<'a> {
    const fn new(body: &'a [u8], at: usize, parts: &'static [Part]) -> Self {
        Self { body, at, parts }
    }

    /// A number of the first block.
    #[inline]
    pub fn read(&self, bits: Bits) -> u64 {
        bits.read(self.bytes())
    }

    /// A two's complement number of the first block.
    #[inline]
    pub fn read_signed(&self, bits: Bits) -> i64 {
        bits.read_signed(self.bytes())
    }

    /// The bytes from here to the end of the record or sub-packet.
    #[inline]
    pub fn bytes(&self) -> &'a [u8] {
        self.body.get(self.at..).unwrap_or_default()
    }

    /// Size of its parts in bytes; its container may be longer.
    pub fn extent(&self) -> usize {
        measure(self.parts, self.body, self.at).unwrap_or_default()
    }

    /// The layout it was checked against.
    pub const fn parts(&self) -> &'static [Part] {
        self.parts
    }

    /// The items of the list `name`; none if there is no such list.
    #[inline]
    pub fn list(&self, name: &str) -> Children<'a> {
        let found = self.walk().find_map(|place| match place.part {
            Part::List { name: found, count, parts } if *found == name => Some(Children {
                body: self.body,
                at: place.at,
                left: count.used(place.block),
                parts,
            }),
            Part::Counted { name: found, room, parts } if *found == name => {
                Some(place.counted(self.body, *room, parts))
            }
            _ => None,
        });
        found.unwrap_or(Children { body: &[], at: 0, left: 0, parts: &[] })
    }

    /// The sub-packets in it; none if it has no room for any.
    pub fn sub_packets(&self) -> SubPackets<'a> {
        let found = self.walk().find_map(|place| match place.part {
            Part::SubPackets { count, known } => {
                let left = count.read(place.block);
                Some(SubPackets { body: self.body, at: place.at, left, known })
            }
            _ => None,
        });
        found.unwrap_or(SubPackets { body: &[], at: 0, left: 0, known: &[] })
    }

    /// The MAC subheaders and control elements in it.
    pub fn mac(&self) -> Option<MacPdu<'a>> {
        self.walk().find_map(|place| place.mac(self.body))
    }

    /// The control elements of an NR uplink MAC PDU in it; none if it has no room for any.
    pub fn nr_controls(&self) -> nr::Controls<'a> {
        self.walk().find_map(|place| place.nr_controls(self.body)).unwrap_or_default()
    }

    /// The NR RLC status PDU in it.
    pub fn nr_status(&self) -> Option<StatusPdu<'a>> {
        self.walk().find_map(|place| place.nr_status(self.body))
    }

    /// The bytes of another protocol in it.
    pub fn message(&self) -> Option<&'a [u8]> {
        self.walk().find_map(|place| place.message(self.body))
    }

    /// Hands every field that has a value to `sink`.
    pub fn visit(&self, sink: &mut impl Sink) {
        self.visit_to_end(sink);
    }

    /// The same, and returns the end of the parts, so that they need not be measured again.
    fn visit_to_end(&self, sink: &mut impl Sink) -> usize {
        let (mut at, mut block) = (self.at, self.at);
        for part in self.parts {
            let before = self.body.get(block..).unwrap_or_default();
            at = match part {
                Part::Block(Block { size, fields }) => {
                    let bytes = self.body.get(at..).unwrap_or_default();
                    for field in fields.iter().copied().flatten() {
                        if let Some(value) = field.value(bytes) {
                            sink.field(field.name, value);
                        }
                    }
                    block = at;
                    at + usize::from(*size)
                }
                Part::List { name, count, parts } => {
                    sink.begin_list(name);
                    let used = count.used(before);
                    let mut end = at;
                    for _ in 0..used {
                        sink.begin_item();
                        end = Self::new(self.body, end, parts).visit_to_end(sink);
                        sink.end_item();
                    }
                    sink.end_list();
                    // Unused space.
                    for _ in used..count.slots(before) {
                        end += measure(parts, self.body, end).unwrap_or_default();
                    }
                    end
                }
                Part::SubPackets { count, known } => {
                    sink.begin_list("sub_packets");
                    let left = count.read(before);
                    let mut subs = SubPackets { body: self.body, at, left, known };
                    for sub in &mut subs {
                        sink.begin_item();
                        sub.visit(sink);
                        sink.end_item();
                    }
                    sink.end_list();
                    subs.at
                }
                _ => {
                    Place { part, at, block: before }.visit(self.body, sink);
                    at + part.measure(self.body, at, block).unwrap_or_default()
                }
            };
        }
        at
    }

    fn walk(&self) -> Walk<'a> {
        Walk { body: self.body, at: self.at, block: self.at, parts: self.parts }
    }
}

fn visit_list(name: &'static str, children: Children<'_>, sink: &mut impl Sink) {
    sink.begin_list(name);
    for child in children {
        sink.begin_item();
        child.visit(sink);
        sink.end_item();
    }
    sink.end_list();
}

/// The parts of a node, each with where it starts and the block before it.
struct Walk<'a> {
    body: &'a [u8],
    at: usize,
    block: usize,
    parts: &'static [Part],
}

struct Place<'a> {
    part: &'static Part,
    at: usize,
    block: &'a [u8],
}

impl<'a> Place<'a> {
    /// A part that is neither a block nor a list.
    fn visit(&self, body: &'a [u8], sink: &mut impl Sink) {
        match self.part {
            Part::Mac { .. } => {
                if let Some(pdu) = self.mac(body) {
                    pdu.visit(sink);
                }
            }
            Part::Counted { name, room, parts } => {
                visit_list(name, self.counted(body, *room, parts), sink);
            }
            Part::Rlc { len } => RlcHeader::new(self.announced(body, *len)).visit(sink),
            Part::Opaque { name, len } => {
                sink.field(name, Value::Bytes(self.announced(body, *len)));
            }
            Part::Rest { name } => sink.field(name, Value::Bytes(self.rest(body))),
            Part::NrControls { .. } | Part::NrControl => {
                if let Some(controls) = self.nr_controls(body) {
                    controls.visit(sink);
                }
            }
            Part::NrStatus { .. } => {
                if let Some(status) = self.nr_status(body) {
                    status.visit(sink);
                }
            }
            Part::Padding(_)
            | Part::Chain
            | Part::Block(_)
            | Part::List { .. }
            | Part::SubPackets { .. } => {}
        }
    }

    fn mac(&self, body: &'a [u8]) -> Option<MacPdu<'a>> {
        let Part::Mac { len, rnti, uplink } = *self.part else { return None };
        let rnti = Rnti::from_number(rnti.read(self.block));
        Some(MacPdu::new(self.announced(body, len), rnti, uplink))
    }

    /// The items of this part. Its first byte is their number, limited to the space.
    fn counted(&self, body: &'a [u8], room: Bits, parts: &'static [Part]) -> Children<'a> {
        let count = body.get(self.at).copied().unwrap_or_default();
        let left = usize::from(count).min(room.read(self.block) as usize);
        Children { body, at: self.at + 1, left, parts }
    }

    /// The bytes of this part, as many as the preceding block has at `len`.
    fn announced(&self, body: &'a [u8], len: Bits) -> &'a [u8] {
        let end = self.at + len.read(self.block) as usize;
        body.get(self.at..end).unwrap_or_default()
    }

    fn rest(&self, body: &'a [u8]) -> &'a [u8] {
        body.get(self.at..).unwrap_or_default()
    }

    fn nr_controls(&self, body: &'a [u8]) -> Option<nr::Controls<'a>> {
        match *self.part {
            Part::NrControls { len } => Some(nr::Controls::new(self.announced(body, len))),
            Part::NrControl => {
                let rest = self.rest(body);
                rest.get(..nr::element_len(rest)).map(nr::Controls::new)
            }
            _ => None,
        }
    }

    fn nr_status(&self, body: &'a [u8]) -> Option<StatusPdu<'a>> {
        let Part::NrStatus { len, sn, wide } = *self.part else { return None };
        Some(StatusPdu::new(self.announced(body, len), sn.read(self.block) == wide))
    }

    fn message(&self, body: &'a [u8]) -> Option<&'a [u8]> {
        match self.part {
            Part::Opaque { len, .. } => Some(self.announced(body, *len)),
            Part::Rest { .. } => Some(self.rest(body)),
            _ => None,
        }
    }
}

impl<'a> Iterator for Walk<'a> {
    type Item = Place<'a>;

    fn next(&mut self) -> Option<Place<'a>> {
        let (part, rest) = self.parts.split_first()?;
        let at = self.at;
        let block = self.body.get(self.block..)?;
        // No offset depends on the last part's size.
        if !rest.is_empty() {
            self.at += part.measure(self.body, at, self.block).ok()?;
        }
        self.parts = rest;
        if matches!(part, Part::Block(_)) {
            self.block = at;
        }
        Some(Place { part, at, block })
    }
}

/// The items of a list.
#[derive(Clone, Debug)]
pub struct Children<'a> {
    body: &'a [u8],
    at: usize,
    left: usize,
    parts: &'static [Part],
}

impl<'a> Iterator for Children<'a> {
    type Item = Node<'a>;

    #[inline]
    fn next(&mut self) -> Option<Node<'a>> {
        self.left = self.left.checked_sub(1)?;
        let at = self.at;
        self.at += match self.parts {
            [Part::Block(Block { size, .. })] => usize::from(*size),
            // Nothing follows the last item, so its size need not be known.
            _ if self.left == 0 => 0,
            parts => measure(parts, self.body, at).ok()?,
        };
        Some(Node::new(self.body, at, self.parts))
    }
}

/// The sub-packets of a record.
#[derive(Clone, Debug)]
pub struct SubPackets<'a> {
    body: &'a [u8],
    at: usize,
    left: u64,
    known: &'static [SubLayout],
}

/// One sub-packet.
#[derive(Clone, Copy, Debug)]
pub struct SubPacket<'a> {
    /// Its kind.
    pub id: u8,
    /// The version of its layout.
    pub version: u8,
    /// Its length in bytes, the four of id, version and length included.
    pub len: usize,
    /// Its contents; `None` if this version of this kind is not described.
    pub node: Option<Node<'a>>,
    layout: Option<&'static SubLayout>,
}

impl<'a> Iterator for SubPackets<'a> {
    type Item = SubPacket<'a>;

    fn next(&mut self) -> Option<SubPacket<'a>> {
        self.left = self.left.checked_sub(1)?;
        let &[id, version, l0, l1] = self.body.get(self.at..)?.first_chunk::<SUB_HEADER>()?;
        let len = usize::from(u16::from_le_bytes([l0, l1]));
        let layout = SubLayout::find(self.known, id, version);
        let body = self.body.get(..self.at + len)?;
        let node = layout.map(|layout| Node::new(body, self.at + SUB_HEADER, layout.parts));
        self.at += len;
        Some(SubPacket { id, version, len, node, layout })
    }
}

impl SubPacket<'_> {
    fn visit(&self, sink: &mut impl Sink) {
        sink.field("id", Value::Name(u64::from(self.id), self.layout.map(|layout| layout.name)));
        sink.field("version", Value::Uint(u64::from(self.version)));
        sink.field("len_bytes", Value::Uint(self.len as u64));
        match self.node {
            Some(node) => node.visit(sink),
            None => sink.field("unsupported", Value::Flag(true)),
        }
    }
}
