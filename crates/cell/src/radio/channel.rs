//! The channel between one device and one carrier of one site: the received signal at both ends,
//! step by step.

mod config;
#[cfg(test)]
mod tests;

use alloc::vec::Vec;
use core::time::Duration;

use rand_chacha::ChaCha8Rng;
use sounding_units::HostInstant;

pub use config::{ChannelConfig, ModelConfig};

use super::config::Duplex;
use super::decibel::{decibels, power};
use super::fading::{Branches, Fading};
use super::geometry::{Motion, Position};
use super::interference::Interference;
use super::invalid::InvalidConfig;
use super::profile::DelayProfile;
use super::propagation::Propagation;
use super::report::capacity_mean_db;
use super::script::Script;

const LANES: usize = 4;

/// Power density of thermal noise at 290 K, dBm/Hz.
const THERMAL_DBM_PER_HZ: f32 = -174.0;

/// SINR that a received signal cannot exceed, because the transmitter's own error vector is part of
/// it: 3.5 % where 256QAM is supported (TS 36.104 Table 6.5.2-1).
const CEILING_DB: f32 = 29.1;

/// One device on one carrier of one site.
///
/// The caller advances it at least as often as it needs fresh values; [`step`](Self::step) gives
/// the interval for a speed.
#[derive(Clone, Debug)]
pub struct Channel {
    rng: ChaCha8Rng,
    mean: Mean,
    fading: Option<Fading>,
    interference: Interference,
    link: Link,
    at: HostInstant,
    begun: bool,
    speed_mps: f64,
    /// Radians of carrier phase per nanosecond at one metre per second.
    radians_per_nano: f64,
    surroundings_mps: f64,
    /// The level that the script is relative to, as a multiple of the noise; 1 without a script.
    floor: f32,
    /// Neighbours' power over the noise, as the caller reported it.
    neighbours: f32,
    /// Mean SINR of the downlink, linear, and the share of it that returns as transmitter noise.
    scale: f32,
    transmitter_noise: f32,
    gain_db: f32,
    bands: usize,
    sinr_db: Vec<[f32; LANES]>,
    uplink_gain_db: Vec<[f32; LANES]>,
}

#[derive(Clone, Debug)]
enum Mean {
    Propagation(alloc::boxed::Box<Propagation>),
    Script(Script),
}

/// The constants of a link's power budget.
#[derive(Clone, Copy, Debug)]
struct Link {
    prb: f32,
    device_antennas: f32,
    site_antennas: f32,
    transmit_dbm_per_prb: f32,
    noise_dbm_per_prb: f32,
}

impl Channel {
    /// A channel before its first step.
    ///
    /// # Errors
    ///
    /// [`InvalidConfig`] if a setting is outside its range.
    pub fn new(config: &ChannelConfig, mut rng: ChaCha8Rng) -> Result<Self, InvalidConfig> {
        let ChannelConfig { carrier, site, device, model } = config;
        carrier.check()?;
        site.check()?;
        device.check()?;
        model.fading().check()?;
        let bandwidth = f64::from(carrier.prb) * carrier.prb_hz();
        let count = f64::from(carrier.sub_bands);
        let offsets: Vec<f64> = (0..carrier.sub_bands)
            .map(|band| bandwidth * ((f64::from(band) + 0.5) / count - 0.5))
            .collect();
        let branches = Branches {
            device: usize::from(device.antennas),
            site: usize::from(site.antennas),
            reciprocal: carrier.duplex == Duplex::Tdd,
        };
        let profile = model.fading().profile;
        let fading = (profile != DelayProfile::None)
            .then(|| Fading::new(profile, &offsets, branches, &mut rng));
        let (mean, transmitter_noise) = match model {
            ModelConfig::Propagation(propagation) => {
                let mean = Propagation::new(propagation, (carrier, site, device), &mut rng)?;
                (Mean::Propagation(mean.into()), power(-CEILING_DB))
            }
            ModelConfig::Script(script) => (Mean::Script(Script::new(script)?), 0.0),
        };
        let interference = Interference::new(model.interference(), &mut rng)?;
        let noise_dbm_per_prb =
            THERMAL_DBM_PER_HZ + decibels(carrier.prb_hz() as f32) + device.noise_figure_db;
        let prb = f32::from(carrier.prb);
        let empty = alloc::vec![[0.0; LANES]; offsets.len().div_ceil(LANES)];
        let mut channel = Self {
            rng,
            mean,
            fading,
            interference,
            link: Link {
                prb,
                device_antennas: f32::from(device.antennas),
                site_antennas: f32::from(site.antennas),
                transmit_dbm_per_prb: site.transmit_dbm - decibels(prb),
                noise_dbm_per_prb,
            },
            at: HostInstant::default(),
            begun: false,
            speed_mps: 0.0,
            radians_per_nano: core::f64::consts::TAU / carrier.wavelength_m() * 1e-9,
            surroundings_mps: model.fading().surroundings_mps,
            floor: 1.0,
            neighbours: 0.0,
            scale: 0.0,
            transmitter_noise,
            gain_db: 0.0,
            bands: offsets.len(),
            sinr_db: empty.clone(),
            uplink_gain_db: empty,
        };
        if let ModelConfig::Script(script) = model {
            channel.floor = power(script.floor_db);
        }
        if let (ModelConfig::Script(script), Some(fading)) = (model, &mut channel.fading) {
            fading.set_rician(script.fading.rician_k_db.map_or(0.0, power));
        }
        let start = Motion { position: Position::default(), speed_mps: 0.0 };
        if matches!(channel.mean, Mean::Script(_)) {
            channel.advance(HostInstant::default(), start);
        }
        Ok(channel)
    }

