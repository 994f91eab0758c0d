//! Spatial layers: the number that a channel carries, and the SINR of each.

use serde::Deserialize;

use super::invalid::InvalidConfig;

/// Settings of a device's choice of its rank.
#[derive(Clone, Copy, Debug, PartialEq, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct RankConfig {
    /// Most layers: 1, 2 or 4.
    pub most_layers: u8,
    /// SINR of one layer from which two carry more, dB; range -10..=50. By capacity it is 9 dB;
    /// channels whose layers are not quite apart need a little more (chosen).
    pub two_from_db: f32,
    /// SINR of one layer from which four carry more, dB; not below that of two. By capacity it is
    /// 15 dB.
    pub four_from_db: f32,
    /// dB by which the SINR must fall below the threshold before the device uses fewer layers;
    /// range 0..=10 (chosen).
    pub hysteresis_db: f32,
}

impl Default for RankConfig {
    fn default() -> Self {
        Self { most_layers: 2, two_from_db: 11.0, four_from_db: 18.0, hysteresis_db: 2.0 }
    }
}

impl RankConfig {
    pub(super) fn check(&self) -> Result<(), InvalidConfig> {
        InvalidConfig::unless(
            matches!(self.most_layers, 1 | 2 | 4),
            "rank.most_layers",
            "is 1, 2 or 4",
        )?;
        InvalidConfig::unless(
            (-10.0..=50.0).contains(&self.two_from_db),
            "rank.two_from_db",
            "is between -10 and 50",
        )?;
        InvalidConfig::unless(
            self.four_from_db >= self.two_from_db,
            "rank.four_from_db",
            "is not below rank.two_from_db",
        )?;
        InvalidConfig::unless(
            (0.0..=10.0).contains(&self.hysteresis_db),
            "rank.hysteresis_db",
            "is between 0 and 10",
        )
    }
}

/// SINR of each of this many layers, dB, of a channel whose one layer has this SINR: the power is
/// shared, and so are the antennas that combined for one.
pub fn per_layer_db(sinr_db: f32, layers: u8) -> f32 {
    // 20 log10 of 2, 3 and 4.
    const SHARED_DB: [f32; 3] = [6.020_6, 9.542_4, 12.041_2];
    match layers {
        0 | 1 => sinr_db,
        more => sinr_db - SHARED_DB[usize::from(more.min(4)) - 2],
    }
}

/// A device's choice of rank over time.
#[derive(Clone, Copy, Debug)]
pub(super) struct Ranker {
    config: RankConfig,
    rank: u8,
}

impl Ranker {
    pub(super) const fn new(config: RankConfig) -> Self {
        Self { config, rank: 1 }
    }

    pub(super) fn choose(&mut self, sinr_db: f32) -> u8 {
        let RankConfig { most_layers, two_from_db, four_from_db, hysteresis_db } = self.config;
        let from = |layers: u8, threshold: f32| {
            let kept = if self.rank >= layers { hysteresis_db } else { 0.0 };
            most_layers >= layers && sinr_db >= threshold - kept
        };
        self.rank = if from(4, four_from_db) {
            4
        } else if from(2, two_from_db) {
            2
        } else {
            1
        };
        self.rank
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn two_layers_at_their_threshold_by_capacity_carry_as_much_as_one() {
        let bits = |sinr_db: f32| libm::log2f(1.0 + libm::powf(10.0, sinr_db / 10.0));
        let one = bits(9.030_9);
        assert!((2.0 * bits(per_layer_db(9.030_9, 2)) - one).abs() < 1e-3);
        let two = 2.0 * bits(per_layer_db(15.051_5, 2));
        assert!((4.0 * bits(per_layer_db(15.051_5, 4)) - two).abs() < 1e-3);
    }

    #[test]
    fn rank_follows_the_sinr_with_hysteresis() {
        let mut ranker = Ranker::new(RankConfig { most_layers: 4, ..RankConfig::default() });
        for (sinr, rank) in
            [(5.0, 1), (10.9, 1), (11.0, 2), (9.1, 2), (8.9, 1), (18.0, 4), (16.1, 4), (15.9, 2)]
        {
            assert_eq!(ranker.choose(sinr), rank, "{sinr} dB");
        }
    }

    #[test]
    fn rank_stays_within_what_the_device_has() {
        let mut ranker = Ranker::new(RankConfig { most_layers: 2, ..RankConfig::default() });
        assert_eq!(ranker.choose(40.0), 2);
    }
}
