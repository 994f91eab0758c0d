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

/// RNTIs above are those of users that are never seen again.
const MAX_DEVICES: usize = 15_000;

/// A radio access network: base stations with their carriers, and devices.
///
/// Packets go in at a device in a direction, and come out later or are lost. Nothing here reads a clock: slots are
/// worked through up to the time that the driver names, and calls that come late change nothing in what comes out.
#[derive(Debug)]
pub struct Ran<P> {
    carriers: Carriers,
    devices: Devices<P>,
    outputs: Outputs<P>,
    candidates: Vec<Candidate>,
    origin: HostInstant,
    now: HostInstant,
    /// From the beginning of a slot to its packets, on the fastest of the carriers.
    soonest: Duration,
    streams: Streams,
}

impl<P> Ran<P> {
    /// A network whose first slots begin at `origin`. The same seed gives the same network, bit for bit.
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

    /// Every user's DCIs become events, as a sniffer receives them.
    pub fn sniff(&mut self) {
        self.outputs.events.sniff();
    }

    /// How each slot of every carrier's downlink is used becomes an event: the truth, for a judge.
    pub fn show_use(&mut self) {
        self.outputs.events.show_use();
        self.carriers.show_use();
    }

    /// What a device's modem sees becomes events.
    pub fn watch(&mut self, device: DeviceId) {
        self.devices[device].watched = true;
        self.outputs.events.begin();
    }

    /// Whether anything that happens becomes an event.
    pub fn is_watched(&self) -> bool {
        self.outputs.events.is_wanted()
    }

    /// Adds a device, connected on the first of its carriers.
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

    /// All carriers of a device's cells; the first of them is in use.
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

    /// A packet of `size` bytes of IP enters at a device: in the downlink at the base station, in the uplink at the
    /// modem.
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

    /// Time has reached `now`: every slot that began by then is worked through.
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

    /// Whether any packet has left that was not taken.
    #[inline]
    pub fn has_outputs(&self) -> bool {
        !self.outputs.packets.is_empty()
    }

    /// All packets that have left.
    pub fn drain_outputs(&mut self) -> impl Iterator<Item = Output<P>> {
        self.outputs.packets.drain(..)
    }

    /// Moves what happened since the last call to the end of `into`; nothing unless something is watched.
    pub fn drain_events(&mut self, into: &mut Vec<Event>) {
        self.outputs.events.drain(into);
    }

    /// When something will happen if nothing enters before; nothing does in the slots until then.
    pub fn wakeup(&self) -> Option<HostInstant> {
        self.carriers.next_slot().map(|(_, at)| at)
    }

    /// A moment before which nothing is delivered if nothing enters before; `None` if nothing will be.
    pub fn no_delivery_until(&self) -> Option<HostInstant> {
        let busy = self.carriers.iter().filter(|carrier| !carrier.active().is_empty());
        busy.map(|carrier| self.no_delivery_before(carrier.next_at())).min()
    }

    /// A moment before which nothing is delivered of what is sent in slots that begin at `at` or later.
    pub fn no_delivery_before(&self, at: HostInstant) -> HostInstant {
        at + self.soonest
    }
}