    /// Interval at which a channel must be advanced for accurate values: a tenth of the coherence
    /// time 0.423 / f_D (Rappaport 2002 §5.4.3), but at most once a millisecond.
    pub fn step(&self, speed_mps: f64) -> Duration {
        let shift_hz =
            self.radians_per_nano * 1e9 / core::f64::consts::TAU * self.effective(speed_mps);
        let tenth = 0.0423 / shift_hz;
        // Interference and scripts change even without fading.
        let tenth = if self.fading.is_some() { tenth.min(0.1) } else { 0.1 };
        Duration::from_nanos((tenth * 1e9) as u64).max(Duration::from_millis(1))
    }

    /// When it has to be advanced next for accurate values, at the last known speed.
    pub fn due(&self) -> HostInstant {
        if self.begun { self.at + self.step(self.speed_mps) } else { HostInstant::default() }
    }

    /// The device's position and speed now. A step back in time has no effect. A position or speed
    /// that is NaN counts as unchanged.
    pub fn advance(&mut self, now: HostInstant, motion: Motion) {
        let gone = (now - self.at).as_nanos() as u64 as f64;
        if now <= self.at && self.begun {
            return;
        }
        self.at = now;
        self.speed_mps = motion.speed_mps;
        let secs = now.as_nanos() as f64 * 1e-9;
        let mut stale = self.interference.advance(secs, &mut self.rng) || !self.begun;
        self.begun = true;
        match &mut self.mean {
            Mean::Propagation(propagation) => {
                if propagation.advance(motion.position, &mut self.rng) {
                    self.gain_db = propagation.gain_db();
                    if let Some(fading) = &mut self.fading {
                        fading.set_rician(propagation.rician_k());
                    }
                    stale = true;
                }
            }
            Mean::Script(script) => {
                let received =
                    script.sinr_db(secs) + script.floor_db() + self.link.noise_dbm_per_prb;
                let gain_db = received - self.link.transmit_dbm_per_prb;
                stale |= gain_db != self.gain_db;
                self.gain_db = gain_db;
            }
        }
        let travelled = self.effective(motion.speed_mps) * gone * self.radians_per_nano;
        if let Some(fading) = &mut self.fading {
            fading.advance(travelled);
        } else if !stale {
            return;
        }
        if stale {
            self.rescale();
        }
        self.measure();
    }

    fn effective(&self, speed_mps: f64) -> f64 {
        // `max` takes the other one where a speed is no number.
        speed_mps.max(self.surroundings_mps)
    }

    fn rescale(&mut self) {
        let Link { transmit_dbm_per_prb, noise_dbm_per_prb, .. } = self.link;
        let snr = power(transmit_dbm_per_prb + self.gain_db - noise_dbm_per_prb);
        self.scale = snr / (self.floor + self.interference.over_noise() + self.neighbours);
    }

    /// Array gains, dB. The levels of a script already include them.
    fn array(&self) -> (f32, f32) {
        match self.mean {
            Mean::Propagation(_) => (1.0, 1.0),
            Mean::Script(_) => (1.0 / self.link.device_antennas, 1.0 / self.link.site_antennas),
        }
    }

