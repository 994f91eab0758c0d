//! The modem of a watched device: events of the network become the Diag log records that a modem
//! writes.
//!
//! Records come as often as from real modems. The intervals were measured in captures of LTE modems
//! of 2016 to 2023: uplink transmissions every 10 ms; uplink blocks every 100 ms or every 25
//! blocks, downlink blocks every 50 ms; the uplink backlog every 40 ms, with a sample per
//! millisecond; RLC's PDUs every 40 ms (downlink) and 45 ms (uplink); PDCCH and PHICH every 25
//! subframes; downlink statistics after at most 300 ms; CQI with each report; signal levels
//! every 40 ms. No public capture shows the intervals of NR's records; they are chosen to be
//! similar.
//!
//! A modem logs only what reaches it. It learns from the network's answer whether an uplink block
//! arrived, never from the event. A block that it could not decode does not exist for MAC and RLC.

mod batch;
mod cells;
mod clock;
mod log;
mod lte;
mod nr;
mod rlc;
mod rrc;

use alloc::collections::{BTreeMap, BTreeSet};
use alloc::vec::Vec;

use sounding_diag::LogCode;
use sounding_units::HostInstant;

use self::batch::BEAT;
use self::cells::Cells;
pub use self::clock::ClockConfig;
use self::log::Log;
use self::lte::Lte;
use self::nr::Nr;
use self::rlc::Window;
use self::rrc::Signalling;
use crate::bearer::Status;
use crate::config::{CarrierConfig, DeviceConfig, InvalidConfig, Rat, RlcMode};
use crate::event::{
    CarrierId, ChannelReport, Dci, DeviceId, Direction, Event, Rrc, Signal, SlotId, Transmission,
};

use crate::rnti::rnti;

/// The records that a modem writes.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Mask {
    /// All that it can.
    #[default]
    All,
    /// Records with these codes.
    Only(BTreeSet<LogCode>),
}

impl Mask {
    /// Whether records of `code` are written.
    pub fn wants(&self, code: LogCode) -> bool {
        match self {
            Self::All => true,
            Self::Only(codes) => codes.contains(&code),
        }
    }
}

/// Settings of a modem's log.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ModemConfig {
    /// Its clock.
    pub clock: ClockConfig,
    /// The log mask at the start.
    pub mask: Mask,
}

/// A log record as it leaves the modem.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Record {
    /// When the modem had written it; until it is drained it waits in the modem.
    pub made_at: HostInstant,
    /// The log code.
    pub code: LogCode,
    /// The frame that carries it.
    pub bytes: Vec<u8>,
}

/// Events that the modem sees, each at its end.
#[derive(Clone, Debug)]
enum Seen {
    Dci(Dci),
    Sent(Transmission),
    /// The network's answer to an LTE uplink block.
    Answer(SlotId, bool),
    Channel(ChannelReport),
    Status(Direction, Status),
    Signal(Signal),
    Rrc(Rrc),
    /// It has followed a handover.
    Followed(CarrierId),
}

/// State that both RATs share.
#[derive(Debug)]
struct Common {
    cells: Cells,
    log: Log,
    down: Window,
    up: Window,
}

/// A modem: events in, log records out.
#[derive(Debug)]
pub struct Modem {
    device: DeviceId,
    rnti: u16,
    /// Whether the bearers are acknowledged, down and up.
    acknowledged: [bool; 2],
    common: Common,
    lte: Lte,
    nr: Nr,
    signalling: Signalling,
    /// Whether the network activates carriers by load, with commands in MAC.
    commands: bool,
    /// By time and order.
    ahead: BTreeMap<(HostInstant, u64), Seen>,
    count: u64,
    beat: HostInstant,
}

impl Modem {
    /// The modem of a device of a network that begins at `origin` and has these carriers.
    ///
    /// # Errors
    ///
    /// [`InvalidConfig`] if the device names a carrier that is not there, or a carrier's frame is
    /// invalid.
    pub fn new(
        config: ModemConfig,
        id: DeviceId,
        device: &DeviceConfig,
        carriers: &[CarrierConfig],
        origin: HostInstant,
    ) -> Result<Self, InvalidConfig> {
        let cells = Cells::new(&device.cells, carriers, origin)?;
        let log = Log::new(config.mask, config.clock, origin);
        let acknowledged = [device.downlink.mode, device.uplink.mode];
        Ok(Self {
            device: id,
            rnti: rnti(id),
            acknowledged: acknowledged.map(|mode| mode == RlcMode::Acknowledged),
            lte: Lte::new(origin, cells.has(Rat::Lte)),
            nr: Nr::new(origin),
            signalling: Signalling::new(device.scheduling),
            commands: device.aggregation.load.is_some(),
            common: Common { cells, log, down: Window::default(), up: Window::default() },
            ahead: BTreeMap::new(),
            count: 0,
            beat: origin + BEAT,
        })
    }

