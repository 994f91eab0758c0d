//! One watched device of a modelled network, its packets and its modem's bytes.

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::time::Duration;

use sounding_cell::config::{CarrierConfig, DeviceConfig, InvalidConfig};
use sounding_cell::modem::{Modem, ModemConfig};
use sounding_cell::{DeviceId, Direction, Event, Outcome, Passage, Ran, sniffer};
use sounding_diag::LogRecord;
use sounding_diag::hdlc::Deframer;
use sounding_diag::packet::Packet;
use sounding_trace::dci::Dci;
use sounding_units::{Bytes, HostInstant};

/// The measured device.
pub(super) const DEVICE: DeviceId = DeviceId(0);

/// When networks begin.
pub(super) const ORIGIN: HostInstant = HostInstant::from_nanos(0);

/// A packet that left the network.
pub(super) struct Came {
    pub(super) direction: Direction,
    /// Its number.
    pub(super) number: u64,
    pub(super) passage: Passage,
}

/// A packet that goes in.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Packets {
    pub(super) at: HostInstant,
    pub(super) up: bool,
    pub(super) size: u64,
    pub(super) number: u64,
}

/// A network, its first device's modem, and what goes in.
pub(super) struct Rig {
    ran: Ran<u64>,
    modem: Modem,
    carriers: Vec<CarrierConfig>,
    ahead: BinaryHeap<Reverse<Packets>>,
    events: Vec<Event>,
    now: HostInstant,
    /// Control messages of all users, while they are sniffed.
    pub(super) dcis: Option<Vec<Dci>>,
    /// The modem's bytes, while they are kept.
    pub(super) bytes: Option<Vec<u8>>,
    /// Packets that were lost.
    pub(super) lost: u64,
    /// The slot of a request that no grant has answered.
    requested: Option<u64>,
    /// Slots from each request to the next grant.
    pub(super) answers: Vec<u64>,
}

impl Rig {
    pub(super) fn new(
        carriers: Vec<CarrierConfig>,
        devices: &[DeviceConfig],
        seed: u64,
    ) -> Result<Self, InvalidConfig> {
        let mut ran = Ran::new(&carriers, ORIGIN, seed)?;
        for device in devices {
            ran.add_device(device.clone())?;
        }
        let first = devices.first().ok_or(InvalidConfig::NoCell)?;
        ran.watch(DEVICE);
        let modem = Modem::new(ModemConfig::default(), DEVICE, first, &carriers, ORIGIN)?;
        Ok(Self {
            ran,
            modem,
            carriers,
            ahead: BinaryHeap::new(),
            events: Vec::new(),
            now: ORIGIN,
            dcis: None,
            bytes: None,
            lost: 0,
            requested: None,
            answers: Vec::new(),
        })
    }

    /// Keeps the control messages of all users from now on.
    pub(super) fn sniff(&mut self) {
        self.ran.sniff();
        self.dcis = Some(Vec::new());
    }

    /// A packet will go in.
    pub(super) fn send(&mut self, packet: Packets) {
        self.ahead.push(Reverse(packet));
    }

    /// Bytes that wait in the network for the device.
    pub(super) fn backlog(&self, direction: Direction) -> u64 {
        self.ran.backlog(DEVICE, direction).count()
    }

    /// The next millisecond. `came` sees every packet that arrives and may send others; `wrote`
    /// every log record that the modem writes, read from its bytes.
    pub(super) fn step(
        &mut self,
        came: &mut impl FnMut(&Came, &mut dyn FnMut(Packets)),
        wrote: &mut impl FnMut(&LogRecord<'_>),
    ) {
        self.now = self.now + Duration::from_millis(1);
        while let Some(Reverse(packet)) = self.ahead.peek().copied().filter(|p| p.0.at <= self.now)
        {
            self.ahead.pop();
            let way = if packet.up { Direction::Uplink } else { Direction::Downlink };
            self.ran.handle_packet(packet.at, DEVICE, way, Bytes::new(packet.size), packet.number);
            self.take(came);
        }
        self.ran.handle_time(self.now);
        self.take(came);
        self.ran.drain_events(&mut self.events);
        for event in self.events.drain(..) {
            self.modem.handle_event(&event);
            match &event {
                Event::SchedulingRequest { slot, .. } => self.requested = Some(slot.slot),
                Event::Dci(dci) if dci.direction == Direction::Uplink => {
                    let requested = self.requested.take();
                    self.answers.extend(requested.map(|requested| dci.sent_in.slot - requested));
                }
                _ => {}
            }
            if let (Event::Dci(dci), Some(dcis)) = (&event, &mut self.dcis) {
                let carrier = &self.carriers[usize::from(dci.sent_in.carrier.0)];
                dcis.push(sniffer::message(dci, carrier));
            }
        }
        self.modem.handle_time(self.now);
        while let Some(record) = self.modem.poll_record() {
            if let Some(bytes) = &mut self.bytes {
                bytes.extend_from_slice(&record.bytes);
            }
            let mut deframer = Deframer::new();
            let mut input = record.bytes.as_slice();
            while let Some(frame) = deframer.poll_frame(&mut input) {
                if let Some(Packet::Log(log)) =
                    frame.ok().and_then(|frame| Packet::parse(frame.payload).ok())
                {
                    wrote(&log);
                }
            }
        }
    }

    fn take(&mut self, came: &mut impl FnMut(&Came, &mut dyn FnMut(Packets))) {
        while let Some(output) = self.ran.poll_output() {
            let Outcome::Delivered(passage) = output.outcome else {
                self.lost += 1;
                continue;
            };
            let (direction, number) = (output.direction, output.payload);
            let ahead = &mut self.ahead;
            came(&Came { direction, number, passage }, &mut |packet| ahead.push(Reverse(packet)));
        }
    }
}

/// Keeps a queue of the device filled, without letting it overflow.
pub(super) fn saturate(rig: &mut Rig, direction: Direction, now: HostInstant) {
    const ENOUGH: u64 = 300_000;
    const SIZE: u64 = 1_500;
    let up = direction == Direction::Uplink;
    for _ in 0..ENOUGH.saturating_sub(rig.backlog(direction)) / SIZE {
        rig.send(Packets { at: now, up, size: SIZE, number: 0 });
    }
}
