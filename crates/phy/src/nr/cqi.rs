//! Channel quality indicators (TS 38.214 §5.2.2.1).

use super::{McsTable, tables};
use crate::Scheme;

/// The table of a CQI.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum CqiTable {
    /// TS 38.214 Table 5.2.2.1-2: up to 64QAM.
    Table1,
    /// TS 38.214 Table 5.2.2.1-3: up to 256QAM.
    Table2,
    /// TS 38.214 Table 5.2.2.1-4: for a block error rate of 1 in 100 000.
    Table3,
}

impl CqiTable {
    /// Every table.
    pub const ALL: [Self; 3] = [Self::Table1, Self::Table2, Self::Table3];

    pub(crate) const fn rows(self) -> &'static [(u8, u16); 15] {
        match self {
            Self::Table1 => &tables::CQI_TABLE_1,
            Self::Table2 => &tables::CQI_TABLE_2,
            Self::Table3 => &tables::CQI_TABLE_3,
        }
    }

    /// The MCS table of a downlink that is configured with this one.
    pub const fn mcs_table(self) -> McsTable {
        match self {
            Self::Table1 => McsTable::Qam64,
            Self::Table2 => McsTable::Qam256,
            Self::Table3 => McsTable::Qam64LowSe,
        }
    }
}

/// Modulation and code rate of CQI 1..=15; `None` for 0, out of range, and above.
pub fn cqi(table: CqiTable, index: u8) -> Option<Scheme> {
    table.rows().get(usize::from(index).checked_sub(1)?).map(|row| Scheme::of_row(*row))
}

/// The I_MCS for a CQI: the highest that sends at most the CQI's bits per symbol, or the lowest if
/// all send more. `None` for CQI 0 and above 15. A base station may choose this mapping; open
/// source ones use this rule.
pub fn mcs_of_cqi(cqi_table: CqiTable, index: u8, mcs_table: McsTable) -> Option<u8> {
    let by_cqi = &HIGHEST[cqi_table as usize][mcs_table as usize];
    by_cqi.get(usize::from(index).checked_sub(1)?).copied()
}

/// I_MCS by CQI table, MCS table and CQI.
static HIGHEST: [[[u8; 15]; 6]; 3] = highest();

const fn highest() -> [[[u8; 15]; 6]; 3] {
    let mut highest = [[[0; 15]; 6]; 3];
    let mut cqi_table = 0;
    while cqi_table < 3 {
        let mut mcs_table = 0;
        while mcs_table < 6 {
            let mut index = 0;
            while index < 15 {
                let cqi = Scheme::of_row(CqiTable::ALL[cqi_table].rows()[index]);
                let rows = McsTable::ALL[mcs_table].rows();
                let mut i_mcs = 0;
                while i_mcs < rows.len() {
                    if Scheme::of_row(rows[i_mcs]).bits_2048() <= cqi.bits_2048() {
                        highest[cqi_table][mcs_table][index] = i_mcs as u8;
                    }
                    i_mcs += 1;
                }
                index += 1;
            }
            mcs_table += 1;
        }
        cqi_table += 1;
    }
    highest
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::nr::mcs;

    #[test]
    fn a_better_cqi_never_stands_for_a_lower_mcs_or_a_less_efficient_scheme() {
        for table in CqiTable::ALL {
            for mcs_table in McsTable::ALL {
                let of = |index| mcs_of_cqi(table, index, mcs_table).expect("an MCS");
                assert!((1..15).all(|i| of(i) <= of(i + 1)), "{table:?} {mcs_table:?}");
                assert_eq!(mcs_of_cqi(table, 0, mcs_table), None);
                assert_eq!(mcs_of_cqi(table, 16, mcs_table), None);
            }
            let bits = |index| cqi(table, index).map(Scheme::bits_2048);
            assert!((0..15).all(|i| bits(i) < bits(i + 1)), "{table:?}");
            assert_eq!(cqi(table, 16), None);
        }
    }

    #[test]
    fn a_cqi_of_a_table_is_an_mcs_of_the_table_that_goes_with_it() {
        for table in CqiTable::ALL {
            for index in 2..=15 {
                let i_mcs = mcs_of_cqi(table, index, table.mcs_table()).expect("an MCS");
                let chosen = mcs(table.mcs_table(), i_mcs).expect("not reserved");
                let reported = cqi(table, index).expect("a row");
                assert!(chosen.bits_2048() <= reported.bits_2048(), "{table:?} CQI {index}");
            }
        }
    }
}
