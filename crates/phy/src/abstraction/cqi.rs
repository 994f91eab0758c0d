//! From SINR to CQI: the highest whose block would be lost at most once in ten times (TS 36.213
//! §7.2.3, TS 38.214 §5.2.2.1).

use super::bler::LARGEST;
use super::curve::{AGAINST, Curve};
use super::tables;
use crate::{lte, nr};

/// The simulated channels of LTE's CQI curves.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Channel {
    /// White noise only.
    Awgn,
    /// Typical Urban: fading is within the curve, and the SINR is its mean.
    TypicalUrban,
}

static LTE_CURVES: [[Curve; 15]; 2] = {
    let mut curves = [[Curve::through([0.0, 1.0, 2.0], AGAINST); 15]; 2];
    let mut at = 0;
    while at < 15 {
        curves[0][at] = Curve::through(tables::CQI_AWGN[at], AGAINST);
        curves[1][at] = Curve::through(tables::CQI_TU[at], AGAINST);
        at += 1;
    }
    curves
};

/// Error rate of a block with the modulation and code rate of an LTE CQI (TS 36.213 Table 7.2.3-1),
/// by LTE-Sim; `None` for CQI 0 and above 15.
pub fn cqi_bler(channel: Channel, index: u8, sinr_db: f32) -> Option<f32> {
    let curve = LTE_CURVES[channel as usize].get(usize::from(index).checked_sub(1)?)?;
    Some(curve.error_rate(sinr_db))
}

/// SINR at which NR loses one in ten code blocks of 2000 bits with this modulation and rate: every
/// CQI is a row of one of the MCS tables, if possible of the table it is used with.
const fn nr_threshold(row: (u8, u16), used_with: nr::McsTable) -> f32 {
    let mcs_tables =
        [used_with, nr::McsTable::Qam64, nr::McsTable::Qam256, nr::McsTable::Qam64LowSe];
    let mut table = 0;
    while table < mcs_tables.len() {
        let rows = mcs_tables[table].rows();
        let mut i_mcs = 0;
        while i_mcs < rows.len() {
            if rows[i_mcs].0 == row.0 && rows[i_mcs].1 == row.1 {
                return tables::NR[mcs_tables[table] as usize][i_mcs][LARGEST].0[1];
            }
            i_mcs += 1;
        }
        table += 1;
    }
    panic!("a CQI is no row of an MCS table");
}

const fn nr_thresholds(table: nr::CqiTable) -> [f32; 15] {
    let mut thresholds = [0.0; 15];
    let mut at = 0;
    while at < 15 {
        thresholds[at] = nr_threshold(table.rows()[at], table.mcs_table());
        at += 1;
    }
    thresholds
}

static NR_THRESHOLDS: [[f32; 15]; 3] = [
    nr_thresholds(nr::CqiTable::Table1),
    nr_thresholds(nr::CqiTable::Table2),
    nr_thresholds(nr::CqiTable::Table3),
];

/// Thresholds rise, so as many CQIs are reached as thresholds passed.
fn reached(thresholds: &[f32; 15], sinr_db: f32) -> u8 {
    thresholds.iter().map(|threshold| u8::from(*threshold <= sinr_db)).sum()
}

/// The CQI that an LTE device reports at a SINR, by the curves of [`lte_bler`](super::lte_bler) at
/// the CQI's code rate. Range 0..=15.
pub fn lte_cqi(table: lte::CqiTable, sinr_db: f32) -> u8 {
    reached(&tables::LTE_CQI[table as usize], sinr_db)
}

/// The CQI that an NR device reports at a SINR, by the curves of [`nr_bler`](super::nr_bler) for
/// code blocks of 2000 bits. Range 0..=15. Table 3 is meant for an error rate of 1 in 100 000,
/// which the simulations do not reach: its CQIs too are those of 1 in 10.
pub fn nr_cqi(table: nr::CqiTable, sinr_db: f32) -> u8 {
    reached(&NR_THRESHOLDS[table as usize], sinr_db)
}

