//! Whether a block arrives: error rates at the true SINR, over its sub-bands and over its transmissions.

use serde::Deserialize;
use sounding_phy::abstraction::{Bler, Combining, effective_sinr_db};

use super::InvalidConfig;
use super::adapt::Choice;
use super::bands::Bands;
use super::coding::Coding;
use super::config::MAX_SUB_BANDS;
use super::layers::per_layer_db;

/// What repeats of a block are worth.
#[derive(Clone, Copy, Debug, Default, PartialEq, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct HarqConfig {
    /// dB that every retransmission gains by sending other bits of the code word, over chase combining, whose SINRs
    /// add up; range 0..=6. 0, the default, is chase combining: 3 dB for the second transmission.
    pub redundancy_gain_db: f32,
}

impl HarqConfig {
    /// Whether the settings are within their ranges.
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
    combined: Combining,
    transmissions: u8,
    sinr_db: f32,
}

impl Block {
    /// A block of so many bits before its first transmission; `None` for a reserved MCS or no bits.
    pub fn new(coding: Coding, choice: Choice, bits: u32, harq: &HarqConfig) -> Option<Self> {
        Some(Self {
            bler: coding.bler(choice.mcs, bits)?,
            beta: coding.eesm_beta(choice.mcs)?,
            layers: choice.layers,
            redundancy_gain_db: harq.redundancy_gain_db,
            combined: Combining::default(),
            transmissions: 0,
            sinr_db: f32::NEG_INFINITY,
        })
    }

    /// It is sent (again) on these sub-bands of a carrier with these SINRs: the chance, 0..=1, that it is lost even
    /// with all that arrived of it before.
    pub fn handle_transmission(&mut self, sinr_db: &[f32], bands: Bands) -> f32 {
        let now = over_bands_db(self.beta, self.layers, sinr_db, bands);
        self.sinr_db = self.combined.handle_transmission(now);
        let gain = self.redundancy_gain_db * f32::from(self.transmissions);
        self.transmissions = self.transmissions.saturating_add(1);
        self.bler.error_rate(self.sinr_db + gain)
    }

    /// Transmissions so far.
    pub fn transmissions(&self) -> u8 {
        self.transmissions
    }

    /// What they are worth together, dB; minus infinity before the first.
    pub fn sinr_db(&self) -> f32 {
        self.sinr_db
    }
}

/// The chance, 0..=1, that a block sent once on these sub-bands is lost; `None` for a reserved MCS or no bits.
pub fn block_error_rate(
    coding: Coding,
    choice: Choice,
    bits: u32,
    sinr_db: &[f32],
    bands: Bands,
) -> Option<f32> {
    let block = Block::new(coding, choice, bits, &HarqConfig::default());
    block.map(|mut block| block.handle_transmission(sinr_db, bands))
}

/// SINR of a block sent on no sub-band.
const NOTHING_DB: f32 = -100.0;

/// Effective SINR of each layer over some of a carrier's sub-bands, dB.
fn over_bands_db(beta: f32, layers: u8, sinr_db: &[f32], bands: Bands) -> f32 {
    let mut parts = [0.0; MAX_SUB_BANDS];
    let mut count = 0;
    for (part, sinr) in parts.iter_mut().zip(bands.of(sinr_db)) {
        *part = per_layer_db(sinr, layers);
        count += 1;
    }
    effective_sinr_db(beta, &parts[..count]).unwrap_or(NOTHING_DB)
}

#[cfg(test)]
mod tests {
    use super::*;

    const CHOICE: Choice = Choice { mcs: 16, layers: 1 };
    const BITS: u32 = 20_000;

    fn block(harq: &HarqConfig) -> Block {
        Block::new(Coding::Nr64Qam, CHOICE, BITS, harq).expect("not reserved")
    }

    fn rate(sinr_db: &[f32], bands: Bands) -> f32 {
        block_error_rate(Coding::Nr64Qam, CHOICE, BITS, sinr_db, bands).expect("not reserved")
    }

    /// SINR at which half of the blocks are lost.
    fn half() -> f32 {
        Coding::Nr64Qam.bler(CHOICE.mcs, BITS).expect("not reserved").sinr_db(0.5)
    }

    #[test]
    fn only_the_sub_bands_it_is_sent_on_matter() {
        let sinr = [half() + 3.0, half() - 20.0, half() + 3.0];
        assert!(rate(&sinr, Bands::one(0) | Bands::one(2)) < 0.001);
        assert!(rate(&sinr, Bands::one(1)) > 0.999);
        assert!(rate(&sinr, Bands::ALL) > 0.5);
    }

    #[test]
    fn a_second_transmission_is_worth_three_decibels() {
        let mut block = block(&HarqConfig::default());
        let sinr = [half() - 3.0103; 4];
        assert!(block.handle_transmission(&sinr, Bands::ALL) > 0.99);
        let second = block.handle_transmission(&sinr, Bands::ALL);
        assert!((second - 0.5).abs() < 0.02, "{second}");
        assert!((block.sinr_db() - half()).abs() < 0.01);
        assert_eq!(block.transmissions(), 2);
    }

    #[test]
    fn other_redundancy_gains_on_top_from_the_second_transmission_on() {
        let mut block = block(&HarqConfig { redundancy_gain_db: 2.0 });
        assert!((block.handle_transmission(&[half()], Bands::ALL) - 0.5).abs() < 0.02);
        let mut block = self::block(&HarqConfig { redundancy_gain_db: 2.0 });
        let sinr = [half() - 5.0103];
        block.handle_transmission(&sinr, Bands::ALL);
        assert!((block.handle_transmission(&sinr, Bands::ALL) - 0.5).abs() < 0.02);
    }

    #[test]
    fn two_layers_need_six_decibels_more() {
        let two = Choice { layers: 2, ..CHOICE };
        let sinr = [half() + 6.0206; 4];
        let rate = block_error_rate(Coding::Nr64Qam, two, BITS, &sinr, Bands::ALL);
        assert!((rate.expect("not reserved") - 0.5).abs() < 0.02);
    }

    #[test]
    fn no_channel_loses_everything_and_no_block_has_no_rate() {
        assert_eq!(rate(&[], Bands::ALL), 1.0);
        let reserved = Choice { mcs: 30, layers: 1 };
        assert_eq!(block_error_rate(Coding::Nr64Qam, reserved, BITS, &[9.0], Bands::ALL), None);
        assert_eq!(block_error_rate(Coding::Nr64Qam, CHOICE, 0, &[9.0], Bands::ALL), None);
    }
}
