//! The base station's side of link adaptation: it chooses the MCS of the next block from the
//! channel reports.
//!
//! The outer loop moves an offset on the reported SINR after every first transmission. A loss moves
//! it down by (1 − p) / p times the step up after a success. It settles where a share p of first
//! transmissions is lost, whatever the error of the reports.

use alloc::collections::VecDeque;

use serde::Deserialize;
use sounding_units::HostInstant;

use super::coding::{Coding, MCS_COUNT};
use super::config::MAX_SUB_BANDS;
use super::invalid::InvalidConfig;
use super::layers::per_layer_db;
use super::report::CqiReport;
use super::sub_bands::SubBands;

/// Maximum number of pending reports: more than any period and delay need.
const MAX_PENDING: usize = 128;

/// Link adaptation for one direction of one device's link.
#[derive(Clone, Copy, Debug, PartialEq, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct AdaptConfig {
    /// Share of first transmissions that may be lost; range 0.001..=0.5.
    pub target_error_rate: f32,
    /// dB by which a loss lowers the offset; range 0..=5, 0 turns the outer loop off.
    pub step_db: f32,
    /// Offset to begin with, dB; range -20..=20.
    pub initial_offset_db: f32,
    /// The offset stays within this of zero, dB; range 0..=30.
    pub most_offset_db: f32,
}

impl AdaptConfig {
    /// A downlink: 5.5 % of the blocks, the median of a walk through a city (Gandalf §3.1.3).
    pub const DOWNLINK: Self = Self {
        target_error_rate: 0.055,
        step_db: 0.5,
        initial_offset_db: 0.0,
        most_offset_db: 15.0,
    };

    /// An uplink: 8 %, measured on the same walk.
    pub const UPLINK: Self = Self { target_error_rate: 0.08, ..Self::DOWNLINK };

    fn check(&self) -> Result<(), InvalidConfig> {
        InvalidConfig::unless(
            (0.001..=0.5).contains(&self.target_error_rate),
            "adapt.target_error_rate",
            "is between 0.001 and 0.5",
        )?;
        InvalidConfig::unless(
            (0.0..=5.0).contains(&self.step_db),
            "adapt.step_db",
            "is between 0 and 5",
        )?;
        InvalidConfig::unless(
            (-20.0..=20.0).contains(&self.initial_offset_db),
            "adapt.initial_offset_db",
            "is between -20 and 20",
        )?;
        InvalidConfig::unless(
            (0.0..=30.0).contains(&self.most_offset_db),
            "adapt.most_offset_db",
            "is between 0 and 30",
        )
    }
}

impl Default for AdaptConfig {
    fn default() -> Self {
        Self::DOWNLINK
    }
}

/// MCS and layers of a block.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Choice {
    /// I_MCS in the adapter's coding.
    pub mcs: u8,
    /// Spatial layers; range 1..=4.
    pub layers: u8,
}

/// A base station's view of one direction of a device's channel.
#[derive(Clone, Debug)]
pub struct LinkAdaptation {
    coding: Coding,
    /// SINR from which each MCS is received with one block in ten lost, as reports have it.
    from_db: [f32; MCS_COUNT],
    bits_per_element: [f32; MCS_COUNT],
    up_db: f32,
    down_db: f32,
    most_offset_db: f32,
    offset_db: f32,
    known: Option<Known>,
    pending: VecDeque<CqiReport>,
}

/// SINR of each layer as last reported or measured.
#[derive(Clone, Copy, Debug)]
struct Known {
    layers: u8,
    whole_db: f32,
    sub_bands_db: [f32; MAX_SUB_BANDS],
    count: usize,
}

impl LinkAdaptation {
    /// Link adaptation without a report so far.
    ///
    /// # Errors
    ///
    /// [`InvalidConfig`] if a setting is outside its range.
    pub fn new(config: &AdaptConfig, coding: Coding) -> Result<Self, InvalidConfig> {
        config.check()?;
        let p = config.target_error_rate;
        Ok(Self {
            coding,
            from_db: coding.thresholds_db(),
            bits_per_element: coding.bits_per_element(),
            up_db: config.step_db * p / (1.0 - p),
            down_db: config.step_db,
            most_offset_db: config.most_offset_db,
            offset_db: config
                .initial_offset_db
                .clamp(-config.most_offset_db, config.most_offset_db),
            known: None,
            pending: VecDeque::new(),
        })
    }

