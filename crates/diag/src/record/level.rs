//! Levels of LTE's cells, as the records of layer 1 write them: in sixteenths of a decibel.
//!
//! An RSRP of zero is −180 dBm, fifty decibels below the noise of a resource element (15 kHz × −174
//! dBm/Hz): no receiver measured it. The modem writes it for a missing antenna, and writes zero for
//! all other levels of that antenna too. In all 16 879 cells of the shared captures whose 0xB193
//! has a map of receivers, the map agrees with this. A zero of RSRQ or RSSI beside a measured RSRP
//! is different: it is the smallest value, −30 dB and −110 dBm, which weak neighbours have.

use crate::layout::{Bits, Field, scaled};

const STEP: f64 = 0.0625;

/// An RSRP of −140 dBm, the lowest that RRC reports (TS 36.133 §9.1.4). Modems of LTE-M write it
/// for the second antenna, which they do not have, beside the lowest RSRQ and an RSSI of −10 dBm.
const LOWEST_REPORTED: u16 = 640;

/// The same fields for a modem that writes [`LOWEST_REPORTED`] for an absent antenna.
pub(super) const fn unless_lowest<const N: usize>(mut fields: [Field; N]) -> [Field; N] {
    let mut i = 0;
    while i < N {
        fields[i] = fields[i].or_unless(LOWEST_REPORTED);
        i += 1;
    }
    fields
}

/// RSRP in dBm, counted from −180; zero means no value.
pub(super) const fn rsrp(name: &'static str, bits: Bits) -> Field {
    scaled(name, bits, STEP, -180.0).unless_itself_zero()
}

/// RSRP in dBm of newer modems, all antennas combined: counted from −140; zero means no value.
pub(super) const fn high_rsrp(name: &'static str, bits: Bits) -> Field {
    scaled(name, bits, STEP, -140.0).unless_itself_zero()
}

/// RSRQ in dB, counted from −30; its RSRP is in `rsrp`.
pub(super) const fn rsrq(name: &'static str, bits: Bits, rsrp: Bits) -> Field {
    scaled(name, bits, STEP, -30.0).unless_zero(rsrp)
}

/// RSSI in dBm, counted from −110; its RSRP is in `rsrp`.
pub(super) const fn rssi(name: &'static str, bits: Bits, rsrp: Bits) -> Field {
    scaled(name, bits, STEP, -110.0).unless_zero(rsrp)
}

/// Signal to noise ratio in dB, in tenths counted from −20; its RSRP is in `rsrp`.
pub(super) const fn snr(name: &'static str, bits: Bits, rsrp: Bits) -> Field {
    scaled(name, bits, 0.1, -20.0).unless_zero(rsrp)
}
