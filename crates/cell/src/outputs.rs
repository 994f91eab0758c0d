//! Outputs of a network: packets, and events.

use alloc::collections::VecDeque;
use alloc::vec::Vec;

use sounding_units::{Bytes, HostInstant};

use crate::bearer::{PacketFate, Passage};
use crate::event::{Dci, DeviceId, Direction, Event};

/// The fate of a packet.
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
    /// The device.
    pub device: DeviceId,
    /// The direction.
    pub direction: Direction,
    /// The driver's payload.
    pub payload: P,
    /// Bytes of IP.
    pub size: Bytes,
    /// When it entered.
    pub entered: HostInstant,
    /// Its fate.
    pub outcome: Outcome,
}

/// Packets and events that wait to be taken.
#[derive(Debug)]
pub(crate) struct Outputs<P> {
    pub(crate) packets: VecDeque<Output<P>>,
    pub(crate) events: EventLog,
}

impl<P> Outputs<P> {
    pub(crate) fn new() -> Self {
        Self { packets: VecDeque::new(), events: EventLog::default() }
    }

    /// Records the fate of a device's packet, as an event if the device is watched.
    pub(crate) fn handle_fate(
        &mut self,
        (device, watched): (DeviceId, bool),
        direction: Direction,
        fate: PacketFate<Option<P>>,
    ) {
        let (payload, size, entered, outcome) = match fate {
            PacketFate::Delivered { payload, size, passage } => {
                (payload, size, passage.entered, Outcome::Delivered(passage))
            }
            PacketFate::Lost { payload, size, entered, at } => {
                (payload, size, entered, Outcome::Lost(at))
            }
        };
        // Background traffic ends here.
        let Some(payload) = payload else { return };
        if let Outcome::Delivered(passage) = outcome {
            self.events.record(watched, || Event::Passage { device, direction, passage });
        }
        self.packets.push_back(Output { device, direction, payload, size, entered, outcome });
    }
}

/// Events, if a device is watched.
#[derive(Debug, Default)]
pub(crate) struct EventLog {
    events: Option<Vec<Event>>,
    /// Every user's DCIs become events.
    sniffed: bool,
    /// The use of every slot of the downlink becomes an event.
    shows_use: bool,
}

impl EventLog {
    /// Starts to collect events.
    pub(crate) fn begin(&mut self) {
        self.events.get_or_insert_default();
    }

    /// Starts to collect every user's DCIs.
    pub(crate) fn sniff(&mut self) {
        self.sniffed = true;
        self.begin();
    }

    /// Starts to collect the use of every slot of the downlink.
    pub(crate) fn show_use(&mut self) {
        self.shows_use = true;
        self.begin();
    }

    #[inline]
    pub(crate) fn shows_use(&self) -> bool {
        self.shows_use
    }

    pub(crate) fn is_wanted(&self) -> bool {
        self.events.is_some()
    }

    /// Moves what happened since the last call to the end of `into`.
    pub(crate) fn drain(&mut self, into: &mut Vec<Event>) {
        if let Some(events) = &mut self.events {
            into.append(events);
        }
    }

    /// An event of a device, which may be watched.
    #[inline]
    pub(crate) fn record(&mut self, watched: bool, event: impl FnOnce() -> Event) {
        if watched && let Some(events) = &mut self.events {
            events.push(event());
        }
    }

    /// A DCI was sent to a device, which may be watched, or to another user.
    #[inline]
    pub(crate) fn record_dci(&mut self, watched: bool, dci: impl FnOnce() -> Dci) {
        self.record(watched || self.sniffed, || Event::Dci(dci()));
    }
}