    fn measure(&mut self) {
        let (device, site) = self.array();
        let (scale, noise, gain_db) = (self.scale * device, self.transmitter_noise, self.gain_db);
        if let Some(fading) = &self.fading {
            for (sinr, fade) in self.sinr_db.iter_mut().zip(fading.downlink()) {
                for lane in 0..LANES {
                    let power = fade[lane] * scale;
                    sinr[lane] = decibels(power / (1.0 + power * noise));
                }
            }
            for (gain, fade) in self.uplink_gain_db.iter_mut().zip(fading.uplink()) {
                for lane in 0..LANES {
                    gain[lane] = gain_db + decibels(fade[lane] * site);
                }
            }
        } else {
            let power = scale * self.link.device_antennas;
            let sinr = decibels(power / (1.0 + power * noise));
            let gain = gain_db + decibels(site * self.link.site_antennas);
            self.sinr_db.fill([sinr; LANES]);
            self.uplink_gain_db.fill([gain; LANES]);
        }
    }

    /// Other sites' power at this device, dBm per resource block, which the caller knows from its
    /// channels to them; `None` for none. It is on top of the configured interference, from the
    /// next step on.
    pub fn set_neighbours_dbm_per_prb(&mut self, level: Option<f32>) {
        let noise = self.link.noise_dbm_per_prb;
        self.neighbours = level.map_or(0.0, |dbm| power(dbm - noise));
        self.rescale();
    }

    /// SINR of the downlink on each sub-band after the antennas are combined, dB.
    pub fn sinr_db(&self) -> &[f32] {
        &self.sinr_db.as_flattened()[..self.bands]
    }

    /// The SINR at which a flat downlink has the capacity of this one, dB.
    pub fn wideband_sinr_db(&self) -> f32 {
        capacity_mean_db(self.sinr_db())
    }

    /// Gain from the device's antenna port to the site's combined ones on each sub-band, dB:
    /// received power of a resource block = sent power + this gain.
    pub fn uplink_gain_db(&self) -> &[f32] {
        &self.uplink_gain_db.as_flattened()[..self.bands]
    }

    /// Gain between the antenna ports without small-scale fading, dB.
    pub fn mean_gain_db(&self) -> f32 {
        self.gain_db
    }

    /// Power received of a resource block that the site sends, one antenna, without small-scale
    /// fading, dBm.
    pub fn received_dbm_per_prb(&self) -> f32 {
        self.link.transmit_dbm_per_prb + self.gain_db
    }

    /// Thermal noise at the device in a resource block, dBm.
    pub fn noise_dbm_per_prb(&self) -> f32 {
        self.link.noise_dbm_per_prb
    }

    /// Reference signal received power: of one resource element, mean over the carrier and the
    /// antennas, dBm (TS 36.214 §5.1.1, TS 38.215 §5.1.1).
    pub fn rsrp_dbm(&self) -> f32 {
        self.mean_gain_now_db() + self.received_dbm_per_prb() - RESOURCE_ELEMENTS_DB
    }

    /// All the power received in the carrier while the cell sends in this share (0..=1) of it, dBm.
    pub fn rssi_dbm(&self, cell_load: f32) -> f32 {
        let own = power(self.rsrp_dbm() + RESOURCE_ELEMENTS_DB - self.link.noise_dbm_per_prb)
            * cell_load.clamp(0.0, 1.0);
        let others = self.interference.over_noise() + self.neighbours;
        self.link.noise_dbm_per_prb + decibels((own + others + self.floor) * self.link.prb)
    }

    /// Reference signal received quality, N × RSRP / RSSI, dB (TS 36.214 §5.1.3), while the cell
    /// sends in this share of the carrier.
    pub fn rsrq_db(&self, cell_load: f32) -> f32 {
        decibels(self.link.prb) + self.rsrp_dbm() - self.rssi_dbm(cell_load)
    }

    /// Small-scale fading averaged over carrier and antennas, dB.
    fn mean_gain_now_db(&self) -> f32 {
        let Some(fading) = &self.fading else { return 0.0 };
        let bands = &fading.downlink().as_flattened()[..self.bands];
        let sum: f32 = bands.iter().sum();
        decibels(sum / self.bands as f32 / self.link.device_antennas)
    }
}

/// Twelve resource elements a resource block and symbol, in dB.
const RESOURCE_ELEMENTS_DB: f32 = 10.791_812;
