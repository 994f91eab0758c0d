//! The modem's network devices, as they come and go: a modem that reboots has a new one under the
//! old name. Where none was named, they are looked for by the port's hardware.

use std::time::Duration;

use nix::net::if_::if_nametoindex;
use sounding_units::HostInstant;

use super::events::Events;
use super::hardware::Hardware;

/// How often the devices are looked for.
const EVERY: Duration = Duration::from_secs(1);

/// A network device of the modem.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Device {
    pub(super) name: String,
    /// 0 while it is not there.
    pub(super) number: u32,
}

impl Device {
    /// The numbers of all.
    pub(super) fn numbers(devices: &[Self]) -> Vec<u32> {
        devices.iter().map(|device| device.number).collect()
    }
}

#[derive(Debug)]
pub(super) struct Devices {
    found: Vec<Device>,
    /// Where to look for them, if none was named.
    hardware: Option<Hardware>,
    looked: Option<HostInstant>,
}

impl Devices {
    /// For a modem whose devices were named, or are found by its hardware.
    pub(super) fn new(names: Vec<String>, hardware: Option<Hardware>) -> Self {
        Self { found: devices(names), hardware, looked: None }
    }

    /// Has `follow` know what is there, and whether that moved, if it is time to look again.
    pub(super) fn attend(
        &mut self,
        now: HostInstant,
        events: &mut Events,
        follow: impl FnOnce(&[Device], bool, &mut Events),
    ) {
        if self.looked.is_some_and(|looked| now - looked < EVERY) {
            return;
        }
        let mut moved = self.looked.is_none() | self.look_for_others(events);
        self.looked = Some(now);
        for device in &mut self.found {
            let number = if_nametoindex(device.name.as_str()).unwrap_or_default();
            moved |= number != device.number;
            device.number = number;
        }
        follow(&self.found, moved, events);
    }

    /// Whether the modem has other devices by now. Those of one that is unplugged are waited for,
    /// as if they had been named.
    fn look_for_others(&mut self, events: &mut Events) -> bool {
        let Some(hardware) = &self.hardware else { return false };
        let found = hardware.network_devices();
        if found.is_empty() || found.iter().eq(self.found.iter().map(|device| &device.name)) {
            return false;
        }
        events.interfaces(&found);
        self.found = devices(found);
        true
    }
}

fn devices(names: Vec<String>) -> Vec<Device> {
    names.into_iter().map(|name| Device { name, number: 0 }).collect()
}
