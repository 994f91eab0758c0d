//! How blocks are sent: power and HARQ.

use serde::Deserialize;

/// What a device sends with. The network's commands bring the device to the SNR it wants, while its power suffices
/// (closed loop, TS 36.213 §5.1.1.1, TS 38.213 §7.1.1).
#[derive(Clone, Copy, Debug, PartialEq, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct PowerConfig {
    /// Most power of the device, dBm: 23 is class 3 (TS 36.101 §6.2.2).
    pub most_dbm: f32,
    /// SNR that the network wants at its antennas, dB. Default 20: what the highest MCS need. Chosen.
    pub target_snr_db: f32,
    /// What the base station's noise figure and other cells' devices add to thermal noise, dB.
    pub noise_rise_db: f32,
}

impl Default for PowerConfig {
    fn default() -> Self {
        Self { most_dbm: 23.0, target_snr_db: 20.0, noise_rise_db: 8.0 }
    }
}

/// HARQ.
#[derive(Clone, Copy, Debug, PartialEq, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct HarqConfig {
    /// Processes of a carrier and direction: 8 in LTE, up to 16 in NR.
    pub processes: u8,
    /// Transmissions of a block, the first included.
    pub transmissions: u8,
    /// What each further transmission gains over chase combining, dB.
    pub redundancy_gain_db: f32,
    /// How often a sender takes a refusal for an acceptance and leaves the block to RLC: PUCCH and, in LTE, PHICH are heard
    /// wrong now and then. Range 0..=1. Default 0.002, chosen: RLC repeats something every few seconds of a busy link, as
    /// on Gandalf's walk (Fig. 5).
    pub misheard: f64,
}

impl Default for HarqConfig {
    fn default() -> Self {
        // lte_timing_facts: commercial networks give up after 4 to 5; PBE-CC §3 saw three repetitions at most.
        Self { processes: 8, transmissions: 4, redundancy_gain_db: 0.0, misheard: 0.002 }
    }
}
