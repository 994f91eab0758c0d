//! Whether a block arrives: error rates from the true SINR over its sub-bands and its
//! transmissions.

use serde::Deserialize;
use sounding_phy::abstraction::Bler;

use super::adapt::Choice;
use super::coding::Coding;
use super::config::MAX_SUB_BANDS;
use super::decibel::{decibels, exp2, power};
use super::invalid::InvalidConfig;
use super::layers::per_layer_db;
use super::sub_bands::SubBands;

/// The gain of a block's repetitions.
#[derive(Clone, Copy, Debug, Default, PartialEq, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct HarqConfig {
    /// dB that every retransmission gains by sending other bits of the code word, over chase
    /// combining, whose SINRs add up; range 0..=6. 0, the default, is chase combining: 3 dB
    /// for the second transmission.
    pub redundancy_gain_db: f32,
}

impl HarqConfig {
    /// Whether the settings are within their ranges.
    ///
    /// # Errors
    ///
    /// [`InvalidConfig`] if a setting is outside its range.
    pub fn check(&self) -> Result<(), InvalidConfig> {
        InvalidConfig::unless(
            (0.0..=6.0).contains(&self.redundancy_gain_db),
            "harq.redundancy_gain_db",
            "is between 0 and 6",
        )
    }
}

/// A transport block on its way, and what its receiver has gathered of it.
#[derive(Clone, Copy, Debug)]
pub struct Block {
    bler: Bler,
    beta: f32,
    layers: u8,
    redundancy_gain_db: f32,
    /// SINRs of the transmissions so far, added up.
    combined: f32,
    transmissions: u8,
}

impl Block {
    /// A block of this many bits before its first transmission; `None` for a reserved MCS or no
    /// bits.
    pub fn new(coding: Coding, choice: Choice, bits: u32, harq: &HarqConfig) -> Option<Self> {
        Some(Self {
            bler: coding.bler(choice.mcs, bits)?,
            beta: coding.eesm_beta(choice.mcs)?,
            layers: choice.layers,
            redundancy_gain_db: harq.redundancy_gain_db,
            combined: 0.0,
            transmissions: 0,
        })
    }

    /// It is sent (again) on these sub-bands of a carrier with these SINRs: the chance, 0..=1, that
    /// it is lost even with all that arrived of it before.
    pub fn handle_transmission(&mut self, sinr_db: &[f32], bands: SubBands) -> f32 {
        self.combined += over_bands(self.beta, self.layers, sinr_db, bands);
        let gain = self.redundancy_gain_db * f32::from(self.transmissions);
        self.transmissions = self.transmissions.saturating_add(1);
        self.bler.error_rate(self.sinr_db() + gain)
    }

    /// Transmissions so far.
    pub fn transmissions(&self) -> u8 {
        self.transmissions
    }

    /// Their combined SINR, dB; -300 dB before the first.
    pub fn sinr_db(&self) -> f32 {
        decibels(self.combined)
    }
}

/// The chance, 0..=1, that a block sent once on these sub-bands is lost; `None` for a reserved MCS
/// or no bits.
pub fn block_error_rate(
    coding: Coding,
    choice: Choice,
    bits: u32,
    sinr_db: &[f32],
    bands: SubBands,
) -> Option<f32> {
    let block = Block::new(coding, choice, bits, &HarqConfig::default());
    block.map(|mut block| block.handle_transmission(sinr_db, bands))
}

/// Effective SINR of each layer over some of a carrier's sub-bands, linear: -β ln(mean(e^(-γ/β))),
/// as [`effective_sinr_db`](sounding_phy::abstraction::effective_sinr_db) has it, in the form that
/// a step in every slot can afford. Nothing on no sub-band.
fn over_bands(beta: f32, layers: u8, sinr_db: &[f32], bands: SubBands) -> f32 {
    let mut parts = [0.0; MAX_SUB_BANDS];
    let mut count = 0;
    for (part, sinr) in parts.iter_mut().zip(bands.of(sinr_db)) {
        *part = per_layer_db(sinr, layers);
        count += 1;
    }
    let parts = &mut parts[..count];
    for part in parts.iter_mut() {
        *part = power(*part);
    }
    let weakest = parts.iter().copied().fold(f32::INFINITY, f32::min);
    if !weakest.is_finite() {
        return 0.0;
    }
    // Measured from the weakest part, so that good parts cannot make all of the exponentials
    // vanish.
    let octaves = -core::f32::consts::LOG2_E / beta;
    for part in parts.iter_mut() {
        *part = exp2((*part - weakest) * octaves);
    }
    let mean = parts.iter().sum::<f32>() / count as f32;
    weakest - beta * NEPERS_PER_DB * decibels(mean)
}

