//! Transport block sizes (TS 36.213 §7.1.7.2, §8.6.2) and their code blocks (TS 36.212 §5.1.2).

use sounding_units::Prb;

use super::tables::{self, TBS};
use super::{McsTable, TbsIndex};
use crate::Modulation;

/// Resource blocks the table has columns for.
const COLUMNS: usize = 110;
const ROWS: usize = TBS.len();

/// Every size by layers, I_TBS and resource blocks, translated when the crate is compiled; 0 where
/// the tables have none.
type Sizes = [[[u32; COLUMNS]; ROWS]; 4];
static SIZES: Sizes = sizes();

const fn sizes() -> Sizes {
    let mut sizes = [[[0; COLUMNS]; ROWS]; 4];
    let mut layers = 1;
    while layers <= 4 {
        let mut row = 0;
        while row < ROWS {
            let mut prb = 1;
            while prb <= COLUMNS {
                sizes[layers - 1][row][prb - 1] = size(row, prb, layers);
                prb += 1;
            }
            row += 1;
        }
        layers += 1;
    }
    sizes
}

const fn size(row: usize, prb: usize, layers: usize) -> u32 {
    // Up to 110 block-layers the block is as large as one on that many resource blocks.
    if prb * layers <= COLUMNS {
        return TBS[row][prb * layers - 1];
    }
    let one_layer = TBS[row][prb - 1];
    match layers {
        2 => translated(one_layer, &tables::TWO_LAYERS),
        3 => translated(one_layer, &tables::THREE_LAYERS),
        _ => translated(one_layer, &tables::FOUR_LAYERS),
    }
}

