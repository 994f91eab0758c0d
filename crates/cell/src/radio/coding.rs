//! The tables of link adaptation: MCS, CQI and their curves.

use serde::Deserialize;
use sounding_phy::abstraction::{
    Bler, eesm_beta, lte_bler, lte_cqi, lte_cqi_threshold_db, nr_bler, nr_cqi, nr_cqi_threshold_db,
};
use sounding_phy::{lte, nr};
use sounding_units::Prb;

/// Most MCS of a table.
pub(super) const MCS_COUNT: usize = 29;

/// The MCS table of one direction of a link, and the CQI table that goes with it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Deserialize)]
pub enum Coding {
    /// LTE's downlink (TS 36.213 Tables 7.1.7.1-1 and 7.2.3-1).
    #[serde(rename = "lte-64qam")]
    Lte64Qam,
    /// LTE's downlink with 256QAM (TS 36.213 Tables 7.1.7.1-1A and 7.2.3-2).
    #[serde(rename = "lte-256qam")]
    Lte256Qam,
    /// LTE's uplink (TS 36.213 Table 8.6.1-1).
    #[serde(rename = "lte-uplink")]
    LteUplink,
    /// NR up to 64QAM, either direction (TS 38.214 Tables 5.1.3.1-1 and 5.2.2.1-2).
    #[serde(rename = "nr-64qam")]
    Nr64Qam,
    /// NR up to 256QAM, either direction (TS 38.214 Tables 5.1.3.1-2 and 5.2.2.1-3).
    #[serde(rename = "nr-256qam")]
    Nr256Qam,
    /// NR at low spectral efficiency, either direction (TS 38.214 Tables 5.1.3.1-3 and 5.2.2.1-4).
    #[serde(rename = "nr-64qam-low-se")]
    Nr64QamLowSe,
}

#[derive(Clone, Copy)]
enum Tables {
    Lte(lte::McsTable, lte::CqiTable),
    Nr(nr::McsTable, nr::CqiTable),
}

impl Coding {
    const fn tables(self) -> Tables {
        match self {
            Self::Lte64Qam => Tables::Lte(lte::McsTable::Downlink, lte::CqiTable::Qam64),
            Self::Lte256Qam => Tables::Lte(lte::McsTable::Downlink256Qam, lte::CqiTable::Qam256),
            Self::LteUplink => Tables::Lte(lte::McsTable::Uplink, lte::CqiTable::Qam64),
            Self::Nr64Qam => Tables::Nr(nr::McsTable::Qam64, nr::CqiTable::Table1),
            Self::Nr256Qam => Tables::Nr(nr::McsTable::Qam256, nr::CqiTable::Table2),
            Self::Nr64QamLowSe => Tables::Nr(nr::McsTable::Qam64LowSe, nr::CqiTable::Table3),
        }
    }

    /// MCS that are not reserved: 0 up to this, exclusive.
    pub const fn mcs_count(self) -> usize {
        match self {
            Self::Lte256Qam | Self::Nr256Qam => 28,
            Self::Lte64Qam | Self::LteUplink | Self::Nr64Qam | Self::Nr64QamLowSe => 29,
        }
    }

    /// The CQI a device reports of a layer with this SINR; range 0..=15.
    pub fn cqi_at(self, sinr_db: f32) -> u8 {
        match self.tables() {
            Tables::Lte(_, table) => lte_cqi(table, sinr_db),
            Tables::Nr(_, table) => nr_cqi(table, sinr_db),
        }
    }

    /// The SINR from which a CQI is reported, dB. `None` above 15, and for 0, which means that no
    /// SINR is enough.
    pub fn cqi_from_db(self, cqi: u8) -> Option<f32> {
        match self.tables() {
            Tables::Lte(_, table) => lte_cqi_threshold_db(table, cqi),
            Tables::Nr(_, table) => nr_cqi_threshold_db(table, cqi),
        }
    }

    /// The error rates of a block of this many bits; `None` for a reserved MCS or no bits.
    pub fn bler(self, mcs: u8, bits: u32) -> Option<Bler> {
        match self.tables() {
            Tables::Lte(table, _) => {
                let (modulation, index) = lte::mcs(table, mcs)?;
                lte_bler(modulation, index, bits)
            }
            Tables::Nr(table, _) => nr_bler(table, mcs, bits),
        }
    }