/// ln(10) / 10.
const NEPERS_PER_DB: f32 = 0.230_258_5;

#[cfg(test)]
mod tests {
    use super::*;
    use sounding_phy::abstraction::effective_sinr_db;

    const CHOICE: Choice = Choice { mcs: 16, layers: 1 };
    const BITS: u32 = 20_000;

    fn block(harq: &HarqConfig) -> Block {
        Block::new(Coding::Nr64Qam, CHOICE, BITS, harq).expect("not reserved")
    }

    fn rate(sinr_db: &[f32], bands: SubBands) -> f32 {
        block_error_rate(Coding::Nr64Qam, CHOICE, BITS, sinr_db, bands).expect("not reserved")
    }

    /// SINR at which half of the blocks are lost.
    fn half() -> f32 {
        Coding::Nr64Qam.bler(CHOICE.mcs, BITS).expect("not reserved").sinr_db(0.5)
    }

    #[test]
    fn only_the_sub_bands_it_is_sent_on_matter() {
        let sinr = [half() + 3.0, half() - 20.0, half() + 3.0];
        assert!(rate(&sinr, SubBands::one(0) | SubBands::one(2)) < 0.001);
        assert!(rate(&sinr, SubBands::one(1)) > 0.999);
        assert!(rate(&sinr, SubBands::ALL) > 0.5);
    }

    #[test]
    fn the_effective_sinr_is_what_its_formula_says() {
        let sinr = [-4.0, 17.0, 8.5, 29.0, 3.0, 12.0];
        for coding in [Coding::Lte64Qam, Coding::Lte256Qam, Coding::LteUplink, Coding::Nr256Qam] {
            for mcs in 0..coding.mcs_count() as u8 {
                let beta = coding.eesm_beta(mcs).expect("not reserved");
                for count in 1..=sinr.len() {
                    let have = decibels(over_bands(beta, 1, &sinr[..count], SubBands::ALL));
                    let want = effective_sinr_db(beta, &sinr[..count]).expect("some parts");
                    assert!((have - want).abs() < 0.002, "{coding:?} {mcs}: {have}, not {want}");
                }
            }
        }
    }

    #[test]
    fn a_second_transmission_is_worth_three_decibels() {
        let mut block = block(&HarqConfig::default());
        let sinr = [half() - 3.0103; 4];
        assert!(block.handle_transmission(&sinr, SubBands::ALL) > 0.99);
        let second = block.handle_transmission(&sinr, SubBands::ALL);
        assert!((second - 0.5).abs() < 0.02, "{second}");
        assert!((block.sinr_db() - half()).abs() < 0.01);
        assert_eq!(block.transmissions(), 2);
    }

    #[test]
    fn other_redundancy_gains_on_top_from_the_second_transmission_on() {
        let mut block = block(&HarqConfig { redundancy_gain_db: 2.0 });
        assert!((block.handle_transmission(&[half()], SubBands::ALL) - 0.5).abs() < 0.02);
        let mut block = self::block(&HarqConfig { redundancy_gain_db: 2.0 });
        let sinr = [half() - 5.0103];
        block.handle_transmission(&sinr, SubBands::ALL);
        assert!((block.handle_transmission(&sinr, SubBands::ALL) - 0.5).abs() < 0.02);
    }

    #[test]
    fn two_layers_need_six_decibels_more() {
        let two = Choice { layers: 2, ..CHOICE };
        let sinr = [half() + 6.0206; 4];
        let rate = block_error_rate(Coding::Nr64Qam, two, BITS, &sinr, SubBands::ALL);
        assert!((rate.expect("not reserved") - 0.5).abs() < 0.02);
    }

    #[test]
    fn no_channel_loses_everything_and_no_block_has_no_rate() {
        assert_eq!(rate(&[], SubBands::ALL), 1.0);
        let reserved = Choice { mcs: 30, layers: 1 };
        assert_eq!(block_error_rate(Coding::Nr64Qam, reserved, BITS, &[9.0], SubBands::ALL), None);
        assert_eq!(block_error_rate(Coding::Nr64Qam, CHOICE, 0, &[9.0], SubBands::ALL), None);
    }
}
