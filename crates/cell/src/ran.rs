//! The network: carriers, devices, and the slots in which they meet.

use alloc::vec::Vec;
use core::time::Duration;

use sounding_units::{Bytes, HostInstant};

use crate::carrier::{Carrier, Carriers};
use crate::config::{CarrierConfig, DeviceConfig, InvalidConfig, Rat};
use crate::device::{Device, DeviceCarrier, Devices, Parts};
use crate::downlink::Candidate;
use crate::event::{CarrierId, DeviceId, Direction, Event};
use crate::ids::DeviceCarrierId;
use crate::outputs::{Output, Outputs};
use crate::radio::Trajectory;
use crate::slot::Slots;
use crate::streams::Streams;
use crate::traffic::TrafficSource;

/// Larger RNTIs are used for background users. Each of them appears only once.
const MAX_DEVICES: usize = 15_000;

/// A radio access network: base stations with their carriers, and devices.
///
/// A packet enters at a device in a direction. It leaves later, or is lost. This code reads no
/// clock: a call computes all slots up to the given time. A late call does not change the result.
#[derive(Debug)]
pub struct Ran<P> {
    carriers: Carriers,
    devices: Devices<P>,
    outputs: Outputs<P>,
    candidates: Vec<Candidate>,
    origin: HostInstant,
    now: HostInstant,
    /// Shortest time from the beginning of a slot to the delivery of its packets, over all
    /// carriers.
    soonest: Duration,
    streams: Streams,
}

impl<P> Ran<P> {
    /// A network whose first slots begin at `origin`. The same seed gives the same network, bit for
    /// bit.
    ///
    /// # Errors
    ///
    /// [`InvalidConfig`] if a carrier's setting is outside its range, or there are more than 255
    /// carriers.
    pub fn new(
        carriers: &[CarrierConfig],
        origin: HostInstant,
        seed: u64,
    ) -> Result<Self, InvalidConfig> {
        if carriers.len() > usize::from(u8::MAX) {
            return Err(InvalidConfig::TooMany);
        }
        let streams = Streams { seed };
        let carriers = carriers
            .iter()
            .enumerate()
            .map(|(at, config)| {
                let id = CarrierId(at as u8);
                Carrier::new(id, config.clone(), origin, streams.carrier(id))
            })
            .collect::<Result<Vec<Carrier>, _>>()?;
        let delays =
            carriers.iter().map(|carrier| carrier.frame.slot() + carrier.config.decoding());
        Ok(Self {
            soonest: delays.min().unwrap_or_default(),
            carriers: Carriers::new(carriers),
            devices: Devices::new(),
            outputs: Outputs::new(),
            candidates: Vec::new(),
            origin,
            now: origin,
            streams,
        })
    }

    /// From now on every user's DCIs become events, as a sniffer receives them.
    pub fn sniff(&mut self) {
        self.outputs.events.sniff();
    }

    /// From now on each downlink slot of every carrier becomes an event with its resource blocks by
    /// user: the truth, for evaluation.
    pub fn show_use(&mut self) {
        self.outputs.events.show_use();
        self.carriers.show_use();
    }

    /// From now on everything that a device's modem sees becomes events.
    pub fn watch(&mut self, device: DeviceId) {
        self.devices[device].watched = true;
        self.outputs.events.begin();
    }

    /// Whether anything becomes an event.
    pub fn is_watched(&self) -> bool {
        self.outputs.events.is_wanted()
    }

    /// Adds a device, connected on the first of its carriers.
    ///
    /// # Errors
    ///
    /// [`InvalidConfig`] if the device has no cell, names a carrier that is not there, has a
    /// setting outside its range, or is one too many.
    pub fn add_device(&mut self, config: DeviceConfig) -> Result<DeviceId, InvalidConfig> {
        let id = DeviceId(self.devices.len() as u16);
        config.aggregation.check()?;
        let carriers = self.carriers_of(id, &config)?;
        if carriers.is_empty() || config.cells.iter().any(Vec::is_empty) {
            return Err(InvalidConfig::NoCell);
        }
        if self.devices.len() >= MAX_DEVICES || carriers.len() > usize::from(u8::MAX) {
            return Err(InvalidConfig::TooMany);
        }
        let trajectory = Trajectory::new(&config.trajectory, self.streams.place(id))?;
        let source = config
            .traffic
            .map(|traffic| TrafficSource::new(traffic, self.now, self.streams.traffic(id)));
        let rng = self.streams.device(id);
        let by_load = config.aggregation.load.is_some() && carriers.len() > 1;
        let parts = Parts { config, carriers, trajectory, source, rng };
        let device = Device::new(id, self.now, parts);
        for (carrier, user) in device.users() {
            let carrier = &mut self.carriers[carrier];
            if self.now > self.origin {
                carrier.skip_to(self.now);
            }
            carrier.attach(user);
            carrier.counts_shares |= by_load;
        }
        self.devices.push(device);
        Ok(id)
    }

