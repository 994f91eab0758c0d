//! How blocks are sent: power and HARQ.

use serde::Deserialize;

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

/// HARQ.
#[derive(Clone, Copy, Debug, PartialEq, Deserialize)]
#[serde(default, deny_unknown_fields)]
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
}

impl Default for HarqConfig {
    fn default() -> Self {
        // lte_timing_facts: commercial networks give up after 4 to 5; PBE-CC §3 saw three
        // repetitions at most.
        Self { processes: 8, transmissions: 4, redundancy_gain_db: 0.0, misheard: 0.002 }
    }
}