/// The SINR in dB from which LTE's CQI 1..=15 is reported; `None` for others.
pub fn lte_cqi_threshold_db(table: lte::CqiTable, index: u8) -> Option<f32> {
    tables::LTE_CQI[table as usize].get(usize::from(index).checked_sub(1)?).copied()
}

/// The SINR in dB from which NR's CQI 1..=15 is reported; `None` for others.
pub fn nr_cqi_threshold_db(table: nr::CqiTable, index: u8) -> Option<f32> {
    NR_THRESHOLDS[table as usize].get(usize::from(index).checked_sub(1)?).copied()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Scheme;
    use crate::abstraction::{lte_bler, nr_bler};
    use sounding_units::Prb;

    const LTE: [lte::CqiTable; 2] = [lte::CqiTable::Qam64, lte::CqiTable::Qam256];

    #[test]
    fn thresholds_rise_and_a_cqi_is_reported_from_its_own_on() {
        for table in LTE {
            for index in 1..=15 {
                let threshold = lte_cqi_threshold_db(table, index).expect("a CQI");
                assert_eq!(lte_cqi(table, threshold), index, "{table:?}");
                assert_eq!(lte_cqi(table, threshold - 0.01), index - 1, "{table:?}");
            }
        }
        for table in nr::CqiTable::ALL {
            for index in 1..=15 {
                let threshold = nr_cqi_threshold_db(table, index).expect("a CQI");
                assert_eq!(nr_cqi(table, threshold), index, "{table:?}");
                assert_eq!(nr_cqi(table, threshold - 0.01), index - 1, "{table:?}");
            }
        }
        assert_eq!(lte_cqi(lte::CqiTable::Qam64, f32::NEG_INFINITY), 0);
        assert_eq!(nr_cqi(nr::CqiTable::Table2, f32::INFINITY), 15);
        assert_eq!(lte_cqi_threshold_db(lte::CqiTable::Qam64, 0), None);
        assert_eq!(nr_cqi_threshold_db(nr::CqiTable::Table1, 16), None);
    }

    #[test]
    fn a_block_sent_as_its_cqi_says_is_lost_about_once_in_ten_times_or_less() {
        // A block of the simulated size. The first CQI of some tables is below their lowest MCS.
        const MOST: f32 = 0.12;
        for table in nr::CqiTable::ALL {
            for index in 1..=15 {
                let at = nr_cqi_threshold_db(table, index).expect("a CQI");
                let i_mcs = nr::mcs_of_cqi(table, index, table.mcs_table()).expect("an MCS");
                let scheme = nr::mcs(table.mcs_table(), i_mcs).map(Scheme::bits_2048);
                if scheme > nr::cqi(table, index).map(Scheme::bits_2048) {
                    assert_eq!((index, i_mcs), (1, 0));
                    continue;
                }
                let rate = nr_bler(table.mcs_table(), i_mcs, 1960).map(|bler| bler.error_rate(at));
                assert!(rate < Some(MOST), "{table:?} CQI {index}: {rate:?}");
            }
        }
        for table in LTE {
            for index in 2..=15 {
                let at = lte_cqi_threshold_db(table, index).expect("a CQI");
                let i_mcs = lte::mcs_of_cqi(table, index, Prb::new(25)).expect("an MCS");
                let (modulation, row) = lte::mcs(table.mcs_table(), i_mcs).expect("not reserved");
                let bits = lte::tbs_bits(row, Prb::new(25), 1).expect("in the table");
                let rate = lte_bler(modulation, row, bits).map(|bler| bler.error_rate(at));
                assert!(rate < Some(MOST), "{table:?} CQI {index}: {rate:?}");
            }
        }
    }

    #[test]
    fn fading_costs_signal() {
        for index in 1..=15 {
            let needed = |channel| {
                (-100..500)
                    .map(|tenth| tenth as f32 / 10.0)
                    .find(|sinr| cqi_bler(channel, index, *sinr).is_some_and(|rate| rate <= 0.1))
            };
            assert!(needed(Channel::TypicalUrban) > needed(Channel::Awgn), "CQI {index}");
        }
        assert_eq!(cqi_bler(Channel::Awgn, 0, 0.0), None);
        assert_eq!(cqi_bler(Channel::Awgn, 16, 0.0), None);
    }
}
