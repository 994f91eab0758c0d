//! Both ends of a channel and the carrier between them, as a scenario states them.

use serde::Deserialize;

use super::geometry::Position;
use super::invalid::InvalidConfig;

/// Most sub-bands of a carrier: no carrier of TS 36.213 §7.2.1 or TS 38.214 §5.2.1.4 reports more
/// than 18 and a remainder.
pub const MAX_SUB_BANDS: usize = 20;

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

/// Duplex mode: how uplink and downlink are separated.
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
    /// Its position.
    pub position: Position,
    /// Metres above ground; range 1..=150. 25 m is an urban macro site (TR 38.901 Table 7.2-1), 10
    /// m a street's.
    pub height_m: f64,
    /// Power of the whole carrier, dBm; range -10..=80. 46 dBm is a macro cell's 10 or 20 MHz (TR
    /// 36.814 Table A.2.1.1-2).
    pub transmit_dbm: f32,
    /// Antenna gain less cable loss, dBi, alike in all directions; range -20..=40 (14 dBi: TR
    /// 36.814 Table A.2.1.1-2).
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