/// The rows of a translation table are in order.
const fn translated(one_layer: u32, table: &[(u32, u32)]) -> u32 {
    let (mut low, mut high) = (0, table.len());
    while low < high {
        let middle = low.midpoint(high);
        let (from, to) = table[middle];
        if from == one_layer {
            return to;
        }
        if from < one_layer {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    0
}

/// Transport block size in bits for a codeword on `layers` spatial layers (TS 36.213 §7.1.7.2), in
/// both directions.
///
/// `None` outside the tables: no or more than 110 blocks, no or more than four layers, or a large
/// 256QAM block on several layers, whose translation is not in the verified tables.
pub fn tbs_bits(index: TbsIndex, prb: Prb, layers: u8) -> Option<u32> {
    let rows = SIZES.get(usize::from(layers).checked_sub(1)?)?;
    let size = *rows[usize::from(index.row())].get(usize::from(prb.count()).checked_sub(1)?)?;
    (size != 0).then_some(size)
}

/// As [`tbs_bits`], and UNVERIFIED for large 256QAM blocks on two layers: the rows that Release 12
/// added to TS 36.213 Table 7.1.7.2.2-1 come from recollection. Their sizes are legal, and the
/// largest is that of UE categories 11 and 12 (TS 36.306). There is no other evidence for them.
pub fn tbs_bits_unverified(index: TbsIndex, prb: Prb, layers: u8) -> Option<u32> {
    tbs_bits(index, prb, layers).or_else(|| {
        let one_layer = tbs_bits(index, prb, 1)?;
        let rows = if layers == 2 { &tables::TWO_LAYERS_UNVERIFIED[..] } else { &[] };
        let at = rows.binary_search_by_key(&one_layer, |row| row.0).ok()?;
        Some(rows[at].1)
    })
}

/// Size in bits of system information, paging or a random access response under DCI format 1A:
/// I_MCS is I_TBS, and the lower bit of the power control command selects two (0) or three (1)
/// columns, whatever the number of assigned blocks (TS 36.213 §7.1.7.2, TS 36.212 §5.3.3.1.3).
pub fn tbs_bits_broadcast(i_mcs: u8, three_columns: bool) -> Option<u32> {
    tbs_bits(TbsIndex::new(i_mcs)?, Prb::new(if three_columns { 3 } else { 2 }), 1)
}

/// Code blocks of a transport block: its bits and CRC, cut so that none is longer than 6144 (TS
/// 36.212 §5.1.2).
pub const fn code_blocks(tbs_bits: u32) -> u32 {
    const LONGEST: u32 = 6144;
    const CRC: u32 = 24;
    let bits = tbs_bits.saturating_add(CRC);
    if bits <= LONGEST { 1 } else { bits.div_ceil(LONGEST - CRC) }
}

/// I_TBS of an uplink transmission from the transmitter's report: modulation and effective code
/// rate.
///
/// The code rate is (TBS + 24 CRC bits) over the channel bits of the twelve data symbols of a
/// subframe (TS 36.212 §5.1, TS 36.211 §5.3). Control information and sounding shorten those a
/// little, so the nearest row of that modulation is used. `None` if the modulation has no row.
pub fn uplink_tbs_index(prb: Prb, modulation: Modulation, rate_1024: u16) -> Option<TbsIndex> {
    const CRC_BITS: u32 = 24;
    const DATA_RE_PER_PRB: u32 = 12 * 12;
    let channel_bits = u32::from(prb.count()) * DATA_RE_PER_PRB * u32::from(modulation.order());
    let wanted = u64::from(channel_bits) * u64::from(rate_1024) / 1024;
    McsTable::Uplink
        .rows()
        .iter()
        .filter(|(order, _)| *order == modulation.order())
        .filter_map(|&(_, row)| {
            let index = TbsIndex::new(row)?;
            let bits = u64::from(tbs_bits(index, prb, 1)? + CRC_BITS);
            Some((bits.abs_diff(wanted), index))
        })
        .min_by_key(|(distance, _)| *distance)
        .map(|(_, index)| index)
}

#[cfg(test)]
mod tests {
    use super::super::mcs;
    use super::*;
    use std::vec::Vec;

    fn index(row: u8) -> TbsIndex {
        TbsIndex::new(row).expect("row of the table")
    }

    #[test]
    fn the_odd_entry_of_row_six_is_the_specifications() {
        assert_eq!(tbs_bits(index(6), Prb::new(1), 1), Some(328));
    }

    #[test]
    fn the_largest_blocks_are_those_of_the_ue_categories() {
        // TS 36.306 Table 4.1-1: 75376 bits (category 3, 4) and 149776 bits on two layers (category
        // 5).
        assert_eq!(tbs_bits(index(26), Prb::new(100), 1), Some(75_376));
        assert_eq!(tbs_bits(index(26), Prb::new(100), 2), Some(149_776));
        assert_eq!(tbs_bits(index(26), Prb::new(100), 4), Some(299_856));
        assert_eq!(tbs_bits(index(33), Prb::new(100), 1), Some(97_896));
    }

    #[test]
    fn what_is_unverified_is_only_had_by_asking_for_it() {
        let large = (index(33), Prb::new(100), 2);
        assert_eq!(tbs_bits(large.0, large.1, large.2), None);
        assert_eq!(tbs_bits_unverified(large.0, large.1, large.2), Some(195_816));
        assert_eq!(tbs_bits_unverified(index(33), Prb::new(100), 4), None);
        assert_eq!(tbs_bits_unverified(index(26), Prb::new(100), 2), Some(149_776));
    }

    #[test]
    fn few_blocks_on_two_layers_are_twice_the_blocks_on_one() {
        assert_eq!(tbs_bits(index(9), Prb::new(20), 2), tbs_bits(index(9), Prb::new(40), 1));
    }

    #[test]
    fn blocks_outside_the_tables_are_unknown_not_wrong() {
        for (prb, layers) in [(0, 1), (111, 1), (10, 0), (60, 5), (u16::MAX, 255)] {
            assert_eq!(tbs_bits(index(0), Prb::new(prb), layers), None, "{prb} {layers}");
        }
        assert_eq!(TbsIndex::new(34), None);
        assert_eq!(mcs(McsTable::Uplink, 29), None);
        assert_eq!(tbs_bits_broadcast(34, false), None);
    }

    #[test]
    fn size_never_falls_with_more_blocks_or_a_higher_row() {
        // The exceptions are the specification's own: the odd entry (6, 1), and row 27, where the
        // sizes for 256QAM start again below the top of 64QAM.
        let rows: Vec<TbsIndex> = (0..TbsIndex::COUNT).map(index).collect();
        for n in 1..=110 {
            for pair in rows.windows(2) {
                if n == 1 && (pair[0].row() == 6 || pair[1].row() == 6) {
                    continue;
                }
                if pair[1].row() == 27 {
                    continue;
                }
                let size = |i| tbs_bits(i, Prb::new(n), 1);
                assert!(size(pair[0]) <= size(pair[1]), "rows {pair:?} at {n} PRB");
            }
        }
    }

    #[test]
    fn a_layer_more_never_makes_a_block_smaller() {
        for row in 0..=26 {
            for n in 1..=110 {
                let sizes: Vec<Option<u32>> =
                    (1..=4).map(|layers| tbs_bits(index(row), Prb::new(n), layers)).collect();
                assert!(sizes.iter().all(Option::is_some), "I_TBS {row}, {n} PRB: {sizes:?}");
                let odd = row == 6 && n == 1;
                assert!(odd || sizes.is_sorted(), "I_TBS {row}, {n} PRB: {sizes:?}");
            }
        }
    }

    #[test]
    fn every_size_is_cut_into_equal_code_blocks_of_a_turbo_size() {
        // TS 36.212 Table 5.1.3-3: 40..=512 by 8, ..=1024 by 16, ..=2048 by 32, ..=6144 by 64.
        let turbo = |bits: u32| match bits {
            40..=512 => bits.is_multiple_of(8),
            513..=1024 => bits.is_multiple_of(16),
            1025..=2048 => bits.is_multiple_of(32),
            2049..=6144 => bits.is_multiple_of(64),
            _ => false,
        };
        for row in 0..TbsIndex::COUNT {
            for n in 1..=110 {
                for layers in 1..=4 {
                    let Some(bits) = tbs_bits(index(row), Prb::new(n), layers) else { continue };
                    let blocks = code_blocks(bits);
                    let crcs = if blocks > 1 { 24 * blocks } else { 0 };
                    let all = bits + 24 + crcs;
                    assert!(all.is_multiple_of(blocks), "{bits} bits, {blocks} blocks");
                    assert!(turbo(all / blocks), "{bits} bits, {blocks} blocks");
                }
            }
        }
    }

    #[test]
    fn every_uplink_block_is_found_again_from_its_code_rate() {
        // Only where two rows of one modulation are the same size does the size, not the row, come
        // back.
        for i_mcs in 0..=28 {
            let (modulation, row) = mcs(McsTable::Uplink, i_mcs).expect("not reserved");
            for n in 3..=100 {
                let prb = Prb::new(n);
                let bits = tbs_bits(row, prb, 1).expect("in the table");
                let channel = u32::from(n) * 144 * u32::from(modulation.order());
                let rate = ((bits + 24) * 1024 / channel) as u16;
                let found = uplink_tbs_index(prb, modulation, rate).expect("a row");
                assert_eq!(tbs_bits(found, prb, 1), Some(bits), "I_MCS {i_mcs}, {n} PRB");
            }
        }
    }
}