    /// All carriers of a device's cells; the first is in use.
    fn carriers_of(
        &self,
        id: DeviceId,
        config: &DeviceConfig,
    ) -> Result<Vec<DeviceCarrier>, InvalidConfig> {
        let mut all = Vec::new();
        for (cell, carriers) in config.cells.iter().enumerate() {
            let rat = |at: &usize| self.carriers.get(*at).map(|carrier| carrier.config.rat);
            let is_lte = carriers.first().and_then(rat) == Some(Rat::Lte);
            let first_nr = carriers.iter().position(|at| rat(at) == Some(Rat::Nr));
            for (place, &carrier) in carriers.iter().enumerate() {
                let rng = self.streams.channel(id, DeviceCarrierId(all.len() as u8));
                let base = self.carriers.get(carrier).ok_or(InvalidConfig::NoCarrier(carrier))?;
                let base = (base.id, &base.config);
                let mut carrier = DeviceCarrier::new(config, base, (cell, place == 0), rng)?;
                carrier.in_secondary_group = is_lte && carrier.is_nr;
                carrier.is_first_of_secondary = is_lte && first_nr == Some(place);
                carrier.usable = (cell == 0 && place == 0).then_some(self.now);
                carrier.used = self.now;
                all.push(carrier);
            }
        }
        Ok(all)
    }

    /// A packet of `size` bytes of IP enters at a device: in the downlink at the base station, in
    /// the uplink at the modem.
    pub fn handle_packet(
        &mut self,
        now: HostInstant,
        device: DeviceId,
        direction: Direction,
        size: Bytes,
        payload: P,
    ) {
        self.handle_time(now);
        let device = &mut self.devices[device];
        if device.activate() {
            self.carriers.activate(device.users(), self.now);
        }
        device.handle_packet(now, direction, size, Some(payload), &mut self.outputs);
    }

    /// Time has reached `now`: computes every slot that began by then.
    pub fn handle_time(&mut self, now: HostInstant) {
        while let Some((carrier, at)) = self.carriers.next_slot().filter(|(_, at)| *at <= now) {
            self.now = at;
            let mut slots = Slots {
                carriers: &mut self.carriers,
                devices: &mut self.devices,
                outputs: &mut self.outputs,
                candidates: &mut self.candidates,
                origin: self.origin,
            };
            slots.run(carrier);
        }
        self.now = self.now.max(now);
    }

    /// Bytes that wait at a device for their first transmission, with their future headers.
    pub fn backlog(&self, device: DeviceId, direction: Direction) -> Bytes {
        Bytes::new(self.devices[device].bearers.of(direction).backlog())
    }

    /// The next packet that left.
    pub fn poll_output(&mut self) -> Option<Output<P>> {
        self.outputs.packets.pop_front()
    }

    /// Whether a packet has left that was not polled yet.
    #[inline]
    pub fn has_outputs(&self) -> bool {
        !self.outputs.packets.is_empty()
    }

    /// All packets that have left.
    pub fn drain_outputs(&mut self) -> impl Iterator<Item = Output<P>> {
        self.outputs.packets.drain(..)
    }

    /// Appends the events since the last call to `into`; there are none unless a device is watched.
    pub fn drain_events(&mut self, into: &mut Vec<Event>) {
        self.outputs.events.drain(into);
    }

    /// Time of the next slot with an event, if no packet enters before.
    pub fn wakeup(&self) -> Option<HostInstant> {
        self.carriers.next_slot().map(|(_, at)| at)
    }

    /// No packet is delivered before this time, if none enters before; `None` if no packet is on
    /// its way.
    pub fn no_delivery_until(&self) -> Option<HostInstant> {
        let busy = self.carriers.iter().filter(|carrier| !carrier.active().is_empty());
        busy.map(|carrier| self.no_delivery_before(carrier.next_at())).min()
    }

    /// Packets that are sent in slots from `at` on are not delivered before this time.
    pub fn no_delivery_before(&self, at: HostInstant) -> HostInstant {
        at + self.soonest
    }
}
