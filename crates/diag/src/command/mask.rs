//! Masks: a bit for each kind of item that a modem can send.

use alloc::vec;
use alloc::vec::Vec;

use crate::LogCode;

/// The log records of one equipment that are switched on: bit i of byte j is item 8j + i.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LogMask<'a> {
    /// Equipment id, as in [`LogCode::equipment`].
    pub equipment: u8,
    /// Number of items in the mask; it has as many bytes as that needs.
    pub items: u32,
    /// The bits.
    pub bits: &'a [u8],
}

impl LogMask<'_> {
    /// Whether it switches `code` on.
    pub fn contains(&self, code: LogCode) -> bool {
        let item = usize::from(code.item());
        let byte = self.bits.get(item / 8).copied().unwrap_or_default();
        code.equipment() == self.equipment
            && u32::from(code.item()) < self.items
            && byte >> (item % 8) & 1 != 0
    }

    /// The bits of a mask of `items` items that switches on those of `codes` that belong to
    /// `equipment`.
    pub fn bits_of(equipment: u8, items: u32, codes: &[LogCode]) -> Vec<u8> {
        let mut bits = vec![0; mask_len(items)];
        for code in codes.iter().filter(|code| code.equipment() == equipment) {
            let item = usize::from(code.item());
            if u32::from(code.item()) < items
                && let Some(byte) = bits.get_mut(item / 8)
            {
                *byte |= 1 << (item % 8);
            }
        }
        bits
    }
}

/// Bytes that the bits of this many items take.
pub(crate) const fn mask_len(items: u32) -> usize {
    items.div_ceil(8) as usize
}

/// The messages of one range of subsystems, both ends included.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MessageRange {
    /// The number of the first subsystem.
    pub first: u16,
    /// The number of the last subsystem.
    pub last: u16,
}

impl MessageRange {
    /// How many subsystems it spans.
    pub const fn count(self) -> usize {
        (self.last as usize + 1).saturating_sub(self.first as usize)
    }
}
