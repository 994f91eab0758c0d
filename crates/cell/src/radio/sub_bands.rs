//! Sets of sub-bands: the part of a carrier that a transmission occupies.

use core::ops::{BitOr, BitOrAssign};

use super::config::{CarrierConfig, MAX_SUB_BANDS};

/// Some of a carrier's sub-bands.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct SubBands(u32);

impl SubBands {
    /// The empty set.
    pub const NONE: Self = Self(0);

    /// Every sub-band a carrier can have.
    pub const ALL: Self = Self((1 << MAX_SUB_BANDS) - 1);

    /// One of them; none if no carrier has that many.
    pub const fn one(index: usize) -> Self {
        if index < MAX_SUB_BANDS { Self(1 << index) } else { Self(0) }
    }

    /// Bit n selects sub-band n. Bits beyond the number of sub-bands have no effect.
    pub const fn from_bits(bits: u32) -> Self {
        Self(bits & Self::ALL.0)
    }

    /// Bit n is set where sub-band n is one of them.
    pub const fn bits(self) -> u32 {
        self.0
    }

    /// The sub-bands of `count` resource blocks from `first` on.
    pub fn of_blocks(carrier: &CarrierConfig, first: u16, count: u16) -> Self {
        if count == 0 {
            return Self::NONE;
        }
        let last = first.saturating_add(count - 1);
        let (from, to) = (carrier.sub_band_of(first), carrier.sub_band_of(last));
        (from..=to).fold(Self::NONE, |bands, index| bands | Self::one(index))
    }

    /// Whether a sub-band is one of them.
    pub const fn contains(self, index: usize) -> bool {
        index < MAX_SUB_BANDS && self.0 >> index & 1 == 1
    }

    /// The values of these sub-bands, from those of a carrier; all values if the carrier has none
    /// of these sub-bands.
    pub fn of<T: Copy>(self, values: &[T]) -> impl Iterator<Item = T> + Clone {
        let carrier =
            if values.len() >= MAX_SUB_BANDS { Self::ALL.0 } else { (1 << values.len()) - 1 };
        let chosen = if self.0 & carrier == 0 { Self::ALL } else { self };
        values
            .iter()
            .enumerate()
            .filter(move |(index, _)| chosen.contains(*index))
            .map(|(_, value)| *value)
    }
}

impl BitOr for SubBands {
    type Output = Self;
    fn bitor(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }
}

impl BitOrAssign for SubBands {
    fn bitor_assign(&mut self, other: Self) {
        *self = *self | other;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::vec::Vec;

    fn values(bands: SubBands) -> Vec<u8> {
        bands.of(&[10, 11, 12, 13]).collect()
    }

    #[test]
    fn blocks_lie_in_the_sub_bands_they_touch() {
        let carrier = CarrierConfig::default();
        assert_eq!(values(SubBands::of_blocks(&carrier, 24, 2)), [10, 11]);
        assert_eq!(values(SubBands::of_blocks(&carrier, 75, 25)), [13]);
        assert_eq!(values(SubBands::of_blocks(&carrier, 0, 100)), [10, 11, 12, 13]);
        assert_eq!(SubBands::of_blocks(&carrier, 5, 0), SubBands::NONE);
    }

    #[test]
    fn bits_are_sub_bands_and_come_back() {
        assert_eq!(values(SubBands::from_bits(0b1010)), [11, 13]);
        assert_eq!(SubBands::from_bits(u32::MAX), SubBands::ALL);
        assert_eq!((SubBands::one(3) | SubBands::one(0)).bits(), 0b1001);
    }

    #[test]
    fn a_set_outside_the_carrier_is_all_of_it() {
        assert_eq!(values(SubBands::NONE), [10, 11, 12, 13]);
        assert_eq!(values(SubBands::one(7)), [10, 11, 12, 13]);
        assert_eq!(values(SubBands::one(2) | SubBands::one(0)), [10, 12]);
    }
}
