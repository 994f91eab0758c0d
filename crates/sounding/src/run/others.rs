//! Devices whose other flows are counted, as they come and go: a modem that reboots has a new one under the old name.

use std::io;
use std::time::Duration;

use nix::net::if_::if_nametoindex;
use sounding_bpf::{Counting, Instance};
use sounding_units::HostInstant;

use super::events::Events;

/// How often the devices are looked for.
const EVERY: Duration = Duration::from_secs(1);

#[derive(Debug)]
pub(super) struct Others {
    devices: Vec<Device>,
    looked: Option<HostInstant>,
}

#[derive(Debug)]
struct Device {
    name: String,
    counted: Option<Counted>,
    /// Whether somebody was told that it is not counted.
    told: bool,
}

#[derive(Debug)]
struct Counted {
    number: u32,
    _by: Counting,
}

impl Others {
    pub(super) fn new(names: Vec<String>) -> Self {
        let device = |name| Device { name, counted: None, told: false };
        Self { devices: names.into_iter().map(device).collect(), looked: None }
    }

    /// Counts what is there and not yet counted, if it is time to look again.
    pub(super) fn attend(&mut self, now: HostInstant, instance: &Instance, events: &mut Events) {
        if self.looked.is_some_and(|looked| now - looked < EVERY) {
            return;
        }
        self.looked = Some(now);
        for device in &mut self.devices {
            device.attend(instance, events);
        }
    }
}

impl Device {
    fn attend(&mut self, instance: &Instance, events: &mut Events) {
        let number = if_nametoindex(self.name.as_str()).ok();
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