    /// Applies an event of the network, in order of time. Events of other devices are skipped.
    pub fn handle_event(&mut self, event: &Event) {
        match event {
            Event::Dci(dci) if dci.rnti == self.rnti => {
                self.see(self.end_of(dci.sent_in), Seen::Dci(*dci));
            }
            Event::Transmission(device, sent) if *device == self.device => {
                let end = self.end_of(sent.slot);
                let cell = self.common.cells.get(sent.slot.carrier);
                if let (Direction::Uplink, Some(cell)) = (sent.direction, cell)
                    && cell.config.rat == Rat::Lte
                {
                    // PHICH comes where the repeat would be granted (TS 36.213 §9.1.2).
                    let slot = cell.frame.uplink_again(sent.slot.slot);
                    let later = (slot - sent.slot.slot) as u32;
                    let at = sent.slot.at + cell.frame.slot() * later;
                    let slot = SlotId { slot, at, ..sent.slot };
                    self.see(self.end_of(slot), Seen::Answer(slot, sent.arrived));
                }
                self.see(end, Seen::Sent(sent.clone()));
            }
            Event::Channel(device, report) if *device == self.device => {
                self.see(self.end_of(report.slot), Seen::Channel(*report));
            }
            Event::Status { device, at, direction, status } if *device == self.device => {
                self.see(*at, Seen::Status(*direction, status.clone()));
            }
            Event::Signal(device, signal) if *device == self.device => {
                self.see(signal.at, Seen::Signal(*signal));
            }
            Event::Rrc { device, at, change } if *device == self.device => {
                if let Rrc::Handover { to, resumes, .. } = *change {
                    self.see(resumes, Seen::Followed(to));
                }
                self.see(*at, Seen::Rrc(*change));
            }
            _ => {}
        }
    }

    fn end_of(&self, slot: SlotId) -> HostInstant {
        let length = self.common.cells.get(slot.carrier).map(|cell| cell.frame.slot());
        slot.at + length.unwrap_or_default()
    }

    fn see(&mut self, at: HostInstant, seen: Seen) {
        self.ahead.insert((at, self.count), seen);
        self.count += 1;
    }

    /// Time has reached `now`, and all events until then have been reported.
    pub fn handle_time(&mut self, now: HostInstant) {
        loop {
            let next = self.ahead.first_key_value().map(|(&(at, _), _)| at);
            let at = next.map_or(self.beat, |at| at.min(self.beat));
            if at > now {
                return;
            }
            self.common.log.handle_time(at);
            if self.beat <= at && next.is_none_or(|next| next > at) {
                self.lte.handle_beat(at, &mut self.common);
                self.nr.handle_beat(at, &mut self.common);
                self.beat = self.beat + BEAT;
            } else if let Some((_, seen)) = self.ahead.pop_first() {
                self.take(at, seen);
            }
        }
    }

    /// When it writes next, if there is no event in the network before.
    pub fn wakeup(&self) -> HostInstant {
        self.ahead.first_key_value().map_or(self.beat, |(&(at, _), _)| at.min(self.beat))
    }

    fn take(&mut self, at: HostInstant, seen: Seen) {
        let common = &mut self.common;
        let carrier = match &seen {
            Seen::Dci(dci) => dci.sent_in.carrier,
            Seen::Sent(sent) => sent.slot.carrier,
            Seen::Answer(slot, _) => slot.carrier,
            Seen::Channel(report) => report.slot.carrier,
            Seen::Signal(signal) => signal.carrier,
            Seen::Status(..) => match common.cells.primary() {
                Some(cell) => cell.carrier,
                None => return,
            },
            Seen::Rrc(change) => {
                self.signalling.handle_change(*change, common);
                if let Rrc::Activated { .. } | Rrc::Deactivated { .. } = change
                    && self.commands
                {
                    self.lte.handle_command(self.signalling.activated());
                }
                return;
            }
            Seen::Followed(to) => {
                common.cells.move_to(*to);
                return self.signalling.handle_followed(common);
            }
        };
        let Some(cell) = common.cells.get(carrier).cloned() else { return };
        let pdus = |window: &mut Window, sent: &Transmission| match (sent.direction, sent.arrived) {
            (_, true) => sent.pdus.iter().for_each(|pdu| window.handle_arrived(pdu)),
            (Direction::Uplink, false) => sent.pdus.iter().for_each(|pdu| window.handle_sent(pdu)),
            (Direction::Downlink, false) => {}
        };
        let is_lte = cell.config.rat == Rat::Lte;
        match seen {
            Seen::Dci(dci) if is_lte => self.lte.handle_dci(&cell, &dci, common),
            Seen::Dci(dci) => self.nr.handle_dci(&cell, &dci, common),
            Seen::Sent(sent) => {
                match sent.direction {
                    Direction::Downlink => pdus(&mut common.down, &sent),
                    Direction::Uplink => pdus(&mut common.up, &sent),
                }
                let acknowledged =
                    self.acknowledged[usize::from(sent.direction == Direction::Uplink)];
                if is_lte {
                    self.lte.handle_sent(&cell, at, &sent, acknowledged, common);
                } else {
                    self.nr.handle_sent(&cell, &sent, acknowledged, common);
                }
            }
            Seen::Answer(slot, arrived) => self.lte.handle_answer(slot, arrived, common),
            Seen::Channel(report) if is_lte => lte::write_channel(&cell, &report, common),
            Seen::Channel(report) => self.nr.handle_channel(&cell, &report, common),
            Seen::Status(direction, status) if is_lte => {
                self.lte.handle_status(at, direction, &status, common);
            }
            Seen::Status(direction, status) => {
                self.nr.handle_status(&cell, at, direction, &status, common);
            }
            Seen::Signal(signal) if is_lte => lte::write_signal(&cell, &signal, common),
            Seen::Signal(signal) => nr::write_signal(&cell, &signal, common),
            Seen::Rrc(_) | Seen::Followed(_) => {}
        }
    }

    /// The next record, in the order in which they were written.
    pub fn poll_record(&mut self) -> Option<Record> {
        self.common.log.poll_record()
    }

    /// From now on records of these codes are written, and no others.
    pub fn set_mask(&mut self, mask: Mask) {
        self.common.log.set_mask(mask);
    }

    /// Records that could not be written because their contents do not fit the layout.
    pub fn unwritten(&self) -> u64 {
        self.common.log.unwritten()
    }
}
