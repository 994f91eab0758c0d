//! Modulation and coding schemes (TS 38.214 §5.1.3.1, §6.1.4.1).

use super::tables;
use crate::{Modulation, Scheme};

/// The table that maps I_MCS to modulation and target code rate.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum McsTable {
    /// TS 38.214 Table 5.1.3.1-1, the default in both directions.
    Qam64,
    /// TS 38.214 Table 5.1.3.1-2.
    Qam256,
    /// TS 38.214 Table 5.1.3.1-3, of low spectral efficiency.
    Qam64LowSe,
    /// TS 38.214 Table 5.1.3.1-4, of Release 17. One source only vouches for its rows.
    Qam1024,
    /// TS 38.214 Table 6.1.4.1-1, for uplinks with transform precoding.
    Precoding,
    /// TS 38.214 Table 6.1.4.1-2, the same with low spectral efficiency.
    PrecodingLowSe,
}

impl McsTable {
    /// Every table.
    pub const ALL: [Self; 6] = [
        Self::Qam64,
        Self::Qam256,
        Self::Qam64LowSe,
        Self::Qam1024,
        Self::Precoding,
        Self::PrecodingLowSe,
    ];

    pub(crate) const fn rows(self) -> &'static [(u8, u16)] {
        match self {
            Self::Qam64 => &tables::MCS_64QAM,
            Self::Qam256 => &tables::MCS_256QAM,
            Self::Qam64LowSe => &tables::MCS_64QAM_LOW_SE,
            Self::Qam1024 => &tables::MCS_1024QAM,
            Self::Precoding => &tables::MCS_PRECODING,
            Self::PrecodingLowSe => &tables::MCS_PRECODING_LOW_SE,
        }
    }

    const fn reserved(self) -> &'static [u8] {
        match self {
            Self::Qam64 => &tables::MCS_64QAM_RESERVED,
            Self::Qam256 => &tables::MCS_256QAM_RESERVED,
            Self::Qam64LowSe => &tables::MCS_64QAM_LOW_SE_RESERVED,
            Self::Qam1024 => &tables::MCS_1024QAM_RESERVED,
            Self::Precoding => &tables::MCS_PRECODING_RESERVED,
            Self::PrecodingLowSe => &tables::MCS_PRECODING_LOW_SE_RESERVED,
        }
    }
}

/// Modulation and target code rate of an I_MCS; `None` for the reserved values, which signal a
/// retransmission of the size sent first. Rows of π/2-BPSK are those of a device that is configured
/// for it: for others see [`Scheme::without_bpsk`].
pub const fn mcs(table: McsTable, i_mcs: u8) -> Option<Scheme> {
    let rows = table.rows();
    if (i_mcs as usize) < rows.len() { Some(Scheme::of_row(rows[i_mcs as usize])) } else { None }
}

/// The modulation that a reserved I_MCS gives a retransmission; `None` for those of new blocks, and
/// above 31.
pub fn reserved(table: McsTable, i_mcs: u8) -> Option<Modulation> {
    let at = usize::from(i_mcs).checked_sub(table.rows().len())?;
    Modulation::of_order(*table.reserved().get(at)?)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_reserved_has_no_rate_and_the_rest_has_one() {
        for table in McsTable::ALL {
            for i_mcs in 0..=31 {
                assert_ne!(mcs(table, i_mcs).is_some(), reserved(table, i_mcs).is_some());
            }
            assert_eq!((mcs(table, 32), reserved(table, 32)), (None, None));
        }
    }

    #[test]
    fn a_device_without_bpsk_sends_as_many_bits_by_qpsk() {
        for table in [McsTable::Precoding, McsTable::PrecodingLowSe] {
            for scheme in (0..28).filter_map(|i| mcs(table, i)) {
                let other = scheme.without_bpsk();
                assert!(other.modulation >= Modulation::Qpsk);
                assert_eq!(other.bits_2048(), scheme.bits_2048());
            }
        }
    }
}
