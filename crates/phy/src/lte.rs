//! LTE transport block sizes (TS 36.213 §7.1.7, §8.6) and buffer sizes (TS 36.321 §6.1.3.1).

use sounding_units::{Bytes, Prb};

mod tables {
    include!(concat!(env!("OUT_DIR"), "/tables.rs"));
}

/// Modulation of a transport block.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Modulation {
    /// 2 bits a symbol.
    Qpsk,
    /// 4 bits a symbol.
    Qam16,
    /// 6 bits a symbol.
    Qam64,
    /// 8 bits a symbol.
    Qam256,
}

impl Modulation {
    /// Bits a symbol, Q_m.
    pub const fn order(self) -> u8 {
        match self {
            Self::Qpsk => 2,
            Self::Qam16 => 4,
            Self::Qam64 => 6,
            Self::Qam256 => 8,
        }
    }

    /// The modulation of a Q_m, if it is one of LTE's.
    pub const fn of_order(order: u8) -> Option<Self> {
        match order {
            2 => Some(Self::Qpsk),
            4 => Some(Self::Qam16),
            6 => Some(Self::Qam64),
            8 => Some(Self::Qam256),
            _ => None,
        }
    }
}

/// Index into the rows of the transport block size table. Range 0..=33 (TS 36.213 Table 7.1.7.2.1-1).
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct TbsIndex(u8);

impl TbsIndex {
    /// Rows of the table: I_TBS 0..=33.
    pub const COUNT: u8 = tables::TBS.len() as u8;

    /// The index, if the table has that row.
    pub const fn new(row: u8) -> Option<Self> {
        if row < Self::COUNT { Some(Self(row)) } else { None }
    }

    /// The row number.
    pub const fn row(self) -> u8 {
        self.0
    }
}

/// Which table turns I_MCS into modulation and I_TBS.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum McsTable {
    /// TS 36.213 Table 7.1.7.1-1.
    Downlink,
    /// TS 36.213 Table 7.1.7.1-1A, for devices configured with 256QAM.
    Downlink256Qam,
    /// TS 36.213 Table 8.6.1-1.
    Uplink,
}

/// Modulation and I_TBS of an I_MCS; `None` for the reserved values, which signal a retransmission of the size
/// sent first.
pub fn mcs(table: McsTable, i_mcs: u8) -> Option<(Modulation, TbsIndex)> {
    let rows: &[(u8, u8)] = match table {
        McsTable::Downlink => &tables::MCS_DL,
        McsTable::Downlink256Qam => &tables::MCS_DL_256QAM,
        McsTable::Uplink => &tables::MCS_UL,
    };
    let (order, row) = *rows.get(usize::from(i_mcs))?;
    Some((Modulation::of_order(order)?, TbsIndex::new(row)?))
}

/// Transport block size in bits for a codeword on `layers` spatial layers (TS 36.213 §7.1.7.2).
///
/// `None` outside the tables: no or more than 110 blocks, no or more than four layers, or a large 256QAM block on
/// several layers, whose translation is not in the verified tables.
pub fn tbs_bits(index: TbsIndex, prb: Prb, layers: u8) -> Option<u32> {
    let row = &tables::TBS[usize::from(index.0)];
    let single = |n: u16| row.get(usize::from(n).checked_sub(1)?).copied();
    let wide = prb.count().checked_mul(u16::from(layers))?;
    let one_layer = single(prb.count())?;
    // Up to 110 block-layers the block is as large as one on that many resource blocks.
    if wide <= 110 {
        return single(wide);
    }
    let translation: &[(u32, u32)] = match layers {
        2 => &tables::TWO_LAYERS,
        3 => &tables::THREE_LAYERS,
        4 => &tables::FOUR_LAYERS,
        _ => return None,
    };
    let at = translation.binary_search_by_key(&one_layer, |&(from, _)| from).ok()?;
    Some(translation[at].1)
}

/// I_TBS of an uplink transmission from what the transmitter reports of it: modulation and effective code rate.
///
/// The code rate is (TBS + 24 CRC bits) over the channel bits of the twelve data symbols of a subframe
/// (TS 36.212 §5.1, TS 36.211 §5.3); control information and sounding shorten those a little, so the nearest row of
/// that modulation is taken. `None` if the modulation has no row.
pub fn uplink_tbs_index(prb: Prb, modulation: Modulation, rate_1024: u16) -> Option<TbsIndex> {
    const CRC_BITS: u32 = 24;
    const DATA_RE_PER_PRB: u32 = 12 * 12;
    let channel_bits = u32::from(prb.count()) * DATA_RE_PER_PRB * u32::from(modulation.order());
    let wanted = u64::from(channel_bits) * u64::from(rate_1024) / 1024;
    tables::MCS_UL
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

/// Largest amount of buffered data a short, truncated or long BSR index stands for; `None` for index 63, which is
/// open-ended, and above (TS 36.321 Table 6.1.3.1-1).
pub fn bsr_upper(index: u8) -> Option<Bytes> {
    match tables::BSR_UPPER.get(usize::from(index)) {
        None | Some(&u32::MAX) => None,
        Some(&bytes) => Some(Bytes::new(u64::from(bytes))),
    }
}

/// Downlink or uplink carrier bandwidths in resource blocks (TS 36.101 Table 5.6-1).
pub const CARRIER_PRB: [Prb; 6] =
    [Prb::new(6), Prb::new(15), Prb::new(25), Prb::new(50), Prb::new(75), Prb::new(100)];

#[cfg(test)]
mod tests {
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
        // TS 36.306 Table 4.1-1: 75376 bits (category 3, 4) and 149776 bits on two layers (category 5).
        assert_eq!(tbs_bits(index(26), Prb::new(100), 1), Some(75_376));
        assert_eq!(tbs_bits(index(26), Prb::new(100), 2), Some(149_776));
        assert_eq!(tbs_bits(index(26), Prb::new(100), 4), Some(299_856));
        assert_eq!(tbs_bits(index(33), Prb::new(100), 1), Some(97_896));
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
    }

    #[test]
    fn size_never_falls_with_more_blocks_or_a_higher_row() {
        // The exceptions are the specification's own: the odd entry (6, 1), and row 27, where the sizes for 256QAM
        // start again below the top of 64QAM.
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
    fn every_uplink_block_is_found_again_from_its_code_rate() {
        // Only where two rows of one modulation are the same size does the size, not the row, come back.
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

    #[test]
    fn buffer_sizes_grow_and_the_last_is_open_ended() {
        assert_eq!(bsr_upper(0), Some(Bytes::ZERO));
        assert_eq!(bsr_upper(62), Some(Bytes::new(150_000)));
        assert_eq!(bsr_upper(63), None);
        assert!((0..62).all(|i| bsr_upper(i) < bsr_upper(i + 1)));
    }
}
