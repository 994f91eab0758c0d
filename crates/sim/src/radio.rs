use alloc::collections::VecDeque;
use alloc::vec::Vec;
use core::time::Duration;

use sounding_cell::config::{CarrierConfig, DeviceConfig, InvalidConfig};
use sounding_cell::modem::{Modem, ModemConfig};
use sounding_cell::sniffer::{Sniffer, SnifferConfig};
use sounding_cell::{DeviceId, Event, Outcome, Ran};
use sounding_diag::buffer::{Buffer, Limits};
use sounding_trace::dci::Heard;
use sounding_units::{Bytes, HostInstant};

use crate::soonest::soonest;
use crate::{Carried, Device, Diag, Lost, Network, Output, Port};

/// A modelled radio access network, and the modems of those devices whose hosts listen.
///
/// Its slots begin at time zero.
#[derive(Debug)]
pub struct Radio<P> {
    ran: Ran<P>,
    carriers: Vec<CarrierConfig>,
    modems: Vec<AttachedModem>,
    events: Vec<Event>,
    /// Events for [`drain_events`](Self::drain_events); `None` if off.
    shown: Option<Vec<Event>>,
    /// Outputs that are decided but leave later, in order. A block's packets are known when it is
    /// sent, and leave when it is decoded.
    ahead: VecDeque<PendingOutput<P>>,
    diag: VecDeque<Diag>,
    /// A sniffer whose host the devices' hosts listen to.
    sniffer: Option<Sniffer>,
    now: HostInstant,
}

/// A modem, and how its host reads it.
#[derive(Debug)]
struct AttachedModem {
    device: Device,
    modem: Modem,
    buffer: Buffer<Vec<u8>>,
    drain: Option<Duration>,
}

/// How a modem's records reach its host.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Reading {
    /// When they leave the modem of themselves.
    pub limits: Limits,
    /// Interval at which the host drains the modem, if it may: 1 ms as in BISCAY §4.
    pub drain: Option<Duration>,
}

impl Reading {
    /// Each record at once, when the modem writes it.
    pub const AT_ONCE: Self = Self { limits: Limits::AT_ONCE, drain: None };
}

impl From<Duration> for Reading {
    /// Drained so often, and never sooner.
    fn from(drain: Duration) -> Self {
        Self { limits: Limits::DRAINED, drain: Some(drain) }
    }
}

#[derive(Debug)]
struct PendingOutput<P> {
    at: HostInstant,
    port: Port,
    output: Output<P>,
}

impl<P> Radio<P> {
    /// A network of these carriers without devices. The same seed gives the same network, bit for
    /// bit.
    ///
    /// # Errors
    ///
    /// [`InvalidConfig`] if a carrier's setting is outside its range, or there are more than 255
    /// carriers.
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
            sniffer: None,
            now: origin,
        })
    }

    /// Adds a device; the first is number zero.
    ///
    /// # Errors
    ///
    /// [`InvalidConfig`] if the device has no cell, names a carrier that is not there, or is one
    /// too many.
    pub fn add_device(&mut self, config: DeviceConfig) -> Result<Device, InvalidConfig> {
        self.ran.add_device(config).map(|id| Device(id.0))
    }

    /// Adds a device whose host reads its modem; a duration means a port that is drained at this
    /// interval.
    ///
    /// # Errors
    ///
    /// As [`add_device`](Self::add_device).
    pub fn add_listened(
        &mut self,
        config: DeviceConfig,
        modem: ModemConfig,
        reading: impl Into<Reading>,
    ) -> Result<Device, InvalidConfig> {
        let device = self.add_device(config.clone())?;
        let id = DeviceId(device.0);
        let modem = Modem::new(modem, id, &config, &self.carriers, HostInstant::default())?;
        self.ran.watch(id);
        let buffer = Buffer::new(Limits::AT_ONCE);
        let mut listened = AttachedModem { device, modem, buffer, drain: None };
        listened.set_reading(reading.into());
        self.modems.push(listened);
        Ok(device)
    }

    /// Collects events for [`drain_events`](Self::drain_events): the passage of every packet of
    /// these devices and, if `sniffed`, the control messages of a cell for all its users.
    pub fn show(&mut self, devices: impl IntoIterator<Item = Device>, sniffed: bool) {
        devices.into_iter().for_each(|device| self.ran.watch(DeviceId(device.0)));
        if sniffed {
            self.ran.sniff();
        }
        self.shown.get_or_insert_default();
    }

    /// Collects how each slot of every carrier's downlink is used, for
    /// [`drain_events`](Self::drain_events).
    pub fn show_use(&mut self) {
        self.ran.show_use();
        self.shown.get_or_insert_default();
    }

    /// Adds a sniffer for every carrier; `seed` determines the messages that it misses.
    pub fn sniff_with(&mut self, config: SnifferConfig, seed: u64) {
        self.ran.sniff();
        self.sniffer = Some(Sniffer::new(config, &self.carriers, seed));
    }

    /// Appends the events since the last call to `into`; there are none unless they are
    /// [shown](Self::show).
    pub fn drain_events(&mut self, into: &mut Vec<Event>) {
        if let Some(shown) = &mut self.shown {
            into.append(shown);
        }
    }

    /// From now on all modems are read like this; records that wait in them are dropped.
    pub fn read_modems(&mut self, reading: Reading) {
        for listened in &mut self.modems {
            listened.set_reading(reading);
        }
    }

    /// The devices whose modems are read.
    pub fn listened(&self) -> impl Iterator<Item = Device> {
        self.modems.iter().map(|listened| listened.device)
    }

    /// The network itself: for what only a judge may know.
    pub fn ran(&self) -> &Ran<P> {
        &self.ran
    }

    /// Whether events have a receiver.
    fn is_observed(&self) -> bool {
        !self.modems.is_empty() || self.shown.is_some() || self.sniffer.is_some()
    }

    /// Collects the outputs of past slots.
    #[inline]
    fn collect(&mut self) {
        if self.ran.has_outputs() || self.is_observed() {
            self.take_in();
        }
    }

    fn take_in(&mut self) {
        for output in self.ran.drain_outputs() {
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
                        // Repeats of HARQ and RLC are in addition to the queue.
                        left: passage.sent,
                        exits: passage.delivered,
                    }),
                ),
                Outcome::Lost(dropped) => {
                    (dropped, Output::Lost(Lost { payload, size, entered, dropped }))
                }
            };
            let ahead = PendingOutput { at, port, output };
            if self.ahead.back().is_none_or(|last| last.at <= at) {
                self.ahead.push_back(ahead);
            } else {
                // Carriers take nearly the same time to decode: it goes a few places before the
                // end.
                let later = self.ahead.iter().rev().take_while(|ahead| ahead.at > at).count();
                self.ahead.insert(self.ahead.len() - later, ahead);
            }
        }
        if !self.is_observed() {
            return;
        }
        self.ran.drain_events(&mut self.events);
        if let Some(sniffer) = &mut self.sniffer {
            for event in &self.events {
                if let Event::Dci(dci) = event {
                    sniffer.handle_dci(dci);
                }
            }
            sniffer.handle_time(self.now);
        }
        for listened in &mut self.modems {
            self.events.iter().for_each(|event| listened.modem.handle_event(event));
            listened.handle_time(self.now, &mut self.diag);
        }
        match &mut self.shown {
            Some(shown) => shown.append(&mut self.events),
            None => self.events.clear(),
        }
    }
}

