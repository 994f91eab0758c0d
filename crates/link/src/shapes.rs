//! Number of resource elements of an NR resource block that carry data. The size of a block follows
//! from it (TS 38.214 §5.1.3.2). Symbols, reference signals and overhead are configured and in no
//! record; neither is the MCS table.
//!
//! The configuration is found once: the one that gives the first blocks the sizes in their records.
//! From then on PRB, I_MCS and layers give the size, until several blocks in a row do not fit: then
//! the configuration has changed.

use alloc::vec::Vec;

use sounding_kpi::{Coding, Grant};
use sounding_phy::nr::{self, McsTable, TbScaling};
use sounding_units::{Bytes, Prb};

/// Carriers that are tracked separately.
const CARRIERS: usize = 8;

/// Tables that a connection may be configured with, the default first; one of 1024QAM has one
/// source only.
const TABLES: [McsTable; 3] = [McsTable::Qam64, McsTable::Qam256, McsTable::Qam64LowSe];

/// Resource elements of a resource block are even, and 156 at most (TS 38.214 §5.1.3.2).
const MAX_ELEMENTS: u16 = 156;

/// Number of blocks in a row that do not fit, after which the shape is wrong. Chosen: special slots
/// of TDD patterns, which do not fit either, come one or two at a time.
const MISFITS: u8 = 8;

/// One way in which sizes can follow from allocations.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Shape {
    table: McsTable,
    elements: u16,
    /// Number of layers if the record does not have it.
    layers: u8,
}

impl Shape {
    fn bytes(self, prb: Prb, mcs: u8, layers: Option<u8>) -> Option<Bytes> {
        let scheme = nr::mcs(self.table, mcs)?;
        let elements = u32::from(self.elements) * u32::from(prb.count());
        let layers = layers.unwrap_or(self.layers);
        let bits = nr::tbs_bits(elements, scheme, layers, TbScaling::One)?;
        Some(Bytes::new(u64::from(bits / 8)))
    }

    /// All possible configurations, the most likely first: those with the most elements and the
    /// fewest layers.
    fn all() -> Vec<Self> {
        let mut all = Vec::new();
        for layers in 1..=4 {
            for table in TABLES {
                let elements = (1..=MAX_ELEMENTS / 2).rev().map(|half| half * 2);
                all.extend(elements.map(|elements| Self { table, elements, layers }));
            }
        }
        all
    }
}

/// The remaining shapes, by carrier.
#[derive(Clone, Debug, Default)]
pub(crate) struct Shapes {
    carriers: [Carrier; CARRIERS],
}

#[derive(Clone, Debug, Default)]
struct Carrier {
    /// Empty before the first block.
    left: Vec<Shape>,
    misfits: u8,
}

impl Shapes {
    /// The size of a block by its allocation; `None` if the record lacks a field.
    pub(crate) fn size(&mut self, grant: &Grant) -> Option<Bytes> {
        let allocation = grant.allocation?;
        match allocation.coding {
            Coding::Lte(_) => allocation.size(),
            Coding::Hspa => Some(grant.size),
            Coding::Nr(mcs) => {
                let carrier = self.carriers.get_mut(usize::from(grant.carrier))?;
                carrier.size(allocation.prb, mcs, allocation.layers, grant.size)
            }
        }
    }
}

impl Carrier {
    fn size(&mut self, prb: Prb, mcs: u8, layers: Option<u8>, stated: Bytes) -> Option<Bytes> {
        if self.left.is_empty() {
            self.left = Shape::all();
        }
        let fits = |shape: &Shape| shape.bytes(prb, mcs, layers) == Some(stated);
        if self.left.iter().any(fits) {
            if self.left.len() > 1 {
                self.left.retain(fits);
            }
            self.misfits = 0;
        } else {
            self.misfits += 1;
            if self.misfits >= MISFITS {
                *self = Self::default();
                return None;
            }
        }
        // Before the first match all shapes are left, and none is better than another.
        self.left
            .first()
            .filter(|_| self.is_found())
            .and_then(|shape| shape.bytes(prb, mcs, layers))
    }

    fn is_found(&self) -> bool {
        self.left.len() < 4 * TABLES.len() * usize::from(MAX_ELEMENTS / 2)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(table: McsTable, elements: u16, layers: u8) -> Shape {
        Shape { table, elements, layers }
    }

    /// Computed and reported sizes of a carrier's blocks.
    fn found(
        carrier: &mut Carrier,
        shape: Shape,
        says_layers: bool,
    ) -> Vec<(Option<Bytes>, Bytes)> {
        (0..28_u8)
            .map(|at| {
                let prb = Prb::new(3 + 7 * u16::from(at));
                let size = shape.bytes(prb, at % 27, None).expect("a size");
                let layers = says_layers.then_some(shape.layers);
                (carrier.size(prb, at % 27, layers, size), size)
            })
            .collect()
    }

    #[test]
    fn after_one_block_the_size_follows_from_the_allocation() {
        for (says_layers, shape) in [
            (true, of(McsTable::Qam64, 120, 2)),
            (true, of(McsTable::Qam256, 132, 4)),
            (true, of(McsTable::Qam64LowSe, 96, 1)),
            (false, of(McsTable::Qam64, 144, 1)),
            (false, of(McsTable::Qam256, 120, 2)),
        ] {
            let mut carrier = Carrier::default();
            for (found, wanted) in found(&mut carrier, shape, says_layers) {
                assert_eq!(found, Some(wanted), "{shape:?}");
            }
            // The stated size is no longer used.
            let (prb, layers) = (Prb::new(50), says_layers.then_some(shape.layers));
            let wrong = carrier.size(prb, 9, layers, Bytes::new(1));
            assert_eq!(wrong, shape.bytes(prb, 9, Some(shape.layers)));
        }
    }

    #[test]
    fn a_new_configuration_is_found_once_blocks_in_a_row_do_not_fit() {
        let mut carrier = Carrier::default();
        found(&mut carrier, of(McsTable::Qam64, 120, 2), true);
        let after = found(&mut carrier, of(McsTable::Qam256, 108, 2), true);
        let right = after.iter().filter(|(found, wanted)| *found == Some(*wanted)).count();
        assert!(right >= after.len() - usize::from(MISFITS), "{after:?}");
    }

    #[test]
    fn sizes_that_nothing_gives_are_unknown() {
        let mut carrier = Carrier::default();
        for mcs in 0..=31 {
            assert_eq!(carrier.size(Prb::new(20), mcs, Some(2), Bytes::new(1)), None);
            assert_eq!(carrier.size(Prb::new(u16::MAX), mcs, Some(200), Bytes::new(1)), None);
        }
    }
}
