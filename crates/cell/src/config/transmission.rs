//! How blocks are sent: power and HARQ.

use core::fmt;

use serde::de::value::MapAccessDeserializer;
use serde::de::{self, IntoDeserializer, MapAccess, Visitor};
use serde::{Deserialize, Deserializer};

use crate::radio::InvalidConfig;

/// Transmit power of a device. The network's commands bring the device to the target SNR as far as
/// its power allows (closed loop, TS 36.213 §5.1.1.1, TS 38.213 §7.1.1).
#[derive(Clone, Copy, Debug, PartialEq, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct PowerConfig {
    /// Maximum power of the device, dBm: 23 is class 3 (TS 36.101 §6.2.2).
    pub most_dbm: f32,
    /// Target SNR at the network's antennas, dB. Default 20: the highest MCS need it. Chosen.
    pub target_snr_db: f32,
    /// Noise figure of the base station plus interference from other cells' devices, over thermal
    /// noise, dB.
    pub noise_rise_db: f32,
}

impl Default for PowerConfig {
    fn default() -> Self {
        Self { most_dbm: 23.0, target_snr_db: 20.0, noise_rise_db: 8.0 }
    }
}

/// HARQ. A scenario gives it by the name of a preset, `"rough"`, or by its fields; with `preset`
/// the fields that are not named are that preset's.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct HarqConfig {
    /// Processes of a carrier and direction: 8 in LTE, up to 16 in NR.
    pub processes: u8,
    /// Transmissions of a block, the first included.
    pub transmissions: u8,
    /// Gain of each further transmission over chase combining, dB.
    pub redundancy_gain_db: f32,
    /// Probability that a sender reads a NACK as an ACK and leaves the block to RLC: PUCCH and, in
    /// LTE, PHICH are decoded wrongly now and then. Range 0..=1. Default 0.002, chosen: on a
    /// busy link RLC repeats something every few seconds, as on Gandalf's walk (Fig. 5).
    pub misheard: f64,
    /// The same probability in the downlink, 0..=1: as `misheard`, where a scenario gives that
    /// alone.
    pub downlink_misheard: f64,
    /// Lost first transmissions of the uplink, as a multiple of what `adapt_uplink` aims at; range
    /// 0.1..=5.
    pub uplink_errors: f32,
    /// Probability that a repeat in the uplink adds nothing, because it meets the fade or the
    /// interference of the transmission before it: of the first, the second, and each further
    /// repeat. Range 0..=1.
    pub uplink_same_fade: [f32; 3],
}

/// HARQ as it was measured somewhere.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum HarqPreset {
    /// The error rates of a walk through a city (Gandalf Fig. 5), repeats that combine as chase
    /// combining does, and an RLC that rarely repeats.
    #[default]
    Calm,
    /// The uplink of 11 public LTE captures of uploads, read by `sounding link --delays`: more
    /// blocks are lost, and repeats of a lost block are lost more often. Their downlink hardly has
    /// a repeat, and is as in `calm`.
    Rough,
}

impl HarqPreset {
    /// Its settings.
    pub const fn config(self) -> HarqConfig {
        // lte_timing_facts: commercial networks give up after 4 to 5; PBE-CC §3 saw three
        // repetitions at most.
        let calm = HarqConfig {
            processes: 8,
            transmissions: 4,
            redundancy_gain_db: 0.0,
            misheard: 0.002,
            downlink_misheard: 0.002,
            uplink_errors: 1.0,
            uplink_same_fade: [0.0; 3],
        };
        match self {
            Self::Calm => calm,
            // Chosen with seeds 101 to 103: uploads at all speed and streams of 2 Mbit/s, in two
            // channels. RLC repeats what HARQ gives up, and no more. Captures show up to eight
            // transmissions.
            Self::Rough => HarqConfig {
                transmissions: 6,
                misheard: 0.0,
                uplink_errors: 1.4,
                uplink_same_fade: [0.215, 0.31, 0.27],
                ..calm
            },
        }
    }
}

impl Default for HarqConfig {
    fn default() -> Self {
        HarqPreset::default().config()
    }
}

