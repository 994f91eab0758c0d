//! What a channel is made of, as a scenario states it.

use core::fmt;

use serde::Deserialize;

use super::geometry::Position;
use super::interference::InterferenceConfig;
use super::profile::DelayProfile;
use super::propagation::PropagationConfig;
use super::script::ScriptConfig;

/// Most sub-bands of a carrier: no carrier of TS 36.213 §7.2.1 or TS 38.214 §5.2.1.4 reports more than 18 and a
/// remainder.
pub const MAX_SUB_BANDS: usize = 20;

/// A setting outside its range.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct InvalidConfig {
    /// Its name in the scenario.
    pub what: &'static str,
    /// What is possible.
    pub must: &'static str,
}

impl InvalidConfig {
    /// The error, unless the condition holds; an unordered comparison (a NaN) does not hold.
    pub(super) fn unless(
        holds: bool,
        what: &'static str,
        must: &'static str,
    ) -> Result<(), InvalidConfig> {
        if holds { Ok(()) } else { Err(Self { what, must }) }
    }
}

impl fmt::Display for InvalidConfig {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.what, self.must)
    }
}

impl core::error::Error for InvalidConfig {}

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
    /// What lies between.
    pub model: ModelConfig,
}

/// Where the channel's mean comes from.
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
    /// A channel whose downlink has this SINR on every sub-band for ever.
    pub fn constant(sinr_db: f32) -> Self {
        Self { model: ModelConfig::Script(ScriptConfig::constant(sinr_db)), ..Self::default() }
    }
}

/// A carrier.
#[derive(Clone, Copy, Debug, PartialEq, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct CarrierConfig {
    /// Middle of the downlink, MHz; range 500..=100000 (TR 38.901 §7.4.1).
    pub frequency_mhz: f64,
    /// Resource blocks; range 1..=275.
    pub prb: u16,
    /// Subcarrier spacing, kHz: 15 (LTE), 15, 30, 60 or 120 (NR, TS 38.211 Table 4.2-1).
    pub subcarrier_khz: u16,
    /// Pieces that fade apart, of equal width; range 1..=20 and at most one a resource block.
    pub sub_bands: u8,
    /// Whether both directions share the frequency.
    pub duplex: Duplex,
}

/// How uplink and downlink are kept apart.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Duplex {
    /// By frequency: they fade apart.
    #[default]
    Fdd,
    /// By time: they fade alike.
    Tdd,
}

impl Default for CarrierConfig {
    /// Band 3 of LTE, 20 MHz.
    fn default() -> Self {
        Self {
            frequency_mhz: 1842.5,
            prb: 100,
            subcarrier_khz: 15,
            sub_bands: 4,
            duplex: Duplex::Fdd,
        }
    }
}

impl CarrierConfig {
    pub(super) fn check(&self) -> Result<(), InvalidConfig> {
        InvalidConfig::unless(
            (500.0..=100_000.0).contains(&self.frequency_mhz),
            "carrier.frequency_mhz",
            "is between 500 and 100000",
        )?;
        InvalidConfig::unless(
            (1..=275).contains(&self.prb),
            "carrier.prb",
            "is between 1 and 275",
        )?;
        InvalidConfig::unless(
            matches!(self.subcarrier_khz, 15 | 30 | 60 | 120),
            "carrier.subcarrier_khz",
            "is 15, 30, 60 or 120",
        )?;
        let bands = usize::from(self.sub_bands);
        InvalidConfig::unless(
            (1..=MAX_SUB_BANDS).contains(&bands) && u16::from(self.sub_bands) <= self.prb,
            "carrier.sub_bands",
            "is between 1 and 20 and at most the number of resource blocks",
        )
    }

    /// Width of a resource block, Hz.
    pub fn prb_hz(&self) -> f64 {
        12.0 * 1e3 * f64::from(self.subcarrier_khz)
    }

    /// The sub-band a resource block lies in; the last one for blocks outside the carrier.
    pub fn sub_band_of(&self, prb: u16) -> usize {
        let prb = u32::from(prb.min(self.prb.saturating_sub(1)));
        (prb * u32::from(self.sub_bands) / u32::from(self.prb.max(1))) as usize
    }

    /// Metres a wave has.
    pub(super) fn wavelength_m(&self) -> f64 {
        const LIGHT_M_PER_S: f64 = 299_792_458.0;
        LIGHT_M_PER_S / (self.frequency_mhz * 1e6)
    }
}

