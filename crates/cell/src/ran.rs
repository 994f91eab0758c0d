//! The network: carriers, devices, and the slots in which they meet.

use alloc::collections::VecDeque;
use alloc::vec::Vec;
use core::time::Duration;

use rand::SeedableRng;
use rand_chacha::ChaCha8Rng;
use sounding_units::{Bytes, HostInstant};

use crate::bearer::{Bearer, Fate, Passage};
use crate::buffer_status::{Asking, Belief};
use crate::carrier::Carrier;
use crate::config::{CarrierConfig, DeviceConfig, InvalidConfig, Rat};
use crate::device::{Aggregation, Device};
use crate::downlink::Candidate;
use crate::dual::Secondary;
use crate::event::{CarrierId, DeviceId, Direction, Event};
use crate::leg::Leg;
use crate::mobility::{Attention, Handover};
use crate::radio::Trajectory;
use crate::rota::NEVER;
use crate::traffic::Source;

/// What became of a packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// It was handed on, and passed where when.
    Delivered(Passage),
    /// It found a full queue, waited too long, or RLC gave up on it.
    Lost(HostInstant),
}

/// A packet that left the network, one way or the other.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Output<P> {
    /// Whose.
    pub device: DeviceId,
    /// Which way.
    pub direction: Direction,
    /// What the driver put in.
    pub payload: P,
    /// Bytes of IP.
    pub size: Bytes,
    /// When it entered.
    pub entered: HostInstant,
    /// What became of it.
    pub outcome: Outcome,
}

