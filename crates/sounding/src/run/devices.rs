//! A modem's network devices, as they come and go: a modem that reboots has a new one under the
//! old name. Where none was named, they are looked for by the port's hardware.

use std::io;
use std::time::Duration;

use nix::net::if_::if_nametoindex;
use sounding_bpf::Radios;
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

/// The network devices of the modem at a place of the kernel's table.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Radio {
    pub(super) place: usize,
    /// The modem's name.
    pub(super) name: String,
    pub(super) devices: Vec<Device>,
}

impl Radio {
    /// The numbers of its devices.
    pub(super) fn numbers(&self) -> Vec<u32> {
        self.devices.iter().map(|device| device.number).collect()
    }

    /// Those of all, as the kernel's programs keep them.
    pub(super) fn table(radios: &[Self]) -> io::Result<Radios> {
        let rows: Vec<_> = radios.iter().map(|radio| (radio.place, radio.numbers())).collect();
        let rows: Vec<_> = rows.iter().map(|(place, numbers)| (*place, &numbers[..])).collect();
        Radios::of(&rows)
    }
}

#[derive(Clone, Debug)]
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

    /// Whether they are looked for by the port's hardware.
    pub(super) fn have_hardware(&self) -> bool {
        self.hardware.is_some()
    }

    /// What was found last.
    pub(super) fn found(&self) -> &[Device] {
        &self.found
    }

    /// Looks again if it is time to. Returns whether something moved, or `None` if it is not.
    pub(super) fn attend(&mut self, now: HostInstant, events: &mut Events) -> Option<bool> {
        if self.looked.is_some_and(|looked| now - looked < EVERY) {
            return None;
        }
        let mut moved = self.looked.is_none() | self.look_for_others(events);
        self.looked = Some(now);
        for device in &mut self.found {
            let number = if_nametoindex(device.name.as_str()).unwrap_or_default();
            moved |= number != device.number;
            device.number = number;
        }
        Some(moved)
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
