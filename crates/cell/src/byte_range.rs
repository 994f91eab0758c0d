//! Pieces of a bearer's byte stream.

use alloc::vec::Vec;

/// Bytes `from..to` of a stream.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ByteRange {
    /// The first byte.
    pub from: u64,
    /// One past the last byte.
    pub to: u64,
}

impl ByteRange {
    /// Number of bytes.
    pub const fn len(self) -> u64 {
        self.to - self.from
    }

    /// The intersection.
    #[must_use]
    #[inline]
    pub fn and(self, other: Self) -> Self {
        let from = self.from.max(other.from);
        Self { from, to: self.to.min(other.to).max(from) }
    }

    /// Whether it is empty.
    pub const fn is_empty(self) -> bool {
        self.from >= self.to
    }
}

/// The received part of a stream: everything before `edge`, and separate ranges beyond it.
#[derive(Clone, Debug, Default)]
pub(crate) struct ReceivedRanges {
    edge: u64,
    /// In order, apart from each other and from the edge.
    islands: Vec<ByteRange>,
}

impl ReceivedRanges {
    pub(crate) const fn edge(&self) -> u64 {
        self.edge
    }

    /// One past the last byte that arrived.
    pub(crate) fn top(&self) -> u64 {
        self.islands.last().map_or(self.edge, |island| island.to)
    }

    pub(crate) fn has_holes(&self) -> bool {
        !self.islands.is_empty()
    }

    pub(crate) fn insert(&mut self, span: ByteRange) {
        let span = ByteRange { from: span.from.max(self.edge), to: span.to };
        if span.is_empty() {
            return;
        }
        let first = self.islands.partition_point(|island| island.to < span.from);
        let last = self.islands.partition_point(|island| island.from <= span.to);
        let merged = self.islands[first..last].iter().fold(span, |sum, island| ByteRange {
            from: sum.from.min(island.from),
            to: sum.to.max(island.to),
        });
        if merged.from == self.edge {
            self.edge = merged.to;
            self.islands.drain(..last);
        } else if first == last {
            self.islands.insert(first, merged);
        } else {
            self.islands[first] = merged;
            self.islands.drain(first + 1..last);
        }
    }

    /// The missing ranges below `to`.
    pub(crate) fn holes(&self, to: u64) -> impl Iterator<Item = ByteRange> + '_ {
        let starts = core::iter::once(self.edge).chain(self.islands.iter().map(|i| i.to));
        let ends = self.islands.iter().map(|island| island.from);
        starts
            .zip(ends)
            .map(|(from, to)| ByteRange { from, to })
            .take_while(move |hole| hole.from < to)
    }

    /// Number of bytes of `span` that have not arrived.
    #[inline]
    pub(crate) fn missing_in(&self, span: ByteRange) -> u64 {
        let beyond = ByteRange { from: span.from.max(self.edge), to: span.to };
        if beyond.is_empty() {
            return 0;
        }
        let first = self.islands.partition_point(|island| island.to <= beyond.from);
        let have = self.islands[first..].iter().map(|island| island.and(beyond).len()).sum::<u64>();
        beyond.len() - have
    }

    /// Treats all missing data below `to` as lost.
    pub(crate) fn skip_to(&mut self, to: u64) {
        if to > self.edge {
            self.insert(ByteRange { from: self.edge, to });
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn any_order_of_pieces_gives_the_same_holes(
            pieces in proptest::collection::vec((0_u64..200, 1_u64..30), 0..40)
        ) {
            let mut received = ReceivedRanges::default();
            let mut have = [false; 256];
            for &(from, len) in &pieces {
                received.insert(ByteRange { from, to: from + len });
                have[from as usize..(from + len) as usize].fill(true);
            }
            let edge = have.iter().position(|byte| !byte).unwrap();
            prop_assert_eq!(received.edge(), edge as u64);
            let top = have.iter().rposition(|byte| *byte).map_or(0, |at| at + 1);
            prop_assert_eq!(received.top(), top as u64);
            let mut missing = [true; 256];
            missing[..edge].fill(false);
            for (at, hole) in missing.iter_mut().enumerate().skip(edge) {
                *hole = !have[at] && at < top;
            }
            let mut seen = [false; 256];
            for hole in received.holes(u64::MAX) {
                seen[hole.from as usize..hole.to as usize].fill(true);
            }
            prop_assert_eq!(seen, missing);
        }
    }
}
