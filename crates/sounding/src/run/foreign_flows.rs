//! The modem's network devices, as they come and go: a modem that reboots has a new one under the old name. Flows that leave by
//! others are none of the modem's, and what leaves by these of other algorithms is counted. Where none was named, they are looked
//! for by the port.

use std::io;
use std::time::Duration;

use nix::net::if_::if_nametoindex;
use sounding_bpf::{Counting, Instance};
use sounding_units::HostInstant;

use super::downlink::Receiving;
use super::events::Events;
use super::hardware::Hardware;

/// How often the devices are looked for.
const EVERY: Duration = Duration::from_secs(1);

#[derive(Debug)]
pub(super) struct Others {
    devices: Vec<Device>,
    /// Where to look for them, if none was named.
    hardware: Option<Hardware>,
    looked: Option<HostInstant>,
}

#[derive(Debug)]
struct Device {
    name: String,
    /// 0 if it is not there.
    number: u32,
    counted: Option<Counted>,
    /// Whether it was reported that it is not counted.
    told: bool,
}

#[derive(Debug)]
struct Counted {
    number: u32,
    _by: Counting,
}

impl Others {
    /// For a modem whose devices were named, or are found from its hardware.
    pub(super) fn new(names: Vec<String>, hardware: Option<Hardware>) -> Self {
        Self { devices: devices(names), hardware, looked: None }
    }

    /// Follows what came back, and counts what is there and not yet counted, if it is time to look again.
    pub(super) fn attend(
        &mut self,
        now: HostInstant,
        instance: &mut Instance,
        receiving: Option<&mut Receiving>,
        events: &mut Events,
    ) {
        if self.looked.is_some_and(|looked| now - looked < EVERY) {
            return;
        }
        let mut moved = self.looked.is_none() | self.look_for_others(events);
        self.looked = Some(now);
        for device in &mut self.devices {
            let number = if_nametoindex(device.name.as_str()).unwrap_or_default();
            moved |= number != device.number;
            device.number = number;
        }
        if moved {
            let numbers: Vec<u32> = self.devices.iter().map(|device| device.number).collect();
            // Without a way to distinguish namespaces (Linux before 5.14), all flows are the modem's as before.
            let _ = instance.set_radios(&numbers);
            if let Some(receiving) = receiving {
                receiving.follow(&numbers);
            }
        }
        for device in &mut self.devices {
            device.count(instance, events);
        }
    }
}

impl Others {
    /// Whether the modem has other devices by now. Those of one that is unplugged are waited for, as if they had been named.
    fn look_for_others(&mut self, events: &mut Events) -> bool {
        let Some(hardware) = &self.hardware else { return false };
        let found = hardware.network_devices();
        if found.is_empty() || found.iter().eq(self.devices.iter().map(|device| &device.name)) {
            return false;
        }
        events.interfaces(&found);
        self.devices = devices(found);
        true
    }
}

fn devices(names: Vec<String>) -> Vec<Device> {
    let device = |name| Device { name, number: 0, counted: None, told: false };
    names.into_iter().map(device).collect()
}

impl Device {
    fn count(&mut self, instance: &Instance, events: &mut Events) {
        let number = Some(self.number).filter(|number| *number != 0);
        if self.counted.as_ref().map(|counted| counted.number) == number && number.is_some() {
            return;
        }
        self.counted = None;
        let found = number.ok_or_else(|| io::Error::other("there is no such device"));
        match found.and_then(|number| Ok(Counted { number, _by: instance.count_on(number)? })) {
            Ok(counted) => {
                self.counted = Some(counted);
                self.told = false;
                events.counting(&self.name, None);
            }
            Err(why) if !self.told => {
                self.told = true;
                events.counting(&self.name, Some(&why));
            }
            Err(_) => {}
        }
    }
}
