use super::Flight;
use crate::byte_range::ByteRange;

/// Packets and parts of packets in a PDU, and the part of a PDU that is sent again: what RLC's
/// header says (TS 36.322 §6.2.1.4).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Framing {
    /// It begins within a packet.
    pub begins_within: bool,
    /// It ends within a packet.
    pub ends_within: bool,
    /// The part of a PDU that it is: how many bytes of it are before, and whether none are after.
    /// `None` for all of it.
    pub part: Option<(u16, bool)>,
    lengths: [u16; Self::MOST],
    count: u8,
}

impl Framing {
    /// Lengths that are kept: as many as modems log. The captures have up to 22 in a PDU, and many
    /// with that number.
    pub const MOST: usize = 22;

    /// The framing of `span`, which is `whole` or a part of it. Packets are those that are not
    /// delivered yet, in order.
    pub(super) fn of<'p, P: 'p>(
        span: ByteRange,
        whole: ByteRange,
        packets: impl Iterator<Item = &'p Flight<P>>,
    ) -> Self {
        let mut framing = Self::default();
        if span != whole {
            let before = span.from.saturating_sub(whole.from);
            framing.part = Some((u16::try_from(before).unwrap_or(u16::MAX), span.to == whole.to));
        }
        let mut last = None;
        for packet in packets {
            let packet = ByteRange { from: packet.end - packet.cost, to: packet.end };
            let inside = packet.and(span);
            if inside.is_empty() {
                break;
            }
            match last.replace(inside.len()) {
                None => framing.begins_within = packet.from < span.from,
                Some(length) => framing.push(length),
            }
            framing.ends_within = packet.to > span.to;
        }
        framing
    }

    fn push(&mut self, length: u64) {
        if let Some(place) = self.lengths.get_mut(usize::from(self.count)) {
            *place = u16::try_from(length).unwrap_or(u16::MAX);
            self.count += 1;
        }
    }

    /// Lengths of the packets and parts in bytes, with their share of headers, all but the last;
    /// the first 22 of them.
    pub fn lengths(&self) -> &[u16] {
        self.lengths.get(..usize::from(self.count)).unwrap_or_default()
    }
}