impl HarqConfig {
    pub(crate) fn check(&self) -> Result<(), InvalidConfig> {
        InvalidConfig::unless(
            [self.misheard, self.downlink_misheard].iter().all(|part| (0.0..=1.0).contains(part)),
            "harq.misheard",
            "is between 0 and 1",
        )?;
        InvalidConfig::unless(
            (0.1..=5.0).contains(&self.uplink_errors),
            "harq.uplink_errors",
            "is between 0.1 and 5",
        )?;
        InvalidConfig::unless(
            self.uplink_same_fade.iter().all(|part| (0.0..=1.0).contains(part)),
            "harq.uplink_same_fade",
            "is three numbers between 0 and 1",
        )
    }
}

/// The fields of a scenario's table.
#[derive(Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
struct Fields {
    preset: HarqPreset,
    processes: Option<u8>,
    transmissions: Option<u8>,
    redundancy_gain_db: Option<f32>,
    misheard: Option<f64>,
    downlink_misheard: Option<f64>,
    uplink_errors: Option<f32>,
    uplink_same_fade: Option<[f32; 3]>,
}

impl<'de> Deserialize<'de> for HarqConfig {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(NameOrFields)
    }
}

struct NameOrFields;

impl<'de> Visitor<'de> for NameOrFields {
    type Value = HarqConfig;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("the name of a preset, or a table")
    }

    fn visit_str<E: de::Error>(self, name: &str) -> Result<HarqConfig, E> {
        HarqPreset::deserialize(name.into_deserializer()).map(HarqPreset::config)
    }

    fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<HarqConfig, A::Error> {
        let fields = Fields::deserialize(MapAccessDeserializer::new(map))?;
        let preset = fields.preset.config();
        let in_downlink = fields.downlink_misheard.or(fields.misheard);
        Ok(HarqConfig {
            processes: fields.processes.unwrap_or(preset.processes),
            transmissions: fields.transmissions.unwrap_or(preset.transmissions),
            redundancy_gain_db: fields.redundancy_gain_db.unwrap_or(preset.redundancy_gain_db),
            misheard: fields.misheard.unwrap_or(preset.misheard),
            downlink_misheard: in_downlink.unwrap_or(preset.downlink_misheard),
            uplink_errors: fields.uplink_errors.unwrap_or(preset.uplink_errors),
            uplink_same_fade: fields.uplink_same_fade.unwrap_or(preset.uplink_same_fade),
        })
    }
}

#[cfg(test)]
mod tests {
    use alloc::string::String;

    use super::*;
    use crate::config::DeviceConfig;

    fn harq(text: &str) -> Result<HarqConfig, toml::de::Error> {
        toml::from_str(&alloc::format!("harq = {text}")).map(|device: DeviceConfig| device.harq)
    }

    #[test]
    fn a_preset_is_named_alone_or_beside_what_differs_from_it() {
        let rough = HarqPreset::Rough.config();
        assert_eq!(harq("'rough'"), Ok(rough));
        assert_eq!(harq("'calm'"), Ok(HarqConfig::default()));
        let five = HarqConfig { transmissions: 5, ..rough };
        assert_eq!(harq("{ preset = 'rough', transmissions = 5 }"), Ok(five));
        let heard = HarqConfig { misheard: 0.0, downlink_misheard: 0.0, ..HarqConfig::default() };
        assert_eq!(harq("{ misheard = 0.0 }"), Ok(heard));
        let two = HarqConfig { transmissions: 2, ..HarqConfig::default() };
        assert_eq!(harq("{ transmissions = 2 }"), Ok(two));
    }

    #[test]
    fn an_unknown_preset_or_field_is_answered_with_those_that_there_are() {
        let said = |text| String::from(harq(text).expect_err("it is unknown").message());
        assert_eq!(said("'wild'"), "unknown variant `wild`, expected `calm` or `rough`");
        assert!(said("{ presets = 'calm' }").contains("expected one of `preset`, `processes`"));
        assert!(said("3").contains("the name of a preset, or a table"));
    }

    #[test]
    fn ranges_are_kept() {
        let calm = HarqConfig::default();
        assert_eq!(calm.check(), Ok(()));
        assert_eq!(HarqPreset::Rough.config().check(), Ok(()));
        let none = HarqConfig { uplink_errors: 0.0, ..calm };
        let always = HarqConfig { uplink_same_fade: [1.0, 1.1, 0.0], ..calm };
        for (harq, setting) in [(none, "harq.uplink_errors"), (always, "harq.uplink_same_fade")] {
            let said = harq.check().expect_err("out of range");
            assert!(alloc::format!("{said}").contains(setting), "{said}");
        }
    }
}
