use sounding_units::{Prb, Rate};

use super::{FrequencyRange, Numerology};

/// One carrier of the highest rate a device supports (TS 38.306 §4.1.2).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PeakCarrier {
    /// Layers at most.
    pub layers: u8,
    /// Bits a symbol at most.
    pub modulation: crate::Modulation,
    /// Scaling factor in percent: 100, 80, 75 or 40.
    pub scaling_percent: u8,
    /// Its resource blocks.
    pub prb: Prb,
    /// Its subcarrier spacing.
    pub numerology: Numerology,
    /// Its frequency range.
    pub range: FrequencyRange,
    /// Uplink rather than downlink.
    pub uplink: bool,
}

impl PeakCarrier {
    /// Overhead of control and reference signals, in percent.
    const fn overhead_percent(self) -> u128 {
        match (self.range, self.uplink) {
            (FrequencyRange::Fr1, false) => 14,
            (FrequencyRange::Fr2, false) => 18,
            (FrequencyRange::Fr1, true) => 8,
            (FrequencyRange::Fr2, true) => 10,
        }
    }
}

/// The highest rate of carriers together, as if every slot were theirs (TS 38.306 §4.1.2).
pub fn peak_rate(carriers: &[PeakCarrier]) -> Rate {
    let bits = |carrier: &PeakCarrier| {
        // The highest code rate is 948/1024; a millisecond has 14 symbols for each of its slots.
        let symbols_per_sec = 14_000 * u128::from(carrier.numerology.slots_per_subframe());
        let each = u128::from(carrier.layers)
            * u128::from(carrier.modulation.order())
            * u128::from(carrier.scaling_percent)
            * 948
            * 12
            * u128::from(carrier.prb.count())
            * symbols_per_sec
            * (100 - carrier.overhead_percent());
        each / (1024 * 100 * 100)
    };
    let sum: u128 = carriers.iter().map(bits).sum();
    Rate::from_bits_per_sec(u64::try_from(sum).unwrap_or(u64::MAX))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Modulation;

    #[test]
    fn a_carrier_of_100_mhz_peaks_at_2337_mbit_per_second() {
        let carrier = PeakCarrier {
            layers: 4,
            modulation: Modulation::Qam256,
            scaling_percent: 100,
            prb: Prb::new(273),
            numerology: Numerology::KHZ_30,
            range: FrequencyRange::Fr1,
            uplink: false,
        };
        let one = peak_rate(&[carrier]).bits_per_sec();
        assert_eq!(one / 1_000_000, 2337);
        assert!(peak_rate(&[carrier; 2]).bits_per_sec().abs_diff(2 * one) <= 1);
        assert!(peak_rate(&[PeakCarrier { uplink: true, ..carrier }]).bits_per_sec() > one);
    }
}
