//! Modulation and coding schemes (TS 36.213 §7.1.7.1, §8.6.1).

use super::tables;
use crate::Modulation;

/// Index into the rows of the transport block size table. Range 0..=33 (TS 36.213 Table
/// 7.1.7.2.1-1).
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

/// The table that maps I_MCS to modulation and I_TBS.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum McsTable {
    /// TS 36.213 Table 7.1.7.1-1.
    Downlink,
    /// TS 36.213 Table 7.1.7.1-1A, for devices configured with 256QAM.
    Downlink256Qam,
    /// TS 36.213 Table 8.6.1-1.
    Uplink,
}

impl McsTable {
    pub(super) const fn rows(self) -> &'static [(u8, u8)] {
        match self {
            Self::Downlink => &tables::MCS_DL,
            Self::Downlink256Qam => &tables::MCS_DL_256QAM,
            Self::Uplink => &tables::MCS_UL,
        }
    }
}

/// Modulation and I_TBS of an I_MCS; `None` for the reserved values, which signal a retransmission
/// of the size sent first.
pub fn mcs(table: McsTable, i_mcs: u8) -> Option<(Modulation, TbsIndex)> {
    let (order, row) = *table.rows().get(usize::from(i_mcs))?;
    Some((Modulation::of_order(order)?, TbsIndex::new(row)?))
}

/// The meaning of a reserved I_MCS in a retransmission.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reserved {
    /// In downlinks it is the modulation; the redundancy version is elsewhere in the message.
    Modulation(Modulation),
    /// In uplinks it is the redundancy version; the modulation stays.
    RedundancyVersion(u8),
}

/// The meaning of a reserved I_MCS; `None` for those of new transport blocks, and above 31.
pub fn reserved(table: McsTable, i_mcs: u8) -> Option<Reserved> {
    let at = usize::from(i_mcs).checked_sub(table.rows().len())?;
    let of_order = |order: &u8| Modulation::of_order(*order).map(Reserved::Modulation);
    match table {
        McsTable::Downlink => tables::MCS_DL_RESERVED.get(at).and_then(of_order),
        McsTable::Downlink256Qam => tables::MCS_DL_256QAM_RESERVED.get(at).and_then(of_order),
        McsTable::Uplink => {
            tables::MCS_UL_RESERVED.get(at).map(|rv| Reserved::RedundancyVersion(*rv))
        }
    }
}

/// The modulation of an uplink if the device or the cell does not use 64QAM there: rows of 64QAM
/// are sent as 16QAM of the same size (TS 36.213 §8.6.1).
pub fn without_uplink_64qam(modulation: Modulation) -> Modulation {
    modulation.min(Modulation::Qam16)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reserved_rows_have_no_size_and_all_others_have_one() {
        for table in [McsTable::Downlink, McsTable::Downlink256Qam, McsTable::Uplink] {
            for i_mcs in 0..=31 {
                assert_ne!(mcs(table, i_mcs).is_some(), reserved(table, i_mcs).is_some());
            }
            assert_eq!((mcs(table, 32), reserved(table, 32)), (None, None));
        }
    }

    #[test]
    fn reserved_rows_are_modulations_in_downlinks_and_versions_in_uplinks() {
        let qpsk = Reserved::Modulation(Modulation::Qpsk);
        assert_eq!(reserved(McsTable::Downlink, 29), Some(qpsk));
        assert_eq!(reserved(McsTable::Downlink256Qam, 28), Some(qpsk));
        assert_eq!(reserved(McsTable::Uplink, 30), Some(Reserved::RedundancyVersion(2)));
    }

    #[test]
    fn without_64qam_the_highest_uplink_rows_are_16qam() {
        let (modulation, _) = mcs(McsTable::Uplink, 28).expect("not reserved");
        assert_eq!(without_uplink_64qam(modulation), Modulation::Qam16);
        assert_eq!(without_uplink_64qam(Modulation::Qpsk), Modulation::Qpsk);
    }
}
