//! Resource blocks of a carrier (TS 38.101-1, 38.101-2 §5.3.2) and their groups (TS 38.214
//! §5.1.2.2.1).

use core::ops::Range;

use sounding_units::Prb;

use super::{Numerology, tables};

/// Frequency range (TS 38.104 §5.1).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum FrequencyRange {
    /// Below 7.125 GHz.
    Fr1,
    /// From 24.25 GHz.
    Fr2,
}

/// Resource blocks of a carrier this many MHz wide; `None` where a range has no such carrier
/// (TS 38.101-1, 38.101-2 Table 5.3.2-1).
pub fn carrier_prb(range: FrequencyRange, numerology: Numerology, mhz: u16) -> Option<Prb> {
    let wanted = (range == FrequencyRange::Fr2, numerology.khz(), mhz);
    let found = tables::CARRIERS.iter().find(|row| (row.0, row.1, row.2) == wanted)?;
    Some(Prb::new(found.3))
}

/// rbg-Size: how coarse the groups are (TS 38.331 PDSCH-Config, PUSCH-Config).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum RbgConfiguration {
    /// The finer, which is the default.
    #[default]
    One,
    /// The coarser.
    Two,
}

/// A bandwidth part: consecutive common resource blocks.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct BandwidthPart {
    /// First common resource block.
    pub start: u16,
    /// Blocks. Range 1..=275.
    pub size: Prb,
}

impl BandwidthPart {
    /// Nominal blocks in a group, P: 2, 4, 8 or 16 (TS 38.214 Table 5.1.2.2.1-1).
    pub fn rbg_size(self, configuration: RbgConfiguration) -> u16 {
        let row = tables::RBG.iter().find(|row| self.size.count() <= row.0);
        // Parts of more than 275 blocks do not exist; the last row is the nearest that does.
        let row = row.unwrap_or(&tables::RBG[tables::RBG.len() - 1]);
        u16::from(row.1[configuration as usize])
    }

    /// Groups. The first and the last may have fewer blocks.
    pub fn rbg_count(self, configuration: RbgConfiguration) -> u16 {
        let size = self.rbg_size(configuration);
        (self.size.count() + self.start % size).div_ceil(size)
    }

    /// The blocks of a group, counted from the first of the part; none beyond the last.
    pub fn rbg_blocks(self, configuration: RbgConfiguration, group: u16) -> Range<u16> {
        let size = self.rbg_size(configuration);
        // Groups begin at multiples of their size among the common blocks.
        let before = self.start % size;
        let edge =
            |group: u16| group.saturating_mul(size).saturating_sub(before).min(self.size.count());
        edge(group)..edge(group.saturating_add(1))
    }

    /// The group of a block of the part.
    pub fn rbg_of(self, configuration: RbgConfiguration, block: u16) -> u16 {
        let size = self.rbg_size(configuration);
        (block + self.start % size) / size
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn groups_cover_a_part_once_and_begin_at_multiples_of_their_size() {
        for configuration in [RbgConfiguration::One, RbgConfiguration::Two] {
            for size in 1..=275 {
                for start in [0, 1, 5, 15, 37] {
                    let part = BandwidthPart { start, size: Prb::new(size) };
                    let nominal = part.rbg_size(configuration);
                    let mut next = 0;
                    for group in 0..part.rbg_count(configuration) {
                        let blocks = part.rbg_blocks(configuration, group);
                        assert_eq!(blocks.start, next, "{part:?}");
                        assert!(!blocks.is_empty(), "{part:?}");
                        let aligned = (start + blocks.start).is_multiple_of(nominal);
                        assert!(group == 0 || aligned, "{part:?}");
                        for block in blocks.clone() {
                            assert_eq!(part.rbg_of(configuration, block), group);
                        }
                        next = blocks.end;
                    }
                    assert_eq!(next, size, "{part:?}");
                    let beyond = part.rbg_count(configuration);
                    assert!(part.rbg_blocks(configuration, beyond).is_empty());
                }
            }
        }
    }

    #[test]
    fn the_second_configuration_is_never_finer() {
        for size in 1..=275 {
            let part = BandwidthPart { start: 0, size: Prb::new(size) };
            let [one, two] = [RbgConfiguration::One, RbgConfiguration::Two]
                .map(|configuration| part.rbg_size(configuration));
            assert!(one <= two);
            assert!(part.rbg_count(RbgConfiguration::One) <= 18);
        }
    }

    #[test]
    fn carriers_that_do_not_exist_have_no_blocks() {
        let fr1 = |numerology, mhz| carrier_prb(FrequencyRange::Fr1, numerology, mhz);
        assert_eq!(fr1(Numerology::KHZ_30, 100), Some(Prb::new(273)));
        assert_eq!(fr1(Numerology::KHZ_15, 100), None);
        assert_eq!(fr1(Numerology::KHZ_120, 100), None);
        let fr2 = carrier_prb(FrequencyRange::Fr2, Numerology::KHZ_120, 100);
        assert_eq!(fr2, Some(Prb::new(66)));
    }
}
