//! Error rates of transport blocks.

use libm::log2f;

use super::curve::{AGAINST, Curve, rate};
use super::tables;
use crate::Modulation;
use crate::lte::{self, TbsIndex};
use crate::nr::{self, McsTable};

/// The loss probability of a transport block, by SINR. Made once for a grant;
/// [`error_rate`](Self::error_rate) is cheap.
#[derive(Clone, Copy, Debug)]
pub struct Bler {
    /// Curves of the next smaller and the next larger simulated code block.
    curves: [&'static Curve; 2],
    /// Weight of the second curve.
    weight: f32,
    /// Code blocks. Each of them has to arrive.
    blocks: u32,
    simulated: bool,
}

impl Bler {
    /// Error rate of the transport block at a SINR in dB. Range 0..=1; it never rises with the
    /// SINR.
    #[inline]
    pub fn error_rate(&self, sinr_db: f32) -> f32 {
        let first = self.curves[0].against(sinr_db);
        let against = if self.weight > 0.0 {
            first + (self.curves[1].against(sinr_db) - first) * self.weight
        } else {
            first
        };
        any_of(rate(against), self.blocks)
    }

    /// SINR in dB at which the error rate has fallen to `wanted`, to a thousandth of a decibel.
    /// Range -60..=60.
    pub fn sinr_db(&self, wanted: f32) -> f32 {
        let (mut low, mut high) = (-60.0f32, 60.0f32);
        while high - low > 0.001 {
            let middle = low.midpoint(high);
            if self.error_rate(middle) > wanted {
                low = middle;
            } else {
                high = middle;
            }
        }
        high
    }

