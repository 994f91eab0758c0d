//! HSPA downlinks: the meaning of a CQI (TS 25.214 §6A.2), by the device's category (TS 25.306
//! §5.1a).
//!
//! The sizes come from recollection, and were checked against the sizes that TS 25.321 Annex A
//! allows. No second table confirms all of them.

use core::time::Duration;

use sounding_units::Rate;

use crate::Modulation;

mod tables {
    include!(concat!(env!("OUT_DIR"), "/hspa.rs"));
}

/// A transmission time interval of HS-DSCH: three slots of 10/15 ms.
pub const TTI: Duration = Duration::from_millis(2);

/// CQI mapping table (TS 25.214 Tables 7A to 7G).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[allow(missing_docs, reason = "they are named by their letters")]
pub enum CqiTable {
    A,
    B,
    C,
    D,
    E,
    F,
    G,
}

impl CqiTable {
    /// Every table.
    pub const ALL: [Self; 7] = [Self::A, Self::B, Self::C, Self::D, Self::E, Self::F, Self::G];

    fn of_letter(letter: &str) -> Option<Self> {
        let at = usize::from(letter.bytes().next()?.checked_sub(b'A')?);
        Self::ALL.get(at).copied()
    }

    const fn rows(self) -> &'static [(u32, u8, u8, i8, u32); 30] {
        match self {
            Self::A => &tables::CQI_A,
            Self::B => &tables::CQI_B,
            Self::C => &tables::CQI_C,
            Self::D => &tables::CQI_D,
            Self::E => &tables::CQI_E,
            Self::F => &tables::CQI_F,
            Self::G => &tables::CQI_G,
        }
    }
}

/// The block of a CQI: it would be received with an error rate of one in ten.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Cqi {
    /// Transport block in bits, one in each interval.
    pub tbs_bits: u32,
    /// HS-PDSCH codes. Range 1..=15.
    pub codes: u8,
    /// Modulation.
    pub modulation: Modulation,
    /// Additional power of the base station for this device, compared with the assumed one, dB;
    /// may be negative.
    pub reference_power_db: i8,
    /// Size of the virtual buffer for incremental redundancy in soft bits, N_IR.
    pub incremental_redundancy: u32,
}

impl Cqi {
    /// The rate at which such blocks in every interval carry bits (CQIC §3.3).
    pub fn rate(&self) -> Rate {
        let per_sec = 1_000_000_000 / TTI.as_nanos() as u64;
        Rate::from_bits_per_sec(u64::from(self.tbs_bits) * per_sec)
    }
}

/// The block of CQI 1..=30; `None` for 0, out of range, and above.
pub fn cqi(table: CqiTable, index: u8) -> Option<Cqi> {
    let row = table.rows().get(usize::from(index).checked_sub(1)?)?;
    let (tbs_bits, codes, order, reference_power_db, incremental_redundancy) = *row;
    let modulation = Modulation::of_order(order)?;
    Some(Cqi { tbs_bits, codes, modulation, reference_power_db, incremental_redundancy })
}

/// HS-DSCH category of a device, without MIMO.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Category {
    /// The table that its CQI counts in, in each cell.
    pub table: CqiTable,
    /// The same with 64QAM configured.
    pub table_64qam: CqiTable,
    /// The largest transport block of an interval, in bits.
    pub most_bits: u32,
}

/// A category, 1..=24.
pub fn category(number: u8) -> Option<Category> {
    let (table, table_64qam, most_bits) =
        *tables::CATEGORIES.get(usize::from(number).checked_sub(1)?)?;
    Some(Category {
        table: CqiTable::of_letter(table)?,
        table_64qam: CqiTable::of_letter(table_64qam)?,
        most_bits,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_better_cqi_never_stands_for_a_smaller_block() {
        for table in CqiTable::ALL {
            let bits = |index| cqi(table, index).map(|row| row.tbs_bits);
            assert!((1..30).all(|i| bits(i) <= bits(i + 1)), "{table:?}");
            assert_eq!((cqi(table, 0), cqi(table, 31)), (None, None));
        }
    }

    #[test]
    fn where_the_block_stays_the_same_power_is_saved() {
        for table in CqiTable::ALL {
            for index in 1..30 {
                let (Some(row), Some(next)) = (cqi(table, index), cqi(table, index + 1)) else {
                    panic!("CQI {index} is in every table")
                };
                let same = row.tbs_bits == next.tbs_bits;
                assert_eq!(same, next.reference_power_db < row.reference_power_db, "{table:?}");
            }
        }
    }

    #[test]
    fn no_cqi_stands_for_more_than_a_category_can_receive() {
        for number in 1..=24 {
            let category = category(number).expect("a category");
            for table in [category.table, category.table_64qam] {
                let best = cqi(table, 30).expect("the best");
                assert!(best.tbs_bits <= category.most_bits, "{number} {table:?}");
            }
        }
        assert_eq!((category(0), category(25)), (None, None));
    }

    #[test]
    fn the_best_of_table_g_is_19_mbit_per_second() {
        let best = cqi(CqiTable::G, 30).expect("the best");
        assert_eq!(best.rate(), Rate::from_bits_per_sec(19_288_000));
        assert_eq!(best.modulation, Modulation::Qam64);
    }
}