/// A radio access network: base stations with their carriers, and devices.
///
/// Packets go in at a device in a direction, and come out later or are lost. Nothing here reads a clock: slots are
/// worked through up to the time that the driver names, and being told late changes nothing in what comes out.
#[derive(Debug)]
pub struct Ran<P> {
    pub(crate) carriers: Vec<Carrier>,
    pub(crate) devices: Vec<Device<P>>,
    pub(crate) events: Option<Vec<Event>>,
    /// Every user's DCIs become events.
    pub(crate) sniffed: bool,
    /// Room for a slot's candidates, kept from slot to slot.
    pub(crate) candidates: Vec<Candidate>,
    outputs: VecDeque<Output<P>>,
    pub(crate) origin: HostInstant,
    now: HostInstant,
    /// From the beginning of a slot to its packets, on the fastest of the carriers.
    soonest: Duration,
    seed: u64,
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
        let carriers = carriers
            .iter()
            .enumerate()
            .map(|(at, config)| {
                let id = CarrierId(at as u8);
                Carrier::new(id, config.clone(), origin, stream(seed, CARRIERS + at as u64))
            })
            .collect::<Result<Vec<Carrier>, _>>()?;
        let delays =
            carriers.iter().map(|carrier| carrier.frame.slot() + processing(&carrier.config));
        Ok(Self {
            soonest: delays.min().unwrap_or_default(),
            carriers,
            devices: Vec::new(),
            events: None,
            sniffed: false,
            candidates: Vec::new(),
            outputs: VecDeque::new(),
            origin,
            now: origin,
            seed,
        })
    }

    /// Every user's DCIs become events, as a sniffer hears them.
    pub fn sniff(&mut self) {
        self.sniffed = true;
        self.events.get_or_insert_default();
    }

    /// What a device's modem sees becomes events.
    pub fn watch(&mut self, device: DeviceId) {
        self.devices[usize::from(device.0)].watched = true;
        self.events.get_or_insert_default();
    }

    /// Whether anything that happens becomes an event.
    pub fn is_watched(&self) -> bool {
        self.events.is_some()
    }

    /// Adds a device, connected on the first of its carriers.
    pub fn add_device(&mut self, config: DeviceConfig) -> Result<DeviceId, InvalidConfig> {
        let id = DeviceId(self.devices.len() as u16);
        let number = u64::from(id.0);
        let mut legs = Vec::new();
        for (cell, carriers) in config.cells.iter().enumerate() {
            let rat = |at: &usize| self.carriers.get(*at).map(|carrier| carrier.config.rat);
            let lte = carriers.first().and_then(rat) == Some(Rat::Lte);
            let first_nr = carriers.iter().position(|at| rat(at) == Some(Rat::Nr));
            for (place, &carrier) in carriers.iter().enumerate() {
                let rng = stream(self.seed, CHANNELS + (number << 16) + legs.len() as u64);
                let base = self.carriers.get(carrier).ok_or(InvalidConfig::NoCarrier(carrier))?;
                let mut leg = Leg::new(&config, base, (cell, place == 0), rng)?;
                leg.in_secondary_group = lte && base.config.rat == Rat::Nr;
                leg.secondary = lte && first_nr == Some(place);
                leg.usable = (cell == 0 && place == 0).then_some(self.now);
                leg.used = self.now;
                legs.push(leg);
            }
        }
        if legs.is_empty() || config.cells.iter().any(Vec::is_empty) {
            return Err(InvalidConfig::NoCell);
        }
        if self.devices.len() >= MOST_DEVICES || legs.len() > usize::from(u8::MAX) {
            return Err(InvalidConfig::TooMany);
        }
        let place = Trajectory::new(&config.trajectory, stream(self.seed, PLACES + number))?;
        for (leg, state) in legs.iter().enumerate() {
            let carrier = &mut self.carriers[usize::from(state.carrier.0)];
            if self.now > self.origin {
                carrier.skip_to(self.now);
            }
            carrier.attach(id.0, leg as u8);
        }
        let source = config
            .traffic
            .map(|traffic| Source::new(traffic, self.now, stream(self.seed, TRAFFIC + number)));
        self.devices.push(Device {
            downlink: Bearer::new(config.downlink),
            uplink: Bearer::new(config.uplink),
            asking: Asking::new(),
            belief: Belief::default(),
            legs,
            place,
            serving: 0,
            primary: 0,
            secondary: Secondary::default(),
            handover: Handover::default(),
            scripted: 0,
            attention: Attention::new(self.now),
            source,
            rng: stream(self.seed, DEVICES + number),
            aggregation: Aggregation::default(),
            watched: false,
            active: true,
            away_until: self.now,
            next_measured: self.now,
            config,
        });
        Ok(id)
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
        self.rouse(device.0);
        self.wake(now, device.0, direction);
        let entry = &mut self.devices[usize::from(device.0)];
        match direction {
            Direction::Downlink => entry.downlink.handle_packet(now, size, Some(payload)),
            Direction::Uplink => {
                if entry.uplink.demand() == 0 {
                    entry.asking.handle_data();
                }
                entry.uplink.handle_packet(now, size, Some(payload));
            }
        }
        self.collect(device.0);
    }

    /// Time has reached `now`: every slot that began by then is worked through.
    pub fn handle_time(&mut self, now: HostInstant) {
        while let Some((carrier, at)) = self.next_slot().filter(|(_, at)| *at <= now) {
            self.now = at;
            self.slot(carrier);
        }
        self.now = self.now.max(now);
    }

    /// What waits at a device to be sent for the first time, in bytes with the headers that they will have.
    pub fn backlog(&self, device: DeviceId, direction: Direction) -> Bytes {
        let state = &self.devices[usize::from(device.0)];
        Bytes::new(match direction {
            Direction::Downlink => state.downlink.backlog(),
            Direction::Uplink => state.uplink.backlog(),
        })
    }

    /// The next packet that left.
    pub fn poll_output(&mut self) -> Option<Output<P>> {
        self.outputs.pop_front()
    }

    /// Whether any packet has left that was not taken.
    #[inline]
    pub fn has_outputs(&self) -> bool {
        !self.outputs.is_empty()
    }

    /// All packets that have left.
    pub fn drain_outputs(&mut self) -> impl Iterator<Item = Output<P>> {
        self.outputs.drain(..)
    }

    /// Moves what happened since the last call to the end of `into`; nothing unless something is watched.
    pub fn drain_events(&mut self, into: &mut Vec<Event>) {
        if let Some(events) = &mut self.events {
            into.append(events);
        }
    }

    /// When something will happen if nothing enters before; nothing does in the slots until then.
    pub fn wakeup(&self) -> Option<HostInstant> {
        self.next_slot().map(|(_, at)| at)
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

    fn next_slot(&self) -> Option<(usize, HostInstant)> {
        let slots = self.carriers.iter().map(Carrier::next_at).enumerate();
        slots.filter(|(_, at)| *at < NEVER).min_by_key(|(_, at)| *at)
    }

    /// A device has something to do from now on.
    #[inline]
    pub(crate) fn rouse(&mut self, device: u16) {
        let state = &mut self.devices[usize::from(device)];
        if !core::mem::replace(&mut state.active, true) {
            self.activate(device);
        }
    }

    fn activate(&mut self, device: u16) {
        let state = &self.devices[usize::from(device)];
        for (leg, place) in (0..).zip(&state.legs) {
            let carrier = &mut self.carriers[usize::from(place.carrier.0)];
            carrier.skip_to(self.now);
            carrier.rouse((device, leg));
        }
    }

    /// Takes the fates of a device's packets.
    #[inline]
    pub(crate) fn collect(&mut self, device: u16) {
        let state = &self.devices[usize::from(device)];
        if state.downlink.has_fates() || state.uplink.has_fates() {
            self.take_fates(device);
        }
    }

    #[inline(never)]
    fn take_fates(&mut self, device: u16) {
        let state = &mut self.devices[usize::from(device)];
        let watched = state.watched;
        for direction in [Direction::Downlink, Direction::Uplink] {
            let bearer = match direction {
                Direction::Downlink => &mut state.downlink,
                Direction::Uplink => &mut state.uplink,
            };
            for fate in bearer.drain_fates() {
                let (payload, size, entered, outcome) = match fate {
                    Fate::Delivered { payload, size, passage } => {
                        (payload, size, passage.entered, Outcome::Delivered(passage))
                    }
                    Fate::Lost { payload, size, entered, at } => {
                        (payload, size, entered, Outcome::Lost(at))
                    }
                };
                // What nobody sent nobody waits for.
                let Some(payload) = payload else { continue };
                let device = DeviceId(device);
                if let (true, Outcome::Delivered(passage), Some(events)) =
                    (watched, outcome, &mut self.events)
                {
                    events.push(Event::Passage { device, direction, passage });
                }
                self.outputs.push_back(Output {
                    device,
                    direction,
                    payload,
                    size,
                    entered,
                    outcome,
                });
            }
        }
    }
}

/// From the end of a slot to the packets in it: demodulation and decoding. 1.5 ms in LTE (TR 36.912 §B.2), and in NR
/// about N1 (TS 38.214 Table 5.3-1).
pub(crate) fn processing(carrier: &CarrierConfig) -> Duration {
    match carrier.rat {
        Rat::Lte => Duration::from_micros(1_500),
        Rat::Nr => Duration::from_micros(500),
    }
}

/// RNTIs above are those of users that are never seen again.
const MOST_DEVICES: usize = 15_000;

/// Streams of random numbers: one for each thing that draws, so that one more draw here changes nothing there.
const CARRIERS: u64 = 1 << 40;
const PLACES: u64 = 2 << 40;
const CHANNELS: u64 = 3 << 40;
const TRAFFIC: u64 = 4 << 40;
const DEVICES: u64 = 5 << 40;

fn stream(seed: u64, number: u64) -> ChaCha8Rng {
    let mut rng = ChaCha8Rng::seed_from_u64(seed);
    rng.set_stream(number);
    rng
}
