//! The cells that may serve a device, as its modem knows them.

use alloc::vec::Vec;

use sounding_diag::radio::{Modulation, Slot, Tti};
use sounding_phy::lte::{self, McsTable};
use sounding_phy::nr;
use sounding_units::HostInstant;

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

/// The carriers that may serve a device.
#[derive(Clone, Debug)]
pub(super) struct Cells {
    all: Vec<Cell>,
    /// A primary carrier and those that may be aggregated with it.
    groups: Vec<Vec<CarrierId>>,
    /// The group that serves now.
    current: usize,
    origin: HostInstant,
}

impl Cells {
    pub(super) fn new(
        groups: &[Vec<usize>],
        carriers: &[CarrierConfig],
        origin: HostInstant,
    ) -> Result<Self, InvalidConfig> {
        let cell = |&at: &usize| {
            let config = carriers.get(at)?.clone();
            let cell = |frame| Cell { carrier: CarrierId(at as u8), config, frame };
            Some(carriers[at].frame().map(cell))
        };
        let mut used: Vec<usize> = groups.concat();
        used.sort_unstable();
        used.dedup();
        let all = used.iter().filter_map(cell).collect::<Result<_, _>>()?;
        let id = |&at: &usize| CarrierId(at as u8);
        let groups = groups.iter().map(|group| group.iter().map(id).collect()).collect();
        Ok(Self { all, groups, current: 0, origin })
    }

    pub(super) fn primary(&self) -> Option<&Cell> {
        self.get(*self.serving().first()?)
    }

    /// The carriers that serve or may be added, the primary first.
    fn serving(&self) -> &[CarrierId] {
        self.groups.get(self.current).map_or(&[], Vec::as_slice)
    }

    pub(super) fn get(&self, carrier: CarrierId) -> Option<&Cell> {
        self.all.iter().find(|cell| cell.carrier == carrier)
    }

    /// The number of a serving cell among those of its RAT, as records and RRC count: 0 is the
    /// first.
    pub(super) fn index(&self, carrier: CarrierId) -> u8 {
        let rat = |carrier| self.get(carrier).map(|cell| cell.config.rat);
        let mut same = self.serving().iter().filter(|&&other| rat(other) == rat(carrier));
        same.position(|&other| other == carrier).unwrap_or(0) as u8
    }

    /// The device has moved on to another primary cell.
    pub(super) fn move_to(&mut self, carrier: CarrierId) {
        if let Some(at) = self.groups.iter().position(|group| group.first() == Some(&carrier)) {
            self.current = at;
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

    /// Number of slots of a cell that have begun before `at`.
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
    /// A slot by its number since the network began; in NR with the numerology.
    pub(super) fn slot(&self, slot: u64) -> Option<Slot> {
        let slots = 10_u64 << self.config.numerology.min(6);
        let frame = slot / slots % 1024;
        Slot::new(frame as u16, (slot % slots) as u8, Some(self.config.numerology))
    }

    /// The modulation of a new block.
    pub(super) fn modulation(&self, direction: Direction, mcs: u8) -> Option<Modulation> {
        if self.config.rat == Rat::Nr {
            // One table for both directions.
            let table = match self.config.qam256 {
                true => nr::McsTable::Qam256,
                false => nr::McsTable::Qam64,
            };
            return Modulation::from_bits(u64::from(nr::mcs(table, mcs)?.modulation.order()));
        }
        let qam256 = self.config.qam256 && direction == Direction::Downlink;
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
