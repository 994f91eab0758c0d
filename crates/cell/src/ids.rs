//! Numbers of devices, carriers and slots.

use sounding_units::HostInstant;

/// Index of a device.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct DeviceId(pub u16);

/// Index of a carrier.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct CarrierId(pub u8);

/// A slot of a carrier.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SlotId {
    /// The carrier.
    pub carrier: CarrierId,
    /// Slots since the network began; a frame of 10 ms has 10 << numerology of them.
    pub slot: u64,
    /// When it begins.
    pub at: HostInstant,
}

/// Index of a carrier among those that a device can use.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct DeviceCarrierId(pub(crate) u8);

/// A device as the schedulers of a carrier know it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct User {
    pub(crate) device: DeviceId,
    /// Its index among the device's carriers.
    pub(crate) carrier: DeviceCarrierId,
}