    /// The coding it chooses from.
    pub fn coding(&self) -> Coding {
        self.coding
    }

    /// The outer loop's offset on the reported SINR, dB.
    pub fn offset_db(&self) -> f32 {
        self.offset_db
    }

    /// A report that the device made: it counts from the moment it is usable.
    pub fn handle_report(&mut self, report: CqiReport) {
        if self.pending.len() == MAX_PENDING {
            self.pending.pop_front();
        }
        self.pending.push_back(report);
    }

    /// The base station's own measurement of the channel (sounding or demodulation reference
    /// signals), SINR of each sub-band, dB: it counts at once, for this many layers.
    pub fn handle_measurement(&mut self, sinr_db: &[f32], layers: u8) {
        let layers = layers.clamp(1, 4);
        let mut known = Known {
            layers,
            // Unused when there are sub-bands.
            whole_db: f32::NEG_INFINITY,
            sub_bands_db: [0.0; MAX_SUB_BANDS],
            count: sinr_db.len().min(MAX_SUB_BANDS),
        };
        for (known, sinr) in known.sub_bands_db.iter_mut().zip(sinr_db) {
            *known = per_layer_db(*sinr, layers);
        }
        self.known = Some(known);
    }

    /// Applies whether the first transmission of a block, sent with this choice, arrived.
    ///
    /// Blocks of the highest and the lowest MCS move the offset only towards the other MCSs: a
    /// further move could not change their loss rate.
    pub fn handle_feedback(&mut self, choice: Choice, arrived: bool) {
        let highest = usize::from(choice.mcs) + 1 >= self.coding.mcs_count();
        let step = match (arrived, choice.mcs) {
            (true, _) if highest => return,
            (false, 0) => return,
            (true, _) => self.up_db,
            (false, _) => -self.down_db,
        };
        self.offset_db = (self.offset_db + step).clamp(-self.most_offset_db, self.most_offset_db);
    }

    /// How to send a block on these sub-bands now. `None` while the channel is unknown or the
    /// device cannot receive (CQI 0).
    pub fn choose(&mut self, now: HostInstant, bands: SubBands) -> Option<Choice> {
        while self.pending.front().is_some_and(|report| report.usable <= now) {
            self.known = self.pending.pop_front().and_then(|report| self.known_by(&report));
        }
        let known = self.known.as_ref()?;
        let sub_bands = &known.sub_bands_db[..known.count];
        let sinr_db = if sub_bands.is_empty() {
            known.whole_db
        } else {
            // The mean in dB: reports have steps of about 2 dB, so a finer mean would not help.
            let (sum, count) =
                bands.of(sub_bands).fold((0.0, 0.0), |(sum, count), db| (sum + db, count + 1.0));
            sum / count
        };
        let wanted = sinr_db + self.offset_db;
        let mcs = self.from_db[..self.coding.mcs_count()].iter().rposition(|from| *from <= wanted);
        Some(Choice { mcs: mcs.unwrap_or(0) as u8, layers: known.layers })
    }

    /// Data bits of a choice per resource element, all layers together; schedulers compare it.
    pub fn bits_per_element(&self, choice: Choice) -> f32 {
        let of_one = self.bits_per_element.get(usize::from(choice.mcs)).copied().unwrap_or(0.0);
        of_one * f32::from(choice.layers)
    }

    fn known_by(&self, report: &CqiReport) -> Option<Known> {
        let whole_db = self.coding.cqi_from_db(report.wideband)?;
        let mut sub_bands_db = [whole_db; MAX_SUB_BANDS];
        for (known, cqi) in sub_bands_db.iter_mut().zip(report.sub_bands()) {
            // An out-of-range sub-band is below the lowest CQI by one CQI step.
            *known = self.coding.cqi_from_db(*cqi).unwrap_or(whole_db - 2.0);
        }
        let count = report.sub_bands().len();
        Some(Known { layers: report.rank.clamp(1, 4), whole_db, sub_bands_db, count })
    }
}

#[cfg(test)]
mod tests;
