//! The configuration of a channel in a scenario.

use serde::Deserialize;

use crate::radio::config::{CarrierConfig, DeviceConfig, SiteConfig};
use crate::radio::fading::FadingConfig;
use crate::radio::interference::InterferenceConfig;
use crate::radio::propagation::PropagationConfig;
use crate::radio::script::ScriptConfig;

/// One device on one carrier of one site.
#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct ChannelConfig {
    /// The carrier.
    pub carrier: CarrierConfig,
    /// The base station's end.
    pub site: SiteConfig,
    /// The device's end.
    pub device: DeviceConfig,
    /// The propagation model.
    pub model: ModelConfig,
}

/// Source of the channel's mean.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(tag = "kind", rename_all = "kebab-case")]
pub enum ModelConfig {
    /// From where the device is: path loss, line of sight, shadowing.
    Propagation(PropagationConfig),
    /// From a list of levels over time, wherever the device is.
    Script(ScriptConfig),
}

impl Default for ModelConfig {
    fn default() -> Self {
        Self::Propagation(PropagationConfig::default())
    }
}

impl ChannelConfig {
    /// A channel whose downlink has this constant SINR on every sub-band.
    pub fn constant(sinr_db: f32) -> Self {
        Self { model: ModelConfig::Script(ScriptConfig::constant(sinr_db)), ..Self::default() }
    }
}

impl ModelConfig {
    pub(in crate::radio) fn fading(&self) -> &FadingConfig {
        match self {
            Self::Propagation(config) => &config.fading,
            Self::Script(config) => &config.fading,
        }
    }

    pub(in crate::radio) fn interference(&self) -> &InterferenceConfig {
        match self {
            Self::Propagation(config) => &config.interference,
            Self::Script(config) => &config.interference,
        }
    }
}
