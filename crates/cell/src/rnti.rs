//! Radio network temporary identities.

use crate::ids::DeviceId;

/// The C-RNTI of a device (TS 36.321 §7.1: 0x003D to 0xFFF3).
pub const fn rnti(device: DeviceId) -> u16 {
    0x0100 + device.0
}

/// The first RNTI of users that only exchange control traffic.
pub(crate) const FIRST_CONTROL: u16 = 0x4000;