impl AttachedModem {
    fn set_reading(&mut self, Reading { limits, drain }: Reading) {
        self.buffer = Buffer::new(limits);
        self.drain = drain.map(|every| every.max(Duration::from_micros(1)));
    }

    /// Time has reached `now`, and all events until then have been reported.
    fn handle_time(&mut self, now: HostInstant, diag: &mut VecDeque<Diag>) {
        self.modem.handle_time(now);
        while let Some(record) = self.modem.poll_record() {
            // A record that is made at the moment of a drain is still drained.
            self.read(diag, |due| due < record.made_at);
            let size = record.bytes.len();
            self.buffer.handle_record(record.made_at, record.bytes, size);
            self.take(record.made_at, diag);
        }
        self.read(diag, |due| due <= now);
    }

    /// Reads the port at each time at which data leaves the modem, as long as `before` accepts the
    /// time.
    fn read(&mut self, diag: &mut VecDeque<Diag>, before: impl Fn(HostInstant) -> bool) {
        while let Some(due) = self.wakeup().filter(|due| before(*due)) {
            self.buffer.handle_drain();
            self.take(due, diag);
        }
    }

    fn take(&mut self, at: HostInstant, diag: &mut VecDeque<Diag>) {
        while let Some(bytes) = self.buffer.poll_record() {
            diag.push_back(Diag { device: self.device, at, bytes });
        }
    }

    /// When data leaves the modem: at a drain, or when it has been kept for long enough.
    fn wakeup(&self) -> Option<HostInstant> {
        let drained = self.buffer.oldest().zip(self.drain).map(|(since, every)| {
            HostInstant::from_nanos(since.as_nanos().next_multiple_of(every.as_nanos() as u64))
        });
        soonest([drained, self.buffer.wakeup()])
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
            return soonest([self.ran.no_delivery_until(), outputs]);
        }
        // Every slot has an event.
        let drains = self.modems.iter().filter_map(AttachedModem::wakeup).min();
        let modems = self.modems.iter().map(|listened| listened.modem.wakeup()).min();
        let lines = self.sniffer.as_ref().and_then(Sniffer::wakeup);
        soonest([self.ran.wakeup(), modems, outputs, drains, lines])
    }

    fn no_output_before(&self, at: HostInstant) -> HostInstant {
        self.ran.no_delivery_before(at)
    }

    fn poll_heard(&mut self) -> Option<(HostInstant, Heard)> {
        self.sniffer.as_mut()?.poll_heard(self.now)
    }

    fn poll_diag(&mut self) -> Option<Diag> {
        self.diag.pop_front()
    }
}