    /// β of the exponential effective SINR mapping; `None` for a reserved MCS. LTE takes those of
    /// the NR row with the same modulation and nearly the same rate: its downlink tables have
    /// them under the same index.
    pub fn eesm_beta(self, mcs: u8) -> Option<f32> {
        match self {
            Self::Lte64Qam | Self::Nr64Qam => eesm_beta(nr::McsTable::Qam64, mcs),
            Self::Lte256Qam | Self::Nr256Qam => eesm_beta(nr::McsTable::Qam256, mcs),
            Self::Nr64QamLowSe => eesm_beta(nr::McsTable::Qam64LowSe, mcs),
            // QPSK goes up to 10 and 16QAM from 11 up to 20, where downlinks have 9 and 10 up to
            // 16.
            Self::LteUplink => {
                let downlink = match mcs {
                    0..=10 => mcs.min(9),
                    11..=20 => mcs.min(16),
                    _ => mcs,
                };
                eesm_beta(nr::McsTable::Qam64, downlink)
            }
        }
    }

    /// Data bits of each MCS per resource element of a layer; 0 for an MCS that the table does not
    /// have. Those of LTE depend a little on the block's width: these are for 25 resource
    /// blocks of 150 elements, like the error curves.
    pub(super) fn bits_per_element(self) -> [f32; MCS_COUNT] {
        const ELEMENTS: f32 = 25.0 * 150.0;
        core::array::from_fn(|mcs| match self.tables() {
            Tables::Lte(table, _) => lte::mcs(table, mcs as u8)
                .and_then(|(_, index)| lte::tbs_bits(index, Prb::new(25), 1))
                .map_or(0.0, |bits| bits as f32 / ELEMENTS),
            Tables::Nr(table, _) => {
                nr::mcs(table, mcs as u8).map_or(0.0, sounding_phy::Scheme::efficiency)
            }
        })
    }

    /// SINR at which each MCS loses one block in ten, dB, for blocks of the simulated size;
    /// infinite for an MCS that the table does not have.
    pub(super) fn thresholds_db(self) -> [f32; MCS_COUNT] {
        core::array::from_fn(|mcs| {
            let mcs = mcs as u8;
            let bits = match self.tables() {
                Tables::Lte(table, _) => lte::mcs(table, mcs)
                    .and_then(|(_, index)| lte::tbs_bits(index, Prb::new(25), 1)),
                Tables::Nr(..) => Some(1960),
            };
            let bler = bits.and_then(|bits| self.bler(mcs, bits));
            bler.map_or(f32::INFINITY, |bler| bler.sinr_db(0.1))
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const ALL: [Coding; 6] = [
        Coding::Lte64Qam,
        Coding::Lte256Qam,
        Coding::LteUplink,
        Coding::Nr64Qam,
        Coding::Nr256Qam,
        Coding::Nr64QamLowSe,
    ];

    #[test]
    fn every_mcs_has_a_threshold_and_a_beta_and_no_other_has() {
        for coding in ALL {
            let thresholds = coding.thresholds_db();
            for (mcs, threshold) in thresholds.iter().enumerate() {
                let has = mcs < coding.mcs_count();
                assert_eq!(threshold.is_finite(), has, "{coding:?} {mcs}: {threshold}");
                assert_eq!(coding.eesm_beta(mcs as u8).is_some(), has, "{coding:?} {mcs}");
            }
            assert_eq!(coding.eesm_beta(31), None);
            assert!(coding.bler(31, 1000).is_none() && coding.bler(3, 0).is_none());
        }
    }

    #[test]
    fn betas_of_lte_are_of_rows_with_the_modulation_of_theirs() {
        for (coding, table, of) in [
            (Coding::Lte64Qam, lte::McsTable::Downlink, nr::McsTable::Qam64),
            (Coding::Lte256Qam, lte::McsTable::Downlink256Qam, nr::McsTable::Qam256),
            (Coding::LteUplink, lte::McsTable::Uplink, nr::McsTable::Qam64),
        ] {
            for mcs in 0..coding.mcs_count() as u8 {
                let (modulation, _) = lte::mcs(table, mcs).expect("not reserved");
                let beta = coding.eesm_beta(mcs);
                let same = |row: u8| {
                    nr::mcs(of, row).is_some_and(|scheme| scheme.modulation == modulation)
                        && eesm_beta(of, row) == beta
                };
                assert!((0..29).any(same), "{coding:?} {mcs}");
            }
        }
    }

    #[test]
    fn a_device_reports_a_cqi_from_the_sinr_the_base_station_reads_in_it() {
        for coding in ALL {
            for cqi in 1..=15 {
                let from = coding.cqi_from_db(cqi).expect("a CQI");
                assert_eq!(coding.cqi_at(from), cqi, "{coding:?}");
                assert_eq!(coding.cqi_at(from - 0.01), cqi - 1, "{coding:?}");
            }
            assert_eq!((coding.cqi_from_db(0), coding.cqi_from_db(16)), (None, None));
        }
    }
}
