//! Channel quality indicators (TS 36.213 §7.2.3).

use sounding_units::Prb;

use super::{McsTable, tables};
use crate::Scheme;

/// The table of a CQI.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CqiTable {
    /// TS 36.213 Table 7.2.3-1.
    Qam64,
    /// TS 36.213 Table 7.2.3-2, for devices configured with 256QAM.
    Qam256,
}

impl CqiTable {
    pub(crate) const fn rows(self) -> &'static [(u8, u16); 15] {
        match self {
            Self::Qam64 => &tables::CQI_64QAM,
            Self::Qam256 => &tables::CQI_256QAM,
        }
    }

    /// The MCS table of a downlink that is configured with this one.
    pub const fn mcs_table(self) -> McsTable {
        match self {
            Self::Qam64 => McsTable::Downlink,
            Self::Qam256 => McsTable::Downlink256Qam,
        }
    }
}

/// Modulation and code rate of CQI 1..=15; `None` for 0, out of range, and above.
pub fn cqi(table: CqiTable, index: u8) -> Option<Scheme> {
    table.rows().get(usize::from(index).checked_sub(1)?).map(|row| Scheme::of_row(*row))
}

/// Resource elements of a resource block in the CQI reference resource (TS 36.213 §7.2.3): 14
/// symbols, three of them for control, and the cell-specific reference signals of two ports.
const REFERENCE_ELEMENTS: u32 = 12 * (14 - 3) - 12;

/// The I_MCS for a CQI: the highest whose modulation and code rate, on this many resource blocks,
/// do not exceed those of the CQI, or the lowest if all exceed them. `None` for CQI 0 and outside
/// the tables. A base station may choose this mapping; open source ones use this rule.
pub fn mcs_of_cqi(table: CqiTable, index: u8, prb: Prb) -> Option<u8> {
    let highest = match table {
        CqiTable::Qam64 => &HIGHEST_64QAM,
        CqiTable::Qam256 => &HIGHEST_256QAM,
    };
    let by_blocks = highest.get(usize::from(index).checked_sub(1)?)?;
    by_blocks.get(usize::from(prb.count()).checked_sub(1)?).copied()
}

/// I_MCS by CQI and resource blocks.
type Highest = [[u8; 110]; 15];
static HIGHEST_64QAM: Highest = highest(CqiTable::Qam64);
static HIGHEST_256QAM: Highest = highest(CqiTable::Qam256);

const fn highest(table: CqiTable) -> Highest {
    let mut highest = [[0; 110]; 15];
    let mut index = 0;
    while index < 15 {
        let scheme = Scheme::of_row(table.rows()[index]);
        let mut column = 0;
        while column < 110 {
            highest[index][column] = highest_mcs(table.mcs_table().rows(), scheme, column);
            column += 1;
        }
        index += 1;
    }
    highest
}

const fn highest_mcs(rows: &[(u8, u8)], scheme: Scheme, column: usize) -> u8 {
    let most = (column as u64 + 1) * REFERENCE_ELEMENTS as u64 * scheme.bits_2048() as u64;
    let mut highest = 0;
    let mut i_mcs = 0;
    while i_mcs < rows.len() {
        let (order, row) = rows[i_mcs];
        let bits = (tables::TBS[row as usize][column] + CRC) as u64 * 2048;
        if order <= scheme.modulation.order() && bits <= most {
            highest = i_mcs as u8;
        }
        i_mcs += 1;
    }
    highest
}

/// Bits of the check that a transport block is sent with (TS 36.212 §5.1.1).
const CRC: u32 = 24;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::lte::{mcs, tbs_bits};

    #[test]
    fn a_better_cqi_never_stands_for_a_lower_mcs() {
        for table in [CqiTable::Qam64, CqiTable::Qam256] {
            for n in [6, 15, 25, 50, 75, 100] {
                let of = |index| mcs_of_cqi(table, index, Prb::new(n)).expect("an MCS");
                assert!((1..15).all(|i| of(i) <= of(i + 1)), "{table:?}, {n} PRB");
                assert_eq!(mcs_of_cqi(table, 0, Prb::new(n)), None);
                assert_eq!(mcs_of_cqi(table, 16, Prb::new(n)), None);
            }
        }
    }

    #[test]
    fn the_block_of_a_cqi_has_no_higher_rate_than_it_says() {
        for table in [CqiTable::Qam64, CqiTable::Qam256] {
            for n in 1..=110 {
                for index in 2..=15 {
                    let scheme = cqi(table, index).expect("a CQI");
                    let i_mcs = mcs_of_cqi(table, index, Prb::new(n)).expect("an MCS");
                    let (modulation, row) = mcs(table.mcs_table(), i_mcs).expect("not reserved");
                    assert!(modulation <= scheme.modulation);
                    let bits = tbs_bits(row, Prb::new(n), 1).expect("in the table") + CRC;
                    let most = u32::from(n) * REFERENCE_ELEMENTS * scheme.bits_2048() / 2048;
                    assert!(bits <= most || i_mcs == 0, "{table:?} CQI {index}, {n} PRB");
                }
            }
        }
    }

    #[test]
    fn blocks_outside_the_tables_have_no_mcs() {
        assert_eq!(mcs_of_cqi(CqiTable::Qam64, 7, Prb::new(0)), None);
        assert_eq!(mcs_of_cqi(CqiTable::Qam64, 7, Prb::new(111)), None);
    }
}
