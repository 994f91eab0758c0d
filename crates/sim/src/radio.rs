use alloc::collections::VecDeque;
use alloc::vec::Vec;
use core::time::Duration;

use sounding_cell::config::{CarrierConfig, DeviceConfig, InvalidConfig};
use sounding_cell::modem::{Modem, ModemConfig};
use sounding_cell::{DeviceId, Event, Outcome, Ran};
use sounding_units::{Bytes, HostInstant};

use crate::{Carried, Device, Diag, Lost, Network, Output, Port};

/// A modelled radio access network, and the modems of those devices whose hosts listen.
///
/// Its slots begin at time zero.
#[derive(Debug)]
pub struct Radio<P> {
    ran: Ran<P>,
    carriers: Vec<CarrierConfig>,
    modems: Vec<Listened>,
    events: Vec<Event>,
    /// What happened, for whoever asked to be shown; `None` if nobody did.
    shown: Option<Vec<Event>>,
    /// What has been decided but comes out later, in that order: a block's packets are known when it is sent, and are
    /// there once it is decoded.
    ahead: VecDeque<Ahead<P>>,
    diag: VecDeque<Diag>,
    now: HostInstant,
}

/// A modem, and how its host reads it.
#[derive(Debug)]
struct Listened {
    device: Device,
    modem: Modem,
    drain: Duration,
}

#[derive(Debug)]
struct Ahead<P> {
    at: HostInstant,
    port: Port,
    output: Output<P>,
}

impl<P> Radio<P> {
    /// A network of these carriers without devices. The same seed gives the same network, bit for bit.
    pub fn new(carriers: Vec<CarrierConfig>, seed: u64) -> Result<Self, InvalidConfig> {
        let origin = HostInstant::default();
        Ok(Self {
            ran: Ran::new(&carriers, origin, seed)?,
            carriers,
            modems: Vec::new(),
            events: Vec::new(),
            shown: None,
            ahead: VecDeque::new(),
            diag: VecDeque::new(),
            now: origin,
        })
    }

    /// Adds a device; the first is number zero.
    pub fn add_device(&mut self, config: DeviceConfig) -> Result<Device, InvalidConfig> {
        self.ran.add_device(config).map(|id| Device(id.0))
    }

    /// Adds a device whose host reads its modem: the port is drained every `drain`, 1 ms where the modem allows it
    /// (BISCAY §4).
    pub fn add_listened(
        &mut self,
        config: DeviceConfig,
        modem: ModemConfig,
        drain: Duration,
    ) -> Result<Device, InvalidConfig> {
        let device = self.add_device(config.clone())?;
        let id = DeviceId(device.0);
        let modem = Modem::new(modem, id, &config, &self.carriers, HostInstant::default())?;
        self.ran.watch(id);
        self.modems.push(Listened { device, modem, drain: drain.max(Duration::from_micros(1)) });
        Ok(device)
    }

    /// Keeps what happens for [`drain_events`](Self::drain_events), for a judge to see: the passage of every packet of
    /// these devices, and if it is `sniffed`, what a cell's control channel tells of all its users.
    pub fn show(&mut self, devices: impl IntoIterator<Item = Device>, sniffed: bool) {
        devices.into_iter().for_each(|device| self.ran.watch(DeviceId(device.0)));
        if sniffed {
            self.ran.sniff();
        }
        self.shown.get_or_insert_default();
    }

    /// Moves what happened since the last call to the end of `into`; nothing unless it was to be
    /// [shown](Self::show).
    pub fn drain_events(&mut self, into: &mut Vec<Event>) {
        if let Some(shown) = &mut self.shown {
            into.append(shown);
        }
    }

    /// The network itself: for what only a judge may know.
    pub fn ran(&self) -> &Ran<P> {
        &self.ran
    }

    /// Takes what came of the slots that have passed.
    fn collect(&mut self) {
        while let Some(output) = self.ran.poll_output() {
            let device = Device(output.device.0);
            let port = Port { device, direction: output.direction };
            let (payload, size, entered) = (output.payload, output.size, output.entered);
            let (at, output) = match output.outcome {
                Outcome::Delivered(passage) => (
                    passage.delivered,
                    Output::Carried(Carried {
                        payload,
                        size,
                        entered,
                        joined: entered,
                        // What HARQ and RLC repeat comes on top of the queue, not out of it.
                        left: passage.sent,
                        exits: passage.delivered,
                    }),
                ),
                Outcome::Lost(dropped) => {
                    (dropped, Output::Lost(Lost { payload, size, entered, dropped }))
                }
            };
            let ahead = Ahead { at, port, output };
            if self.ahead.back().is_none_or(|last| last.at <= at) {
                self.ahead.push_back(ahead);
            } else {
                // Carriers take nearly the same time to decode: it goes a few places before the end.
                let later = self.ahead.iter().rev().take_while(|ahead| ahead.at > at).count();
                self.ahead.insert(self.ahead.len() - later, ahead);
            }
        }
        if self.modems.is_empty() && self.shown.is_none() {
            return;
        }
        self.ran.drain_events(&mut self.events);
        for Listened { device, modem, drain } in &mut self.modems {
            self.events.iter().for_each(|event| modem.handle_event(event));
            modem.handle_time(self.now);
            while let Some(record) = modem.poll_record() {
                let tick = drain.as_nanos() as u64;
                let at = HostInstant::from_nanos(record.made_at.as_nanos().next_multiple_of(tick));
                self.diag.push_back(Diag { device: *device, at, bytes: record.bytes });
            }
        }
        match &mut self.shown {
            Some(shown) => shown.append(&mut self.events),
            None => self.events.clear(),
        }
    }
}

impl<P> Network<P> for Radio<P> {
    fn handle_packet(&mut self, now: HostInstant, port: Port, size: Bytes, payload: P) {
        self.ran.handle_packet(now, DeviceId(port.device.0), port.direction, size, payload);
        // Only a packet that finds no room has an outcome at once.
        self.collect();
    }

    fn handle_time(&mut self, now: HostInstant) {
        self.now = self.now.max(now);
        self.ran.handle_time(now);
        self.collect();
    }

    fn poll_output(&mut self) -> Option<(Port, Output<P>)> {
        let next = self.ahead.pop_front_if(|next| next.at <= self.now)?;
        Some((next.port, next.output))
    }

    fn wakeup(&self) -> Option<HostInstant> {
        let outputs = self.ahead.front().map(|next| next.at);
        if !self.ran.is_watched() {
            return [self.ran.no_delivery_until(), outputs].into_iter().flatten().min();
        }
        // There is something to say of any slot.
        let diag = self.diag.front().map(|diag| diag.at);
        let modems = self.modems.iter().map(|listened| listened.modem.wakeup()).min();
        [self.ran.wakeup(), modems, outputs, diag].into_iter().flatten().min()
    }

    fn no_output_before(&self, at: HostInstant) -> HostInstant {
        self.ran.no_delivery_before(at)
    }

    fn poll_diag(&mut self) -> Option<Diag> {
        self.diag.pop_front_if(|diag| diag.at <= self.now)
    }
}
