//! Resource blocks of a carrier (TS 36.101 §5.6) and their groups (TS 36.213 §7.1.6.1).

use core::ops::Range;

use sounding_units::Prb;

use super::tables;

/// Downlink or uplink carrier bandwidths in resource blocks (TS 36.101 Table 5.6-1).
pub const CARRIER_PRB: [Prb; 6] =
    [Prb::new(6), Prb::new(15), Prb::new(25), Prb::new(50), Prb::new(75), Prb::new(100)];

/// Resource blocks of a carrier this wide, in 100 kHz; `None` for other widths (TS 36.101 Table
/// 5.6-1).
pub fn carrier_prb(width_100_khz: u16) -> Option<Prb> {
    let found = tables::CARRIERS.iter().find(|carrier| carrier.0 == width_100_khz)?;
    Some(Prb::new(found.1))
}

/// Blocks in a resource block group, P (TS 36.213 Table 7.1.6.1-1). Range 1..=4.
pub const fn rbg_size(carrier: Prb) -> u16 {
    match carrier.count() {
        0..=10 => 1,
        11..=26 => 2,
        27..=63 => 3,
        _ => 4,
    }
}

/// Resource block groups of a carrier. The last may have fewer blocks.
pub const fn rbg_count(carrier: Prb) -> u16 {
    carrier.count().div_ceil(rbg_size(carrier))
}

/// The blocks of a group; none beyond the carrier's last.
pub fn rbg_blocks(carrier: Prb, group: u16) -> Range<u16> {
    let end = carrier.count();
    let begin = group.saturating_mul(rbg_size(carrier)).min(end);
    begin..begin.saturating_add(rbg_size(carrier)).min(end)
}

/// The group of a block.
pub const fn rbg_of(carrier: Prb, block: u16) -> u16 {
    block / rbg_size(carrier)
}

/// Number of resource blocks of a type 0 allocation: bit i of the map is group i.
pub fn rbg_map_blocks(carrier: Prb, map: u32) -> Prb {
    let groups = rbg_count(carrier);
    let kept = if groups < 32 { map & ((1 << groups) - 1) } else { map };
    let whole = kept.count_ones() as u16 * rbg_size(carrier);
    // The last group is smaller if the carrier is not a whole number of groups.
    let short = groups * rbg_size(carrier) - carrier.count();
    let last = groups > 0 && groups <= 32 && kept >> (groups - 1) & 1 == 1;
    Prb::new(whole - if last { short } else { 0 })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn groups_cover_a_carrier_once() {
        for count in 1..=110 {
            let carrier = Prb::new(count);
            let mut next = 0;
            for group in 0..rbg_count(carrier) {
                let blocks = rbg_blocks(carrier, group);
                assert_eq!(blocks.start, next);
                assert!(blocks.clone().all(|block| rbg_of(carrier, block) == group));
                assert_eq!(rbg_map_blocks(carrier, 1 << group), Prb::new(blocks.len() as u16));
                next = blocks.end;
            }
            assert_eq!(next, count);
            assert_eq!(rbg_map_blocks(carrier, u32::MAX), carrier);
            assert!(rbg_blocks(carrier, rbg_count(carrier)).is_empty());
            assert!(rbg_blocks(carrier, u16::MAX).is_empty());
        }
    }

    #[test]
    fn carriers_and_their_groups_are_those_of_the_tables() {
        for (width, count, size) in tables::CARRIERS {
            assert_eq!(carrier_prb(width), Some(Prb::new(count)));
            assert_eq!(rbg_size(Prb::new(count)), u16::from(size));
            assert!(CARRIER_PRB.contains(&Prb::new(count)));
        }
        assert_eq!(carrier_prb(70), None);
    }
}
