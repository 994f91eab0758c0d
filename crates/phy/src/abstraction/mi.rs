use libm::{erf, expm1, log1p};

use super::tables;
use crate::Modulation;

/// A code rate whose code block errors LENA (ns-3) gives by mutual information. Accumulated over
/// transmissions it models incremental redundancy.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct MiRate(u8);

impl MiRate {
    /// Rates: 38, of three modulations.
    pub const COUNT: u8 = tables::MI_RATES.len() as u8;

    /// A rate by its index.
    pub const fn new(index: u8) -> Option<Self> {
        if index < Self::COUNT { Some(Self(index)) } else { None }
    }

    /// The rate of an I_MCS of LTE's table up to 64QAM; `None` above 28.
    pub fn of_mcs(i_mcs: u8) -> Option<Self> {
        let at = tables::MI_RATES.iter().position(|row| row.2 == i_mcs && i_mcs <= 28)?;
        Some(Self(at as u8))
    }

    /// Modulation.
    pub fn modulation(self) -> Option<Modulation> {
        Modulation::of_order(tables::MI_RATES[usize::from(self.0)].0)
    }

    /// Effective code rate.
    pub fn code_rate(self) -> f32 {
        tables::MI_RATES[usize::from(self.0)].1
    }

    /// Error rate of a code block by the mean mutual information of its bits, 0..=1: half of 1 -
    /// erf((I - b) / (√2 c)). Blocks take the largest simulated size that is not above theirs.
    pub fn code_block_error_rate(self, bits: u32, information: f64) -> f64 {
        let at = tables::MI_SIZES.partition_point(|size| *size <= bits).saturating_sub(1);
        let (b, c) = tables::MI_FITS[usize::from(self.0)][at];
        let away = (information - f64::from(b)) / (core::f64::consts::SQRT_2 * f64::from(c));
        0.5 * (1.0 - erf(away))
    }

    /// Error rate of a transport block of several equal code blocks: one of them is enough.
    pub fn error_rate(self, code_blocks: u32, bits_each: u32, information: f64) -> f64 {
        let each = self.code_block_error_rate(bits_each, information);
        -expm1(f64::from(code_blocks) * log1p(-each))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::{prop_assert, proptest};

    fn all() -> impl Iterator<Item = MiRate> {
        (0..MiRate::COUNT).filter_map(MiRate::new)
    }

    #[test]
    fn every_mcs_of_lte_up_to_64qam_has_a_rate() {
        for i_mcs in 0..=28 {
            let rate = MiRate::of_mcs(i_mcs).expect("LENA has it");
            assert!(rate.modulation() <= Some(Modulation::Qam64));
        }
        assert_eq!((MiRate::of_mcs(29), MiRate::of_mcs(u8::MAX)), (None, None));
        assert_eq!(MiRate::new(MiRate::COUNT), None);
    }

    #[test]
    fn higher_rates_of_a_modulation_need_more_information() {
        let half = |rate: MiRate| tables::MI_FITS[usize::from(rate.0)][8].0;
        for pair in all().collect::<std::vec::Vec<_>>().windows(2) {
            if pair[0].modulation() == pair[1].modulation() {
                assert!(pair[0].code_rate() < pair[1].code_rate(), "{pair:?}");
                assert!(half(pair[0]) < half(pair[1]), "{pair:?}");
            }
        }
    }

    proptest! {
        #[test]
        fn more_information_never_means_more_errors(
            index in 0..MiRate::COUNT, bits in 24..7000u32, blocks in 1..20u32,
            at in 0.0..1.0f64, more in 0.0..0.5f64,
        ) {
            let rate = MiRate::new(index).expect("a rate");
            let of = |information| rate.error_rate(blocks, bits, information);
            prop_assert!((0.0..=1.0).contains(&of(at)));
            prop_assert!(of(at + more) <= of(at));
            prop_assert!(of(at) >= rate.code_block_error_rate(bits, at) - 1e-12);
        }
    }
}
