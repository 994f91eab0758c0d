//! The order of events in a slot: measurements, feedback, grants and assignments, transmissions,
//! requests, timers.

use alloc::vec::Vec;

use sounding_units::HostInstant;

use crate::carrier::{Carrier, Carriers};
use crate::device::Devices;
use crate::downlink::{Candidate, DownlinkSlot};
use crate::ids::{CarrierId, SlotId, User};
use crate::outputs::Outputs;
use crate::uplink::UplinkSlot;

/// The parts of a network that a slot works on.
pub(crate) struct Slots<'a, P> {
    pub(crate) carriers: &'a mut Carriers,
    pub(crate) devices: &'a mut Devices<P>,
    pub(crate) outputs: &'a mut Outputs<P>,
    /// Space for a slot's candidates, kept from slot to slot.
    pub(crate) candidates: &'a mut Vec<Candidate>,
    /// When the network began.
    pub(crate) origin: HostInstant,
}

impl<P> Slots<'_, P> {
    /// Works through the next slot of a carrier.
    pub(crate) fn run(&mut self, carrier: CarrierId) {
        let slot = self.carriers[carrier].advance();
        self.measure(slot);
        self.exchange(slot);
        self.handle_timers(slot);
    }

    /// Updates channels; devices report their measurements.
    fn measure(&mut self, slot: SlotId) {
        let Carrier { attached, measuring, .. } = &mut self.carriers[slot.carrier];
        measuring.run(slot.at, |at| {
            let user = attached[at];
            self.devices[user.device].measure(user.carrier, slot, &mut self.outputs.events)
        });
    }

    /// The carrier and its users send and receive.
    fn exchange(&mut self, slot: SlotId) {
        let carrier = &mut self.carriers[slot.carrier];
        let kind = carrier.frame.kind(slot.slot);
        let devices = &mut *self.devices;
        DownlinkSlot { slot, carrier, outputs: self.outputs }.handle_feedback(devices);
        if kind.has_downlink() {
            let granted = UplinkSlot { slot, carrier, outputs: self.outputs }.grant(devices);
            let dcis = carrier.config.pdcch.saturating_sub(granted);
            let mut downlink = DownlinkSlot { slot, carrier, outputs: self.outputs };
            downlink.send(devices, dcis, self.candidates);
        }
        if kind.has_uplink() {
            let mut uplink = UplinkSlot { slot, carrier, outputs: self.outputs };
            uplink.send(devices);
            uplink.request(devices);
        }
    }

    /// Timers of the devices whose primary carrier this is.
    fn handle_timers(&mut self, slot: SlotId) {
        let now = slot.at;
        let mut upkeep = core::mem::take(&mut self.carriers[slot.carrier].upkeep);
        upkeep.run(now, |at| {
            let user = self.carriers[slot.carrier].attached[at];
            self.keep_up(user, slot)
        });
        self.carriers[slot.carrier].upkeep = upkeep;
        let mut active = self.carriers[slot.carrier].take_active();
        active.retain(|user| {
            let device = &mut self.devices[user.device];
            user.carrier != device.carriers.primary() || device.handle_timers(now, self.outputs)
        });
        self.carriers[slot.carrier].set_active(active);
    }

    /// A device measures its neighbours, and its own traffic comes; when to do so next.
    fn keep_up(&mut self, user: User, slot: SlotId) -> HostInstant {
        let now = slot.at;
        let device = &mut self.devices[user.device];
        if user.carrier != device.carriers.primary() {
            return now;
        }
        let load = self.carriers[slot.carrier].load();
        device.handle_measurements(now, load, self.origin, self.outputs);
        while let Some(size) = device.poll_traffic(now) {
            if device.activate() {
                self.carriers.activate(device.users(), now);
            }
            device.handle_traffic(now, size, self.outputs);
        }
        device.wakeup(now)
    }
}