    /// Whether the curves were simulated for this MCS, and not shifted from another.
    pub const fn is_simulated(&self) -> bool {
        self.simulated
    }
}

/// The probability that one of several independent blocks is lost, if each is lost with this one.
#[inline]
fn any_of(each: f32, blocks: u32) -> f32 {
    if blocks == 1 {
        return each;
    }
    // In double precision, to keep small probabilities. Repeated squaring is fast because there are
    // few blocks.
    let (mut all, mut power, mut left) = (1.0f64, 1.0 - f64::from(each), blocks);
    while left > 0 {
        if left & 1 == 1 {
            all *= power;
        }
        power *= power;
        left >>= 1;
    }
    (1.0 - all) as f32
}

/// Code block sizes of the simulations of NR.
const NR_SIZES: [f32; 5] = [24.0, 100.0, 500.0, 1000.0, 2000.0];

/// Curves of NR by MCS table, I_MCS and code block size.
static NR: [[[Curve; 5]; 29]; 6] = {
    let mut curves = [[[Curve::through([0.0, 1.0, 2.0], AGAINST); 5]; 29]; 6];
    let mut at = 0;
    while at < 6 * 29 * 5 {
        let (table, row, size) = (at / (29 * 5), at / 5 % 29, at % 5);
        curves[table][row][size] = Curve::through(tables::NR[table][row][size].0, AGAINST);
        at += 1;
    }
    curves
};

/// Error rates of an NR transport block; `None` for a reserved I_MCS or an empty block.
///
/// Uses Sionna's AWGN curves of the MCS for code blocks of 24 to 2000 bits. Between them the odds
/// are interpolated over the logarithm of the size. Larger code blocks count as 2000. All code
/// blocks of a transport block must arrive.
pub fn nr_bler(table: McsTable, i_mcs: u8, tbs_bits: u32) -> Option<Bler> {
    let scheme = nr::mcs(table, i_mcs).filter(|_| tbs_bits > 0)?;
    let blocks = nr::code_blocks(tbs_bits, scheme.rate_2048);
    let curves = &NR[table as usize][usize::from(i_mcs)];
    let bits = blocks.bits as f32;
    let above = NR_SIZES.iter().position(|size| bits <= *size).unwrap_or(NR_SIZES.len() - 1);
    let below = above.saturating_sub(1);
    let weight = if above == below {
        0.0
    } else {
        let [from, to] = [below, above].map(|size| log2f(NR_SIZES[size]));
        ((log2f(bits) - from) / (to - from)).clamp(0.0, 1.0)
    };
    let simulated = |size: usize| tables::NR[table as usize][usize::from(i_mcs)][size].1;
    Some(Bler {
        curves: [&curves[below], &curves[above]],
        weight,
        blocks: blocks.count,
        simulated: simulated(above) && simulated(below),
    })
}

/// Index of the largest simulated size of NR, which is used for thresholds.
pub(super) const LARGEST: usize = NR_SIZES.len() - 1;

/// Curves of LTE by modulation from QPSK up, and I_TBS.
static LTE: [[Curve; 34]; 4] = {
    let mut curves = [[Curve::through([0.0, 1.0, 2.0], AGAINST); 34]; 4];
    let mut at = 0;
    while at < 4 * 34 {
        let (modulation, row) = (at / 34, at % 34);
        let (points, blocks, _) = tables::LTE[modulation][row];
        curves[modulation][row] = Curve::through(points, of_each(blocks));
        at += 1;
    }
    curves
};

/// Logarithm of the odds against the loss of a single code block, if at least one of `blocks` (1 to
/// 5) is lost with a probability of 50, 10 and 1 %: p = 1 - (1 - P)^(1/n).
const fn of_each(blocks: u32) -> [f32; 3] {
    match blocks {
        1 => [0.0, 2.197225, 4.59512],
        2 => [0.881374, 2.917059, 5.290783],
        3 => [1.347377, 3.331368, 5.697086],
        4 => [1.664913, 3.623463, 5.985187],
        5 => [1.905835, 3.849251, 6.208582],
        _ => panic!("25 resource blocks hold at most five code blocks"),
    }
}

/// Error rates of an LTE transport block in either direction; `None` for BPSK and 1024QAM or an
/// empty block.
///
/// Uses OpenAirInterface's AWGN curves of 25 resource blocks by modulation and I_TBS. A block of
/// that size has one to five code blocks. The error rate of one code block gives the rate for
/// another number of them. Curves of I_MCS 28 and of combinations that only uplinks have are
/// shifted from the nearest row of the modulation, and those of 256QAM from NR.
pub fn lte_bler(modulation: Modulation, index: TbsIndex, tbs_bits: u32) -> Option<Bler> {
    let at = match modulation {
        Modulation::Qpsk => 0,
        Modulation::Qam16 => 1,
        Modulation::Qam64 => 2,
        Modulation::Qam256 => 3,
        Modulation::Bpsk | Modulation::Qam1024 => return None,
    };
    let row = usize::from(index.row());
    (tbs_bits > 0).then(|| Bler {
        curves: [&LTE[at][row]; 2],
        weight: 0.0,
        blocks: lte::code_blocks(tbs_bits),
        simulated: tables::LTE[at][row].2,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::{prop, prop_assert, prop_assert_eq, proptest};
    use sounding_units::Prb;
    use std::vec::Vec;

    #[test]
    fn each_gain_equals_its_formula() {
        for blocks in 1..=5 {
            for (value, whole) in of_each(blocks).into_iter().zip([0.5, 0.1, 0.01f64]) {
                let each = 1.0 - (1.0 - whole).powf(1.0 / f64::from(blocks));
                let odds = ((1.0 - each) / each).ln();
                assert!((f64::from(value) - odds).abs() < 1e-4, "{blocks}: {value} {odds}");
            }
        }
    }

    #[test]
    fn simulated_curves_of_nr_are_met_where_they_were_simulated() {
        // Sionna, PDSCH table 1, I_MCS 20, code blocks of 1000 bits: 10 % at 11.55 dB. A block of
        // 984 bits has that.
        let bler = nr_bler(McsTable::Qam64, 20, 984).expect("not reserved");
        assert!(bler.is_simulated());
        assert!((bler.sinr_db(0.1) - 11.55).abs() < 0.01, "{}", bler.sinr_db(0.1));
    }

    #[test]
    fn simulated_curves_of_lte_are_met_at_25_blocks() {
        // OpenAirInterface, I_MCS 20: 9912 bits, two code blocks, 10 % at 12.05 dB.
        let (modulation, index) = lte::mcs(lte::McsTable::Downlink, 20).expect("not reserved");
        let bits = lte::tbs_bits(index, Prb::new(25), 1).expect("in the table");
        let bler = lte_bler(modulation, index, bits).expect("it is known");
        assert!(bler.is_simulated());
        for (rate, sinr) in [(0.5, 11.80), (0.1, 12.05), (0.01, 12.30)] {
            assert!((bler.sinr_db(rate) - sinr).abs() < 0.01, "{rate}: {}", bler.sinr_db(rate));
        }
    }

    #[test]
    fn larger_transport_blocks_are_lost_more_often() {
        let of = |bits| nr_bler(McsTable::Qam64, 20, bits).expect("not reserved").error_rate(11.8);
        assert!(of(80_000) > of(8_000));
        let (modulation, index) = lte::mcs(lte::McsTable::Downlink, 20).expect("not reserved");
        let of = |bits| lte_bler(modulation, index, bits).expect("it is known").error_rate(12.2);
        assert!(of(80_000) > of(8_000) && of(8_000) > of(800));
    }

    #[test]
    fn a_shifted_curve_is_marked_as_not_simulated() {
        assert!(!nr_bler(McsTable::Qam64, 0, 2000).expect("not reserved").is_simulated());
        assert!(!nr_bler(McsTable::Qam256, 27, 8000).expect("not reserved").is_simulated());
        let top = TbsIndex::new(26).expect("a row");
        assert!(!lte_bler(Modulation::Qam64, top, 75_376).expect("it is known").is_simulated());
        assert!(nr_bler(McsTable::Qam64, 29, 2000).is_none());
        assert!(nr_bler(McsTable::Qam64, 3, 0).is_none());
        assert!(lte_bler(Modulation::Qam1024, top, 8).is_none());
    }

    #[test]
    fn a_higher_mcs_needs_more_signal() {
        // At sizes where the grid of simulated SINRs is fine enough: whole code blocks. Excluded
        // are the two changes of modulation in NR's first table, where the efficiency
        // hardly changes.
        for table in [McsTable::Qam64, McsTable::Qam256, McsTable::Qam64LowSe, McsTable::Qam1024] {
            let needed: Vec<f32> = (0..29)
                .filter_map(|i_mcs| nr_bler(table, i_mcs, 1960))
                .map(|bler| bler.sinr_db(0.1))
                .collect();
            assert!(needed.is_sorted(), "{table:?}: {needed:?}");
        }
        for table in [lte::McsTable::Downlink, lte::McsTable::Downlink256Qam, lte::McsTable::Uplink]
        {
            let needed: Vec<f32> = (0..29)
                .filter_map(|i_mcs| lte::mcs(table, i_mcs))
                .filter_map(|(modulation, index)| {
                    let bits = lte::tbs_bits(index, Prb::new(25), 1)?;
                    lte_bler(modulation, index, bits)
                })
                .map(|bler| bler.sinr_db(0.1))
                .collect();
            assert!(needed.is_sorted(), "{table:?}: {needed:?}");
        }
    }

    proptest! {
        #[test]
        fn more_signal_never_means_more_errors_of_nr(
            table in prop::sample::select(&McsTable::ALL[..]), i_mcs in 0..28u8,
            bits in 24..200_000u32, at in -20.0..40.0f32, more in 0.0..5.0f32,
        ) {
            if let Some(bler) = nr_bler(table, i_mcs, bits) {
                let (near, far) = (bler.error_rate(at), bler.error_rate(at + more));
                prop_assert!((0.0..=1.0).contains(&near) && far <= near, "{near} {far}");
            }
        }

        #[test]
        fn more_signal_never_means_more_errors_of_lte(
            modulation in prop::sample::select(&[Modulation::Qpsk, Modulation::Qam16, Modulation::Qam64, Modulation::Qam256][..]),
            row in 0..34u8, bits in 16..100_000u32, at in -20.0..40.0f32, more in 0.0..5.0f32,
        ) {
            let index = TbsIndex::new(row).expect("a row");
            let bler = lte_bler(modulation, index, bits).expect("it is known");
            let (near, far) = (bler.error_rate(at), bler.error_rate(at + more));
            prop_assert!((0.0..=1.0).contains(&near) && far <= near, "{near} {far}");
        }

        #[test]
        fn one_of_several_is_lost_more_often_than_one(each in 0.0..=1.0f32, blocks in 1..40u32) {
            let any = any_of(each, blocks);
            prop_assert!(any >= each - 1e-6 && any <= 1.0);
            prop_assert_eq!(any_of(each, 1), each);
        }
    }
}
