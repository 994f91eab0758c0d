//! Common code for records made of sub-packets: their header, and iteration over their samples.

use crate::layout::{Block, Children, Count, Node, Part, SubPackets, u8, uint};

/// Version and number of sub-packets.
pub(super) const HEADER: Part = Part::Block(Block {
    size: 4,
    fields: &[&[uint("version", u8(0)), uint("sub_packet_count", u8(1))]],
});

/// The number of samples, with which the contents of most MAC sub-packets begin.
pub(super) const SAMPLE_COUNT: Part =
    Part::Block(Block { size: 1, fields: &[&[uint("sample_count", u8(0))]] });

/// The samples, after [`SAMPLE_COUNT`].
pub(super) const fn samples(parts: &'static [Part]) -> Part {
    Part::List { name: "samples", count: Count::Says(u8(0)), parts }
}

/// The items of one list in all described sub-packets of a record, each with the keys of its
/// version.
pub(super) struct Samples<'a, K: 'static> {
    list: &'static str,
    subs: SubPackets<'a>,
    nodes: Option<(Children<'a>, &'static K)>,
    keys_of: fn(u8) -> &'static K,
}

impl<'a, K> Samples<'a, K> {
    /// The items of `list`, whose keys `keys_of` knows by the version of the sub-packet.
    pub(super) fn new(record: Node<'a>, list: &'static str, keys_of: fn(u8) -> &'static K) -> Self {
        Self { list, subs: record.sub_packets(), nodes: None, keys_of }
    }
}

impl<'a, K> Iterator for Samples<'a, K> {
    type Item = (Node<'a>, &'static K);

    #[inline]
    fn next(&mut self) -> Option<Self::Item> {
        loop {
            if let Some((nodes, keys)) = &mut self.nodes
                && let Some(node) = nodes.next()
            {
                return Some((node, keys));
            }
            let sub = self.subs.next()?;
            self.nodes = sub.node.map(|node| (node.list(self.list), (self.keys_of)(sub.version)));
        }
    }
}