/// A base station.
#[derive(Clone, Copy, Debug, PartialEq, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct SiteConfig {
    /// Where it stands.
    pub position: Position,
    /// Metres above ground; range 1..=150. 25 m is an urban macro site (TR 38.901 Table 7.2-1), 10 m a street's.
    pub height_m: f64,
    /// Power of the whole carrier, dBm; range -10..=80. 46 dBm is a macro cell's 10 or 20 MHz (TR 36.814
    /// Table A.2.1.1-2).
    pub transmit_dbm: f32,
    /// Antenna gain less cable loss, dBi, alike in all directions; range -20..=40 (14 dBi: TR 36.814
    /// Table A.2.1.1-2).
    pub antenna_gain_dbi: f32,
    /// Receiving antennas, 1 or 2, combined for maximum ratio.
    pub antennas: u8,
}

impl Default for SiteConfig {
    fn default() -> Self {
        Self {
            position: Position::new(0.0, 0.0),
            height_m: 25.0,
            transmit_dbm: 46.0,
            antenna_gain_dbi: 14.0,
            antennas: 2,
        }
    }
}

impl SiteConfig {
    pub(super) fn check(&self) -> Result<(), InvalidConfig> {
        InvalidConfig::unless(self.position.is_finite(), "site.position", "is two finite numbers")?;
        InvalidConfig::unless(
            (1.0..=150.0).contains(&self.height_m),
            "site.height_m",
            "is between 1 and 150",
        )?;
        InvalidConfig::unless(
            (-10.0..=80.0).contains(&self.transmit_dbm),
            "site.transmit_dbm",
            "is between -10 and 80",
        )?;
        InvalidConfig::unless(
            (-20.0..=40.0).contains(&self.antenna_gain_dbi),
            "site.antenna_gain_dbi",
            "is between -20 and 40",
        )?;
        InvalidConfig::unless(matches!(self.antennas, 1 | 2), "site.antennas", "is 1 or 2")
    }
}

/// A device's radio.
#[derive(Clone, Copy, Debug, PartialEq, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct DeviceConfig {
    /// Metres above ground; range 1.5..=22.5 (TR 38.901 Table 7.4.1-1).
    pub height_m: f64,
    /// Noise figure, dB; range 0..=20 (9 dB: TR 36.814 Table A.2.1.1-2).
    pub noise_figure_db: f32,
    /// Receiving antennas, 1 or 2, combined for maximum ratio.
    pub antennas: u8,
}

impl Default for DeviceConfig {
    fn default() -> Self {
        Self { height_m: 1.5, noise_figure_db: 9.0, antennas: 2 }
    }
}

impl DeviceConfig {
    pub(super) fn check(&self) -> Result<(), InvalidConfig> {
        InvalidConfig::unless(
            (1.5..=22.5).contains(&self.height_m),
            "device.height_m",
            "is between 1.5 and 22.5",
        )?;
        InvalidConfig::unless(
            (0.0..=20.0).contains(&self.noise_figure_db),
            "device.noise_figure_db",
            "is between 0 and 20",
        )?;
        InvalidConfig::unless(matches!(self.antennas, 1 | 2), "device.antennas", "is 1 or 2")
    }
}

/// Small-scale fading.
#[derive(Clone, Copy, Debug, PartialEq, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct FadingConfig {
    /// The echoes.
    pub profile: DelayProfile,
    /// Rician K of a channel in line of sight, dB; range -20..=40. Unset: drawn for the scenario (TR 38.901
    /// Table 7.5-6), none in a script.
    pub rician_k_db: Option<f32>,
    /// Metres per second at which the surroundings of a still device move; range 0..=100. 0.3 m/s turns a 2 GHz
    /// channel over in a fifth of a second (chosen).
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

    pub(super) fn check(&self) -> Result<(), InvalidConfig> {
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

impl ModelConfig {
    pub(super) fn fading(&self) -> &FadingConfig {
        match self {
            Self::Propagation(config) => &config.fading,
            Self::Script(config) => &config.fading,
        }
    }

    pub(super) fn interference(&self) -> &InterferenceConfig {
        match self {
            Self::Propagation(config) => &config.interference,
            Self::Script(config) => &config.interference,
        }
    }
}
