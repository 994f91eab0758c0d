//! A scenario's settings of fading.

use serde::Deserialize;

use crate::radio::invalid::InvalidConfig;
use crate::radio::profile::DelayProfile;

/// Small-scale fading.
#[derive(Clone, Copy, Debug, PartialEq, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct FadingConfig {
    /// The echoes.
    pub profile: DelayProfile,
    /// Rician K of a channel in line of sight, dB; range -20..=40. Unset: drawn for the scenario
    /// (TR 38.901 Table 7.5-6), none in a script. 13 dB is a device that stands still, whose
    /// surroundings change its channel little: then PBE-CC as published rests in the Internet's
    /// state about as long as in its paper.
    pub rician_k_db: Option<f32>,
    /// Metres per second at which the surroundings of a still device move; range 0..=100. 0.3 m/s
    /// turns a 2 GHz channel over in a fifth of a second (chosen).
    pub surroundings_mps: f64,
}

impl Default for FadingConfig {
    fn default() -> Self {
        Self { profile: DelayProfile::default(), rician_k_db: None, surroundings_mps: 0.3 }
    }
}

impl FadingConfig {
    /// A channel that does not fade.
    pub const NONE: Self =
        Self { profile: DelayProfile::None, rician_k_db: None, surroundings_mps: 0.0 };

    pub(in crate::radio) fn check(&self) -> Result<(), InvalidConfig> {
        InvalidConfig::unless(
            self.rician_k_db.is_none_or(|k| (-20.0..=40.0).contains(&k)),
            "fading.rician_k_db",
            "is between -20 and 40",
        )?;
        InvalidConfig::unless(
            (0.0..=100.0).contains(&self.surroundings_mps),
            "fading.surroundings_mps",
            "is between 0 and 100",
        )
    }
}
