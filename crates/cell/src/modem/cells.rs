//! What a modem knows of the cells that may serve it.

use alloc::vec::Vec;

use sounding_diag::radio::{Modulation, Slot, Tti};
use sounding_phy::lte::{self, McsTable};
use sounding_units::HostInstant;

use crate::carrier::frame;
use crate::config::{CarrierConfig, InvalidConfig, Rat};
use crate::event::{CarrierId, Direction};
use crate::frame::Frame;

/// A cell.
#[derive(Clone, Debug)]
pub(super) struct Cell {
    pub(super) carrier: CarrierId,
    pub(super) config: CarrierConfig,
    pub(super) frame: Frame,
}

/// The cells that may serve a device, the primary first.
#[derive(Clone, Debug)]
pub(super) struct Cells {
    all: Vec<Cell>,
    origin: HostInstant,
}

impl Cells {
    pub(super) fn new(
        served: &[usize],
        carriers: &[CarrierConfig],
        origin: HostInstant,
    ) -> Result<Self, InvalidConfig> {
        let cell = |&at: &usize| {
            let config = carriers.get(at)?.clone();
            let cell = |frame| Cell { carrier: CarrierId(at as u8), config, frame };
            Some(frame(&carriers[at]).map(cell))
        };
        Ok(Self { all: served.iter().filter_map(cell).collect::<Result<_, _>>()?, origin })
    }

    pub(super) fn primary(&self) -> Option<&Cell> {
        self.all.first()
    }

    pub(super) fn get(&self, carrier: CarrierId) -> Option<&Cell> {
        self.all.iter().find(|cell| cell.carrier == carrier)
    }

    /// The number of a serving cell among those of its RAT, as records and RRC count: 0 is the first.
    pub(super) fn index(&self, carrier: CarrierId) -> u8 {
        let rat = self.get(carrier).map(|cell| cell.config.rat);
        let mut same = self.all.iter().filter(|cell| Some(cell.config.rat) == rat);
        same.position(|cell| cell.carrier == carrier).unwrap_or(0) as u8
    }

    /// The device has moved on to another primary cell.
    pub(super) fn move_to(&mut self, carrier: CarrierId) {
        if let Some(at) = self.all.iter().position(|cell| cell.carrier == carrier) {
            self.all.swap(0, at);
        }
    }

    pub(super) fn has(&self, rat: Rat) -> bool {
        self.all.iter().any(|cell| cell.config.rat == rat)
    }

    /// The subframe of LTE, which all its cells share, at `at`.
    pub(super) fn tti(&self, at: HostInstant) -> Tti {
        tti((at - self.origin).as_millis() as u64)
    }

    pub(super) const fn origin(&self) -> HostInstant {
        self.origin
    }

    pub(super) fn all(&self) -> impl Iterator<Item = &Cell> {
        self.all.iter()
    }

    /// How many slots of a cell have begun before `at`.
    pub(super) fn count(&self, cell: &Cell, at: HostInstant) -> u64 {
        ((at - self.origin).as_nanos() / cell.frame.slot().as_nanos().max(1)) as u64
    }

    /// The slot of a cell at `at`.
    pub(super) fn slot(&self, cell: &Cell, at: HostInstant) -> Option<Slot> {
        cell.slot(self.count(cell, at))
    }
}

/// A subframe by its number since the network began.
pub(super) fn tti(subframe: u64) -> Tti {
    Tti::from_count(subframe % u64::from(Tti::CYCLE)).unwrap_or_default()
}

impl Cell {
    /// A slot by its number since the network began; NR says its numerology.
    pub(super) fn slot(&self, slot: u64) -> Option<Slot> {
        let slots = 10_u64 << self.config.numerology.min(6);
        let frame = slot / slots % 1024;
        Slot::new(frame as u16, (slot % slots) as u8, Some(self.config.numerology))
    }

    /// What a resource element of a new block carries.
    pub(super) fn modulation(&self, direction: Direction, mcs: u8) -> Option<Modulation> {
        let qam256 = self.config.qam256 && direction == Direction::Downlink;
        if self.config.rat == Rat::Nr {
            return Some(nr_modulation(qam256, mcs));
        }
        let table = match (direction, qam256) {
            (Direction::Uplink, _) => McsTable::Uplink,
            (Direction::Downlink, false) => McsTable::Downlink,
            (Direction::Downlink, true) => McsTable::Downlink256Qam,
        };
        let (order, _) = lte::mcs(table, mcs)?;
        Modulation::from_bits(u64::from(order.order()))
    }

    /// The row of the table of block sizes.
    pub(super) fn tbs_index(&self, direction: Direction, mcs: u8) -> u8 {
        let table = match direction {
            Direction::Uplink => McsTable::Uplink,
            Direction::Downlink if self.config.qam256 => McsTable::Downlink256Qam,
            Direction::Downlink => McsTable::Downlink,
        };
        lte::mcs(table, mcs).map_or(0, |(_, index)| index.row())
    }
}

/// TS 38.214 Tables 5.1.3.1-1 and 5.1.3.1-2.
const fn nr_modulation(qam256: bool, mcs: u8) -> Modulation {
    match (qam256, mcs) {
        (false, ..10) | (true, ..5) => Modulation::Qpsk,
        (false, ..17) | (true, ..11) => Modulation::Qam16,
        (false, _) | (true, ..20) => Modulation::Qam64,
        (true, _) => Modulation::Qam256,
    }
}
